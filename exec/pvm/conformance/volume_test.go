package conformance

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// FuzzProgram runs anything as a program: whatever it does it ends, by itself or
// by its cycles or memory, and a machine that was used before does the same as a
// new one. Its inputs are sources, and programs of the random generator.
func FuzzProgram(tf *testing.F) {
	f := soak.New(tf, soak.Python()...)
	f.Add("print(1)\n", uint32(1000))
	f.AddSources("..")
	few := 3
	if f.Soaking() {
		few = 2000
	}
	for seed := range few {
		f.Add(source(program(int64(seed)))[len(prelude)+1:], uint32(seed))
	}
	v := newVolume(f)
	f.Fuzz(func(t *testing.T, text string, n uint32) {
		if v.run(t, prelude+"\n"+text, n) || v.run(t, text, n) {
			f.Past()
		}
	})
}

// FuzzGenerated does the same with programs of the random generator as they are.
func FuzzGenerated(tf *testing.F) {
	f := soak.New(tf)
	f.Add(int64(1), uint32(1))
	v := newVolume(f)
	f.Fuzz(func(t *testing.T, seed int64, n uint32) {
		if v.run(t, source(program(seed)), n) { // few are none: a global that was used before
			f.Past()
		}
	})
}

// volume runs programs on one engine.
type volume struct {
	rt   *vm.Runtime
	used *pvm.Engine
}

func newVolume(f *soak.F) *volume {
	rt, err := pvm.NewRuntime([2]uint64{5, 9})
	if err != nil {
		f.Fatal(err)
	}
	return &volume{rt, pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits())}
}

// run tells whether the text is a program at all. n says how many cycles it gets
// and whether it runs twice.
func (v *volume) run(t *testing.T, text string, n uint32) bool {
	const most = 1 << 18 // cycles
	p, err := v.used.Program([]byte(text), "script.py")
	if err != nil {
		return false
	}
	cycles := int64(most)
	if n%4 == 0 {
		cycles = int64(n) % most // the end comes somewhere
	}
	got, ended := v.used.Run(p, cycles, nil)
	var abort *vm.Abort
	if ended != nil && (!errors.As(ended, &abort) || abort.Code == vm.Internal) {
		t.Fatal(ended)
	}
	if got.Cycles > cycles || got.HeapPeak < 0 {
		t.Fatalf("%d of %d cycles, heap %d", got.Cycles, cycles, got.HeapPeak)
	}
	if n%8 != 1 {
		return true
	}
	again, ended2 := pvm.NewEngine(v.rt, pvm.NewLRU(0), pvm.DefaultLimits()).Run(p, cycles, nil)
	if (ended == nil) != (ended2 == nil) || ended != nil && ended.Error() != ended2.Error() ||
		got.Cycles != again.Cycles || got.HeapPeak != again.HeapPeak || !bytes.Equal(got.Output, again.Output) || got.Traceback != again.Traceback {
		t.Fatalf("not the same twice: %v, %d cycles, heap %d, then %v, %d cycles, heap %d\n%s%s\n%s%s", ended, got.Cycles, got.HeapPeak, ended2, again.Cycles, again.HeapPeak, got.Output, got.Traceback, again.Output, again.Traceback)
	}
	return true
}
