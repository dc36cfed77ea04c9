package query

import (
	"context"
	"net/netip"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// oldSenders recovers the senders of blocks that were stored without them, by older
// releases, for readers (ADR 68, ADR 114): of one block at a time, on one thread of low priority, so that no
// reader takes a core from the verification of proposals. Of each client only a
// few blocks wait.
type oldSenders struct {
	read func(context.Context, [][]byte) ([]*chain.VerifiedTx, error)
	turn chan struct{} // held by the block that is worked on

	mu      sync.Mutex // guards waiting
	waiting map[netip.Addr]int
}

// oldBlocksPerClient is how many blocks of one client are worked on or wait.
const oldBlocksPerClient = 2

func newOldSenders(read func(context.Context, [][]byte) ([]*chain.VerifiedTx, error)) *oldSenders {
	return &oldSenders{read: read, turn: make(chan struct{}, 1), waiting: map[netip.Addr]int{}}
}

// recover returns the transactions of a stored block with their senders. The error
// is [rpc.ErrBusy] for a client that has too many blocks waiting.
func (o *oldSenders) recover(ctx context.Context, bodies [][]byte) (txs []*chain.VerifiedTx, err error) {
	if len(bodies) == 0 {
		return nil, nil
	}
	client := rpc.ClientOf(ctx)
	if !o.enter(client) {
		return nil, rpc.ErrBusy
	}
	defer o.leave(client)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case o.turn <- struct{}{}:
	}
	err = gently(func() (err error) {
		defer func() { <-o.turn }()
		txs, err = o.read(ctx, bodies) // it ends soon after ctx
		return err
	})
	return txs, err
}

func (o *oldSenders) enter(client netip.Addr) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if client.IsValid() && o.waiting[client] >= oldBlocksPerClient {
		return false
	}
	o.waiting[client]++
	return true
}

func (o *oldSenders) leave(client netip.Addr) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting[client]--; o.waiting[client] == 0 {
		delete(o.waiting, client)
	}
}
