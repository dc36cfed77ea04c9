package gethtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"
	"github.com/ethereum/go-ethereum/trie"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// listed takes the nodes of go-ethereum's proof in the order in which they come.
type listed struct{ nodes [][]byte }

func (l *listed) Put(_, node []byte) error { l.nodes = append(l.nodes, bytes.Clone(node)); return nil }
func (l *listed) Delete([]byte) error      { return nil }

// hashed is a proof as go-ethereum takes it.
func hashed(proof [][]byte) *memorydb.Database {
	db := memorydb.New()
	for _, node := range proof {
		_ = db.Put(crypto.Keccak256(node), node)
	}
	return db
}

// ranger is the same trie on both sides.
type ranger struct {
	stored  nodes
	root    chain.Hash
	theirs  *trie.Trie
	entries []tree.Entry
}

func newRanger(t *testing.T, rng *rand.Rand, n int) *ranger {
	t.Helper()
	r := &ranger{stored: nodes{}, theirs: trie.NewEmpty(nil)}
	ours := tree.NewTrie(r.stored, chain.Hash{}, state.EmptyRoot)
	for i := range n {
		key := keccak.Sum256([]byte{byte(i), byte(i >> 8)})
		if i%5 == 0 { // some share almost all of their keys
			key = [32]byte{31: byte(i), 30: byte(i >> 8)}
		}
		value := bytes.Repeat([]byte{byte(1 + rng.IntN(255))}, 1+rng.IntN(1+rng.IntN(100)))
		check(t, ours.Put(key[:], value))
		check(t, r.theirs.Update(key[:], value))
		r.entries = append(r.entries, tree.Entry{Key: key, Value: value})
	}
	slices.SortFunc(r.entries, func(a, b tree.Entry) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	root, changes := ours.Commit()
	if want := r.theirs.Hash(); root != chain.Hash(want) {
		t.Fatalf("root %s, go-ethereum %s", root, want)
	}
	r.root = root
	r.stored.put(changes)
	return r
}

// prove proves a key on both sides, which must give the same nodes.
func (r *ranger) prove(t *testing.T, key chain.Hash) [][]byte {
	t.Helper()
	ours, err := tree.Prove(r.stored, chain.Hash{}, r.root, key[:])
	check(t, err)
	var theirs listed
	check(t, r.theirs.Prove(key[:], &theirs))
	if !slices.EqualFunc(ours, theirs.nodes, bytes.Equal) {
		t.Fatalf("proof of %s: %x, go-ethereum %x", key, ours, theirs.nodes)
	}
	return theirs.nodes
}

func (r *ranger) judge(from chain.Hash, entries []tree.Entry, proof [][]byte) (ours, theirs error, more [2]bool) {
	var keys, values [][]byte
	for i := range entries {
		keys, values = append(keys, entries[i].Key[:]), append(values, entries[i].Value)
	}
	more[0], ours = tree.VerifyRange(r.root, from, entries, proof)
	more[1], theirs = trie.VerifyRangeProof(common.Hash(r.root), from[:], keys, values, hashed(proof))
	return ours, theirs, more
}

// TestRangeProofs holds our range proofs to go-ethereum's: each side takes what
// the other proves, and both refuse what was altered.
func TestRangeProofs(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 21))
			r := newRanger(t, rng, 2+rng.IntN(500))
			n := len(r.entries)
			for range 30 {
				start := rng.IntN(n)
				end := start + 1 + rng.IntN(n-start)
				from := r.entries[start].Key
				if start > 0 && rng.IntN(2) == 0 { // between two keys
					from = r.entries[start-1].Key
					from[31]++
				}
				if slices.ContainsFunc(r.entries[:start], func(e tree.Entry) bool { return bytes.Compare(e.Key[:], from[:]) >= 0 }) {
					continue
				}
				entries := slices.Clone(r.entries[start:end])
				proof := tree.JoinProofs(r.prove(t, from), r.prove(t, entries[len(entries)-1].Key))
				ours, theirs, more := r.judge(from, entries, proof)
				if ours != nil || theirs != nil || more[0] != more[1] {
					t.Fatalf("entries %d to %d of %d: %v %v, go-ethereum %v %v", start, end, n, more[0], ours, more[1], theirs)
				}
				at := rng.IntN(len(entries))
				altered := slices.Clone(entries)
				switch rng.IntN(3) {
				case 0:
					altered[at].Value = append(bytes.Clone(altered[at].Value), 7)
				case 1:
					altered[at].Key[31] ^= 0x40
				case 2:
					if at == len(entries)-1 {
						continue
					}
					altered = slices.Delete(altered, at, at+1)
				}
				if ours, theirs, _ := r.judge(from, altered, proof); ours == nil || theirs == nil {
					t.Fatalf("altered entry %d: %v, go-ethereum %v", at, ours, theirs)
				}
			}
			behind := r.entries[n-1].Key
			behind[31]++
			if bytes.Compare(behind[:], r.entries[n-1].Key[:]) > 0 {
				if ours, theirs, more := r.judge(behind, nil, r.prove(t, behind)); ours != nil || theirs != nil || more[0] || more[1] {
					t.Fatalf("nothing behind the last: %v, go-ethereum %v", ours, theirs)
				}
			}
			if n > 1 {
				if ours, theirs, _ := r.judge(r.entries[1].Key, nil, r.prove(t, r.entries[1].Key)); ours == nil || theirs == nil {
					t.Fatalf("nothing where something is: %v, go-ethereum %v", ours, theirs)
				}
			}
		})
	}
}
