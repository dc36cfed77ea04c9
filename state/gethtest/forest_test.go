package gethtest

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	gethrlp "github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/holiman/uint256"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

var sequences = flag.Int("sequences", 12, "random sequences of TestForestRoots")

// contest is the same state three times: in forests of each number of workers,
// in the plain trie, and in go-ethereum's tries, which are kept from block to
// block as ours are.
type contest struct {
	t       *testing.T
	rng     *rand.Rand
	images  []*tree.Image
	forests []*tree.Forest
	plain   *world
	theirs  *trie.Trie
	storage map[chain.Address]*trie.Trie
	values  map[chain.Address]map[state.StorageKey][]byte
	writes  int
}

func newContest(t *testing.T, rng *rand.Rand) *contest {
	c := &contest{
		t: t, rng: rng, theirs: trie.NewEmpty(nil), storage: map[chain.Address]*trie.Trie{},
		values: map[chain.Address]map[state.StorageKey][]byte{},
		plain:  &world{nodes: nodes{}, accounts: map[chain.Address]state.Account{}, root: state.EmptyRoot, forest: tree.NewForest(1, nil)},
	}
	c.plain.image = c.plain.forest.EmptyImage()
	for _, workers := range []int{1, 2, 4, 16} {
		f := tree.NewForest(workers, nil)
		c.forests, c.images = append(c.forests, f), append(c.images, f.EmptyImage())
	}
	return c
}

// actorShapes are how many slots an actor writes in a block: few, some, and a
// whale, whose trie is split among the workers.
var actorShapes = []int{3, 60, 900}

// block draws the writes of a block and applies them everywhere.
func (c *contest) block() {
	d := state.NewDelta()
	touched := map[chain.Address]bool{}
	for range 1 + c.rng.IntN(4) {
		addr := chain.Address{byte(c.rng.IntN(12)), 1}
		touched[addr] = true
		switch c.rng.IntN(8) {
		case 0:
			d.DeleteAccount(addr)
			delete(c.values, addr)
			c.writes++
		case 1: // the storage in one step, as an eviction does, and the account stays
			d.DeleteAccount(addr)
			d.SetAccount(addr, state.Account{Nonce: 1, Balance: 7})
			delete(c.values, addr)
			c.writes += 2
		default:
			c.fill(d, addr, actorShapes[c.rng.IntN(len(actorShapes))])
		}
	}
	for range c.rng.IntN(500) {
		addr := chain.Address{byte(c.rng.IntN(256)), byte(c.rng.IntN(4)), 2}
		touched[addr] = true
		c.writes++
		d.SetAccount(addr, state.Account{Nonce: c.rng.Uint64N(2), Balance: chain.Wei(c.rng.Uint64() >> c.rng.IntN(65))})
	}
	c.plain.apply(c.t, d)
	for i, f := range c.forests {
		next, err := f.Apply(c.images[i], d)
		check(c.t, err)
		f.Retire(next)
		c.images[i] = next
		if next.Root != c.plain.root {
			c.t.Fatalf("forest %d: root %s, plain trie %s", i, next.Root, c.plain.root)
		}
	}
	for addr := range touched {
		c.copyAccount(addr)
	}
	if root := c.theirs.Hash(); chain.Hash(root) != c.plain.root {
		c.t.Fatalf("root %s, go-ethereum %s", c.plain.root, root)
	}
}

// fill writes slots of one actor, a third of them deletions.
func (c *contest) fill(d *state.Delta, addr chain.Address, slots int) {
	if c.values[addr] == nil {
		c.values[addr] = map[state.StorageKey][]byte{}
	}
	t := c.storage[addr]
	if t == nil || len(c.values[addr]) == 0 {
		t = trie.NewEmpty(nil)
	}
	c.storage[addr] = t
	for range slots {
		key := state.NewStorageKey(1, binary.AppendUvarint(nil, c.rng.Uint64N(uint64(2*slots))))
		value := [][]byte{nil, {}, {5}, bytes.Repeat([]byte{6}, 70), bytes.Repeat([]byte{7}, c.rng.IntN(60))}[c.rng.IntN(5)]
		d.SetStorage(addr, key, value)
		c.writes++
		slot := keccak.Sum256([]byte(key))
		if value == nil {
			delete(c.values[addr], key)
			check(c.t, t.Delete(slot[:]))
			continue
		}
		c.values[addr][key] = value
		leaf, err := gethrlp.EncodeToBytes(value)
		check(c.t, err)
		check(c.t, t.Update(slot[:], leaf))
	}
}

