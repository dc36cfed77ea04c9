package ledger

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
)

// DefaultUnfinalBytes is what executed blocks above the head may take: a dozen of
// the largest, full of transactions, with their receipts and what they wrote. In step,
// there are two or three, and eight while the disk is slow.
const DefaultUnfinalBytes = 512 << 20

// branches is the head and every executed block above it. While nothing becomes final,
// none of it can be dropped: any block of it may be the next one's parent, and one
// that was found valid must be there when it is final. So it is kept from growing:
// beyond [Config.UnfinalBytes] this node makes empty blocks only, and has no word on
// others until there is room, which is to refuse them nothing: a quorum can have them
// all the same. Empty blocks go on, and with the first that is final all are.
type branches struct {
	blocks map[chain.Hash]*Executed
	bytes  atomic.Int64 // of all but the head; written by the owner, read by anyone
	txs    atomic.Int64 // likewise, transactions
}

func newBranches(head *Executed) branches {
	return branches{blocks: map[chain.Hash]*Executed{head.Digest: head}}
}

// reset makes head all there is.
func (t *branches) reset(head *Executed) {
	t.blocks = map[chain.Hash]*Executed{head.Digest: head}
	t.bytes.Store(0)
	t.txs.Store(0)
}

func (t *branches) get(digest chain.Hash) *Executed { return t.blocks[digest] }

func (t *branches) put(e *Executed) {
	if t.blocks[e.Digest] == nil {
		t.bytes.Add(int64(e.bytes))
		t.txs.Add(int64(len(e.Txs)))
	}
	t.blocks[e.Digest] = e
}

// prune forgets every executed block that does not extend the new head. While the
// node catches up there are thousands: parents are below their children, so one
// pass in order of height tells.
func (t *branches) prune(head *Executed) {
	above := make([]*Executed, 0, len(t.blocks))
	for _, e := range t.blocks {
		if e.Height() > head.Height() {
			above = append(above, e)
		}
	}
	slices.SortFunc(above, func(a, b *Executed) int { return cmp.Compare(a.Height(), b.Height()) })
	t.blocks = map[chain.Hash]*Executed{head.Digest: head}
	sum, txs := 0, 0
	for _, e := range above {
		if t.blocks[e.Block.Header.Parent] != nil {
			t.blocks[e.Digest] = e
			sum += e.bytes
			txs += len(e.Txs)
		}
	}
	t.bytes.Store(int64(sum))
	t.txs.Store(int64(txs))
}

// UnfinalBytes is what executed blocks that are not final take. Safe for any goroutine.
func (l *Ledger) UnfinalBytes() int64 { return l.tree.bytes.Load() }

// unfinalFull reports whether blocks that are not final take all the room there is for
// them. Safe for any goroutine.
func (l *Ledger) unfinalFull() bool { return l.tree.bytes.Load() >= int64(l.cfg.UnfinalBytes) }

// weigh counts what e takes: a transaction stands in its block, encoded and decoded.
func weigh(e *Executed, receiptBytes, deltaBytes int) int {
	const envelope, perTx = 4 << 10, 512
	bodyBytes := len(e.Block.Header.PresenceInput) + len(e.Block.Header.ConsumedSeeds)
	for _, tx := range e.Block.Txs {
		bodyBytes += len(tx)
	}
	return envelope + 2*bodyBytes + perTx*len(e.Txs) + 2*receiptBytes + deltaBytes
}
