package gate

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// coreBenches measure the parts that a block's speed rests on, each beside the plain way.
func coreBenches() []Bench {
	hashing, recovering := "", ""
	if !cpu.Chosen().AVX2 {
		hashing = "this processor has no AVX2, or COWBOY_CPU forbids it"
	}
	if !cpu.Chosen().AVX512IFMA {
		recovering = "this processor has no AVX-512 IFMA, or COWBOY_CPU forbids it"
	}
	return []Bench{
		{Name: "pairings-quorum", Kind: Counter, Measure: pairings(0)},
		{Name: "pairings-quorum-one-bad", Kind: Counter, Measure: pairings(1)},
		{Name: "ratio-votes-together", Kind: Ratio, Measure: votesTogether},
		{Name: "ratio-hashes-together", Kind: Ratio, Absent: hashing, Measure: hashesTogether},
		{Name: "ratio-senders-together", Kind: Ratio, Absent: recovering, Measure: sendersTogether},
		{Name: "ratio-state-root", Kind: Ratio, Measure: stateRoot},
		{Name: "ratio-list-root", Kind: Ratio, Absent: hashing, Measure: listRoot},
	}
}

// quorum is 67 votes of 100 validators, of which some are bad.
type quorum struct {
	message *bls.Message
	keys    []*bls.PublicKey
	sigs    []bls.Signature
}

// The committee of CIP-11's examples.
const (
	quorumVotes = 67
	quorumWhole = 100
)

func newQuorum(bad int) (*quorum, error) {
	ns, msg := []byte("cowboy-bench gate"), []byte("a block")
	q := &quorum{message: bls.HashToPoint(ns, msg)}
	for i := range quorumVotes {
		seed := keccak.Sum256([]byte("gate"), binary.BigEndian.AppendUint32(nil, uint32(i)))
		key, err := bls.NewSecretKey(seed[:])
		if err != nil {
			return nil, fmt.Errorf("key of a vote: %w", err)
		}
		signed := msg
		if i < bad {
			signed = []byte("another block")
		}
		q.keys, q.sigs = append(q.keys, key.PublicKey().Expand()), append(q.sigs, key.Sign(ns, signed))
	}
	return q, nil
}

// check checks the votes and returns the products of pairings that it took.
func (q *quorum) check(policy bls.Policy, bad int) (products int, err error) {
	_, found := bls.VerifyVotes(q.message, q.keys, q.sigs, bls.Options{Weights: rand.Reader, Policy: policy, Products: &products})
	if len(found) != bad {
		return products, fmt.Errorf("%d of %d votes are bad, want %d", len(found), len(q.sigs), bad)
	}
	return products, nil
}

// pairings counts products of two pairings for one quorum. A planted slowdown checks vote
// by vote.
func pairings(bad int) func(context.Context, *Ground) (Figure, error) {
	return func(context.Context, *Ground) (Figure, error) {
		q, err := newQuorum(bad)
		if err != nil {
			return Figure{}, err
		}
		policy := bls.Bounded
		if planted {
			policy = bls.Eager
		}
		products, err := q.check(policy, bad)
		return Figure{Value: float64(products), Operations: 1}, err
	}
}

func votesTogether(context.Context, *Ground) (Figure, error) {
	q, err := newQuorum(0)
	if err != nil {
		return Figure{}, err
	}
	check := func(p bls.Policy) func() error {
		return func() error { _, err := q.check(p, 0); return err }
	}
	return race(check(bls.Bounded), check(bls.Eager))
}

// hashesMany is how many messages of a branch's size are hashed.
const hashesMany = 4096

func hashesTogether(context.Context, *Ground) (Figure, error) {
	msgs, sums := make([][]byte, hashesMany), make([][keccak.Size]byte, hashesMany)
	for i := range msgs {
		msgs[i] = binary.BigEndian.AppendUint32(make([]byte, 200), uint32(i))
	}
	together := func() error { keccak.SumMany(msgs, sums); return nil }
	alone := func() error {
		for i := range msgs {
			sums[i] = keccak.Sum256(msgs[i])
		}
		return nil
	}
	return race(together, alone)
}

// sendersMany is how many signatures are recovered.
const sendersMany = 256

func sendersTogether(context.Context, *Ground) (Figure, error) {
	secret := keccak.Sum256([]byte("gate"))
	key, err := secp256k1.ParsePrivateKey(secret[:])
	if err != nil {
		return Figure{}, fmt.Errorf("key of a sender: %w", err)
	}
	hashes, sigs := make([][32]byte, sendersMany), make([]secp256k1.Signature, sendersMany)
	for i := range hashes {
		hashes[i] = keccak.Sum256(binary.BigEndian.AppendUint32(nil, uint32(i)))
		sigs[i] = key.Sign(hashes[i])
	}
	out := make([]secp256k1.Recovered, sendersMany)
	together := func() error { secp256k1.RecoverMany(hashes, sigs, out); return nil }
	alone := func() error {
		for i := range hashes {
			if _, err := secp256k1.Recover(hashes[i], sigs[i]); err != nil {
				return fmt.Errorf("recover: %w", err)
			}
		}
		return nil
	}
	return race(together, alone)
}

