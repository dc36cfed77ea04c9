package query

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// Rent implements rpc.Accounts.
func (s *Source) Rent(ctx context.Context, addr chain.Address) (r *rpc.Rent, ok bool, err error) {
	err = s.atHead(ctx, func(head *ledger.Executed) (err error) {
		r, ok, err = rentAt(head, addr)
		return err
	})
	return r, ok, err
}

// rentAt returns how an account stands at one head.
func rentAt(head *ledger.Executed, addr chain.Address) (*rpc.Rent, bool, error) {
	account, ok, err := head.State.Account(addr)
	if err != nil || !ok {
		return nil, false, err
	}
	p := head.Force.Params
	b := &rent.Block{State: state.NewOverlay(head.State), Params: p, Height: head.Height()}
	st, err := b.Status(addr)
	if err != nil {
		return nil, false, err
	}
	out := &rpc.Rent{
		Height: head.Height(), State: st.State.String(), Epoch: uint64(head.Height()) / p.EpochBlocks,
		PaidThrough: st.PaidThrough, Prepaid: st.Prepaid, PrepaidWei: st.PrepaidWei, PerEpoch: st.PerEpoch,
		Owed: st.Owed, Reserve: st.Reserve, Bytes: st.Bytes, Quota: st.Quota, Bond: st.Bond, EvictionAt: st.EvictionAt,
	}
	if stored.Dormant(&account) {
		out.Evicted, err = evictedOf(b, addr, &account)
	}
	return out, true, err
}

// evictedOf reads the record of an evicted storage.
func evictedOf(b *rent.Block, addr chain.Address, account *state.Account) (*rpc.EvictedStorage, error) {
	rec, err := stored.RecordOf(b.State, addr)
	if err != nil {
		return nil, err
	}
	cost, err := b.RestoreCost(addr)
	if err != nil {
		return nil, err
	}
	bond, err := b.BondOf(addr)
	if err != nil {
		return nil, err
	}
	out := &rpc.EvictedStorage{Root: rec.Root, Bytes: rec.Size.Bytes, Entries: rec.Size.Entries, Cost: cost, Bond: bond}
	if p := rec.Restoring; p != nil {
		s, err := rent.StakeOf(b.State, addr)
		if err != nil {
			return nil, err
		}
		out.Restoring = &rpc.Restoration{
			By: p.By, Deadline: p.Deadline, Lapses: min(p.Deadline, s.Moved+chain.Height(b.Params.Rent.RestoreIdleBlocks)),
			Bond: s.Bond, Bytes: account.StorageSize.Bytes, Cursor: p.Cursor,
		}
	}
	return out, nil
}
