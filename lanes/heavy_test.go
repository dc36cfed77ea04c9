package lanes

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// heavyPool has places for 2,000 transactions, which hold 150 bytes of each, and 3,000
// bytes for the rest of larger ones.
func heavyPool(t *testing.T, small int) (*bare, *maker) {
	t.Helper()
	cfg := validatorConfig()
	cfg.SenderTxs, cfg.NonceGap, cfg.SmallBytes = 8, 2, 150
	cfg.LaneTxs[chain.LaneUser], cfg.LaneBytes[chain.LaneUser] = 2_000, 3_000
	p, m := newBare(cfg, 20), &maker{}
	for n := range small {
		tx := m.tx(0, 0, 1)
		tx.Sender = chain.Address{1, byte(n >> 8), byte(n)}
		mustAdd(t, p, tx)
	}
	return p, m
}

// body gives a transaction one of so many bytes.
func body(tx *chain.VerifiedTx, bytes int) *chain.VerifiedTx {
	tx.Body = make([]byte, bytes)
	return tx
}

// TestLargeMakeRoomForLarge: where a lane has places and no bytes, what frees no bytes
// does not leave. A thousand small transactions of little tip stay, whoever sends large
// bodies at a higher one, and are not even looked at: all of the pool stands still
// meanwhile.
func TestLargeMakeRoomForLarge(t *testing.T) { // ADR 156
	p, m := heavyPool(t, 1_000)
	large := func(sender byte, tip chain.Wei) *chain.VerifiedTx { return body(m.tx(sender, 0, tip), 1_150) }
	mustAdd(t, p, large(2, 1_000), large(3, 4_000), large(4, 16_000))
	send := func(tx *chain.VerifiedTx, evicted int, looks int) {
		t.Helper()
		before, _ := p.sizes()
		did, err := p.add(tx, 0, rich)
		after, _ := p.sizes()
		if full := new(LaneFullError); evicted == 0 && !errors.As(err, &full) || evicted > 0 && (err != nil || did.evicted != evicted || after != before+1-evicted) {
			t.Errorf("tip %d: %v, %d evicted, %d of %d wait", tx.Tx.TipPerCycle, err, did.evicted, after, before)
		}
		if p.roomLast > looks {
			t.Errorf("tip %d: %d transactions were looked at, want at most %d", tx.Tx.TipPerCycle, p.roomLast, looks)
		}
	}
	send(large(5, 64), 0, 0)                       // more than the small ones, less than any large one
	send(large(6, 64_000), 1, 4)                   // instead of the cheapest large one
	send(body(m.tx(7, 0, 64_000), 2_150), 2, 4)    // instead of two
	send(body(m.tx(8, 0, 1_000_000), 3_300), 0, 4) // larger than the lane
	if _, ok := p.lookup(large(2, 1_000).Hash); ok {
		t.Error("a transaction that was never sent")
	}
	if txs, _ := p.sizes(); txs != 1_002 {
		t.Errorf("%d transactions wait, want 1,000 small ones and 2", txs)
	}
}

// TestLargeBehindSmall: a large body that waits for a transaction of its sender which
// pays little is worth no more than that, and leaves as that would; the one before it
// frees nothing and stays.
func TestLargeBehindSmall(t *testing.T) {
	p, m := heavyPool(t, 10)
	mustAdd(t, p, m.tx(2, 0, 1), body(m.tx(2, 1, 100_000), 1_650), m.tx(2, 2, 100_000), body(m.tx(2, 3, 100_000), 1_650))
	mustAdd(t, p, body(m.tx(3, 0, 1_000), 1_150)) // the last of the chain leaves for it
	if p.shardOf(chain.Address{2}).senders[chain.Address{2}].waiting[2].nonce != 2 {
		t.Error("more than the last has left")
	}
	mustAdd(t, p, body(m.tx(4, 0, 1_000), 1_150)) // and the other, with what stands behind it
	if left := len(p.shardOf(chain.Address{2}).senders[chain.Address{2}].waiting); left != 1 {
		t.Errorf("%d of the chain wait, want the first, which is small", left)
	}
	dear := m.tx(2, 0, 50_000) // it pays more now: so does what stands behind it
	dear.Tx.MaxFeePerCycle, dear.Tx.MaxFeePerCell = 2_000_000, 2_000_000
	mustAdd(t, p, body(m.tx(2, 1, 100_000), 650))
	if _, err := p.add(body(m.tx(5, 0, 10), 1_150), 0, rich); err != nil {
		t.Errorf("large behind one that pays less: %v", err)
	}
	mustAdd(t, p, dear, body(m.tx(2, 1, 100_000), 1_150))
	if txs, _ := p.sizes(); txs != 14 {
		t.Errorf("%d wait, want 10 small ones, two of one sender and two large ones", txs)
	}
	p.checkShards(t)
}

// checkHeavies holds the lists of what is longer than its place to the entries.
func (h *shard) checkHeavies(t testing.TB) {
	t.Helper()
	for lane := range h.lanes {
		q := &h.lanes[lane].heavy
		var want [numLevels]heaviesOf
		for _, e := range h.byHash {
			if int(e.lane) == lane && e.over > 0 {
				want[e.low].n++
				want[e.low].over += e.over
			}
		}
		for l := range want {
			last := uint64(0)
			for _, a := range q.by[l].remaining() {
				if a.seq <= last || a.e.seq != a.seq || int(a.e.low) != l || h.byHash[a.e.tx.Hash] != a.e {
					t.Fatalf("lane %d: seq %d behind %d among what is worth %d", lane, a.seq, last, l)
				}
				last = a.seq
			}
			if n := len(q.by[l].remaining()); n != want[l].n || q.over[l] != want[l].over || (n > 0) != (q.filled>>l&1 == 1) {
				t.Fatalf("lane %d: %d of %d bytes are worth %d, want %+v", lane, n, q.over[l], l, want[l])
			}
		}
	}
}

// heaviesOf is how many there are of one worth.
type heaviesOf struct{ n, over int }