// copyAccount puts into go-ethereum's trie what became of an account, with the
// storage root and the size that the other side computed.
func (c *contest) copyAccount(addr chain.Address) {
	key := keccak.Sum256(addr[:])
	a, ok := c.plain.accounts[addr]
	if !ok {
		check(c.t, c.theirs.Delete(key[:]))
		return
	}
	root := common.Hash(state.EmptyRoot)
	if len(c.values[addr]) > 0 {
		root = c.storage[addr].Hash()
	}
	leaf, err := gethrlp.EncodeToBytes(&account{
		Nonce: a.Nonce, Balance: uint256.NewInt(uint64(a.Balance)), Root: root, CodeHash: a.CodeHash[:], Fifth: fifth(c.values[addr]),
	})
	check(c.t, err)
	check(c.t, c.theirs.Update(key[:], leaf))
}

// TestForestRoots runs random blocks of accounts coming and going, actors small
// and large, deletions and range deletions. After every block the roots of
// forests with 1, 2, 4 and 16 workers, of the plain trie and of go-ethereum must
// be the same. A longer run: -args -sequences=400. Rerun one case with
// -run 'TestForestRoots/seed=3'.
func TestForestRoots(t *testing.T) {
	writes := 0
	for seed := range uint64(*sequences) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			c := newContest(t, rand.New(rand.NewPCG(seed, 4)))
			for range 12 {
				c.block()
			}
			writes += c.writes
		})
	}
	t.Logf("%d sequences, %d operations on each side", *sequences, writes)
}

// FuzzForestRoots is TestForestRoots from two numbers.
func FuzzForestRoots(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		c := newContest(t, rand.New(rand.NewPCG(a, b)))
		for range 4 {
			c.block()
		}
	})
}

// badKey draws a key that no hash would yield: with a long common prefix, or
// divided in one nibble.
func badKey(rng *rand.Rand) (k chain.Hash) {
	switch rng.IntN(4) {
	case 0:
		at := rng.IntN(64)
		k[at/2] = byte(1+rng.IntN(15)) << (4 * (at % 2))
	case 1:
		k[30], k[31] = byte(rng.IntN(3)), byte(rng.IntN(256))
	case 2:
		for i := range k {
			k[i] = []byte{0x00, 0x01, 0x10}[rng.IntN(1+rng.IntN(3))]
		}
	default:
		k = keccak.Sum256([]byte{byte(rng.IntN(40))})
		if rng.IntN(2) == 0 {
			copy(k[:20], make([]byte, 20))
		}
	}
	return k
}

// TestForestOnAdversarialKeys puts accounts under chosen keys into forest and
// go-ethereum's trie, and takes them out again. (Chosen keys with values short
// enough to stand in their parents are compared forest to plain trie in
// state/tree, and plain trie to go-ethereum in TestTrieRoots.)
func TestForestOnAdversarialKeys(t *testing.T) {
	for seed := range uint64(*sequences) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			adversarial(t, rand.New(rand.NewPCG(seed, 6)))
		})
	}
}

func adversarial(t *testing.T, rng *rand.Rand) {
	theirs := trie.NewEmpty(nil)
	var images []*tree.Image
	var forests []*tree.Forest
	for _, workers := range []int{1, 2, 4, 16} {
		f := tree.NewForest(workers, nil)
		forests, images = append(forests, f), append(images, f.EmptyImage())
	}
	for round := range 30 {
		var part []tree.Loaded
		seen := map[chain.Hash]bool{}
		for range 1 + rng.IntN(300) {
			key := badKey(rng)
			if seen[key] {
				continue
			}
			seen[key] = true
			a := state.NewAccount()
			if rng.IntN(3) > 0 {
				a.Balance = chain.Wei(1 + rng.Uint64N(3))
			}
			part = append(part, tree.Loaded{Key: key, Account: a})
			if a.Empty() {
				check(t, theirs.Delete(key[:]))
			} else {
				check(t, theirs.Update(key[:], a.Encode()))
			}
		}
		want := theirs.Hash()
		for i, f := range forests {
			var err error
			images[i], err = f.Load(images[i], part)
			check(t, err)
			if images[i].Root != chain.Hash(want) {
				t.Fatalf("round %d, forest %d: root %s, go-ethereum %s", round, i, images[i].Root, want)
			}
		}
	}
}
