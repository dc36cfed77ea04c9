package pvm_test

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// nested makes calls within each other on an engine and notes their machines.
func nested(t *testing.T, e *pvm.Engine, depth int, note func(*vm.Machine)) {
	t.Helper()
	err := e.With(nil, func(m *vm.Machine) error {
		note(m)
		if depth > 1 {
			runtime.Gosched()
			nested(t, e, depth-1, note)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestMachinesAreBounded: engines side by side whose calls nest as deep as the protocol allows
// have eight machines each and those of one chain. They had as many as calls nest, each: 512
// for 16 engines, of 2 MB.
func TestMachinesAreBounded(t *testing.T) {
	const engines, depth = 16, 32
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	met := make(map[*vm.Machine]bool)
	busy := make(map[*vm.Machine]bool)
	var wg sync.WaitGroup
	for _, e := range pvm.NewEngines(engines, rt, pvm.NewLRU(0), pvm.DefaultLimits(), new(sync.Mutex)) {
		wg.Go(func() {
			for range 3 {
				var mine []*vm.Machine
				nested(t, e, depth, func(m *vm.Machine) {
					mu.Lock()
					defer mu.Unlock()
					if busy[m] {
						t.Error("a machine is used by two calls")
					}
					met[m], busy[m] = true, true
					if mine = append(mine, m); len(mine) == depth {
						for _, m := range mine { // before the first is given back
							busy[m] = false
						}
					}
				})
			}
		})
	}
	wg.Wait()
	if most := engines*8 + depth - 8; len(met) > most {
		t.Errorf("%d machines, at most %d", len(met), most)
	}
	one := make(map[*vm.Machine]bool)
	e := pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits())
	for range 3 {
		nested(t, e, depth, func(m *vm.Machine) { one[m] = true })
	}
	if len(one) != depth {
		t.Errorf("one engine has made %d machines for calls %d deep", len(one), depth)
	}
}

// TestDeepPanicsLetOthersGoOn: a panic within a deep call leaves engines as they were, but for
// the machines that nobody knows the state of.
func TestDeepPanicsLetOthersGoOn(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	list := pvm.NewEngines(2, rt, pvm.NewLRU(0), pvm.DefaultLimits(), new(sync.Mutex))
	var lost *vm.Machine
	for range 3 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is gone")
				}
			}()
			at := 0
			nested(t, list[0], 20, func(m *vm.Machine) {
				if at++; at == 15 {
					lost = m
					panic("a defect")
				}
			})
		}()
		for _, e := range list {
			calls := 0
			nested(t, e, 32, func(m *vm.Machine) {
				if calls++; m == lost {
					t.Error("a machine is used again that has panicked")
				}
			})
			if calls != 32 {
				t.Errorf("%d calls", calls)
			}
		}
	}
}

// TestAttemptsDoNotWait: a deep call of an attempt that yields is refused while another engine
// is deep, whatever the program makes of that; one that stays shallow is refused always. The
// engine goes on as before, and waits where nothing else was said.
func TestAttemptsDoNotWait(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	lock := new(meteredLock)
	list := pvm.NewEngines(2, rt, pvm.NewLRU(0), pvm.DefaultLimits(), lock)
	// attempt nests calls and reports how many began.
	attempt := func(d pvm.Descent, depth int, swallow bool) (calls int, crowded bool, err error) {
		var nest func(left int) error
		nest = func(left int) error {
			return list[0].With(nil, func(*vm.Machine) error {
				if calls++; left == 1 {
					return nil
				}
				if err := nest(left - 1); !swallow {
					return err
				}
				return nil
			})
		}
		crowded, err = list[0].Attempt(d, func() error { return nest(depth) })
		return calls, crowded, err
	}
	for _, c := range []struct {
		name        string
		d           pvm.Descent
		depth       int
		taken       bool // by another engine
		swallow     bool
		calls       int
		crowded, ok bool
	}{
		{"shallow, free", pvm.Yields, 8, false, false, 8, false, true},
		{"shallow, taken", pvm.Yields, 8, true, false, 8, false, true},
		{"deep, free", pvm.Yields, 32, false, false, 32, false, true},
		{"deep, taken", pvm.Yields, 32, true, false, 8, true, false},
		{"deep, taken, and the error swallowed", pvm.Yields, 32, true, true, 8, true, false},
		{"none, shallow", pvm.Stays, 8, false, false, 8, false, true},
		{"none, free", pvm.Stays, 32, false, false, 8, false, false},
		{"none, taken", pvm.Stays, 32, true, true, 8, false, false},
		{"waits, free", pvm.Waits, 32, false, false, 32, false, true},
	} {
		check := func() {
			calls, crowded, err := attempt(c.d, c.depth, c.swallow)
			if calls != c.calls || crowded != c.crowded || (err == nil) != c.ok || err != nil && !errors.Is(err, pvm.ErrReserved) {
				t.Errorf("%s: %d calls, crowded %v: %v; want %d, %v, ended well %v", c.name, calls, crowded, err, c.calls, c.crowded, c.ok)
			}
		}
		if !c.taken {
			check()
		} else {
			at := 0
			nested(t, list[1], 9, func(*vm.Machine) {
				if at++; at == 9 {
					check()
				}
			})
		}
	}
	if n := lock.waits.Load(); n != 0 {
		t.Errorf("%d attempts waited", n)
	}
	calls := 0
	nested(t, list[0], 32, func(*vm.Machine) { calls++ })
	if calls != 32 {
		t.Errorf("%d calls after all attempts", calls)
	}
	lock.refuse = true
	if _, crowded, err := attempt(pvm.Waits, 32, false); !crowded || err != nil || lock.waits.Load() != 1 {
		t.Errorf("who waits: crowded %v, %v, %d waits", crowded, err, lock.waits.Load())
	}
}

// meteredLock counts who waits, and may refuse whoever does not.
type meteredLock struct {
	sync.Mutex
	refuse bool
	waits  atomic.Int32
}

func (l *meteredLock) Lock() {
	l.waits.Add(1)
	l.Mutex.Lock()
}

func (l *meteredLock) TryLock() bool { return !l.refuse && l.Mutex.TryLock() }
