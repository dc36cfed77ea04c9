package pvm_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// brokenRuntime is that of the protocol with natives that panic.
func brokenRuntime(t *testing.T) *vm.Runtime {
	t.Helper()
	cfg, err := pvm.RuntimeConfig([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	broken := func(name string, fn func()) vm.Def {
		return vm.Def{Name: name, Max: 1, Fn: func(*vm.Machine, vm.Args) (vm.Value, error) {
			fn()
			return vm.None, nil
		}}
	}
	var none *pvm.Program
	var list []int
	cfg.Globals = append(cfg.Globals,
		broken("break_nil", func() { list = append(list, none.Bytes) }),
		broken("break_bounds", func() { list = list[:len(list):len(list)]; list[len(list)]++ }),
		broken("break_text", func() { panic("not the machine's") }),
		broken("break_error", func() { panic(errors.New("not the machine's")) }),
	)
	rt, err := vm.NewRuntime(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// defectOf runs a dump and expects a defect.
func defectOf(t *testing.T, rt *vm.Runtime, d *pvm.Dump) (vm.Result, *pvm.Defect) {
	t.Helper()
	p, err := pvm.Compile(d.Source, d.File, pvm.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	res, err := d.Run(rt.NewMachine(), p)
	var defect *pvm.Defect
	var abort *vm.Abort
	if !errors.As(err, &defect) || !errors.As(err, &abort) || abort.Code != vm.Internal {
		t.Fatalf("the run ended with %v", err)
	}
	return res, defect
}

// TestDefectRunsAgain: what a defect ended ends again from its dump, with the
// same output and cycles, and the program sees nothing of it.
func TestDefectRunsAgain(t *testing.T) {
	rt := brokenRuntime(t)
	for _, d := range []*pvm.Dump{
		{Source: []byte("print(1)\ntry: break_nil()\nexcept BaseException: print('no')\nfinally: print('no')\n")},
		{Source: []byte("print(1)\nfor i in range(3):\n    try: break_bounds()\n    except BaseException: print('no')\n")},
		{Source: []byte("print(1)\ndef go(a, b):\n    if a + b == 3: break_nil()\n"), Entry: "go", Args: []byte{0x82, 1, 2}},
	} {
		d.File, d.CodeHash, d.Cycles = "script.py", pvm.HashOf(d.Source), 100_000
		res, first := defectOf(t, rt, d)
		if string(res.Output) != "1\n" {
			t.Errorf("%s: the program printed %q", d.Source, res.Output)
		}
		if dump := first.Dump; dump.Panic == "" || !strings.Contains(dump.Stack, "dump_test.go") {
			t.Errorf("%s: panic %q and stack %.200q do not tell where", d.Source, dump.Panic, dump.Stack)
		}
		read, err := pvm.DecodeDump(first.Dump.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if read.Hash() != d.Hash() || !bytes.Equal(read.Encode(), first.Dump.Encode()) {
			t.Errorf("%s: the dump changed on its way", d.Source)
		}
		again, second := defectOf(t, rt, read)
		if again.Cycles != res.Cycles || !bytes.Equal(again.Output, res.Output) || second.Dump.Panic != first.Dump.Panic || second.Dump.Hash() != first.Dump.Hash() {
			t.Errorf("%s: %d cycles, %q; the first run %d, %q", d.Source, again.Cycles, second.Dump.Panic, res.Cycles, first.Dump.Panic)
		}
	}
}

// TestEngineTellsItsDefects: an engine knows the hash of the code alone, and
// serves again after a defect.
func TestEngineTellsItsDefects(t *testing.T) {
	e := pvm.NewEngine(brokenRuntime(t), pvm.NewLRU(0), pvm.DefaultLimits())
	bad, err := e.Program([]byte("break_nil()\n"), "bad.py")
	if err != nil {
		t.Fatal(err)
	}
	good, err := e.Program([]byte("print(2)\n"), "good.py")
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Run(bad, 1000, nil)
	var defect *pvm.Defect
	if !errors.As(err, &defect) || defect.Dump.CodeHash != bad.Hash || defect.Dump.Cycles != 1000 || defect.Dump.File != "bad.py" {
		t.Fatalf("ended with %v", err)
	}
	read, err := pvm.DecodeDump(defect.Dump.Encode())
	if err != nil || read.CodeHash != bad.Hash || len(read.Source) != 0 {
		t.Errorf("a dump without source is read as %+v, %v", read, err)
	}
	if res, err := e.Run(good, 1000, nil); err != nil || string(res.Output) != "2\n" {
		t.Errorf("the next run: %q, %v", res.Output, err)
	}
	if _, err := e.Run(good, 1, nil); errors.As(err, &defect) || err == nil {
		t.Errorf("running out of cycles: %v, want an abort that is no defect", err)
	}
}

// TestOtherPanicsGoOn: a panic that is not the runtime's is no verdict: it must
// reach whoever stops the process.
func TestOtherPanicsGoOn(t *testing.T) {
	rt := brokenRuntime(t)
	for _, name := range []string{"break_text", "break_error"} {
		p, err := pvm.Compile([]byte("try: "+name+"()\nexcept BaseException: pass\n"), "script.py", pvm.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if got := recover(); got == nil {
					t.Errorf("%s: the panic stopped in the machine", name)
				}
			}()
			d := pvm.Dump{Cycles: 1000}
			_, err := d.Run(rt.NewMachine(), p)
			t.Errorf("%s: a verdict: %v", name, err)
		}()
	}
}

// TestDecodeDumpRefuses names what is wrong with a file that is no dump.
func TestDecodeDumpRefuses(t *testing.T) {
	src := []byte("pass\n")
	good := string((&pvm.Dump{File: "f", Source: src, CodeHash: pvm.HashOf(src), Cycles: 1}).Encode())
	for want, text := range map[string]string{
		"EOF":                "",
		"unknown field":      strings.Replace(good, `"entry"`, `"entrance"`, 1),
		"format":             strings.Replace(good, "dump-v1", "dump-v9", 1),
		"that of the source": strings.Replace(good, `"code_hash": "0x`, `"code_hash": "0x0`, 1),
		"cycles = 0":         strings.Replace(good, `"cycles": 1`, `"cycles": 0`, 1),
		"64 hex digits":      `{"format": "cowboy-pvm-dump-v1", "cycles": 1, "code_hash": "0x12"}`,
		"text follows":       good + "{}",
		"at most":            strings.Repeat(" ", pvm.DumpBytesMax+1),
	} {
		if _, err := pvm.DecodeDump([]byte(text)); !errors.Is(err, pvm.ErrDump) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want ErrDump with %q", err, want)
		}
	}
}

func FuzzDecodeDump(f *testing.F) {
	src := []byte("pass\n")
	f.Add((&pvm.Dump{File: "f", Source: src, CodeHash: pvm.HashOf(src), Entry: "e", Args: []byte{0x80}, Cycles: 9, Panic: "p", Stack: "s"}).Encode())
	f.Add((&pvm.Dump{Cycles: 1}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := pvm.DecodeDump(b)
		if err != nil {
			return
		}
		again, err := pvm.DecodeDump(d.Encode())
		if err != nil || again.Hash() != d.Hash() || len(d.Source) > 0 && !reflect.DeepEqual(again.Source, d.Source) {
			t.Errorf("an accepted dump does not survive its encoding: %v", err)
		}
	})
}
