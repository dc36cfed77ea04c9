package tree

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// plainListRoot is the root by the trie, node by node.
func plainListRoot(items [][]byte) chain.Hash {
	root, _ := listTrie(items).Commit()
	return root
}

// TestListRootBesideTrie holds the root without a trie to the root by one: at every length about
// those at which keys grow, with items so short that nodes stand in their parents.
func TestListRootBesideTrie(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 1))
	lengths := []int{1000, 4096, 65_535, 65_536, 65_537, 66_000}
	for n := range 300 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		for _, most := range []int{0, 1, 3, 28, 40, 300} {
			if n > 1000 && most != 3 && most != 40 {
				continue
			}
			items := make([][]byte, n)
			for i := range items {
				items[i] = make([]byte, rng.IntN(most+1))
				for j := range items[i] {
					items[i][j] = byte(rng.Uint32())
				}
			}
			want := plainListRoot(items)
			for _, workers := range []int{1, 2, 5, 64} {
				if got := ListRootBy(workers, items); got != want {
					t.Fatalf("%d items of at most %d bytes, %d workers: %s, want %s", n, most, workers, got, want)
				}
			}
		}
	}
}

// FuzzListRoot holds the root without a trie to the root by one, for items cut from
// bytes at a separator and repeated.
func FuzzListRoot(f *testing.F) {
	f.Add([]byte("a|bc||def"), uint16(0))
	f.Add([]byte("|"), uint16(130))
	f.Add(bytes.Repeat([]byte{1}, 40), uint16(300))
	f.Fuzz(func(t *testing.T, text []byte, more uint16) {
		items := bytes.Split(text, []byte("|"))
		for i := range int(more) % 2048 {
			items = append(items, items[i%len(items)])
		}
		if got, want := ListRootBy(1+len(text)%4, items), plainListRoot(items); got != want {
			t.Errorf("%d items: %s, want %s", len(items), got, want)
		}
	})
}

func BenchmarkListRoot(b *testing.B) {
	items := make([][]byte, 10_000)
	for i := range items {
		items[i] = bytes.Repeat([]byte{byte(i), byte(i >> 8)}, 56)
	}
	for name, root := range map[string]func([][]byte) chain.Hash{"levels": ListRoot, "trie": plainListRoot} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				root(items)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(items)), "ns/item")
		})
	}
}
