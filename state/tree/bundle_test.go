package tree

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestBundles joins proofs of several tries, reads them back, and refuses
// bundles with a node missing, twice, changed, moved or added.
func TestBundles(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 9))
			var asks []ask
			var bundle Bundle
			separate := 0
			for range 1 + rng.IntN(3) {
				m, want := newMemory(), map[string]string{}
				tr := NewTrie(m, chain.Hash{}, EmptyRoot)
				for range rng.IntN(60) {
					key, value := randomKey(rng, false), bytes.Repeat([]byte{9}, 1+rng.IntN(50))
					want[string(key)] = string(value)
					check(t, tr.Put(key, value))
				}
				root := m.commit(tr)
				for range 1 + rng.IntN(10) {
					key := randomKey(rng, false)
					proof, err := Prove(m, chain.Hash{}, root, key)
					check(t, err)
					bundle.Add(proof)
					separate += len(proof)
					asks = append(asks, ask{root, key, want[string(key)]})
				}
			}
			nodes := bundle.Nodes()
			if len(nodes) > separate {
				t.Fatalf("%d nodes for %d", len(nodes), separate)
			}
			check(t, readBundle(nodes, asks))
			refuse := func(what string, nodes [][]byte) {
				t.Helper()
				if err := readBundle(nodes, asks); !errors.Is(err, ErrProof) {
					t.Fatalf("%s: %v", what, err)
				}
			}
			refuse("node added", append(slices.Clone(nodes), []byte{0xc0}))
			if len(nodes) == 0 {
				return
			}
			at := rng.IntN(len(nodes))
			refuse("node missing", slices.Delete(slices.Clone(nodes), at, at+1))
			refuse("node twice", slices.Insert(slices.Clone(nodes), at, nodes[at]))
			changed := slices.Clone(nodes)
			changed[at] = bytes.Clone(changed[at])
			changed[at][rng.IntN(len(changed[at]))] ^= 1 << rng.IntN(8)
			refuse("node changed", changed)
			if len(nodes) > 1 {
				moved := slices.Clone(nodes)
				other := (at + 1) % len(nodes)
				moved[at], moved[other] = moved[other], moved[at]
				refuse("nodes exchanged", moved)
			}
		})
	}
}

// ask is a key and what a bundle should show under it.
type ask struct {
	root chain.Hash
	key  []byte
	want string
}

func readBundle(nodes [][]byte, asks []ask) error {
	r := NewBundleReader(nodes)
	for _, a := range asks {
		got, err := r.Get(a.root, a.key)
		if err != nil {
			return err
		}
		if string(got) != a.want {
			return fmt.Errorf("key %x shows %x, want %x", a.key, got, a.want)
		}
	}
	return r.End()
}

// TestProveList proves each item of lists of every length up to some hundred,
// and that there is none behind the end.
func TestProveList(t *testing.T) {
	for n := range 300 {
		if n > 140 && n%37 != 0 {
			continue // 0, 1, 127, 128, 129 and 256 are where keys change their length
		}
		items := make([][]byte, n)
		for i := range items {
			items[i] = bytes.Repeat([]byte{byte(i)}, 1+i%70)
		}
		for i := range n + 1 {
			root, proof := ProveList(items, i)
			if root != ListRoot(items) {
				t.Fatalf("root of %d items is %s", n, root)
			}
			got, err := VerifyProof(root, ListKey(i), proof)
			check(t, err)
			if i < n && !bytes.Equal(got, items[i]) || i == n && got != nil {
				t.Fatalf("item %d of %d shows %x", i, n, got)
			}
			if n > 140 && i > 3 && i < n-3 {
				break
			}
		}
	}
}

// FuzzBundle reads bundles of anyone: no panic, and nothing shown that the
// nodes' hashes do not bear out.
func FuzzBundle(f *testing.F) {
	items := [][]byte{[]byte("a"), bytes.Repeat([]byte("b"), 40), bytes.Repeat([]byte("c"), 40)}
	root, proof := ProveList(items, 1)
	f.Add(root[:], slices.Concat(proof...), byte(1))
	f.Fuzz(func(t *testing.T, root, node []byte, i byte) {
		if len(root) != 32 {
			return
		}
		r := NewBundleReader([][]byte{node})
		value, err := r.Get(chain.Hash(root), ListKey(int(i)))
		if err != nil && !errors.Is(err, ErrProof) {
			t.Fatal(err)
		}
		plain, plainErr := VerifyProof(chain.Hash(root), ListKey(int(i)), [][]byte{node})
		if plainErr == nil && (err != nil || !bytes.Equal(value, plain)) {
			t.Fatalf("bundle shows %x, %v; a proof alone %x", value, err, plain)
		}
	})
}
