package boundary

import (
	"slices"
	"strings"
	"testing"
)

// TestCases runs every case once: a case that cannot be measured any more is no
// bar. What the worst of them take is for `make bench-exec` to say.
func TestCases(t *testing.T) {
	var all []Spent
	for _, cases := range [][]Case{CallCases(), InstructionCases(), DeliveryCases()} {
		g := ground(t, Config{})
		for i := range cases {
			s, err := g.Measure(&cases[i], *samples)
			if err != nil {
				t.Error(err)
				continue
			}
			if s.Used.Cycles == 0 && !strings.HasSuffix(s.Name, "-to-nobody") {
				t.Errorf("%s paid no cycles", s.Name)
			}
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b Spent) int {
		switch {
		case a.PerCycle() > b.PerCycle():
			return -1
		case a.PerCycle() < b.PerCycle():
			return 1
		}
		return 0
	})
	for i := range all {
		s := &all[i]
		t.Logf("%-12s %-26s %8.1f ns/cycle %9d cycles %7d cells %8.2f ms; beyond %8d bytes, %8.2f bytes/cell", s.Group, s.Name, s.PerCycle(), s.Used.Cycles, s.Used.Cells, float64(s.Time)/1e6, s.Kept.Beyond(), s.PerCell())
	}
}
