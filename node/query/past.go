package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rent"
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// pastError names the store's reason in the API's words.
func pastError(err error) error {
	if errors.Is(err, store.ErrNoHistory) || errors.Is(err, store.ErrNotKept) {
		return rpc.ErrNoHistory
	}
	return err
}

// undoneBytes is what a look at the undo record of one block is billed as: sixteen of them
// cost a lookup.
const undoneBytes = 256

// payOf bills looks at undo records to the client of a request.
func payOf(ctx context.Context) func(blocks int) error {
	return func(blocks int) error { return rpc.Bill(ctx, undoneBytes*blocks) }
}

// accountAt is [Past.AccountAt] for a request.
func (s *Source) accountAt(ctx context.Context, h chain.Height, addr chain.Address) (state.Account, bool, error) {
	return s.cfg.Past.AccountAt(ctx, h, addr, payOf(ctx))
}

// AccountAt implements rpc.Accounts.
func (s *Source) AccountAt(ctx context.Context, addr chain.Address, h chain.Height) (*rpc.Account, bool, error) {
	a, ok, err := s.accountAt(ctx, h, addr)
	if err != nil || !ok {
		return nil, false, pastError(err)
	}
	spendable, err := fees.Spendable(a.Balance, a.Meta, h+1)
	if err != nil {
		return nil, false, fmt.Errorf("account %s at %d: %w", addr, h, err)
	}
	return &rpc.Account{
		Nonce: a.Nonce, Balance: a.Balance, Spendable: spendable, StorageRoot: a.StorageRoot, CodeHash: a.CodeHash,
		Height: h, PendingNext: a.Nonce,
	}, true, nil
}

// StorageAt implements rpc.Storage. Of an evicted storage there is nothing until it is
// restored: what is there is the claim of one who restores it.
func (s *Source) StorageAt(ctx context.Context, addr chain.Address, slot state.StorageKey, h *chain.Height) (*rpc.StorageValue, error) {
	if h == nil {
		v := new(rpc.StorageValue)
		return v, s.atHead(ctx, func(head *ledger.Executed) (err error) {
			v.Height = head.Height()
			v.Value, err = storageAwake(head.State, addr, slot)
			return err
		})
	}
	if !addr.IsSystem() { // those nobody evicts, and a job's candidates are thousands of their rows
		a, ok, err := s.accountAt(ctx, *h, addr)
		if err != nil {
			return nil, pastError(err)
		}
		if ok && rent.Dormant(&a) {
			return &rpc.StorageValue{Height: *h}, nil
		}
	}
	value, err := s.cfg.Past.StorageAt(ctx, *h, addr, slot, payOf(ctx))
	if err != nil {
		return nil, pastError(err)
	}
	return &rpc.StorageValue{Height: *h, Value: value}, nil
}

// storageAwake returns a value out of the storage of an account, nothing of a dormant
// one.
func storageAwake(v state.View, addr chain.Address, slot state.StorageKey) ([]byte, error) {
	if !addr.IsSystem() { // those nobody evicts
		if a, _, err := v.Account(addr); err != nil || rent.Dormant(&a) {
			return nil, err
		}
	}
	return v.Storage(addr, slot)
}

// ReadHead implements rpc.Storage.
func (s *Source) ReadHead(ctx context.Context, read func(v rpc.StorageReader, h chain.Height) error) error {
	return s.atHead(ctx, func(head *ledger.Executed) error { return read(head.State, head.Height()) })
}

// CodeAt implements rpc.Accounts. Code is kept under its hash and never removed.
func (s *Source) CodeAt(ctx context.Context, addr chain.Address, h *chain.Height) (c *rpc.ActorCode, ok bool, err error) {
	err = s.atHead(ctx, func(head *ledger.Executed) (err error) {
		c = &rpc.ActorCode{Height: head.Height()}
		var a state.Account
		if h == nil {
			a, ok, err = head.State.Account(addr)
		} else {
			c.Height = *h
			a, ok, err = s.accountAt(ctx, *h, addr)
		}
		if err != nil || !ok {
			return pastError(err)
		}
		c.Hash = a.CodeHash
		if c.Code, err = head.State.Code(a.CodeHash); err == nil {
			err = rpc.Bill(ctx, 64+len(c.Code)/8)
		}
		return err
	})
	return c, ok, err
}

// entryBytes is what an entry of a page of storage is billed as, beside a quarter of its
// bytes: to find one in the tries takes some ten microseconds.
const entryBytes = 128

// errPageFull ends the reading of a page.
var errPageFull = errors.New("page is full")

// StoragePage implements rpc.Storage. It holds the head still for as long as the
// page is read.
func (s *Source) StoragePage(ctx context.Context, q *rpc.StorageQuery) (page *rpc.StoragePage, ok bool, err error) {
	x, err := s.cfg.Past.Export()
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if x.Height() == 0 {
		return nil, false, noBlockYet()
	}
	page = &rpc.StoragePage{}
	if page.Account, err = s.exportedAccount(ctx, x, q.Address); err != nil || !page.Account.Exists {
		return nil, false, err
	}
	a, err := state.DecodeAccount(page.Account.Value)
	if err != nil {
		return nil, false, err
	}
	if page.Root = a.StorageRoot; q.Root != nil && *q.Root != page.Root {
		return nil, false, rpc.ErrStorageMoved
	}
	size := 0
	err = x.StorageFrom(ctx, tree.AccountKey(q.Address), q.From, func(key state.StorageKey, value []byte) error {
		size += len(key) + len(value)
		if n := len(page.Entries); n == q.EntriesMax || n > 0 && size > q.BytesMax {
			page.Next = key
			return errPageFull
		}
		if err := rpc.Bill(ctx, entryBytes+(len(key)+len(value))/4); err != nil {
			if len(page.Entries) == 0 {
				return err
			}
			page.Next = key // what there is was paid for
			return errPageFull
		}
		page.Entries = append(page.Entries, state.StorageChange{Key: key, Value: append([]byte{}, value...)})
		return nil
	})
	if err != nil && !errors.Is(err, errPageFull) {
		return nil, false, err
	}
	return page, true, nil
}

// headerOf returns the header of the block whose state is held still: mostly the head's.
func (s *Source) headerOf(ctx context.Context, x *store.Export) (*chain.Header, error) {
	if head := s.cfg.Chain.Head(); head.Digest == x.Digest() {
		return &head.Block.Header, nil
	}
	_, header, err := s.storedHeader(ctx, x.Height())
	if err == nil && header == nil {
		err = fmt.Errorf("block %d is not stored", x.Height())
	}
	return header, err
}

// exportedAccount proves an account in a state that is held still.
func (s *Source) exportedAccount(ctx context.Context, x *store.Export, addr chain.Address) (*light.Account, error) {
	header, err := s.headerOf(ctx, x)
	if err != nil {
		return nil, err
	}
	frame, err := s.frame(ctx, light.KindAccount, x.Digest(), header)
	if err != nil {
		return nil, err
	}
	key := tree.AccountKey(addr)
	nodes, err := x.ProveAccount(key)
	if err != nil {
		return nil, err
	}
	value, err := tree.VerifyProof(x.Root(), key[:], nodes)
	if err != nil {
		return nil, fmt.Errorf("own proof: %w", err)
	}
	return &light.Account{
		Frame: frame, Address: addr, StateRoot: x.Root(), Leaf: leafOf(key, store.Proof{Value: value, Nodes: nodes}),
	}, nil
}
