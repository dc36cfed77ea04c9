package boundary

import (
	"testing"
)

// TestCases runs every case once: a case that cannot be measured any more is no
// bar. What the worst of them take is for `make bench-exec` to say.
func TestCases(t *testing.T) {
	v, err := NewSurvey(100)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, err := range v.Failed {
		t.Error(err)
	}
	for range *samples - 1 {
		if err := v.Round(); err != nil {
			t.Error(err)
		}
	}
	all := v.Slowest()
	for i := range all {
		s := &all[i]
		if s.Used.Cycles == 0 {
			t.Errorf("%s paid no cycles", s.Name)
		}
		t.Logf("%-12s %-26s %8.1f ns/cycle %9d cycles %7d cells %8.2f ms; beyond %8d bytes, %8.2f bytes/cell", s.Group, s.Name, s.PerCycle(), s.Used.Cycles, s.Used.Cells, float64(s.Time)/1e6, s.Kept.Beyond(), s.PerCell())
	}
	took, err := v.WorstBlock()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the worst block that limits allow: %v", took)
}
