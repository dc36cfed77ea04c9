package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"
	"github.com/ethereum/go-ethereum/ethdb/pebble"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/snapshot"
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// importBars measure how long a node takes to make a state its own that comes in
// verified ranges, and race it against what go-ethereum does with the same
// ranges when it syncs by snapshot.
func importBars() []bars.Bar {
	return []bars.Bar{
		{Name: "range-import-1m", Gauge: rangeImport(1_000_000)},
		{
			Name: "range-import-1m-raced", Peer: "go-ethereum VerifyRangeProof, stack trie and snapshot rows on pebble", Must: 1, Aim: 2,
			Ops: 1_000_000, Iterations: 1, Setup: func() (bars.Contest, error) { return raceImport(1_000_000) },
		},
	}
}

// exported is a snapshot in a file, with a fresh folder for each import.
type exported struct {
	dir, file string
	root      chain.Hash
	next      int
}

// newExported writes a snapshot of a state of n accounts.
func newExported(n int) (e *exported, err error) {
	e = &exported{}
	if e.dir, err = os.MkdirTemp("", "cowboy-bars-"); err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	e.file = filepath.Join(e.dir, "file")
	if err := e.write(n); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *exported) write(n int) (err error) {
	d, err := newDurable(filepath.Join(e.dir, "source"), newWorkload(n))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.store.Close()) }()
	v, err := d.store.Head().Apply(nil)
	if err != nil {
		return err
	}
	block := &chain.Block{Header: chain.Header{
		Version: chain.HeaderVersion, Height: v.Height(), StateRoot: v.Root(), TxRoot: tree.ListRoot(nil),
		PresenceInput: chain.NewPresentSet(0).Encode(), ConsumedSeeds: chain.EncodeConsumedSeeds(nil),
	}}
	rec := store.BlockRecord{Height: v.Height(), Digest: block.Header.Digest(), Block: block.Encode(), Certificate: []byte("unsigned")}
	if err := d.store.Commit(v, rec); err != nil {
		return err
	}
	e.root = v.Root()
	file, err := os.Create(e.file)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	_, err = snapshot.Write(context.Background(), out, d.store, snapshot.WriteConfig{
		ChunkBytes:  checkpoint.DefaultChunkBytes,
		Certificate: func(b []byte) ([]byte, chain.Hash, error) { return b, chain.Hash{}, nil },
		Progress:    func(uint32, snapshot.Summary) {},
	})
	return errors.Join(err, out.Flush(), file.Close())
}

func (e *exported) close() error { return os.RemoveAll(e.dir) }

// fresh names a folder that is not there yet, and removes the one before.
func (e *exported) fresh() (string, error) {
	last := filepath.Join(e.dir, fmt.Sprint("import-", e.next))
	e.next++
	return filepath.Join(e.dir, fmt.Sprint("import-", e.next)), os.RemoveAll(last)
}

// take imports the snapshot: every range is verified, stored, and the whole root
// computed again; the end is synced. Only the certificate is left unchecked.
func (e *exported) take(dir string) error {
	file, err := os.Open(e.file)
	if err != nil {
		return err
	}
	trust := snapshot.Trust{
		Genesis: chain.Hash{1}, Live: checkpoint.NoJobs,
		Certify: func(*chain.Header, chain.Hash, *chain.Header, []byte) error { return nil },
	}
	_, err = snapshot.Import(context.Background(), bufio.NewReaderSize(file, 1<<20), dir, store.DefaultOptions(), trust, func(uint32, snapshot.Summary) {})
	return errors.Join(err, file.Close())
}

func rangeImport(accounts int) *bars.Gauge {
	var e *exported
	return &bars.Gauge{
		Unit: "seconds", Must: 15, Aim: 6,
		Measure: func(int) (float64, error) {
			if e == nil {
				var err error
				if e, err = newExported(accounts); err != nil {
					return 0, err
				}
			}
			dir, err := e.fresh()
			if err != nil {
				return 0, err
			}
			start := time.Now()
			err = e.take(dir)
			return time.Since(start).Seconds(), err
		},
		Close: func() error { return e.close() },
	}
}

// raceImport gives both sides the same file.
func raceImport(accounts int) (bars.Contest, error) {
	e, err := newExported(accounts)
	if err != nil {
		return bars.Contest{}, err
	}
	var dir string
	prepare := func(int) (err error) { dir, err = e.fresh(); return err }
	c := bars.Contest{
		Ours:  bars.Side{Prepare: prepare, Run: func(int) error { return e.take(dir) }},
		Peer:  bars.Side{Prepare: prepare, Run: func(int) error { return e.takeAsPeer(dir) }},
		Close: e.close,
	}
	return c, nil
}

// takeAsPeer does with each range what go-ethereum does in snap sync: verify it,
// write the accounts in slim form, and build the branches with a stack trie. As
// there, several ranges are worked on at a time.
func (e *exported) takeAsPeer(dir string) (err error) {
	kv, err := pebble.New(dir, 512, 1024, "", false)
	if err != nil {
		return err
	}
	disk := rawdb.NewDatabase(kv)
	defer func() { err = errors.Join(err, disk.Close()) }()
	file, err := os.Open(e.file)
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := checkpoint.NewReader(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		return err
	}
	var parts [16][]*checkpoint.Accounts // by first nibble: each has a trie of its own
	for {
		payload, err := r.Chunk()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		c, err := checkpoint.DecodeChunk(payload)
		if err != nil {
			return err
		}
		a := c.(*checkpoint.Accounts)
		nibble := a.Accounts[0].Key[0] >> 4
		parts[nibble] = append(parts[nibble], a)
	}
	work := make(chan []*checkpoint.Accounts, len(parts))
	for _, part := range parts {
		work <- part
	}
	close(work)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var crew sync.WaitGroup
	for i := range errs {
		crew.Go(func() {
			for part := range work {
				errs[i] = errors.Join(errs[i], e.takePart(disk, part))
			}
		})
	}
	crew.Wait()
	return errors.Join(append(errs, disk.SyncKeyValue())...)
}

func (e *exported) takePart(disk ethdb.Database, part []*checkpoint.Accounts) error {
	batch := disk.NewBatch()
	branches := trie.NewStackTrie(func(path []byte, _ common.Hash, blob []byte) {
		rawdb.WriteAccountTrieNode(batch, path, bytes.Clone(blob))
	})
	for _, c := range part {
		keys, values := make([][]byte, len(c.Accounts)), make([][]byte, len(c.Accounts))
		for i := range c.Accounts {
			keys[i], values[i] = c.Accounts[i].Key[:], c.Accounts[i].Row
		}
		proof := memorydb.New()
		for _, node := range c.Proof {
			if err := proof.Put(crypto.Keccak256(node), node); err != nil {
				return err
			}
		}
		if _, err := trie.VerifyRangeProof(common.Hash(e.root), c.From[:], keys, values, proof); err != nil {
			return err
		}
		for i := range keys {
			var account types.StateAccount
			if err := rlp.DecodeBytes(values[i], &account); err != nil {
				return err
			}
			rawdb.WriteAccountSnapshot(batch, common.Hash(keys[i]), types.SlimAccountRLP(account))
			if err := branches.Update(keys[i], values[i]); err != nil {
				return err
			}
		}
		if err := batch.Write(); err != nil {
			return err
		}
		batch.Reset()
	}
	branches.Hash()
	return batch.Write()
}
