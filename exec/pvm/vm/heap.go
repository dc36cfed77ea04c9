//spec:implements whitepaper 3.2

package vm

// The heap: modelled bytes, not Go's. heap.go counts what is announced, heap_trace.go
// measures what is reachable; both are functions of the program alone, so that memory
// runs out at the same instruction everywhere.

// heap is the account of modelled memory (resolution 11.38): natives announce
// what they allocate, and when enough was announced since the last measurement
// the machine measures what is reachable, at the next instruction boundary. All
// of it is a function of announced and modelled sizes, so it happens at the
// same instruction on every node.
type heap struct {
	limit     int64 // of live, for this call
	live      int64 // reachable at the last measurement
	since     int64 // announced after it
	threshold int64 // of since, at which the next one is due
	peak      int64
	epoch     uint8
	stash     int64 // cycles put aside so that the interpreter stops at the next boundary
	due       bool
	queue     []Value // of the measurement, kept for the next
}

// Fractions of the limit. Between two measurements a program may exceed the
// limit by at most heapSlack of it; within one native, which has no boundary,
// garbage included, by heapBurst times.
const (
	heapSlack = 8
	heapBurst = 4
)

// largeBytes is from where on an allocation has a price of its own: smaller ones are
// within that of the instruction or the native that makes them.
const largeBytes = 1 << 10

// LimitHeap gives the call that follows another limit of memory than the runtime's.
// It holds until [Machine.Reset].
func (m *Machine) LimitHeap(bytes int64) { m.heap.limit, m.heap.threshold = bytes, bytes }

// Alloc announces bytes of modelled memory about to be allocated. It ends the
// call when a single request is beyond the limit. One of largeBytes or more is
// charged, whatever it is for: what fills memory takes time, so that nothing large
// is made for the price of an instruction (ADR 141).
func (m *Machine) Alloc(bytes int) {
	m.heap.since += int64(bytes)
	if m.heap.since > m.heap.threshold || uint(bytes) >= largeBytes {
		m.allocSlow(bytes)
	}
}

// AllocBytes is Alloc for a number that a program chose: on a machine of 32 bits
// it may be no int.
func (m *Machine) AllocBytes(n int64) {
	if n > m.heap.limit {
		n = -1 // past the limit: this aborts
	}
	m.Alloc(int(n))
}

func (m *Machine) allocSlow(bytes int) {
	limit := m.heap.limit
	if bytes < 0 || int64(bytes) > limit || m.heap.since > heapBurst*limit {
		panic(&Abort{Code: OutOfMemory})
	}
	if bytes >= largeBytes {
		m.ChargeEach(bytes/int(m.Work().RoomBytes), m.dyn.Char)
	}
	if m.heap.since > m.heap.threshold && !m.heap.due {
		m.heap.due = true
		m.putAside()
	}
}

// putAside stashes the cycles aside, so that the interpreter comes to boundary before
// the next instruction.
func (m *Machine) putAside() {
	m.heap.stash += m.cycles
	m.cycles = 0
}

// chargeStash is Charge while cycles are put aside.
func (m *Machine) chargeStash(n int64) {
	if !m.heap.due && m.profile == nil || n < 0 || n > m.cycles+m.heap.stash {
		m.cycles, m.heap.stash = 0, 0
		panic(&Abort{Code: OutOfCycles})
	}
	m.heap.stash += m.cycles - n
	m.cycles = 0
}

// boundary runs between two instructions when the cycles at hand do not suffice
// for the next: either a measurement is due, or the end has come, or somebody
// wants to know where they go.
func (m *Machine) boundary(cost int64) {
	if m.profile != nil {
		m.profile.chargeLine(m)
	}
	if m.heap.due {
		m.heap.due = false
		m.cycles += m.heap.stash
		m.heap.stash = 0
		m.measure()
	}
	if m.profile != nil {
		m.putAside()
	}
	m.Charge(cost)
}

// HeapPeak returns the most modelled bytes that were reachable at a measurement,
// or what was announced when there was none: at most the limit, beyond which is what was
// refused, and garbage between two instructions.
func (m *Machine) HeapPeak() int64 {
	if m.heap.peak == 0 {
		return min(m.heap.since, m.heap.limit)
	}
	return min(m.heap.peak, m.heap.limit)
}
