// Package ops tells an operator how this machine suits a validator: which code
// paths its processor takes, what its limits are, and what to do about what is
// short.
//
// Nothing here changes the machine. Every finding that is not OK carries the
// command that mends it.
package ops

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// Status grades a finding.
type Status string

// The grades.
const (
	OK   Status = "ok"
	Warn Status = "warn" // works, slower or closer to a limit than it should
	Fail Status = "fail" // a validator will not work
)

// Finding is the result of one check.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to run or change; empty when OK
}

// Examine runs every check. dataDir is where the chain lives or will live;
// stateLimit is how many bytes, as the protocol counts them, its state may come to.
func Examine(dataDir string, stateLimit uint64) []Finding {
	return []Finding{
		processor(), signatures(), cores(), openFiles(), freeSpace(dataDir), syncLatency(dataDir), clock(), memory(stateLimit),
	}
}

// Worst returns the worst grade among the findings.
func Worst(findings []Finding) Status {
	worst := OK
	for _, f := range findings {
		if f.Status == Fail || worst == OK {
			worst = f.Status
		}
	}
	return worst
}

// Print writes one line a finding, with its fix below.
func Print(w io.Writer, findings []Finding) {
	for _, f := range findings {
		fmt.Fprintf(w, "%-5s %-16s %s\n", f.Status, f.Check, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(w, "      %-16s → %s\n", "", f.Fix)
		}
	}
}

func processor() Finding {
	f := Finding{Check: "processor", Status: OK}
	if err := cpu.CheckVariable(); err != nil {
		f.Status, f.Detail, f.Fix = Fail, err.Error(), "unset "+cpu.LevelVariable
		return f
	}
	has, may := cpu.Detect(), cpu.Chosen()
	f.Detail = fmt.Sprintf("has %s; uses %s", has, may)
	if has != may {
		f.Status, f.Fix = Warn, fmt.Sprintf("unset %s to use all of it", cpu.LevelVariable)
	}
	return f
}

// signatures says which path hashes and recovers senders.
func signatures() Finding {
	f := Finding{
		Check: "signatures", Status: OK,
		Detail: fmt.Sprintf("senders by %s, digests by %s", secp256k1.NewRecoverer(cpu.Chosen()).Name(), keccak.NewSummer(cpu.Chosen()).Name()),
	}
	if cpu.Chosen().Level() != cpu.AVX512 {
		f.Status = Warn
		f.Fix = "a processor with AVX-512 IFMA recovers senders about ten times faster"
	}
	return f
}

// coresMin is what the node is sized for; with fewer, verification and
// consensus share one.
const coresMin = 2

func cores() Finding {
	n := runtime.GOMAXPROCS(0)
	f := Finding{Check: "cores", Status: OK, Detail: fmt.Sprintf("%d in use, the machine has %d", n, runtime.NumCPU())}
	if n < coresMin {
		f.Status, f.Fix = Warn, fmt.Sprintf("give the process at least %d cores (cpuset, cgroup quota, GOMAXPROCS)", coresMin)
	}
	return f
}

// openFilesMin covers the store, the journal and a thousand connections.
const openFilesMin = 4096

func openFiles() Finding {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return Finding{Check: "open files", Status: Warn, Detail: "limit cannot be read: " + err.Error(), Fix: "check ulimit -n by hand"}
	}
	f := Finding{Check: "open files", Status: OK, Detail: fmt.Sprintf("limit %d", limit.Cur)}
	if limit.Cur < openFilesMin {
		f.Status, f.Fix = Warn, fmt.Sprintf("ulimit -n %d (or LimitNOFILE=%d in the unit)", openFilesMin, openFilesMin)
	}
	return f
}

const (
	freeBytesFail = 1 << 30
	freeBytesWarn = 20 << 30
)

func freeSpace(dataDir string) Finding {
	f := Finding{Check: "free space", Status: OK}
	var st unix.Statfs_t
	if err := unix.Statfs(existing(dataDir), &st); err != nil {
		f.Status, f.Detail, f.Fix = Warn, "cannot be read: "+err.Error(), "check df by hand"
		return f
	}
	free := st.Bavail * uint64(st.Bsize)
	f.Detail = fmt.Sprintf("%.1f GiB at %s", float64(free)/(1<<30), existing(dataDir))
	switch {
	case free < freeBytesFail:
		f.Status, f.Fix = Fail, "free at least 1 GiB, or put the data folder elsewhere (--data)"
	case free < freeBytesWarn:
		f.Status, f.Fix = Warn, "a year of blocks takes tens of GiB: plan for more"
	}
	return f
}

// existing is the folder or the nearest parent that exists.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return dir
		}
		dir = parent
	}
}

const (
	syncRounds = 16
	// syncWarn: two syncs stand between a block and its finality.
	syncWarn = 20 * time.Millisecond
)

// syncLatency measures what each vote and each block waits for.
func syncLatency(dataDir string) Finding {
	f := Finding{Check: "disk sync", Status: OK}
	file, err := os.CreateTemp(existing(dataDir), ".cowboy-doctor-")
	if err != nil {
		f.Status, f.Detail, f.Fix = Fail, "cannot write: "+err.Error(), "choose a data folder that this user can write"
		return f
	}
	defer os.Remove(file.Name())
	defer file.Close()
	var slowest time.Duration
	for range syncRounds {
		began := time.Now()
		if _, err = file.Write(make([]byte, 4096)); err == nil {
			err = file.Sync()
		}
		if err != nil {
			f.Status, f.Detail, f.Fix = Fail, "sync fails: "+err.Error(), "choose another disk"
			return f
		}
		slowest = max(slowest, time.Since(began))
	}
	f.Detail = fmt.Sprintf("slowest of %d: %v", syncRounds, slowest.Round(10*time.Microsecond))
	if slowest > syncWarn {
		f.Status, f.Fix = Warn, "votes and blocks wait for this: use a local NVMe disk"
	}
	return f
}
