package ops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMemory reads the memory of systems with control groups of both versions, and
// without.
func TestMemory(t *testing.T) {
	const meminfo = "MemTotal:       65536 kB\nMemFree:          100 kB\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  uint64
		from  string
	}{
		{"nothing tells", nil, 0, ""},
		{"nonsense", map[string]string{"proc/meminfo": "MemTotal: much kB\n"}, 0, ""},
		{"a machine", map[string]string{"proc/meminfo": meminfo}, 64 << 20, "the machine"},
		{"a group of its own", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/system.slice/cowboy.service\n",
			"sys/fs/cgroup/system.slice/cowboy.service/memory.max": "33554432\n",
		}, 32 << 20, "its control group"},
		{"a group above", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "1048576\n",
		}, 1 << 20, "its control group"},
		{"in a container", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "2097152\n",
		}, 2 << 20, "its control group"},
		{"a limit above the machine", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "99999999999\n",
		}, 64 << 20, "the machine"},
		{"the first version", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "7:cpu,cpuacct:/x\n4:memory:/docker/1\n",
			"sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": "4194304\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 4 << 20, "its control group"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range tt.files {
				file := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got, from := memoryUnder(root); got != tt.want || from != tt.from {
				t.Errorf("%d of %q, want %d of %q", got, from, tt.want, tt.from)
			}
		})
	}
}

// TestMemoryIsComparedWithTheChain: 64 GB are enough for the default limit of
// state, 32 GB are for now.
func TestMemoryIsComparedWithTheChain(t *testing.T) {
	const limit = 32 << 30
	if f := compareMemory(Finding{Status: OK}, 64_000_000_000, "the machine", limit); f.Status != OK || f.Fix != "" {
		t.Errorf("64 GB: %+v", f)
	}
	f := compareMemory(Finding{Status: OK}, 32_000_000_000, "the machine", limit)
	if f.Status != Warn || !strings.Contains(f.Fix, "53.3 GiB") || !strings.Contains(f.Detail, "29.8 GiB of the machine") {
		t.Errorf("32 GB: %+v", f)
	}
}
