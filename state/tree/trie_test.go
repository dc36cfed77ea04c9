package tree

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// rebuild returns the root and the nodes of a trie with the given entries,
// built from nothing in the given order.
func rebuild(entries map[string]string, order []string) (chain.Hash, map[string][]byte) {
	m := newMemory()
	t := NewTrie(nil, chain.Hash{}, EmptyRoot)
	for _, k := range order {
		if err := t.Put([]byte(k), []byte(entries[k])); err != nil {
			panic(err)
		}
	}
	return m.commit(t), m.nodes
}

// randomKey draws keys that share prefixes, so that every kind of split and
// merge happens. Keys of unequal length put values into branches.
func randomKey(rng *rand.Rand, sameLength bool) []byte {
	n := 4
	if !sameLength {
		n = rng.IntN(5)
	}
	key := make([]byte, n)
	for i := range key {
		key[i] = []byte{0x00, 0x01, 0x10, 0x11, 0x12, 0xf0}[rng.IntN(6)]
	}
	return key
}

// TestTrieAgainstRebuild applies 10,000 random puts and deletes, committing and
// reopening at random moments. Now and then it compares every value with a map,
// and root and stored nodes with a trie that is built anew in another order: so
// deletes leave neither a trace in the root nor a node behind. Rerun one case
// with -run 'TestTrieAgainstRebuild/seed=3'.
func TestTrieAgainstRebuild(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			m, want := newMemory(), map[string]string{}
			tr := NewTrie(m, chain.Hash{}, EmptyRoot)
			deletes := 3 + rng.IntN(5) // of ten; the trie shrinks to nothing and grows again
			for i := range 10_000 / 8 {
				key := randomKey(rng, seed%2 == 0)
				if rng.IntN(10) < deletes {
					delete(want, string(key))
					check(t, tr.Delete(key))
				} else {
					value := bytes.Repeat([]byte{byte(i)}, 1+rng.IntN(1+rng.IntN(40)))
					want[string(key)] = string(value)
					check(t, tr.Put(key, value))
				}
				if rng.IntN(4) == 0 {
					m.commit(tr)
				}
				if rng.IntN(10) == 0 {
					tr = m.reopen(tr)
				}
				if i%50 == 0 {
					compareWithRebuild(t, rng, m, tr, want)
					deletes = 3 + rng.IntN(5)
				}
			}
			for key := range want {
				check(t, tr.Delete([]byte(key)))
			}
			if root := m.commit(tr); root != EmptyRoot || len(m.nodes) != 0 {
				t.Errorf("after deleting all: root %s, %d nodes left", root, len(m.nodes))
			}
		})
	}
}

