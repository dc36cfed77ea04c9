package query

import (
	"context"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// emissionsAtOnce is how many rows of the index of events are read at a time.
const emissionsAtOnce = 64

// Logs implements rpc.Events. It reads the receipts that the store's index names,
// each of which has an event of the emitter.
func (s *Source) Logs(ctx context.Context, q *rpc.LogQuery) (*rpc.LogPage, error) {
	w := logWalk{ctx: ctx, blocks: s.cfg.Blocks, q: q}
	in := store.Stretch{From: q.From, To: q.To, OldestFirst: q.OldestFirst}
	if q.After != nil && q.OldestFirst {
		in.From = max(in.From, q.After.Height)
	} else if q.After != nil {
		in.To = min(in.To, q.After.Height)
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list, err := s.cfg.Blocks.Emissions(q.Emitter, in, emissionsAtOnce)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if err := w.visitBlock(e); err != nil || w.full {
				return &w.page, err
			}
		}
		if len(list) < emissionsAtOnce {
			return &w.page, nil
		}
		if last := list[len(list)-1].Height; q.OldestFirst {
			in.From = last + 1
		} else {
			in.To = last - 1
		}
	}
}

// logWalk is a page of events under way.
type logWalk struct {
	ctx    context.Context
	blocks Blocks
	q      *rpc.LogQuery
	page   rpc.LogPage
	bytes  int // of receipts read
	full   bool
}

// visitBlock takes the events of one block, in order, behind the query's place.
func (w *logWalk) visitBlock(e store.Emission) error {
	digest, ok, err := w.blocks.BlockDigest(e.Height)
	if err == nil && !ok {
		err = fmt.Errorf("block %d has events and is not stored", e.Height)
	}
	if err != nil {
		return err
	}
	for _, slot := range e.Slots {
		at := rpc.LogPlace{Height: e.Height, Slot: slot}
		if w.q.After != nil && at.Height == w.q.After.Height && slot < w.q.After.Slot {
			continue
		}
		if w.bytes > w.q.BytesMax && len(w.page.Logs) > 0 {
			w.end()
			return nil
		}
		if err := w.receipt(at, digest); err != nil || w.full {
			return err
		}
	}
	return nil
}

func (w *logWalk) receipt(at rpc.LogPlace, digest chain.Hash) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	var owed error
	raw, ok, err := w.blocks.Receipt(at.Height, at.Slot, func(bytes int) error {
		owed = receiptBill(w.ctx)(bytes)
		return owed
	})
	if owed != nil {
		if len(w.page.Logs) == 0 {
			return owed
		}
		w.end() // what there is was paid for
		return nil
	}
	if err == nil && !ok {
		err = fmt.Errorf("receipt %d of block %d has events and is not stored", at.Slot, at.Height)
	}
	if err != nil {
		return err
	}
	w.bytes += len(raw)
	r, err := chain.DecodeReceipt(raw)
	if err != nil {
		return fmt.Errorf("receipt %d of block %d: %w", at.Slot, at.Height, err)
	}
	for i := range r.Events {
		if r.Events[i].Emitter != w.q.Emitter {
			continue
		}
		if at.Index = i; w.q.After != nil && at.Height == w.q.After.Height && at.Slot == w.q.After.Slot && i <= w.q.After.Index {
			continue
		}
		if len(w.page.Logs) == w.q.Events {
			w.end()
			return nil
		}
		w.page.Logs = append(w.page.Logs, rpc.Log{Event: r.Events[i], LogPlace: at, BlockHash: digest, TxHash: r.TxHash})
	}
	return nil
}

// end says that there is more behind the last event.
func (w *logWalk) end() {
	w.full, w.page.Next = true, &w.page.Logs[len(w.page.Logs)-1].LogPlace
}
