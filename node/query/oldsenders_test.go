package query

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// TestOldSendersTakeTurns: one block is worked on at a time; of one client two wait,
// a third is refused, and others wait beside them.
func TestOldSendersTakeTurns(t *testing.T) {
	working, release := make(chan struct{}), make(chan struct{})
	o := newOldSenders(func(context.Context, [][]byte) ([]*chain.VerifiedTx, error) {
		working <- struct{}{}
		<-release
		return []*chain.VerifiedTx{{}}, nil
	})
	block := [][]byte{{1}}
	greedy := rpc.WithClient(t.Context(), netip.MustParseAddr("10.0.0.1"))
	honest := rpc.WithClient(t.Context(), netip.MustParseAddr("10.0.0.2"))
	ended := make(chan error, 4)
	ask := func(ctx context.Context) {
		go func() {
			txs, err := o.recover(ctx, block)
			if err == nil && len(txs) != 1 {
				err = errors.New("no transactions")
			}
			ended <- err
		}()
	}
	ask(greedy)
	<-working
	ask(greedy)
	for waiting := 0; waiting < 2; { // until the second does
		o.mu.Lock()
		waiting = int(o.waiting[netip.MustParseAddr("10.0.0.1")])
		o.mu.Unlock()
	}
	if _, err := o.recover(greedy, block); !errors.Is(err, rpc.ErrBusy) {
		t.Errorf("a third block of one client: %v", err)
	}
	ask(honest)
	left, leave := context.WithCancel(honest)
	leave()
	if _, err := o.recover(left, block); !errors.Is(err, context.Canceled) {
		t.Errorf("one who left: %v", err)
	}
	if txs, err := o.recover(greedy, nil); txs != nil || err != nil {
		t.Errorf("an empty block: %v, %v", txs, err)
	}
	select {
	case <-working:
		t.Fatal("two blocks are worked on at a time")
	default:
	}
	release <- struct{}{}
	for range 2 {
		<-working
		release <- struct{}{}
	}
	for range 3 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if len(o.waiting) != 0 {
		t.Errorf("left behind: %v", o.waiting)
	}
}
