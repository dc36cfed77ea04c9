package ops

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory returns the memory that this process may take: the least of what the
// machine has and of the limits of its control groups. from names the one that
// binds; it is empty, and the memory 0, where the system does not tell.
func Memory() (total uint64, from string) { return memoryUnder("/") }

// memoryUnder is Memory of the system whose files lie under root.
func memoryUnder(root string) (total uint64, from string) {
	if raw, err := os.ReadFile(filepath.Join(root, "proc/meminfo")); err == nil {
		if total = memTotal(raw); total > 0 {
			from = "the machine"
		}
	}
	for _, file := range groupFiles(root) {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// A group without limit says "max", or in the first version some huge number.
		if n, err := strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 64); err == nil && n > 0 && n < total {
			total, from = n, "its control group"
		}
	}
	return total, from
}

func memTotal(meminfo []byte) uint64 {
	lines := bufio.NewScanner(bytes.NewReader(meminfo))
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) == 3 && f[0] == "MemTotal:" && f[2] == "kB" {
			n, err := strconv.ParseUint(f[1], 10, 64)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}

// groupFiles lists the files that may hold a limit of this process: those of its
// control group and of all above it, of either version.
func groupFiles(root string) (files []string) {
	raw, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(raw)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		base, name := filepath.Join(root, "sys/fs/cgroup"), "memory.max"
		if part[0] != "0" {
			if !strings.Contains(","+part[1]+",", ",memory,") {
				continue
			}
			base, name = filepath.Join(base, "memory"), "memory.limit_in_bytes"
		}
		for group := filepath.Clean("/" + part[2]); ; group = filepath.Dir(group) {
			files = append(files, filepath.Join(base, group, name))
			if group == "/" {
				break
			}
		}
	}
	return files
}

// StateMemory is how much of a machine's memory the tries of the state may take
// by default: they lie outside the collector's heap, which has the rest beside the
// store's caches.
func StateMemory(total uint64) uint64 { return total / 4 * 3 }

// ResidentBytes is about how much memory the tries take for a state that the
// protocol counts as so many bytes. It counts an entry with the worst that it takes
// in tries; sizes that are rounded up take up to a quarter more. Gaps that overwriting
// leaves are not in it: they are bounded (ADR 239), and seen in /health.
func ResidentBytes(counted uint64) uint64 { return counted + counted/4 }

// memory compares what there is with what the chain's state may come to.
func memory(stateLimit uint64) Finding {
	f := Finding{Check: "memory", Status: OK}
	total, from := Memory()
	if total == 0 {
		f.Status, f.Detail, f.Fix = Warn, "the system does not say how much there is", "give the node a limit of its own (--state-memory-mib)"
		return f
	}
	return compareMemory(f, total, from, stateLimit)
}

func compareMemory(f Finding, total uint64, from string, stateLimit uint64) Finding {
	gib := func(n uint64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }
	share, need := StateMemory(total), ResidentBytes(stateLimit)
	f.Detail = fmt.Sprintf("%s of %s, of which the state may take %s; the chain lets it come to about %s", gib(total), from, gib(share), gib(need))
	if share < need {
		f.Status = Warn
		f.Fix = fmt.Sprintf("enough for now; plan for %s before the state grows: cowboy_state_memory_bytes and /health tell how far it is", gib(need/3*4))
	}
	return f
}
