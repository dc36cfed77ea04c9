package tools_test

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/node/tools"
)

// A key that was dealt has a memory from the start, and a full node needs none.
func TestDealtKeysHaveAWatermark(t *testing.T) {
	dir := t.TempDir()
	if _, err := setup.Deal(dir, setup.DealOptions{Validators: 4, FullNodes: 1}); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if mark, err := tools.GuardVotes(datadir.DealtFolder(dir, i)); err != nil || mark != (simplex.Watermark{}) {
			t.Errorf("validator %d: %+v, %v", i, mark, err)
		}
	}
	if _, err := tools.GuardVotes(datadir.FullNodeFolder(dir, 0)); !errors.Is(err, tools.ErrFollows) {
		t.Errorf("full node: %v, want %v", err, tools.ErrFollows)
	}
}

// TestReopenedIsSaid: the operator reads what was done, and no view below the head is
// said to have been closed.
func TestReopenedIsSaid(t *testing.T) {
	for _, c := range []struct {
		done tools.Reopened
		want string
	}{
		{tools.Reopened{Closed: 9, Head: 7}, "the key may speak again above view 7, of the newest final block; it was closed up to view 9"},
		{tools.Reopened{Closed: 9, Head: 7, Begun: true}, "votes.journal was missing and is begun anew; the key may speak again above view 7, of the newest final block; it was closed up to view 9"},
		{tools.Reopened{Closed: 7, Head: 7, Begun: true}, "votes.journal was missing and is begun anew; no view is closed: the key signed nothing above view 7, of the newest final block"},
	} {
		if got := c.done.String(); got != c.want {
			t.Errorf("%+v is said as %q, want %q", c.done, got, c.want)
		}
	}
}
