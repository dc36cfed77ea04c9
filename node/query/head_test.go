package query

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestReaderThatLosesItsHead begins again with the next head, a bounded number of
// times, and not for other errors.
func TestReaderThatLosesItsHead(t *testing.T) {
	db, err := store.Open(t.TempDir(), store.DefaultOptions())
	holds(t, err)
	defer db.Close()
	holds(t, db.Init(store.GenesisRecord{Hash: chain.Hash{0x9e}, Delta: state.NewDelta()}))
	source := &Source{cfg: Config{Chain: standing{&ledger.Executed{State: db.Head()}}}, hub: newHub()}
	tries := 0
	losing := func(times int, end error) func(*ledger.Executed) error {
		tries = 0
		return func(*ledger.Executed) error {
			if tries++; tries <= times {
				return store.ErrStale
			}
			return end
		}
	}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		read  func(*ledger.Executed) error
		want  error
		tries int
	}{
		"never":       {losing(0, nil), nil, 1},
		"twice":       {losing(2, nil), nil, 3},
		"always":      {losing(headTries, nil), rpc.ErrBusy, headTries},
		"other error": {losing(1, broken), broken, 2},
	} {
		tries = 0
		if err := source.atHead(t.Context(), c.read); !errors.Is(err, c.want) || tries != c.tries {
			t.Errorf("%s: %v after %d tries", name, err, tries)
		}
	}
}

// standing is a chain whose head stays.
type standing struct{ head *ledger.Executed }

func (c standing) Head() *ledger.Executed                  { return c.head }
func (c standing) NextInputs(*ledger.Executed) exec.Inputs { return exec.Inputs{} }
func (c standing) Advance(uint64) bool                     { return false }
