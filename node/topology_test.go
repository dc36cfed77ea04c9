package node

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// namedView is a state that is told from others only.
type namedView struct {
	state.View
	name string
}

// poolOf answers by the state that it is given.
type poolOf map[string]error

func (p poolOf) Finalized(_ context.Context, head lanes.FinalizedHead) error {
	return p[head.View.(namedView).name]
}

// TestAdvanceReadsTheNewestState: a node that lags behind its own finality by
// more versions than the store keeps goes on from the newest.
func TestAdvanceReadsTheNewestState(t *testing.T) {
	stale, broken := fmt.Errorf("read account: %w", store.ErrStale), errors.New("broken")
	for name, c := range map[string]struct {
		pool poolOf
		want error
	}{
		"kept":                    {poolOf{"newest": broken}, nil},
		"no longer kept":          {poolOf{"old": stale}, nil},
		"another fault":           {poolOf{"old": broken}, broken},
		"the newest is not there": {poolOf{"old": stale, "newest": stale}, store.ErrStale},
	} {
		err := advance(t.Context(), c.pool, lanes.FinalizedHead{View: namedView{name: "old"}}, func() state.View { return namedView{name: "newest"} })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
