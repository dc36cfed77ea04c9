package pvm_test

import (
	"runtime"
	"sync"
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
