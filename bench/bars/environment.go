package bars

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Environment is what a figure depends on besides the code.
type Environment struct {
	CPU        string     `json:"cpu"`
	Features   []string   `json:"features"` // those our kernels and the peers look for
	Cores      int        `json:"cores"`
	GOMAXPROCS int        `json:"gomaxprocs"`
	GOGC       string     `json:"gogc,omitempty"`
	Forced     string     `json:"cowboy_cpu,omitempty"` // COWBOY_CPU, when it forces a code path
	OS         string     `json:"os"`
	Arch       string     `json:"arch"`
	Kernel     string     `json:"kernel,omitempty"`
	Go         string     `json:"go"`
	Commit     string     `json:"commit"`
	Dirty      bool       `json:"dirty"` // files differed from the commit
	Date       string     `json:"date"`  // RFC 3339, UTC, when the run began
	LoadBefore [3]float64 `json:"load_before"`
	LoadAfter  [3]float64 `json:"load_after"`
	StealShare float64    `json:"steal_share"` // CPU time the host gave to others, of all, during the run

	cpuBefore cpuTimes
}

// watched are the CPU features worth recording, as Linux spells them.
var watched = []string{
	"sse4_2", "avx2", "bmi2", "adx", "sha_ni", "aes", "vaes", "pclmulqdq", "vpclmulqdq", "gfni",
	"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx512ifma", "avx512vbmi2",
	"asimd", "sha2", "sha3", "sve",
}

// Observe reads the environment at the start of a run in the repository root.
func Observe(root string) Environment {
	e := Environment{
		Cores: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0),
		GOGC: os.Getenv("GOGC"), Forced: os.Getenv("COWBOY_CPU"),
		OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(),
		Date: time.Now().UTC().Format(time.RFC3339),
	}
	e.CPU, e.Features = readCPU()
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		e.Kernel = strings.TrimSpace(string(b))
	}
	e.Commit, e.Dirty = commitOf(root)
	e.LoadBefore = loadAverage()
	e.cpuBefore = readCPUTimes()
	return e
}

// Finish records what can only be known when the run is over.
func (e *Environment) Finish() {
	e.LoadAfter = loadAverage()
	after := readCPUTimes()
	if all := after.all - e.cpuBefore.all; all > 0 {
		e.StealShare = float64(after.steal-e.cpuBefore.steal) / float64(all)
	}
}

func readCPU() (model string, features []string) {
	model = "unknown"
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return model, nil
	}
	flags := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		switch strings.TrimSpace(key) {
		case "model name":
			model = strings.TrimSpace(value)
		case "flags", "Features":
			for _, f := range strings.Fields(value) {
				flags[f] = true
			}
		}
	}
	for _, f := range watched {
		if flags[f] {
			features = append(features, f)
		}
	}
	return model, features
}

// HasFeatures reports whether this CPU has all the named features (Linux names).
func HasFeatures(names ...string) bool {
	_, have := readCPU()
	for _, n := range names {
		if !slices.Contains(have, n) {
			return false
		}
	}
	return true
}

func loadAverage() (load [3]float64) {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return load
	}
	for i, f := range strings.Fields(string(b)) {
		if i == len(load) {
			break
		}
		load[i], _ = strconv.ParseFloat(f, 64)
	}
	return load
}

type cpuTimes struct{ all, steal uint64 }

// readCPUTimes reads the first line of /proc/stat: the eighth figure is steal;
// guest time behind it is already part of user time.
func readCPUTimes() (t cpuTimes) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return t
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	fields := strings.Fields(string(line))
	for i, f := range fields[min(1, len(fields)):] {
		if i > 7 {
			break
		}
		v, _ := strconv.ParseUint(f, 10, 64)
		t.all += v
		if i == 7 {
			t.steal = v
		}
	}
	return t
}

// ProcessCPU returns the user and system time this process has used.
func ProcessCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// commitOf asks git, and where there is none the build information.
func commitOf(root string) (commit string, dirty bool) {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	if commit, err := git("rev-parse", "HEAD"); err == nil {
		changed, err := git("status", "--porcelain", "--untracked-files=no")
		return commit, err == nil && changed != ""
	}
	commit = "unknown"
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.modified":
				dirty = s.Value == "true"
			}
		}
	}
	return commit, dirty
}

// module is the line that marks the repository root's go.mod.
const module = "module github.com/cowboy-foundation/cowboy\n"

// RepositoryRoot walks up from dir to the folder of the main module; it skips
// nested modules. It returns dir itself when there is none above.
func RepositoryRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		b, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && strings.HasPrefix(string(b), module) {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
