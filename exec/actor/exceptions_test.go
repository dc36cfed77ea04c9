package actor

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// TestReasonsAreTold: each reason of a verdict has a code in receipts and an exception in
// programs.
func TestReasonsAreTold(t *testing.T) {
	for r := range verdict.Reasons {
		if chain.CodeMeaning(r.Code()) == "" || r.Code() == chain.CodeOK {
			t.Errorf("reason %d has the code %d", r, r.Code())
		}
		if exceptions[r] == "" {
			t.Errorf("reason %d has no exception", r)
		}
	}
}
