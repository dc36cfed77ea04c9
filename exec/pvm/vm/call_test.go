package vm

import "testing"

// TestStrOfInt: the short cut of str(n) answers, charges and announces what the
// constructor does, and ends at the same depth.
func TestStrOfInt(t *testing.T) {
	rt, err := NewRuntime(DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	m := rt.NewMachine()
	type outcome struct {
		text          string
		failed        bool
		cycles, heap  int64
		depth, pinned int
	}
	ask := func(depth int, fn func(Value) (Value, error), n int64) (o outcome) {
		m.cycles, m.depth, m.heap.since = 1000, depth, 0
		v, err := fn(SmallInt(n))
		if err == nil {
			o.text = v.ref.self.(*Str).s
		}
		o.failed, o.cycles, o.heap, o.depth, o.pinned = err != nil, m.cycles, m.heap.since, m.depth, len(m.temp)
		return o
	}
	slow := func(v Value) (Value, error) { return m.callClass(rt.classes.str, Args{Values: []Value{v}}) }
	limit := rt.limits.RecursionDepth
	for _, n := range []int64{0, 7, 7, -1, 10, 123456789, -1 << 63, 1<<63 - 1} {
		for _, depth := range []int{0, limit - 2, limit - 1, limit} {
			_ = ask(0, slow, n) // strings of one character are made once
			got, want := ask(depth, m.strOfInt, n), ask(depth, slow, n)
			if got != want {
				t.Errorf("str(%d) at depth %d: %+v, by the constructor %+v", n, depth, got, want)
			}
		}
	}
}
