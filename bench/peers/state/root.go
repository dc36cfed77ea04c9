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
	"github.com/cowboy-foundation/cowboy/state/tree"
)

const residentPeer = "go-ethereum trie (resident)"

// rootBars race the state root alone: from changed accounts to root, nothing
// written. The peer keeps every node as an object in memory; ours reads encoded
// nodes from a map, as it would from the store's cache.
func rootBars() []bars.Bar {
	list := []bars.Bar{
		{Name: "root-100k-10k", Must: 4, Aim: 6, Ops: 10_000, Setup: raceRoot(100_000, 10_000)},
		{Name: "root-100k-50k", Must: 4.5, Aim: 7, Ops: 50_000, Setup: raceRoot(100_000, 50_000)},
	}
	for i := range list {
		list[i].Peer, list[i].Iterations = residentPeer, 1
	}
	return append(list,
		bars.Bar{Name: "allocations-100k-10k", Gauge: allocations(100_000, 10_000)},
	)
}

// workload is the accounts of a state and the updates applied to them.
type workload struct {
	addresses []chain.Address
	balances  []chain.Wei
	nonces    []uint64
	rng       *rand.Rand
}

func newWorkload(accounts int) *workload {
	rng := rand.New(rand.NewPCG(4, uint64(accounts)))
	w := &workload{
		addresses: make([]chain.Address, accounts), balances: make([]chain.Wei, accounts),
		nonces: make([]uint64, accounts), rng: rng,
	}
	for i := range w.addresses {
		for k := range w.addresses[i] {
			w.addresses[i][k] = byte(rng.Uint32())
		}
		w.balances[i] = chain.Wei(rng.Uint64() >> 8)
	}
	return w
}

// touch changes n different accounts, as transfers do, and returns which.
func (w *workload) touch(n int) []int {
	picked := w.rng.Perm(len(w.addresses))[:n]
	for _, i := range picked {
		w.nonces[i]++
		w.balances[i] += chain.Wei(w.rng.Uint64N(1000))
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

// ours is a state whose nodes and accounts are in maps.
type ours struct {
	nodes    map[string][]byte
	accounts map[chain.Address]state.Account
	root     chain.Hash

	delta *state.Delta // to be applied by the next run
	done  *tree.Update // result of the last run, not stored yet
}

func newOurs() *ours {
	return &ours{nodes: map[string][]byte{}, accounts: map[chain.Address]state.Account{}, root: state.EmptyRoot}
}

// Node returns a stored node.
func (o *ours) Node(owner chain.Hash, path []byte) ([]byte, error) {
	var place [96]byte
	return o.nodes[string(append(append(place[:0], owner[:]...), path...))], nil
}

// Account returns a stored account.
func (o *ours) Account(addr chain.Address) (state.Account, bool, error) {
	a, ok := o.accounts[addr]
	if !ok {
		a = state.NewAccount()
	}
	return a, ok, nil
}

// prepare stores what the last run made and takes up the next changes.
func (o *ours) prepare(w *workload, changed []int) {
	if o.done != nil {
		for _, c := range o.done.Nodes {
			place := string(c.Owner[:]) + string(c.Path)
			if c.Node == nil {
				delete(o.nodes, place)
			} else {
				o.nodes[place] = c.Node
			}
		}
		for _, a := range o.done.Accounts {
			o.accounts[a.Address] = a.Account
		}
		o.root, o.done = o.done.Root, nil
	}
	o.delta = state.NewDelta()
	for _, i := range changed {
		a := state.NewAccount()
		a.Nonce, a.Balance = w.nonces[i], w.balances[i]
		o.delta.SetAccount(w.addresses[i], a)
	}
}

func (o *ours) apply() (err error) {
	o.done, err = tree.Apply(o, o.root, o.delta)
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

// build returns both states with the same accounts.
func build(accounts int) (*ours, *peer, error) {
	w, o := newWorkload(accounts), newOurs()
	p, err := newPeer()
	if err != nil {
		return nil, nil, err
	}
	o.prepare(w, w.everyone())
	p.prepare(w, w.everyone())
	if err := errors.Join(o.apply(), p.apply()); err != nil {
		return nil, nil, err
	}
	return o, p, agree(o, p)
}

func agree(o *ours, p *peer) error {
	if o.done.Root != chain.Hash(p.root) {
		return fmt.Errorf("roots differ: ours %s, peer %s", o.done.Root, p.root)
	}
	return nil
}

// raceRoot applies batches of updates. Each side has its own copy of the same
// sequence of batches, because the order of the rounds is a coin's.
func raceRoot(accounts, updates int) func() (bars.Contest, error) {
	return func() (bars.Contest, error) {
		o, p, err := build(accounts)
		if err != nil {
			return bars.Contest{}, err
		}
		mine, theirs := newWorkload(accounts), newWorkload(accounts)
		c := bars.Contest{
			Ours: bars.Side{
				Prepare: func(int) error { o.prepare(mine, mine.touch(updates)); return nil },
				Run:     func(int) error { return o.apply() },
			},
			Peer: bars.Side{
				Prepare: func(int) error { p.prepare(theirs, theirs.touch(updates)); return nil },
				Run:     func(int) error { return p.apply() },
			},
		}
		for range 2 { // the second batch works on what the first one left
			if err := errors.Join(c.Ours.Prepare(1), c.Peer.Prepare(1), c.Ours.Run(1), c.Peer.Run(1)); err != nil {
				return c, err
			}
			if err := agree(o, p); err != nil {
				return c, err
			}
		}
		return c, nil
	}
}
