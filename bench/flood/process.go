package flood

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// userHertz is the unit of /proc: 100 a second on every Linux that Go runs on.
const userHertz = 100

// processesCPU returns the user and system time that processes have used.
func processesCPU(pids []int) (sum time.Duration) {
	for _, pid := range pids {
		sum += processCPU(pid)
	}
	return sum
}

// processCPU is that of one process; 0 for one that is gone.
func processCPU(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name in brackets may hold anything; behind it stand the fields from the third.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	const user, system = 14 - 3, 15 - 3
	if len(fields) <= system {
		return 0
	}
	ticks := int64(0)
	for _, f := range []int{user, system} {
		n, _ := strconv.ParseInt(string(fields[f]), 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / userHertz)
}

// peaksOfMemory returns the sum of the most resident bytes that each process has had.
func peaksOfMemory(pids []int) (sum int64) {
	for _, pid := range pids {
		sum += statusBytes(pid, "VmHWM:")
	}
	return sum
}

// Memory returns the bytes that processes have resident now.
func Memory(pids []int) (sum int64) {
	for _, pid := range pids {
		sum += statusBytes(pid, "VmRSS:")
	}
	return sum
}

// statusBytes reads a line of a process's status.
func statusBytes(pid int, name string) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, name); ok {
			kib, _ := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// ownCPU returns what this process has used.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// machineCPU returns the time for which the machine's cores were not idle, the share
// that its host gave to others included.
func machineCPU() time.Duration {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	ticks := int64(0)
	for i, f := range bytes.Fields(line) {
		// cpu user nice system idle iowait irq softirq steal
		if i == 0 || i == 4 || i == 5 || i > 8 {
			continue
		}
		n, _ := strconv.ParseInt(string(f), 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / userHertz)
}
