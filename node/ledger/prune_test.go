package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestPruneKeepsWhatExtendsTheHead prunes random trees of executed blocks to a
// random head: what is left is the head and those from whom the parents lead to
// it. Rerun one case with -run '/seed=17'.
func TestPruneKeepsWhatExtendsTheHead(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			l := &Ledger{tree: branches{blocks: map[chain.Hash]*Executed{}}}
			var all []*Executed
			for i := range 1 + rng.IntN(60) {
				e := &Executed{Block: new(chain.Block), Digest: chain.Hash{byte(i + 1)}, bytes: 1 + rng.IntN(100)}
				if i > 0 {
					parent := all[rng.IntN(len(all))]
					e.Block.Header.Parent, e.Block.Header.Height = parent.Digest, parent.Height()+1
				}
				l.tree.put(e)
				all = append(all, e)
			}
			head := all[rng.IntN(len(all))]
			before := l.tree.blocks
			l.tree.prune(head)
			bytes := 0
			for _, e := range l.tree.blocks {
				if e != head {
					bytes += e.bytes
				}
			}
			if got := l.UnfinalBytes(); got != int64(bytes) {
				t.Errorf("%d bytes are counted above the head, want %d", got, bytes)
			}
			for _, e := range all {
				at := e
				for at != nil && at != head {
					at = before[at.Block.Header.Parent]
				}
				if kept := l.tree.get(e.Digest) == e; kept != (at == head) {
					t.Errorf("block %d at height %d: kept %v, extends the head %v", e.Digest[0], e.Height(), kept, at == head)
				}
			}
		})
	}
}
