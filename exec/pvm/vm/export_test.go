package vm

// Measure measures the heap now, between calls, and returns what is reachable.
func (m *Machine) Measure() int64 {
	m.cycles = 1 << 40
	m.measure()
	m.heap.queue = nil
	return m.heap.live
}
