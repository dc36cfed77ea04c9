package sdk

import (
	"runtime"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestManyPartsArePaid: values of many small parts, and files of many short lines, are read for
// cycles that follow what is made. It was up to 61 bytes a cycle, and 60 to 114 ns.
func TestManyPartsArePaid(t *testing.T) {
	rt := newRuntime(t)
	for _, row := range []struct {
		most        float64 // bytes that a cycle allocates
		setup, body string
	}{
		{20, "k.storage.set('a', [[]] * 60000)", "k.storage.get('a')"},
		{13, "k.storage.set('a', [None] * 60000)", "k.storage.get('a')"},
		{13, "k.storage.set('a', [-5] * 60000)", "k.storage.get('a')"},
		{20, "k.storage.set('a', [b''] * 60000)", "k.storage.get('a')"},
		{30, "k.storage.set('a', [{}] * 60000)", "k.storage.get('a')"},
		{13, "k.storage.set('a', [set()] * 13000)", "k.storage.get('a')"},
		{20, "k.storage.set('a', [[[]] * 8] * 7000)", "k.storage.get('a')"},
		{9, "open('/tmp/a', 'w').write('\\n' * 200000)\nf = open('/tmp/a')", "f.seek(0)\n  f.readlines()"},
		{26, "open('/tmp/a', 'w').write('a\\n' * 100000)\nf = open('/tmp/a')", "f.seek(0)\n  f.readlines()"},
		{15, "open('/tmp/a', 'w').write('\\uac00\\n' * 60000)\nf = open('/tmp/a')", "f.seek(0)\n  f.readlines()"},
		{15, "open('/tmp/a', 'w').write('\\n' * 100000)\nf = open('/tmp/a', 'rb')", "f.seek(0)\n  f.readlines()"},
		{22, "v = {}.keys()", "[" + strings.Repeat("*v,", 60) + "]"},
		{1, "v = []", "[" + strings.Repeat("*v,", 60) + "]"},
		{1, "v = ()", "[" + strings.Repeat("*v,", 60) + "]"},
		{16, "v = {}.keys()", "{" + strings.Repeat("*v,", 60) + "}"},
	} {
		program, err := compile.Source([]byte("import cowboy_sdk as k\n"+row.setup+"\nprint(1)\nwhile True:\n  "+row.body+"\n"), "a.py", compile.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		m := rt.NewMachine()
		m.Host = NewSession(host.NewRecorder(), host.DefaultCosts(), DefaultLimits())
		var before, after runtime.MemStats
		res, err := m.Execute(program, 6_000_000) // what the machine keeps is made, and what is read
		used := res.Cycles
		m.Reset()
		m.Host = NewSession(host.NewRecorder(), host.DefaultCosts(), DefaultLimits())
		runtime.ReadMemStats(&before)
		res, again := m.Execute(program, 6_000_000)
		runtime.ReadMemStats(&after)
		for _, e := range []error{err, again} {
			if abort, ok := e.(*vm.Abort); !ok || abort.Code != vm.OutOfCycles {
				t.Errorf("%s: %v %s", row.setup, e, res.Traceback)
			}
		}
		if each := float64(after.TotalAlloc-before.TotalAlloc) / float64(used); each > row.most {
			t.Errorf("%s: %.1f bytes are allocated for a cycle, want %.0f at most", row.setup, each, row.most)
		}
	}
}
