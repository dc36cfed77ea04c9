package query

import (
	"context"
	"errors"
	"time"

	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// A reader takes the newest head and then pins its state, so that it answers from one
// state however fast blocks come. The state can be released between taking the head and
// pinning it: enough blocks became final, or the tries were rebuilt for a block that was
// rejected here and is final. The reader then retries with the new head.
const (
	headTries = 5
	headPause = 50 * time.Millisecond // for a head to come, when there is no newer one
)

// atHead calls read with the finalized head, whose state stays readable
// meanwhile. It may call it again, with a newer one, after an error of the state
// that is gone. The error is then [rpc.ErrBusy].
func (s *Source) atHead(ctx context.Context, read func(head *ledger.Executed) error) error {
	for range headTries {
		next := s.hub.changed() // before looking, so that no block falls between
		head := s.cfg.Chain.Head()
		err := readAt(head, read)
		if !errors.Is(err, store.ErrStale) {
			return err
		}
		if s.cfg.Chain.Head() != head {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.hub.done:
			return rpc.ErrNotReady // the node stops
		case <-next:
		case <-time.After(headPause):
		}
	}
	return rpc.ErrBusy
}

func readAt(head *ledger.Executed, read func(*ledger.Executed) error) error {
	release, err := head.State.Keep()
	if err != nil {
		return err
	}
	defer release()
	return read(head)
}
