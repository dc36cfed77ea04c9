package tree

import (
	"encoding/hex"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/state/rlp"
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

// forestCase is a sequence of writes in a forest of each number of workers.
type forestCase struct {
	forests []*Forest
	roots   []ref40
}

func newForestCase() *forestCase {
	c := &forestCase{}
	for _, workers := range []int{1, 2, 4, 16} {
		c.forests, c.roots = append(c.forests, NewForest(workers, nil)), append(c.roots, 0)
	}
	return c
}

// write writes values under raw keys, nil to delete, and returns the root that
// all forests agree on.
func (c *forestCase) write(t *testing.T, writes map[key32][]byte, whale bool) (root chain.Hash) {
	t.Helper()
	for i, f := range c.forests {
		got, now := f.plantRaw(t, c.roots[i], writes, whale)
		if now == 0 {
			got = EmptyRoot
		}
		if c.roots[i] = now; i > 0 && got != root {
			t.Fatalf("%d workers: root %s, one worker %s", len(f.crew), got, root)
		}
		root = got
	}
	return root
}

// TestEthereumVectorsOnForest runs the sequences of the public vectors on the
// forest, in batches of all sizes. The published roots are of bare values under
// keys of any length; the forest keeps RLP strings under keys of 32 bytes. So it
// is held to the plain trie, which reaches the published roots in the tests
// above: other keys are hashed.
func TestEthereumVectorsOnForest(t *testing.T) {
	cases := map[string][][2]string{}
	var ordered map[string]struct{ In [][]*string }
	var unordered map[string]struct{ In map[string]string }
	vectors.Decode(t, "trie/trietest.json", &ordered)
	vectors.Decode(t, "trie/trieanyorder.json", &unordered)
	const deleted = "deleted"
	for name, c := range ordered {
		for _, op := range c.In {
			value := deleted
			if op[1] != nil {
				value = *op[1]
			}
			cases[name] = append(cases[name], [2]string{*op[0], value})
		}
	}
	for name, c := range unordered {
		for key, value := range c.In {
			cases[name] = append(cases[name], [2]string{key, value})
		}
	}
	for name, ops := range cases {
		t.Run(name, func(t *testing.T) {
			for batch := 1; batch <= len(ops); batch++ {
				c, plain := newForestCase(), NewTrie(nil, chain.Hash{}, EmptyRoot)
				writes := map[key32][]byte{}
				for i, op := range ops {
					key := keccak.Sum256(vectorBytes(t, op[0]))
					if raw := vectorBytes(t, op[0]); len(raw) == keyBytes {
						key = key32(raw)
					}
					if op[1] == deleted {
						writes[key] = nil
						check(t, plain.Delete(key[:]))
					} else {
						writes[key] = vectorBytes(t, op[1])
						check(t, plain.Put(key[:], rlp.AppendString(nil, writes[key])))
					}
					if (i+1)%batch != 0 && i+1 < len(ops) {
						continue
					}
					want, _ := plain.Commit()
					if got := c.write(t, writes, i%2 == 0); got != want {
						t.Fatalf("batches of %d, after %d writes: root %s, plain %s", batch, i+1, got, want)
					}
					clear(writes)
				}
			}
		})
	}
}
