package query

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Submit implements rpc.Transactions. What the pool admits is kept over a restart.
func (s *Source) Submit(ctx context.Context, bodies [][]byte, into []rpc.Verdict) ([]rpc.Verdict, error) {
	return s.submit(ctx, nil, bodies, into, s.cfg.Keep)
}

// SubmitOnly implements rpc.Transactions.
func (s *Source) SubmitOnly(ctx context.Context, pass func(*chain.VerifiedTx) error, bodies [][]byte, into []rpc.Verdict) ([]rpc.Verdict, error) {
	return s.submit(ctx, pass, bodies, into, s.cfg.Keep)
}

// SubmitUnkept is [Source.Submit] for what the node itself sends: it is not kept over a
// restart, and is sent again where it is needed.
func (s *Source) SubmitUnkept(ctx context.Context, bodies [][]byte) ([]rpc.Verdict, error) {
	return s.submit(ctx, nil, bodies, nil, func(netip.Addr, []*chain.VerifiedTx) {})
}

// verdictRoom is the memory for the pipeline's verdicts on one submission, which a later
// one has when they were read.
type verdictRoom struct {
	list []sigverify.Verdict
	done chan []sigverify.Verdict // has room for the one answer
}

func (s *Source) verdictRoom() *verdictRoom {
	if room, ok := s.rooms.Get().(*verdictRoom); ok {
		return room
	}
	return &verdictRoom{done: make(chan []sigverify.Verdict, 1)}
}

// submit has the bodies judged, spreads those that guard passes and the pool admits, and
// hands them to keep, which must not block.
func (s *Source) submit(
	ctx context.Context, guard sigverify.Guard, bodies [][]byte, into []rpc.Verdict, keep func(netip.Addr, []*chain.VerifiedTx),
) ([]rpc.Verdict, error) {
	client, room := rpc.ClientOf(ctx), s.verdictRoom()
	err := s.cfg.Admission.SubmitOf(client, guard, bodies, room.list[:0], func(v []sigverify.Verdict) {
		txs := sigverify.Admitted(v)
		keep(client, txs)
		s.cfg.Spread(txs)
		room.done <- v
	})
	if err != nil {
		return nil, ingressError(err)
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err() // the verdicts are still to come: the room is not used again
	case room.list = <-room.done:
	}
	for i := range room.list {
		v := &room.list[i]
		verdict := verdictOf(v)
		switch verdict.Code {
		case rpc.CodeInternal:
			s.cfg.Log.Error("transaction not judged", "tx", v.Hash, "err", v.Err)
		case rpc.CodeNonceTooLow:
			verdict = s.orFinal(verdict)
		}
		into = append(into, verdict)
	}
	clear(room.list)
	s.rooms.Put(room)
	return into, nil
}

// orFinal is the verdict on a transaction whose nonce the chain has used: where the
// transaction itself has, it is final, and who lost the answer to an earlier submission is
// told so and where. It costs a look at the index.
func (s *Source) orFinal(v rpc.Verdict) rpc.Verdict {
	h, _, ok, err := s.cfg.Blocks.ReceiptLocation(v.Hash)
	if err != nil {
		s.cfg.Log.Error("index of receipts not read", "tx", v.Hash, "err", err)
	}
	if err != nil || !ok {
		return v
	}
	v.Code = rpc.CodeTxKnown
	v.Message = fmt.Sprintf("the transaction is already final, in block %d: its receipt says what it did", h)
	return v
}

// Wait implements rpc.Transactions.
func (s *Source) Wait(ctx context.Context, hashes []chain.Hash) error {
	left := append([]chain.Hash(nil), hashes...)
	for {
		next := s.hub.changed() // before looking, so that no block falls between
		waiting := left[:0]
		for _, hash := range left {
			_, _, ok, err := s.located(hash)
			if err != nil {
				return err
			}
			if !ok {
				waiting = append(waiting, hash)
			}
		}
		if left = waiting; len(left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.hub.done:
			return rpc.ErrNotReady // the node stops
		case <-next:
		}
	}
}

// Transaction implements rpc.Transactions.
func (s *Source) Transaction(ctx context.Context, hash chain.Hash) (*rpc.FoundTx, bool, error) {
	h, slot, ok, err := s.located(hash)
	if err != nil {
		return nil, false, err
	}
	if !ok {
		entry, found, err := s.cfg.Pool.Lookup(ctx, hash)
		if err != nil || !found {
			return nil, false, err
		}
		return &rpc.FoundTx{Tx: entry.Tx}, true, nil
	}
	b, ok, err := s.BlockByHeight(ctx, h)
	if err != nil {
		return nil, false, err
	}
	if ok && slot >= len(b.Txs) && slot-len(b.Txs) < len(b.Deliveries) {
		return nil, false, nil // a delivery has a receipt and is no transaction
	}
	if !ok || slot >= len(b.Txs) {
		return nil, false, fmt.Errorf("transaction %s is indexed at block %d, slot %d, where it is not", hash, h, slot)
	}
	return &rpc.FoundTx{Tx: b.Txs[slot], Final: true, Height: h, Slot: slot}, true, nil
}

// receiptBill bills a reader for a stored receipt, before it is read: it may be as large as a
// block, and who owes has none.
func receiptBill(ctx context.Context) func(bytes int) error {
	return func(bytes int) error { return rpc.Bill(ctx, 64+bytes) }
}

// Receipt implements rpc.Transactions.
func (s *Source) Receipt(ctx context.Context, hash chain.Hash) (*rpc.FoundReceipt, bool, error) {
	h, slot, ok, err := s.located(hash)
	if err != nil || !ok {
		return nil, false, err
	}
	raw, ok, err := s.cfg.Blocks.Receipt(h, slot, receiptBill(ctx))
	if err != nil {
		return nil, false, err
	}
	digest, found, err := s.cfg.Blocks.BlockDigest(h)
	if err != nil {
		return nil, false, err
	}
	if !ok || !found {
		return nil, false, fmt.Errorf("receipt of %s at block %d, slot %d is missing", hash, h, slot)
	}
	receipt, err := chain.DecodeReceipt(raw)
	if err != nil {
		return nil, false, fmt.Errorf("receipt of %s: %w", hash, err)
	}
	return &rpc.FoundReceipt{Receipt: receipt, Height: h, BlockHash: digest, Slot: slot}, true, nil
}

// PoolTx implements rpc.Transactions.
func (s *Source) PoolTx(ctx context.Context, hash chain.Hash) (*rpc.PoolTx, bool, error) {
	entry, ok, err := s.cfg.Pool.Lookup(ctx, hash)
	if err != nil {
		return nil, false, err
	}
	if ok {
		state := rpc.PoolPending
		if entry.State == lanes.WaitQueued {
			state = rpc.PoolQueued
		}
		return &rpc.PoolTx{Tx: entry.Tx, State: state}, true, nil
	}
	found, ok, err := s.Transaction(ctx, hash)
	if err != nil || !ok || !found.Final {
		return nil, false, err
	}
	return &rpc.PoolTx{Tx: found.Tx, State: rpc.PoolIncluded}, true, nil
}