func compareWithRebuild(t *testing.T, rng *rand.Rand, m *memory, tr *Trie, want map[string]string) {
	t.Helper()
	for range 20 {
		key := randomKey(rng, false)
		got, err := tr.Get(key)
		check(t, err)
		if string(got) != want[string(key)] {
			t.Fatalf("value of %x = %x, want %x", key, got, want[string(key)])
		}
	}
	order := slices.Sorted(maps.Keys(want))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	root, nodes := rebuild(want, order)
	if got := m.commit(tr); got != root {
		t.Fatalf("root = %s, rebuilt %s", got, root)
	}
	if !reflect.DeepEqual(m.nodes, nodes) {
		t.Fatalf("%d nodes stored, %d rebuilt, or others", len(m.nodes), len(nodes))
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzTrie reads bytes as a list of writes and compares with a rebuilt trie.
func FuzzTrie(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add(bytes.Repeat([]byte{0x11, 0x80, 0x12, 0x01}, 20))
	f.Fuzz(func(t *testing.T, ops []byte) {
		m, want := newMemory(), map[string]string{}
		tr := NewTrie(m, chain.Hash{}, EmptyRoot)
		for len(ops) >= 3 && len(ops) < 3000 {
			key, n := ops[1:1+min(2, int(ops[0]&3))], int(ops[0]>>3)
			value := bytes.Repeat(ops[:1], n)
			delete(want, string(key))
			if n > 0 {
				want[string(key)] = string(value)
			}
			check(t, tr.Put(key, value))
			if ops[0]&4 != 0 {
				tr = m.reopen(tr)
			}
			ops = ops[3:]
		}
		root, nodes := rebuild(want, slices.Sorted(maps.Keys(want)))
		if got := m.commit(tr); got != root || !reflect.DeepEqual(m.nodes, nodes) {
			t.Fatalf("root %s, rebuilt %s; %d nodes, rebuilt %d", got, root, len(m.nodes), len(nodes))
		}
	})
}

func TestUnchangedWritesChangeNothing(t *testing.T) {
	m := newMemory()
	tr := NewTrie(m, chain.Hash{}, EmptyRoot)
	for i := range 100 {
		check(t, tr.Put([]byte{byte(i), 1}, bytes.Repeat([]byte{byte(i)}, 40)))
	}
	tr = m.reopen(tr)
	check(t, tr.Put([]byte{7, 1}, bytes.Repeat([]byte{7}, 40)))
	check(t, tr.Delete([]byte{200, 1}))
	if _, changes := tr.Commit(); len(changes) != 0 {
		t.Errorf("%d changes", len(changes))
	}
}

// TestDamagedNodes removes or changes one bit of each stored node and expects
// every walk that meets it to fail with a NodeError, and all others to be right.
func TestDamagedNodes(t *testing.T) {
	m := newMemory()
	tr := NewTrie(m, chain.Hash{}, EmptyRoot)
	var keys []chain.Hash
	for i := range 60 {
		keys = append(keys, keccak.Sum256([]byte{byte(i)}))
		check(t, tr.Put(keys[i][:], bytes.Repeat([]byte{byte(i) + 1}, 1+i)))
	}
	root := m.commit(tr)
	for place, good := range m.nodes {
		damaged := bytes.Clone(good)
		damaged[len(damaged)/2] ^= 0x10
		for _, bad := range [][]byte{nil, damaged, good[:len(good)-1], {}} {
			m.nodes[place] = bad
			failed := 0
			for i := range keys {
				value, err := NewTrie(m, chain.Hash{}, root).Get(keys[i][:])
				var fault *NodeError
				switch {
				case errors.As(err, &fault) && errors.Is(err, ErrCorrupt) && string(fault.Path) == place[32:]:
					failed++
				case err != nil:
					t.Fatalf("not a NodeError at the place: %v", err)
				case !bytes.Equal(value, bytes.Repeat([]byte{byte(i) + 1}, 1+i)):
					t.Fatalf("wrong value %x", value)
				}
			}
			if failed == 0 {
				t.Fatalf("no walk met the damaged node at %x", place[32:])
			}
		}
		m.nodes[place] = good
	}
}

func TestDecodeRefuses(t *testing.T) {
	h := bytes.Repeat([]byte{7}, 32)
	pair := func(path []byte, second []byte) []byte { return encodePair(path, second) }
	twig := encode(&leaf{rest: []byte{1}, value: []byte{1}})
	tests := []struct {
		name string
		enc  []byte
	}{
		{"nothing", nil},
		{"a string", []byte{0x80}},
		{"an empty list", []byte{0xc0}},
		{"three items", list([]byte{0x80, 0x80, 0x80})},
		{"eighteen items", list(bytes.Repeat([]byte{0x80}, 18))},
		{"a branch with nothing in it", list(bytes.Repeat([]byte{0x80}, 17))},
		{"a branch with one child", list(append(hashReference(chain.Hash(h)), bytes.Repeat([]byte{0x80}, 16)...))},
		{"a branch whose value is a list", list(slices.Concat(hashReference(chain.Hash(h)), hashReference(chain.Hash(h)), bytes.Repeat([]byte{0x80}, 14), []byte{0xc0}))},
		{"a path that is a list", list([]byte{0xc0, 0x01})},
		{"a path without flags", pair(nil, []byte{0x01})},
		{"unknown flags", pair([]byte{0x40}, []byte{0x01})},
		{"padding that is not zero", pair([]byte{0x21}, []byte{0x01})},
		{"a leaf without value", pair([]byte{0x20}, []byte{0x80})},
		{"a leaf with a list", pair([]byte{0x20}, []byte{0xc0})},
		{"an extension without path", pair([]byte{0x00}, hashReference(chain.Hash(h)))},
		{"an extension without child", pair([]byte{0x11}, []byte{0x80})},
		{"an extension of a leaf", pair([]byte{0x11}, twig)},
		{"a reference of 31 bytes", pair([]byte{0x11}, append([]byte{0x9f}, h[:31]...))},
		{"a long node in its parent", list(slices.Concat(pair([]byte{0x20}, append([]byte{0xa0}, h...)), twig, bytes.Repeat([]byte{0x80}, 15)))},
		{"bytes after the node", append(bytes.Clone(twig), 0)},
	}
	for _, tt := range tests {
		if n, err := decode(tt.enc); !errors.Is(err, ErrNode) {
			t.Errorf("%s: %#v, %v", tt.name, n, err)
		}
	}
}

func FuzzDecodeNode(f *testing.F) {
	m := newMemory()
	tr := NewTrie(m, chain.Hash{}, EmptyRoot)
	rng := rand.New(rand.NewPCG(1, 3))
	for range 40 {
		_ = tr.Put(randomKey(rng, false), bytes.Repeat([]byte{1}, 1+rng.IntN(40)))
	}
	m.commit(tr)
	for _, enc := range m.nodes {
		f.Add(enc)
	}
	f.Fuzz(func(t *testing.T, enc []byte) {
		n, err := decode(enc)
		if err != nil {
			return
		}
		if again := encode(n); !bytes.Equal(again, enc) {
			t.Fatalf("%x is written as %x", enc, again)
		}
	})
}
