package tree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// orchard is a trie whose ranges are proved.
type orchard struct {
	nodes   *memory
	root    chain.Hash
	entries []Entry
}

// evenly is the family of random keys.
const evenly = 4

// newOrchard plants n entries. Keys of a family other than 0 share long
// prefixes; short values make nodes that stand inside their parents.
func newOrchard(t testing.TB, rng *rand.Rand, n, family int) *orchard {
	t.Helper()
	o := &orchard{nodes: newMemory()}
	tr := NewTrie(nil, chain.Hash{}, state.EmptyRoot)
	held := map[chain.Hash][]byte{}
	for range n {
		key := chain.Hash(badKey(rng, family))
		if family == evenly {
			binary.BigEndian.PutUint64(key[:], rng.Uint64())
		}
		value := bytes.Repeat([]byte{byte(1 + rng.IntN(255))}, 1+rng.IntN(1+rng.IntN(90)))
		held[key] = value
		if err := tr.Put(key[:], value); err != nil {
			t.Fatal(err)
		}
	}
	var changes []NodeChange
	o.root, changes = tr.Commit()
	o.nodes.put(changes)
	for key, value := range held {
		o.entries = append(o.entries, Entry{key, value})
	}
	slices.SortFunc(o.entries, func(a, b Entry) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	return o
}

func (o *orchard) prove(t testing.TB, key chain.Hash) [][]byte {
	t.Helper()
	proof, err := Prove(o.nodes, chain.Hash{}, o.root, key[:])
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

// span proves the entries start to end as the range from the given key.
func (o *orchard) span(t testing.TB, from chain.Hash, start, end int) ([]Entry, [][]byte) {
	t.Helper()
	last := from
	if end > start {
		last = o.entries[end-1].Key
	}
	return slices.Clone(o.entries[start:end]), JoinProofs(o.prove(t, from), o.prove(t, last))
}

// below returns a key in the gap below entry i: its predecessor's successor, or
// something between.
func (o *orchard) below(rng *rand.Rand, i int) chain.Hash {
	key := chain.Hash{}
	if i > 0 {
		key = successor(o.entries[i-1].Key)
	}
	if i < len(o.entries) && rng.IntN(2) == 0 {
		return o.entries[i].Key
	}
	return key
}

func successor(key chain.Hash) chain.Hash {
	for i := len(key) - 1; i >= 0; i-- {
		if key[i]++; key[i] != 0 {
			break
		}
	}
	return key
}

func TestRangesOfRandomTries(t *testing.T) {
	for seed := range seeds(60) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 11))
			o := newOrchard(t, rng, 1+rng.IntN(1+rng.IntN(300)), int(seed%5))
			for range 20 {
				start := rng.IntN(len(o.entries) + 1)
				end := start + rng.IntN(len(o.entries)-start+1)
				if end == start {
					start, end = len(o.entries), len(o.entries) // only the end of the trie may be shown empty
				}
				from := o.below(rng, start)
				entries, proof := o.span(t, from, start, end)
				more, err := VerifyRange(o.root, from, entries, proof)
				if err != nil || more != (end < len(o.entries)) {
					t.Fatalf("entries %d to %d of %d: more %v, %v", start, end, len(o.entries), more, err)
				}
				for range 10 {
					o.refuseAltered(t, rng, from, entries, proof)
				}
			}
			if more, err := VerifyRange(o.root, chain.Hash{}, o.entries, nil); err != nil || more {
				t.Fatalf("whole trie without proof: %v, %v", more, err)
			}
		})
	}
}

// refuseAltered changes one thing about a good range.
func (o *orchard) refuseAltered(t *testing.T, rng *rand.Rand, from chain.Hash, good []Entry, proof [][]byte) {
	t.Helper()
	entries, nodes := slices.Clone(good), slices.Clone(proof)
	what := rng.IntN(6)
	if len(entries) == 0 {
		what = 4 + rng.IntN(2)
	}
	at := 0
	if len(entries) > 0 {
		at = rng.IntN(len(entries))
	}
	switch what {
	case 0:
		entries[at].Value = append(bytes.Clone(entries[at].Value), 1)
	case 1: // an entry is held back, inside the range
		if at == len(entries)-1 {
			return
		}
		entries = slices.Delete(entries, at, at+1)
	case 2: // an entry too many
		key := successor(entries[at].Key)
		if slices.ContainsFunc(o.entries, func(e Entry) bool { return e.Key == key }) || at == len(entries)-1 {
			return
		}
		entries = slices.Insert(entries, at+1, Entry{key, []byte{1}})
	case 3: // another key
		entries[at].Key[31] ^= 1
	case 4:
		i := rng.IntN(len(nodes))
		nodes[i] = bytes.Clone(nodes[i])
		nodes[i][rng.IntN(len(nodes[i]))] ^= 1 << rng.IntN(8)
	case 5:
		if i := rng.IntN(len(nodes)); rng.IntN(2) == 0 {
			nodes = slices.Insert(nodes, i, nodes[rng.IntN(len(nodes))])
		} else if nodes = slices.Delete(nodes, i, i+1); len(nodes) == 0 {
			return // says that it is the whole trie
		}
	}
	if _, err := VerifyRange(o.root, from, entries, nodes); !errors.Is(err, ErrProof) && !errors.Is(err, ErrRange) {
		t.Fatalf("alteration %d of entry %d: %v", what, at, err)
	}
}

func TestRangeEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	o := newOrchard(t, rng, 100, evenly)
	n := len(o.entries)
	f := func(rule string, root, from chain.Hash, entries []Entry, proof [][]byte, want error) {
		t.Helper()
		if _, err := VerifyRange(root, from, entries, proof); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
	}
	f("the empty trie has nothing", EmptyRoot, chain.Hash{}, nil, nil, nil)
	f("nothing is in the empty trie", EmptyRoot, chain.Hash{}, o.entries[:1], nil, ErrRange)
	f("the empty trie has no nodes", EmptyRoot, chain.Hash{}, nil, [][]byte{{0x80}}, ErrRange)
	f("no proof, not all entries", o.root, chain.Hash{}, o.entries[:n-1], nil, ErrRange)
	f("no proof, no entries", o.root, chain.Hash{}, nil, nil, ErrRange)
	f("an entry before from", o.root, o.entries[1].Key, o.entries, nil, ErrRange)
	entries, proof := o.span(t, o.entries[3].Key, 3, 9)
	f("a range in the middle", o.root, o.entries[3].Key, entries, proof, nil)
	f("the first entry held back", o.root, o.entries[3].Key, entries[1:], proof, ErrRange)
	f("from before the proven one", o.root, o.entries[2].Key, entries, proof, ErrProof)
	slices.Reverse(entries)
	f("out of order", o.root, o.entries[3].Key, entries, proof, ErrRange)
	from := successor(o.entries[4].Key)
	_, proof = o.span(t, from, 5, 5)
	f("nothing shown where something is", o.root, from, nil, proof, ErrRange)
	f("twice the same", o.root, chain.Hash{}, []Entry{o.entries[0], o.entries[0]}, nil, ErrRange)
	f("without value", o.root, chain.Hash{}, []Entry{{Key: o.entries[0].Key}}, nil, ErrRange)
}

// FuzzVerifyRange feeds hostile bytes. What is accepted must be what the trie
// holds.
func FuzzVerifyRange(f *testing.F) {
	rng := rand.New(rand.NewPCG(7, 7))
	o := newOrchard(f, rng, 60, evenly)
	for _, span := range [][2]int{{0, 5}, {10, 11}, {20, len(o.entries)}, {len(o.entries), len(o.entries)}} {
		from := o.below(rng, span[0])
		entries, proof := o.span(f, from, span[0], span[1])
		f.Add(from[:], flatten(entries), flattenNodes(proof))
	}
	f.Fuzz(func(t *testing.T, from, flat, nodes []byte) {
		var key chain.Hash
		copy(key[:], from)
		entries := unflatten(flat)
		more, err := VerifyRange(o.root, key, entries, unflattenNodes(nodes))
		if err != nil {
			return
		}
		start, _ := slices.BinarySearchFunc(o.entries, key, func(e Entry, k chain.Hash) int { return bytes.Compare(e.Key[:], k[:]) })
		want := o.entries[start:]
		if len(entries) > 0 {
			want = want[:min(len(entries), len(want))]
		}
		same := func(a, b Entry) bool { return a.Key == b.Key && bytes.Equal(a.Value, b.Value) }
		if !slices.EqualFunc(entries, want, same) || more != (start+len(entries) < len(o.entries)) {
			t.Fatalf("accepted %d entries from %s, more %v", len(entries), key, more)
		}
	})
}

func flatten(entries []Entry) (out []byte) {
	for _, e := range entries {
		out = append(append(append(out, e.Key[:]...), byte(len(e.Value))), e.Value...)
	}
	return out
}

func unflatten(b []byte) (out []Entry) {
	for len(b) > 33 && len(b) >= 33+int(b[32]) {
		n := 33 + int(b[32])
		out = append(out, Entry{chain.Hash(b[:32]), b[33:n]})
		b = b[n:]
	}
	return out
}

func flattenNodes(nodes [][]byte) (out []byte) {
	for _, n := range nodes {
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(n))), n...)
	}
	return out
}

func unflattenNodes(b []byte) (out [][]byte) {
	for len(b) > 2 && len(b) >= 2+int(binary.BigEndian.Uint16(b)) {
		n := 2 + int(binary.BigEndian.Uint16(b))
		out = append(out, b[2:n])
		b = b[n:]
	}
	return out
}

func BenchmarkVerifyRange(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 3))
	o := newOrchard(b, rng, 20_000, evenly)
	entries, proof := o.span(b, o.entries[1000].Key, 1000, 3000)
	for b.Loop() {
		if _, err := VerifyRange(o.root, entries[0].Key, entries, proof); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(entries)), "ns/entry")
}
