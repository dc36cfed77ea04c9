package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// Export is the state of one finalized block, held still so that it can be read
// from end to end and proved while the chain goes on. One goroutine uses it.
//
// While it is open, no later version's memory is taken back: it should be closed
// within minutes. The store must not be closed before.
type Export struct {
	store    *Store
	snapshot *pebble.Snapshot
	version  *Version
	digest   chain.Hash
	kept     *kept
	done     func()
}

// Export holds the head still, once a commit under way has ended. Before Init it
// returns ErrNoGenesis.
func (s *Store) Export() (*Export, error) {
	if _, ok := s.Genesis(); !ok {
		return nil, ErrNoGenesis
	}
	done, err := s.use()
	if err != nil {
		return nil, err
	}
	x, err := s.export(done)
	if err != nil {
		done()
		return nil, fmt.Errorf("hold the head still: %w", err)
	}
	return x, nil
}

func (s *Store) export(done func()) (x *Export, err error) {
	if err := s.beginMove(); err != nil {
		return nil, err
	}
	defer s.endMove()
	snapshot := s.db.NewSnapshot()
	defer func() {
		if err != nil {
			err = errors.Join(err, snapshot.Close())
		}
	}()
	marker, err := getRow(snapshot, []byte(keyHead))
	if err != nil {
		return nil, err
	}
	if len(marker) != headLen {
		return nil, damaged("head marker of %d bytes", len(marker))
	}
	h, digest, root := readHead(marker)
	v := s.Head()
	if v.height != h || v.root != root {
		return nil, fmt.Errorf("%w: block %d is in doubt", ErrFailed, h) // its commit failed
	}
	k := v.place.Load().kept
	if !k.pin() {
		return nil, ErrStale // a Rebuild failed
	}
	return &Export{store: s, snapshot: snapshot, version: v, digest: digest, kept: k, done: done}, nil
}

// Height is the height of the block after which this is the state.
func (x *Export) Height() chain.Height { return x.version.height }

// Digest is the digest of that block; at height 0 the genesis hash.
func (x *Export) Digest() chain.Hash { return x.digest }

// Root is the state root.
func (x *Export) Root() chain.Hash { return x.version.root }

// Accounts calls f with the rows of accounts, ascending by key, until f returns
// an error, which it returns. f must not keep row.
func (x *Export) Accounts(f func(key chain.Hash, row []byte) error) (err error) {
	accounts, err := openRows(x.snapshot, tableAccounts)
	if err != nil {
		return err
	}
	defer func() { err = damage(errors.Join(err, accounts.close())) }()
	for ; accounts.valid(); accounts.next() {
		if len(accounts.key()) != hashLen {
			return damaged("account row under %x", accounts.key())
		}
		if err := f(chain.Hash(accounts.key()), accounts.value()); err != nil {
			return err
		}
	}
	return nil
}

// Storage calls f with the storage values of an account, ascending by storage
// key, not by its hash, until f returns an error, which it returns. f must not
// keep value.
func (x *Export) Storage(account chain.Hash, f func(key state.StorageKey, value []byte) error) error {
	return x.StorageFrom(context.Background(), account, "", f)
}

// Code returns the code with a hash.
func (x *Export) Code(hash chain.Hash) ([]byte, error) {
	code, err := getRow(x.snapshot, codeKey(hash))
	if err != nil {
		return nil, err
	}
	if code == nil || chain.Hash(keccak.Sum256(code)) != hash {
		return nil, damaged("code %s is missing or damaged", hash)
	}
	return code, nil
}

// ProveAccount proves what the state has under an account's key, or that there
// is nothing.
func (x *Export) ProveAccount(key chain.Hash) ([][]byte, error) {
	if err := x.kept.hold(); err != nil {
		return nil, err
	}
	defer x.kept.letGo()
	return x.version.made.forest.ProveAccount(x.version.image, key), nil
}

// ProveStorage proves what an account has under a slot's key, against its
// storage root.
func (x *Export) ProveStorage(account, slot chain.Hash) ([][]byte, error) {
	if err := x.kept.hold(); err != nil {
		return nil, err
	}
	defer x.kept.letGo()
	return x.version.made.forest.ProveStorage(x.version.image, account, slot), nil
}

// Lists calls f with the ordered lists that are kept beside the state, ascending
// by name, until f returns an error, which it returns. f must not keep list.
func (x *Export) Lists(f func(name chain.Hash, list []byte) error) (err error) {
	lists, err := openRows(x.snapshot, tableLists)
	if err != nil {
		return err
	}
	defer func() { err = damage(errors.Join(err, lists.close())) }()
	for ; lists.valid(); lists.next() {
		if len(lists.key()) != hashLen {
			return damaged("list under %x", lists.key())
		}
		if err := f(chain.Hash(lists.key()), lists.value()); err != nil {
			return err
		}
	}
	return nil
}

// Close lets go of the state. It may be called again.
func (x *Export) Close() error {
	if x.done == nil {
		return nil
	}
	x.kept.unpin()
	err := x.snapshot.Close()
	x.done()
	x.done = nil
	return damage(err)
}
