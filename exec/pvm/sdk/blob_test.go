package sdk

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// hashing has one row of so many bytes, and counts how often it came to compare its hash.
type hashing struct {
	*host.Recorder
	bytes, hashed int
	found         bool
}

func (h *hashing) Blob(_ []byte, pay func(bytes int)) ([]byte, bool, error) {
	pay(h.bytes)
	h.hashed++
	return make([]byte, h.bytes), h.found, nil
}

// TestBlobsAreReadForTheirBytes: what the host found is charged before it goes on with it,
// and also where it is not the blob; nobody hashes for a call that cannot pay.
func TestBlobsAreReadForTheirBytes(t *testing.T) {
	rt, costs := newRuntime(t), host.DefaultCosts()
	program, err := compile.Source([]byte("import cowboy_sdk as k\nk.blob_get(b'x' * 34)\n"), "a.py", compile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		bytes  int
		found  bool
		cycles code.Cycles
		hashed int
	}{
		{60_000, true, 1_000_000, 1},
		{60_000, false, 1_000_000, 1},
		{60_000, true, 30_000, 0},
		{60_000, false, 30_000, 0},
		{100, true, 30_000, 1},
	} {
		m := rt.NewMachine()
		h := &hashing{Recorder: host.NewRecorder(), bytes: row.bytes, found: row.found}
		m.Host = NewSession(h, costs, DefaultLimits())
		res, err := m.Execute(program, row.cycles)
		abort, ok := err.(*vm.Abort)
		if out := ok && abort.Code == vm.OutOfCycles; h.hashed != row.hashed || out != (row.hashed == 0) || err != nil && !out {
			t.Errorf("%d bytes, found %v, for %d cycles: hashed %d times, %v", row.bytes, row.found, row.cycles, h.hashed, err)
		}
		if least := costs.StorageRead + code.Cycles(row.bytes)*costs.ReadByte; h.hashed > 0 && res.Cycles < least {
			t.Errorf("%d bytes cost %d, want at least %d", row.bytes, res.Cycles, least)
		}
	}
}

// TestFirstOpenOfAModeIsPaid: the first file of each kind makes a class with all its methods.
func TestFirstOpenOfAModeIsPaid(t *testing.T) {
	rt, costs := newRuntime(t), code.DefaultCosts()
	cycles := func(src string) code.Cycles {
		program, err := compile.Source([]byte("open('/tmp/a', 'w')\n"+src), "a.py", compile.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		m := rt.NewMachine()
		m.Host = NewSession(host.NewRecorder(), host.DefaultCosts(), DefaultLimits())
		res, err := m.Execute(program, 1_000_000)
		if err != nil || res.Raised != nil {
			t.Fatalf("%s: %v %s", src, err, res.Traceback)
		}
		return res.Cycles
	}
	class := costs.Work.Class * costs.Dynamic.NativeCall
	for _, mode := range []string{"rb", "wb", "rb+"} {
		open := "open('/tmp/a', '" + mode + "')\n"
		first := cycles(open)
		if again := cycles(open+open) - first; first-cycles("")-again != class {
			t.Errorf("%s: the first costs %d more than the second, want %d", mode, first-cycles("")-again, class)
		}
	}
	fault := "try: open('/tmp/a').fileno()\nexcept OSError: pass\n"
	once := cycles(fault)
	if more := once - cycles("") - (cycles(fault+fault) - once); more < class {
		t.Errorf("the first unsupported operation costs %d more than the second, want at least %d", more, class)
	}
}
