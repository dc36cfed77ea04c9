package gate

import (
	"runtime"
)

// heap is what was allocated so far.
type heap struct{ objects, bytes uint64 }

func readHeap() heap {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return heap{m.Mallocs, m.TotalAlloc}
}

// heapOf returns what do allocated, in this process and meanwhile.
func heapOf(do func() error) (heap, error) {
	runtime.GC() // what pools give back at a collection is not measured by chance
	before := readHeap()
	err := do()
	after := readHeap()
	return heap{after.objects - before.objects, after.bytes - before.bytes}, err
}

// figure is the heap's share of an operation, as a kind counts it.
func (h heap) figure(k Kind, operations int) Figure {
	v := h.objects
	if k == Bytes {
		v = h.bytes
	}
	return Figure{Value: float64(v) / float64(max(operations, 1)), Operations: operations}
}

// wasted keeps planted garbage alive until the next, so that no compiler drops it.
type wasted struct{ last []byte }

// each makes garbage for every one of n operations.
func (w *wasted) each(n int) {
	for range n {
		for range plantedObjects {
			w.last = make([]byte, plantedBytes)
		}
	}
}

// What a planted slowdown allocates in each operation.
const (
	plantedObjects = 64
	plantedBytes   = 1024
)
