package vm

import "github.com/cowboy-foundation/cowboy/exec/pvm/code"

// Machine runs one call at a time. It is reused after Reset, and is not for
// use by several goroutines.
type Machine struct {
	rt     *Runtime
	cycles code.Cycles // left
	dyn    code.Dynamic
	depth  int // Python frames and native recursions

	heap heap
	temp []Value // roots that natives hold across calls back into Python

	frame   *frame             // running
	modules map[string]*Module // imported; looked up, never iterated
	output  []byte             // of print

	versions   uint32 // of classes, counted
	orders     uint32 // of objects whose identity was asked for, counted
	emptyShape shape  // root of the shapes of builtin classes

	Host any // what the embedding library put there for its natives
}

// Charge takes n cycles for work about to be done. It does not return when they
// are used up.
func (m *Machine) Charge(n code.Cycles) {
	if n < 0 || n > m.cycles {
		m.cycles = 0
		panic(&Abort{Code: OutOfCycles})
	}
	m.cycles -= n
}

// ChargeEach takes price cycles for each of n units, as Charge.
func (m *Machine) ChargeEach(n int, price code.Cycles) {
	if n < 0 || price > 0 && int64(n) > m.cycles/price {
		m.cycles = 0
		panic(&Abort{Code: OutOfCycles})
	}
	m.cycles -= int64(n) * price
}

// CyclesLeft returns what can still be charged.
func (m *Machine) CyclesLeft() code.Cycles { return m.cycles }

// Enter counts one level of recursion of a native that a program can drive, and
// answers RecursionError at the limit. Every Enter that succeeds is followed by
// one Exit.
func (m *Machine) Enter() error {
	if m.depth >= m.rt.limits.RecursionDepth {
		return m.Raise(m.rt.classes.RecursionError, "maximum recursion depth exceeded")
	}
	m.depth++
	return nil
}

// Exit ends the level that Enter began.
func (m *Machine) Exit() { m.depth-- }

// Hold keeps v alive for the heap measurement until Release with what Hold
// returned. A native that keeps a value nowhere else while Python code runs
// holds it.
func (m *Machine) Hold(v Value) int {
	m.temp = append(m.temp, v)
	return len(m.temp) - 1
}

// Release drops everything held since the Hold that returned mark.
func (m *Machine) Release(mark int) {
	clear(m.temp[mark:])
	m.temp = m.temp[:mark]
}
