package pvm

import "github.com/cowboy-foundation/cowboy/exec/pvm/vm"

// shallow is how many calls within each other an engine has machines of its own for.
const shallow = 8

// reserve is the machines for calls within more than [shallow] others. A machine takes 2 MB
// once it has loaded the library, and milliseconds to load it, for which no program pays. So
// none is thrown away, and engines side by side do not each have as many as calls nest: one at
// a time is deep. Of w engines no more than w times shallow and the depth of one chain are ever
// made (ADR 240).
//
// Who waits for it holds no lock, and who has it waits for nobody's call: the wait ends.
type reserve struct {
	mu   Lock // of the engine that is deep, from the first such call to its end; guards idle
	idle []*vm.Machine
}

// Lock is a *sync.Mutex where engines serve several goroutines: who makes them has it.
type Lock interface {
	Lock()
	Unlock()
}

// alone is the lock of one engine.
type alone struct{}

// Lock waits for nobody.
func (alone) Lock() {}

// Unlock lets nobody in.
func (alone) Unlock() {}

// descend begins a call within those under way.
func (e *Engine) descend() {
	e.depth++
	if e.depth == shallow+1 {
		e.reserve.mu.Lock()
	}
}

// ascend ends it, in a panic too.
func (e *Engine) ascend() {
	if e.depth == shallow+1 {
		e.reserve.mu.Unlock()
	}
	e.depth--
}

// pool is where the call under way takes its machine from.
func (e *Engine) pool() *[]*vm.Machine {
	if e.depth > shallow {
		return &e.reserve.idle
	}
	return &e.idle
}

func (e *Engine) acquireMachine() *vm.Machine {
	list := e.pool()
	n := len(*list)
	if n == 0 {
		return e.rt.NewMachine()
	}
	m := (*list)[n-1]
	*list = (*list)[:n-1]
	return m
}

func (e *Engine) parkMachine(m *vm.Machine) {
	list := e.pool()
	*list = append(*list, m)
}
