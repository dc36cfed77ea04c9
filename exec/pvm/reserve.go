package pvm

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// shallow is how many calls within each other an engine has machines of its own for.
const shallow = 8

// reserve is the machines for calls within more than [shallow] others. A machine takes 2 MB
// once it has loaded the library, and milliseconds to load it, for which no program pays. So
// none is thrown away, and engines side by side do not each have as many as calls nest: one at
// a time is deep. Of w engines no more than w times shallow and the depth of one chain are ever
// made (ADR 240).
//
// Who waits for it holds no lock, and who has it waits for nobody's call: the wait ends. Whose
// result may be in vain does not wait, nor keep others waiting for long ([Engine.Attempt]).
type reserve struct {
	mu   Lock // of the engine that is deep, from the first such call to its end; guards idle
	idle []*vm.Machine
}

// Lock is a *sync.Mutex where engines serve several goroutines: who makes them has it.
type Lock interface {
	Lock()
	TryLock() bool
	Unlock()
}

// alone is the lock of one engine.
type alone struct{}

// Lock waits for nobody.
func (alone) Lock() {}

// TryLock finds nobody in.
func (alone) TryLock() bool { return true }

// Unlock lets nobody in.
func (alone) Unlock() {}

// ErrReserved ends a call that is nested deep where it does not wait for the machines. It is
// no verdict on the program: what the call was part of is executed again, or not at all.
var ErrReserved = errors.New("another engine has the machines for deep calls")

// Descent is what becomes of a call that is nested deep while one of another engine is.
type Descent uint8

const (
	// Waits means that it waits for the end of the other.
	Waits Descent = iota
	// Yields means that it ends with [ErrReserved].
	Yields
	// Stays means that it ends with [ErrReserved], whether or not another is deep.
	Stays
)

// Attempt runs do, and its deep calls as d says. Where one has ended with [ErrReserved] that is
// the error, whatever do made of it. crowded reports whether another engine had the machines
// when they were asked for.
func (e *Engine) Attempt(d Descent, do func() error) (crowded bool, err error) {
	e.descent, e.crowded, e.refused = d, false, false
	defer func() { e.descent = Waits }()
	err = do()
	if e.refused {
		err = ErrReserved
	}
	return e.crowded, err
}

// descend begins a call within those under way, or refuses it.
func (e *Engine) descend() error {
	if e.depth == shallow && !e.enterReserve() {
		e.refused = true
		return ErrReserved
	}
	e.depth++
	return nil
}

// enterReserve takes the reserve, or reports that it does not.
func (e *Engine) enterReserve() bool {
	if e.descent == Stays {
		return false
	}
	if e.reserve.mu.TryLock() {
		return true
	}
	e.crowded = true
	if e.descent == Yields {
		return false
	}
	e.reserve.mu.Lock()
	return true
}

// ascend ends a call that descend began, in a panic too.
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
