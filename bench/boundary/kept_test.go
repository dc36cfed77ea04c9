package boundary

import (
	"strings"
	"testing"
)

// TestCellsFollowBytes: nothing that a transaction, a call, an instruction or a
// delivery does makes all nodes keep more than two bytes for a cell.
func TestCellsFollowBytes(t *testing.T) {
	s, err := NewSurvey(10)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, err := range s.Failed {
		t.Error(err)
	}
	list := s.Thickest()
	var b strings.Builder
	KeptTable(&b, list, 20)
	t.Logf("%d cases:\n%s", len(list), b.String())
	if worst := &list[0]; worst.KeptPerCell() > 2 {
		t.Errorf("%s keeps %.2f bytes for a cell", worst.Name, worst.KeptPerCell())
	}
}
