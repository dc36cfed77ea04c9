package rpctest

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
)

// This chain keeps no old states and no storage.

// AccountAt answers for the head only.
func (c *Chain) AccountAt(ctx context.Context, addr chain.Address, h chain.Height) (*rpc.Account, bool, error) {
	if h != c.Height() {
		return nil, false, rpc.ErrNoHistory
	}
	return c.Account(ctx, addr)
}

// StorageAt finds nothing, at the head only.
func (c *Chain) StorageAt(_ context.Context, _ chain.Address, _ state.StorageKey, h *chain.Height) (*rpc.StorageValue, error) {
	head := c.Height()
	if h != nil && *h != head {
		return nil, rpc.ErrNoHistory
	}
	return &rpc.StorageValue{Height: head}, c.Fault
}

// CodeAt finds empty code.
func (c *Chain) CodeAt(ctx context.Context, addr chain.Address, h *chain.Height) (*rpc.ActorCode, bool, error) {
	if h != nil && *h != c.Height() {
		return nil, false, rpc.ErrNoHistory
	}
	a, ok, err := c.Account(ctx, addr)
	if err != nil || !ok {
		return nil, false, err
	}
	return &rpc.ActorCode{Height: a.Height, Hash: a.CodeHash}, true, nil
}

// StoragePage returns an empty page with a proof that proves nothing.
func (c *Chain) StoragePage(ctx context.Context, q *rpc.StorageQuery) (*rpc.StoragePage, bool, error) {
	if q.Root != nil && *q.Root != state.EmptyRoot {
		return nil, false, rpc.ErrStorageMoved
	}
	d, ok, err := c.Prove(ctx, &light.Query{Kind: light.KindAccount, Accounts: []light.AccountQuery{{Address: q.Address}}})
	if err != nil || !ok {
		return nil, false, err
	}
	account := d.(*light.Account)
	return &rpc.StoragePage{Account: account, Root: state.EmptyRoot}, account.Exists, nil
}

// ReadHead reads a storage in which nothing is.
func (c *Chain) ReadHead(_ context.Context, read func(rpc.StorageReader, chain.Height) error) error {
	if c.Fault != nil {
		return c.Fault
	}
	return read(state.Empty{}, c.Height())
}