// How many accounts a root has, and how many a block writes.
const (
	rootAccounts = 20_000
	rootWrites   = 1000
)

// stateRoot holds the resident tries to the plain one, on the same writes.
func stateRoot(context.Context, *Ground) (Figure, error) {
	write := func(n int, balance uint64) *state.Delta {
		d := state.NewDelta()
		for i := range n {
			a := state.NewAccount()
			a.Nonce, a.Balance = 1, chain.Wei(balance)
			d.SetAccount(addressOf(i), a)
		}
		return d
	}
	forest, plain := tree.NewForest(1, nil), &plainTrie{nodes: map[string][]byte{}, root: tree.EmptyRoot}
	image, err := forest.Apply(forest.EmptyImage(), write(rootAccounts, 1))
	if err != nil {
		return Figure{}, fmt.Errorf("resident tries: %w", err)
	}
	if err := plain.write(write(rootAccounts, 1)); err != nil {
		return Figure{}, fmt.Errorf("plain trie: %w", err)
	}
	var delta *state.Delta
	var root chain.Hash
	balance := uint64(1)
	resident := func() error {
		balance++
		delta = write(rootWrites, balance)
		next, err := forest.Apply(image, delta)
		if err == nil {
			root = next.Root
			forest.Release(next)
		}
		return err
	}
	simple := func() error {
		if err := plain.write(delta); err != nil {
			return err
		}
		if plain.root != root {
			return fmt.Errorf("roots differ: %s and %s", plain.root, root)
		}
		return nil
	}
	return race(resident, simple)
}

// plainTrie is a trie of accounts whose nodes are in a map.
type plainTrie struct {
	nodes map[string][]byte // by path
	root  chain.Hash
}

// Node is that of [tree.Nodes].
func (p *plainTrie) Node(_ chain.Hash, path []byte) ([]byte, error) {
	return p.nodes[string(path)], nil
}

func (p *plainTrie) write(d *state.Delta) error {
	t := tree.NewTrie(p, chain.Hash{}, p.root)
	for _, c := range d.Accounts() {
		key := tree.AccountKey(c.Address)
		if err := t.Put(key[:], c.Account.Encode()); err != nil {
			return fmt.Errorf("put: %w", err)
		}
	}
	root, changes := t.Commit()
	for _, c := range changes {
		p.nodes[string(c.Path)] = c.Node // nil where the node is gone: no root refers to it
	}
	p.root = root
	return nil
}

func addressOf(i int) chain.Address {
	sum := keccak.Sum256(binary.BigEndian.AppendUint32(nil, uint32(i)))
	return chain.Address(sum[:20])
}

// listItems is the length of a list whose root is made.
const listItems = 2000

func listRoot(context.Context, *Ground) (Figure, error) {
	items := make([][]byte, listItems)
	for i := range items {
		items[i] = binary.BigEndian.AppendUint32(make([]byte, 150), uint32(i))
	}
	var root chain.Hash
	levels := func() error { root = tree.ListRoot(items); return nil }
	trie := func() error {
		t := tree.NewTrie(nil, chain.Hash{}, tree.EmptyRoot)
		for i, item := range items {
			if err := t.Put(tree.ListKey(i), item); err != nil {
				return fmt.Errorf("put: %w", err)
			}
		}
		if plain, _ := t.Commit(); plain != root {
			return fmt.Errorf("roots differ: %s and %s", plain, root)
		}
		return nil
	}
	return race(levels, trie)
}

// raceRounds are how often both sides run, after one round that warms up.
const raceRounds = 7

// race returns the median over rounds of the slow side's time over the fast side's, which
// runs first. A planted slowdown runs both where the fast side should be.
func race(fast, slow func() error) (Figure, error) {
	timed := func(do func() error) (time.Duration, error) {
		began := time.Now()
		err := do()
		return time.Since(began), err
	}
	ratios := make([]float64, 0, raceRounds)
	for i := range 1 + raceRounds {
		quick, err := timed(func() error {
			err := fast()
			if planted && err == nil {
				err = slow()
			}
			return err
		})
		if err != nil {
			return Figure{}, err
		}
		long, err := timed(slow)
		if err != nil {
			return Figure{}, err
		}
		if i > 0 {
			ratios = append(ratios, float64(long)/float64(max(quick, 1)))
		}
	}
	slices.Sort(ratios)
	return Figure{Value: ratios[len(ratios)/2], Operations: raceRounds}, nil
}

// Benches are all of the gate, the quick ones first.
func Benches() []Bench { return append(append(coreBenches(), blockBenches()...), followBenches()...) }
