package main

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/triedb"
	"github.com/holiman/uint256"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

const residentPeer = "go-ethereum trie (resident)"

// rootBars race the state root alone: from changed accounts to root, nothing
// written, everything in memory on both sides. Half of a batch's accounts are
// new.
func rootBars() []bars.Bar {
	return []bars.Bar{
		{Name: "root-1m-10k", Peer: residentPeer, Must: 4, Aim: 6, Ops: 10_000, Iterations: 1, Setup: raceRoot(1_000_000, 10_000)},
		{Name: "root-1m-50k", Peer: residentPeer, Must: 4.5, Aim: 7, Ops: 50_000, Iterations: 1, Setup: raceRoot(1_000_000, 50_000)},
	}
}

// workload is the accounts of a state and the updates applied to them.
type workload struct {
	addresses []chain.Address
	balances  []chain.Wei
	nonces    []uint64
	rng       *rand.Rand
}

func newWorkload(accounts int) *workload {
	w := &workload{rng: rand.New(rand.NewPCG(4, uint64(accounts)))}
	for range accounts {
		w.add()
	}
	return w
}

// add makes a new account and returns its number.
func (w *workload) add() int {
	var addr chain.Address
	for k := range addr {
		addr[k] = byte(w.rng.Uint32())
	}
	w.addresses = append(w.addresses, addr)
	w.balances = append(w.balances, chain.Wei(w.rng.Uint64()>>8))
	w.nonces = append(w.nonces, 0)
	return len(w.addresses) - 1
}

// touch changes n different accounts, as transfers do, of which half are new,
// and returns which.
func (w *workload) touch(n int) []int {
	known := len(w.addresses)
	picked := make([]int, 0, n)
	taken := make(map[int]bool, n/2)
	for len(picked) < n/2 {
		i := w.rng.IntN(known)
		if taken[i] {
			continue
		}
		taken[i] = true
		w.nonces[i]++
		w.balances[i] += chain.Wei(w.rng.Uint64N(1000))
		picked = append(picked, i)
	}
	for len(picked) < n {
		picked = append(picked, w.add())
	}
	return picked
}

// everyone is all accounts, for building the state.
func (w *workload) everyone() []int {
	all := make([]int, len(w.addresses))
	for i := range all {
		all[i] = i
	}
	return all
}

// delta is the writes of a batch.
func (w *workload) delta(changed []int) *state.Delta {
	d := state.NewDelta()
	for _, i := range changed {
		a := state.NewAccount()
		a.Nonce, a.Balance = w.nonces[i], w.balances[i]
		d.SetAccount(w.addresses[i], a)
	}
	return d
}

// ours is a forest with the writes of the next block.
type ours struct {
	forest *tree.Forest
	image  *tree.Image
	delta  *state.Delta
	before *tree.Image // made by the last run, whose parent has not been retired
}

func newOurs(workers int) *ours {
	f := store.NewForest(workers)
	return &ours{forest: f, image: f.EmptyImage()}
}

// prepare takes back what only the last parent needed and takes up the next
// changes.
func (o *ours) prepare(delta *state.Delta) {
	if o.before != nil {
		o.forest.Retire(o.before)
		o.forest.ForgetRows(o.before)
		o.before = nil
	}
	o.delta = delta
}

func (o *ours) apply() (err error) {
	o.image, err = o.forest.Apply(o.image, o.delta)
	o.before = o.image
	return err
}

// peer is go-ethereum's secure trie, never committed, so that every node stays
// in memory.
type peer struct {
	trie      *trie.StateTrie
	addresses []common.Address
	accounts  []*types.StateAccount
	root      common.Hash
}

func newPeer() (*peer, error) {
	db := triedb.NewDatabase(rawdb.NewMemoryDatabase(), triedb.HashDefaults)
	t, err := trie.NewStateTrie(trie.StateTrieID(types.EmptyRootHash), db)
	if err != nil {
		return nil, fmt.Errorf("open peer's trie: %w", err)
	}
	return &peer{trie: t}, nil
}

func (p *peer) prepare(w *workload, changed []int) {
	p.addresses, p.accounts = p.addresses[:0], p.accounts[:0]
	for _, i := range changed {
		p.addresses = append(p.addresses, common.Address(w.addresses[i]))
		p.accounts = append(p.accounts, &types.StateAccount{
			Nonce: w.nonces[i], Balance: uint256.NewInt(uint64(w.balances[i])),
			Root: types.EmptyRootHash, CodeHash: types.EmptyCodeHash[:],
		})
	}
}

func (p *peer) apply() error {
	if err := p.trie.UpdateAccountBatch(p.addresses, p.accounts, make([]int, len(p.accounts))); err != nil {
		return err
	}
	p.root = p.trie.Hash()
	return nil
}

func agree(o *ours, p *peer) error {
	if o.image.Root != chain.Hash(p.root) {
		return fmt.Errorf("roots differ: ours %s, peer %s", o.image.Root, p.root)
	}
	return nil
}

// raceRoot applies batches of updates. Each side has its own copy of the same
// sequence of batches, because the order of the rounds is a coin's.
func raceRoot(accounts, updates int) func() (bars.Contest, error) {
	return func() (bars.Contest, error) {
		mine, theirs := newWorkload(accounts), newWorkload(accounts)
		o := newOurs(maxWorkers)
		p, err := newPeer()
		if err != nil {
			return bars.Contest{}, err
		}
		o.prepare(mine.delta(mine.everyone()))
		p.prepare(theirs, theirs.everyone())
		if err := errors.Join(o.apply(), p.apply(), agree(o, p)); err != nil {
			return bars.Contest{}, err
		}
		c := bars.Contest{
			Ours: bars.Side{
				Prepare: func(int) error { o.prepare(mine.delta(mine.touch(updates))); return nil },
				Run:     func(int) error { return o.apply() },
			},
			Peer: bars.Side{
				Prepare: func(int) error { p.prepare(theirs, theirs.touch(updates)); return nil },
				Run:     func(int) error { return p.apply() },
			},
		}
		for range 2 { // the second batch works on what the first one left
			if err := errors.Join(c.Ours.Prepare(1), c.Peer.Prepare(1), c.Ours.Run(1), c.Peer.Run(1), agree(o, p)); err != nil {
				return c, err
			}
		}
		return c, nil
	}
}
