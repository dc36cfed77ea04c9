package tree

import (
	"encoding/hex"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// vectorBytes reads the notation of the vectors: 0x and hex, or raw characters.
func vectorBytes(t *testing.T, s string) []byte {
	t.Helper()
	digits, isHex := strings.CutPrefix(s, "0x")
	if !isHex {
		return []byte(s)
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEthereumOrderedVectors runs the insert and delete sequences of
// ethereum/tests, TrieTests/trietest.json.
func TestEthereumOrderedVectors(t *testing.T) {
	var cases map[string]struct {
		In   [][]*string
		Root string
	}
	vectors.Decode(t, "trie/trietest.json", &cases)
	if len(cases) < 4 {
		t.Fatalf("%d cases", len(cases))
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, commitEach := range []bool{false, true} {
				m := newMemory()
				tr := NewTrie(m, chain.Hash{}, EmptyRoot)
				for _, op := range c.In {
					key, value := vectorBytes(t, *op[0]), []byte(nil)
					if op[1] != nil {
						value = vectorBytes(t, *op[1])
					}
					if err := tr.Put(key, value); err != nil {
						t.Fatal(err)
					}
					if commitEach {
						tr = m.reopen(tr)
					}
				}
				if root := m.commit(tr); root.String() != c.Root {
					t.Errorf("root = %s, want %s", root, c.Root)
				}
			}
		})
	}
}

// TestEthereumUnorderedVectors runs TrieTests/trieanyorder.json in many orders.
func TestEthereumUnorderedVectors(t *testing.T) {
	var cases map[string]struct {
		In   map[string]string
		Root string
	}
	vectors.Decode(t, "trie/trieanyorder.json", &cases)
	if len(cases) < 7 {
		t.Fatalf("%d cases", len(cases))
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			keys := make([]string, 0, len(c.In))
			for k := range c.In {
				keys = append(keys, k)
			}
			sort.Strings(keys)
			rng := rand.New(rand.NewPCG(1, 1))
			for range 50 {
				tr := NewTrie(nil, chain.Hash{}, EmptyRoot)
				for _, k := range keys {
					if err := tr.Put(vectorBytes(t, k), vectorBytes(t, c.In[k])); err != nil {
						t.Fatal(err)
					}
				}
				if root, _ := tr.Commit(); root.String() != c.Root {
					t.Fatalf("order %q: root = %s, want %s", keys, root, c.Root)
				}
				rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			}
		})
	}
}
