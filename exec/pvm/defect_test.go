package pvm

import (
	"errors"
	"strings"
	"testing"
)

// TestADefectOfTheCompilerRefusesTheSource: a panic of the Go runtime is an error with
// its stack, any other panic goes on.
func TestADefectOfTheCompilerRefusesTheSource(t *testing.T) {
	var none []int
	_, err := guarded(func() (*Program, error) { none[3]++; return nil, nil })
	var d *FrontDefect
	if !errors.As(err, &d) || !strings.Contains(d.Panic, "out of range") || !strings.Contains(d.Stack, "defect_test") {
		t.Errorf("an index out of range: %v", err)
	}
	defer func() {
		if recover() != "a rule of ours" {
			t.Error("another panic does not go on")
		}
	}()
	_, _ = guarded(func() (*Program, error) { panic("a rule of ours") })
}
