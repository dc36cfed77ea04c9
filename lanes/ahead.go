package lanes

import (
	"container/heap"

	"github.com/cowboy-foundation/cowboy/chain"
)

// heads holds one entry for each sender with transactions in the blocks between the pool's
// head and the parent: its first with a nonce that the parent has not used, the best on
// top. The sender's own turns cannot be used: they begin with nonces that are used.
type heads []*entry

func (h heads) Len() int      { return len(h) }
func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h heads) Less(i, j int) bool {
	return h[i].level > h[j].level || h[i].level == h[j].level && h[i].seq < h[j].seq
}

// Push implements heap.Interface.
func (h *heads) Push(e any) { *h = append(*h, e.(*entry)) }

// Pop implements heap.Interface.
func (h *heads) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}

// lookAhead finds the senders whose nonces the blocks above the pool's head have
// used and prepares their heads. A pick meets each of their transactions at its
// turn, too; by then it has been taken, or it never will be.
func (k *picker) lookAhead() error {
	for i, txs := range k.req.Before {
		if k.req.Height-1-chain.Height(i) <= k.all.head.Height {
			return nil
		}
		for _, tx := range txs {
			s := k.all.shardOf(tx.Sender).senders[tx.Sender]
			if s == nil || s.pick.pick == k.pick {
				continue
			}
			if err := k.read(s, tx.Sender); err != nil {
				return err
			}
			if s.pick.nonce > s.Nonce {
				k.queueAhead(s, s.pick.nonce)
			}
		}
	}
	return nil
}

// queueAhead puts a sender's transaction of the given nonce, which is its next,
// among the heads if it can run.
func (k *picker) queueAhead(s *sender, nonce uint64) {
	i := nonce - s.Nonce
	if i >= uint64(len(s.waiting)) || s.waiting[i].nonce != nonce || s.waiting[i].level < levelBarred {
		return
	}
	e := s.waiting[i]
	heap.Push(&k.ahead[e.lane], e)
}

// takeAhead takes the heads of a lane that come before a turn, each followed by
// the next of its sender.
func (k *picker) takeAhead(lane chain.LaneID, l level, seq uint64) {
	h := &k.ahead[lane]
	for len(*h) > 0 && k.misses < k.all.cfg.PackMisses {
		e := (*h)[0]
		if e.level < l || e.level == l && e.seq > seq {
			return
		}
		heap.Pop(h)
		k.looked++
		c := k.countOf(e)
		switch {
		case !k.fits(e, &c):
			k.miss(e, &c)
		case k.include(e.of, e):
			k.queueAhead(e.of, e.nonce+1) // one of an earlier lane is queued there and never met
		}
	}
}
