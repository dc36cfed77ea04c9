package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethdb"
	"github.com/ethereum/go-ethereum/ethdb/pebble"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/trie/trienode"
	"github.com/ethereum/go-ethereum/triedb"
	"github.com/ethereum/go-ethereum/triedb/pathdb"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// durableBars race a whole block's commit. Ours ends with a synced batch and
// survives a power cut; the peer's ends with a layer in memory above pebble and
// does not.
func durableBars() []bars.Bar {
	return []bars.Bar{{
		Name: "durable-commit-1m-10k", Peer: "go-ethereum pathdb layer on pebble, not durable", Must: 4, Aim: 6,
		Ops: 10_000, Iterations: 1, Setup: func() (bars.Contest, error) { return raceDurable(1_000_000, 10_000) },
	}}
}

// durable is our store with the writes of the next block.
type durable struct {
	store *store.Store
	delta *state.Delta
}

func newDurable(dir string, w *workload) (*durable, error) {
	s, err := store.Open(dir, store.DefaultOptions())
	if err != nil {
		return nil, fmt.Errorf("open our store: %w", err)
	}
	d := &durable{store: s}
	d.prepare(w, w.everyone())
	if err := s.Init(store.GenesisRecord{Hash: chain.Hash{1}, Delta: d.delta}); err != nil {
		return nil, errors.Join(fmt.Errorf("first state: %w", err), s.Close())
	}
	return d, nil
}

func (d *durable) prepare(w *workload, changed []int) { d.delta = w.delta(changed) }

func (d *durable) commit() error {
	next, err := d.store.Head().Apply(d.delta)
	if err != nil {
		return err
	}
	rec := store.BlockRecord{Height: next.Height()}
	binary.BigEndian.PutUint64(rec.Digest[:], uint64(rec.Height))
	return d.store.Commit(next, rec)
}

// layered is go-ethereum's path database with the accounts of the next block.
type layered struct {
	peer
	disk  ethdb.Database
	db    *triedb.Database
	block uint64
}

func newLayered(dir string, w *workload) (*layered, error) {
	kv, err := pebble.New(dir, 512, 1024, "", false)
	if err != nil {
		return nil, fmt.Errorf("open the peer's pebble: %w", err)
	}
	disk := rawdb.NewDatabase(kv)
	cfg := *pathdb.Defaults
	cfg.TrieCleanSize, cfg.SnapshotNoBuild = 512<<20, true
	l := &layered{disk: disk, db: triedb.NewDatabase(disk, &triedb.Config{PathDB: &cfg})}
	l.root = types.EmptyRootHash
	l.prepare(w, w.everyone())
	if err := l.commit(); err != nil {
		return nil, errors.Join(fmt.Errorf("peer's first state: %w", err), l.close())
	}
	return l, nil
}

// commit does what the peer does for each block: open the trie at the parent,
// update, hash, collect the changed nodes, stack them as a layer.
func (l *layered) commit() error {
	t, err := trie.NewStateTrie(trie.StateTrieID(l.root), l.db)
	if err != nil {
		return err
	}
	if err := t.UpdateAccountBatch(l.addresses, l.accounts, make([]int, len(l.accounts))); err != nil {
		return err
	}
	root, nodes := t.Commit(false)
	l.block++
	states := triedb.NewStateSet()
	for i, a := range l.accounts {
		slim := types.SlimAccountRLP(*a)
		states.Accounts[common.Hash(keccak.Sum256(l.addresses[i][:]))] = slim
		states.AccountsOrigin[l.addresses[i]] = slim // its values are not looked at before a rollback
	}
	if err := l.db.Update(root, l.root, l.block, trienode.NewWithNodeSet(nodes), states); err != nil {
		return err
	}
	l.root = root
	return nil
}

func (l *layered) close() error { return errors.Join(l.db.Close(), l.disk.Close()) }

func raceDurable(accounts, updates int) (c bars.Contest, err error) {
	dir, err := os.MkdirTemp("", "cowboy-bars-")
	if err != nil {
		return c, fmt.Errorf("folder: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir) // the first error says more
		}
	}()
	mine, theirs := newWorkload(accounts), newWorkload(accounts)
	d, err := newDurable(filepath.Join(dir, "ours"), mine)
	if err != nil {
		return c, err
	}
	l, err := newLayered(filepath.Join(dir, "peer"), theirs)
	if err != nil {
		return c, errors.Join(err, d.store.Close())
	}
	c = bars.Contest{
		Ours: bars.Side{
			Prepare: func(int) error { d.prepare(mine, mine.touch(updates)); return nil },
			Run:     func(int) error { return d.commit() },
		},
		Peer: bars.Side{
			Prepare: func(int) error { l.prepare(theirs, theirs.touch(updates)); return nil },
			Run:     func(int) error { return l.commit() },
		},
		Close: func() error { return errors.Join(d.store.Close(), l.close(), os.RemoveAll(dir)) },
	}
	err = errors.Join(c.Ours.Prepare(1), c.Peer.Prepare(1), c.Ours.Run(1), c.Peer.Run(1))
	if err == nil && d.store.Head().Root() != chain.Hash(l.root) {
		err = fmt.Errorf("roots differ: ours %s, peer %s", d.store.Head().Root(), l.root)
	}
	if err != nil {
		return bars.Contest{}, errors.Join(err, c.Close())
	}
	return c, nil
}
