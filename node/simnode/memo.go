package simnode

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/vrf"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/node"
	"github.com/cowboy-foundation/cowboy/node/ledger"
)

// memo is what the nodes of one run have verified between them: a pairing for all in
// place of one for each. It holds whole statements with their signatures, and only what
// the shipping checks have passed, so that anything else meets those checks.
type memo struct {
	mu           sync.Mutex
	certificates map[simplex.Certificate]bool
	individuals  map[simplex.Vote]bool // without what else a vote brings
	proofs       map[orderProof][32]byte
}

type orderProof struct {
	key   *bls.PublicKey
	under string
	proof bls.Signature
}

func newMemo() *memo {
	return &memo{certificates: map[simplex.Certificate]bool{}, individuals: map[simplex.Vote]bool{}, proofs: map[orderProof][32]byte{}}
}

// shared is what a machine's nodes have together with those of others. Machines next
// to each other have runtimes with different hash keys: no root depends on them.
func (r *run) shared(machine int) node.Shared {
	return node.Shared{
		Proposers: r.proposers, Runtime: r.runtimes[machine%len(r.runtimes)],
		Checks: func(own *simplex.Threshold) simplex.Verifier { return &checks{own, r.memo} },
	}
}

// proof is [vrf.Verify].
func (m *memo) proof(key *bls.PublicKey, namespace, msg []byte, proof bls.Signature) (out [32]byte, ok bool) {
	at := orderProof{key, string(namespace) + "\x00" + string(msg), proof}
	m.mu.Lock()
	out, ok = m.proofs[at]
	m.mu.Unlock()
	if ok {
		return out, true
	}
	if out, ok = vrf.Verify(key, namespace, msg, proof); ok {
		m.mu.Lock()
		m.proofs[at] = out
		m.mu.Unlock()
	}
	return out, ok
}

// checks is a node's scheme with what others have verified.
type checks struct {
	*simplex.Threshold
	memo *memo
}

// Combine implements [simplex.Verifier].
func (c *checks) Combine(q simplex.Quorum) (simplex.Certificate, bool) {
	if whole, ok := c.Guess(q); ok && knows(c.memo, c.memo.certificates, whole) {
		return whole, true
	}
	whole, ok := c.Threshold.Combine(q)
	if ok {
		learn(c.memo, c.memo.certificates, whole)
	}
	return whole, ok
}

// BadCertificates implements [simplex.Verifier].
func (c *checks) BadCertificates(list []simplex.Certificate) []int {
	return unknown(c.memo, c.memo.certificates, list, func(c simplex.Certificate) simplex.Certificate { return c }, c.Threshold.BadCertificates)
}

// BadIndividuals implements [simplex.Verifier].
func (c *checks) BadIndividuals(votes []simplex.Vote) []int {
	return unknown(c.memo, c.memo.individuals, votes, func(v simplex.Vote) simplex.Vote {
		v.Signature, v.Seed = bls.Signature{}, bls.Signature{}
		return v
	}, c.Threshold.BadIndividuals)
}

func knows[T comparable](m *memo, known map[T]bool, what T) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return known[what]
}

func learn[T comparable](m *memo, known map[T]bool, what T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known[what] = true
}

// unknown has those of a list checked that nobody has, and returns the positions of
// the bad ones.
func unknown[T comparable](m *memo, known map[T]bool, list []T, key func(T) T, check func([]T) []int) (bad []int) {
	var open []T
	var at []int
	for i, item := range list {
		if !knows(m, known, key(item)) {
			open, at = append(open, item), append(at, i)
		}
	}
	if len(open) == 0 {
		return nil
	}
	refused := map[int]bool{}
	for _, i := range check(open) {
		refused[i] = true
		bad = append(bad, at[i])
	}
	for i, item := range open {
		if !refused[i] {
			learn(m, known, key(item))
		}
	}
	return bad
}

// share makes what the machines of a run have together.
func (r *run) share(g *genesis.Genesis) (err error) {
	r.memo = newMemo()
	if r.proposers, err = ledger.NewProposers(epoch.Of(g)); err != nil {
		return err
	}
	r.proposers.Proof = r.memo.proof
	if len(r.runtimes) == 0 {
		r.runtimes, err = newRuntimes()
	}
	return err
}

// runtimesMade is how many hash keys are in use side by side.
const runtimesMade = 3

func newRuntimes() (list []*vm.Runtime, err error) {
	for range runtimesMade {
		rt, err := ledger.NewRuntime()
		if err != nil {
			return nil, err
		}
		list = append(list, rt)
	}
	return list, nil
}
