package tree

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestProofs proves present and absent keys in tries of every shape, and
// refuses each proof under another root, with a node missing, twice, changed or
// added.
func TestProofs(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 4))
			m, want := newMemory(), map[string]string{}
			tr := NewTrie(m, chain.Hash{}, EmptyRoot)
			for range rng.IntN(60) {
				key, value := randomKey(rng, false), bytes.Repeat([]byte{9}, 1+rng.IntN(50))
				want[string(key)] = string(value)
				check(t, tr.Put(key, value))
			}
			root := m.commit(tr)
			for range 40 {
				key := randomKey(rng, false)
				proof, err := Prove(m, chain.Hash{}, root, key)
				check(t, err)
				value, err := VerifyProof(root, key, proof)
				check(t, err)
				if string(value) != want[string(key)] {
					t.Fatalf("proof of %x shows %x, want %x", key, value, want[string(key)])
				}
				refuseTampered(t, rng, root, key, proof)
			}
		})
	}
}

func refuseTampered(t *testing.T, rng *rand.Rand, root chain.Hash, key []byte, proof [][]byte) {
	t.Helper()
	refuse := func(what string, root chain.Hash, proof [][]byte) {
		t.Helper()
		if value, err := VerifyProof(root, key, proof); !errors.Is(err, ErrProof) {
			t.Fatalf("%s: value %x, error %v", what, value, err)
		}
	}
	refuse("node added", root, append(slices.Clone(proof), []byte{0xc0}))
	if len(proof) == 0 {
		return
	}
	refuse("other root", chain.Hash{1}, proof)
	refuse("empty root", EmptyRoot, proof)
	refuse("last node missing", root, proof[:len(proof)-1])
	refuse("first node missing", root, proof[1:])
	refuse("first node twice", root, slices.Insert(slices.Clone(proof), 0, proof[0]))
	changed := slices.Clone(proof)
	i := rng.IntN(len(proof))
	changed[i] = bytes.Clone(proof[i])
	changed[i][rng.IntN(len(changed[i]))] ^= 1 << rng.IntN(8)
	refuse("bit changed", root, changed)
}

func TestAccountAndStorageProofs(t *testing.T) {
	m := newMemory()
	d := state.NewDelta()
	for i := range 200 {
		d.SetAccount(chain.Address{byte(i)}, state.Account{Balance: chain.Wei(i + 1)})
	}
	actor := chain.Address{3}
	full, empty := state.NewStorageKey(state.VMNamespacePVM, []byte("k")), state.NewStorageKey(state.VMNamespacePVM, []byte("empty"))
	d.SetStorage(actor, full, []byte("value"))
	d.SetStorage(actor, empty, []byte{})
	m.apply(t, d)

	for i := range 256 {
		addr := chain.Address{byte(i)}
		proof, err := ProveAccount(m, m.root, addr)
		check(t, err)
		a, ok, err := VerifyAccount(m.root, addr, proof)
		check(t, err)
		if ok != (i < 200) || ok && a.Balance != chain.Wei(i+1) || !ok && !a.Empty() {
			t.Fatalf("proof of %s shows %+v, %v", addr, a, ok)
		}
	}
	root := m.accounts[actor].StorageRoot
	f := func(key state.StorageKey, want []byte) {
		t.Helper()
		proof, err := ProveStorage(m, actor, root, key)
		check(t, err)
		got, err := VerifyStorage(root, key, proof)
		if err != nil || !bytes.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("proof of %q shows %q, %v; want %q", string(key), got, err, want)
		}
	}
	f(full, []byte("value"))
	f(empty, []byte{})
	f(state.NewStorageKey(state.VMNamespaceSystem, []byte("k")), nil) // the namespace is part of the key
}

func TestVerifyAccountRefusesOtherLeaves(t *testing.T) {
	m := newMemory()
	tr := NewTrie(m, chain.Hash{}, EmptyRoot)
	key := AccountKey(chain.Address{1})
	check(t, tr.Put(key[:], []byte("not an account")))
	root := m.commit(tr)
	proof, err := ProveAccount(m, root, chain.Address{1})
	check(t, err)
	if _, _, err := VerifyAccount(root, chain.Address{1}, proof); !errors.Is(err, ErrProof) {
		t.Errorf("error = %v", err)
	}
}

// FuzzVerifyProof cuts bytes into proof nodes and makes the hash of the first
// the root, so that the nodes themselves are read.
func FuzzVerifyProof(f *testing.F) {
	m := newMemory()
	tr := NewTrie(m, chain.Hash{}, EmptyRoot)
	for i := range 50 {
		_ = tr.Put([]byte{byte(i), byte(i * 7)}, bytes.Repeat([]byte{byte(i + 1)}, 1+i))
	}
	root := m.commit(tr)
	for i := range 60 {
		key := []byte{byte(i), byte(i * 7)}
		proof, err := Prove(m, chain.Hash{}, root, key)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(key, slices.Concat(proof...), uint8(len(proof[0])))
	}
	f.Fuzz(func(t *testing.T, key, nodes []byte, first uint8) {
		cut := min(int(first), len(nodes))
		proof := [][]byte{nodes[:cut], nodes[cut:]}
		value, err := VerifyProof(chain.Hash(keccak.Sum256(proof[0])), key, proof)
		if err != nil && !errors.Is(err, ErrProof) {
			t.Fatalf("untyped error %v", err)
		}
		if len(value) > len(nodes) {
			t.Fatal("value from nowhere")
		}
		_, _, _ = VerifyAccount(chain.Hash(keccak.Sum256(proof[0])), chain.Address{}, proof[:1])
	})
}

// TestAccountKeys: those out of the table are hashes like all others.
func TestAccountKeys(t *testing.T) {
	addrs := []chain.Address{{}, {0: 1}, {17: 1, 19: 1}, {18: 1, 19: 1}, {0: 1, 19: 7}}
	for n := range uint16(chain.LastSystemAddress + 2) {
		addrs = append(addrs, chain.SystemAddress(n))
	}
	for _, a := range addrs {
		if got, want := AccountKey(a), chain.Hash(keccak.Sum256(a[:])); got != want {
			t.Errorf("key of %s: %s, want %s", a, got, want)
		}
	}
}
