package vm

import (
	"slices"
	"testing"
)

// TestSortComparesAsTheOperator: the short cuts of sorting answer and cost what
// the operator does, beside the price of a comparison.
func TestSortComparesAsTheOperator(t *testing.T) {
	rt, err := NewRuntime(DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	m := rt.NewMachine()
	texts := []Value{None, None, None, None, None, None, None}
	for i, s := range []string{"", "a", "ab", "b", "é", "e\u0301", "ź longer"} {
		str := m.newStr(s)
		nfcText(str) // who asks first pays for it
		texts[i] = str.val()
	}
	numbers := []Value{SmallInt(-1 << 63), SmallInt(-1), SmallInt(0), SmallInt(7), SmallInt(1<<63 - 1)}
	for _, group := range [][]Value{texts, numbers, slices.Concat(numbers, []Value{True, FloatBits(0x3ff8000000000000)})} {
		s := &sorter{m: m, ints: smallInts(group)}
		for i := range group {
			for j := range group {
				m.cycles = 1000
				got, err := s.less(&group[i], &group[j])
				paid := 1000 - m.cycles
				m.cycles = 1000
				v, err2 := m.Compare(CompareLt, group[i], group[j])
				if err != nil || err2 != nil || Bool(got) != v || paid != 1000-m.cycles+m.dyn.Compare {
					t.Errorf("%d < %d: %v for %d cycles, the operator %v for %d", i, j, got, paid, v, 1000-m.cycles)
				}
			}
		}
	}
}
