package lanes

import (
	"cmp"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
)

// bare is the pool as one sequential structure, below the reading of
// accounts: what the plain model is compared with.
type bare struct{ *pool }

// testConfig is the pool's policy and what it has from parameters, which tests set as
// they like.
type testConfig struct {
	Config
	measures
}

func newBare(cfg testConfig, cellWeight uint64) *bare {
	cfg.cellWeight = cellWeight
	s, err := newPool(cfg.Config, head{measures: &cfg.measures})
	if err != nil {
		panic(err)
	}
	return &bare{s}
}

// validatorConfig is what a validator runs with, but for the bytes of lanes.
func validatorConfig() testConfig {
	return testConfig{
		Config: Config{
			SenderTxs: 256, NonceGap: 64, BumpPercent: 10, PackMisses: 256,
			LaneTxs:   [chain.NumLanes]int{chain.LaneSystem: 4_096, chain.LaneRunner: 32_768, chain.LaneUser: 131_072},
			LaneBytes: [chain.NumLanes]int{chain.LaneSystem: 8 << 20, chain.LaneRunner: 64 << 20, chain.LaneUser: 256 << 20},
		},
		measures: measures{cellWeight: 10},
	}
}

// picked is a selection as the pool makes it, taken apart: the overcommitted stand behind
// the others.
type picked struct {
	Txs, Overcommitted []*chain.VerifiedTx
	Unreserved         chain.Usage
	Counts             []chain.Usage // of Txs
}

func (p *bare) pick(req *PackRequest) (picked, error) {
	s, err := p.pool.pick(req)
	return apart(&s), err
}

func apart(s *order.Selection) picked {
	n := len(s.Txs)
	for n > 0 && s.IsOvercommitted(n-1) {
		n--
	}
	return picked{Txs: s.Txs[:n], Overcommitted: s.Txs[n:], Unreserved: s.Unreserved, Counts: s.Counts[:n]}
}

func (p *bare) add(tx *chain.VerifiedTx, cost chain.Wei, at account) (outcome, error) {
	h := p.shardOf(tx.Sender)
	o := offer{Tx: tx, Cost: cost, Calls: callOf(tx), Key: keyOf(tx), Unused: unusedOf(tx), MayCall: mayCallOf(tx), Least: leastOf(tx), Needs: needsOf(tx), Drains: drainsOf(tx)}
	did, err := h.checkAndAdd(&o, at, false)
	if did.needsAll {
		did, err = h.checkAndAdd(&o, at, true)
	}
	return did, err
}

// keyOf spreads transactions over some handlers, that of 0 included.
func keyOf(tx *chain.VerifiedTx) uint64 { return binary.BigEndian.Uint64(tx.Hash[:]) % 6 }

// mayCallOf takes half of the transactions without a handler for such that may get one.
func mayCallOf(tx *chain.VerifiedTx) bool {
	return keyOf(tx) == 0 && binary.BigEndian.Uint64(tx.Hash[:])/6%2 == 0
}

// needsOf has a third of the transactions need a role.
func needsOf(tx *chain.VerifiedTx) chain.Means {
	if binary.BigEndian.Uint64(tx.Hash[:])/12%3 == 0 {
		return chain.MeansFunds | chain.MeansRole
	}
	return chain.MeansFunds
}

// drainsOf has a quarter of them take money away, and as many a role.
func drainsOf(tx *chain.VerifiedTx) chain.Means {
	switch binary.BigEndian.Uint64(tx.Hash[:]) / 36 % 4 {
	case 0:
		return chain.MeansFunds
	case 1:
		return chain.MeansRole
	}
	return 0
}

// unusedOf is what a transaction without a handler is known not to use.
func unusedOf(tx *chain.VerifiedTx) chain.Usage {
	if keyOf(tx) != 0 {
		return chain.Usage{}
	}
	return chain.Usage{Cycles: tx.Tx.CyclesLimit * 3 / 4, Cells: tx.Tx.CellsLimit * 3 / 4}
}

// mostOf is what a transaction uses at most.
func mostOf(tx *chain.VerifiedTx) chain.Usage {
	unused := unusedOf(tx)
	return chain.Usage{Cycles: tx.Tx.CyclesLimit - unused.Cycles, Cells: tx.Tx.CellsLimit - unused.Cells}
}

// leastOf is what a transaction with a handler uses in any case.
func leastOf(tx *chain.VerifiedTx) chain.Usage {
	if keyOf(tx)%2 == 0 {
		return chain.Usage{}
	}
	return chain.Usage{Cycles: tx.Tx.CyclesLimit / 2, Cells: tx.Tx.CellsLimit / 5}
}

// callOf takes all limits for those of a handler.
func callOf(tx *chain.VerifiedTx) call {
	c := call{Actor: tx.Tx.To, Most: tx.Tx.CyclesLimit}
	if k := keyOf(tx); k > 2 { // a half or a ninth of it is likely
		c.Likely = c.Most / chain.Cycles(2+7*(k%2))
	}
	return c
}

// demandOf is what the message counts with before its actor.
func demandOf(tx *chain.VerifiedTx) chain.Cycles {
	limit, k := tx.Tx.CyclesLimit, keyOf(tx)
	switch {
	case k <= 2 || limit < 9 && k%2 == 1 || limit < 2:
		return limit
	case k%2 == 1:
		return limit / 4 // more than a ninth
	}
	return limit / 2
}

func (p *bare) entry(hash chain.Hash) *entry {
	for i := range p.shards {
		if e := p.shards[i].byHash[hash]; e != nil {
			return e
		}
	}
	return nil
}

// reprice changes nothing but the base fees, in all shards, and promotes.
func (p *bare) reprice(base [chain.NumLanes]chain.FeePair) int {
	before := p.stats().Moved
	next := p.basis.after(head{Height: p.basis.Height, BaseFees: base, account: p.basis.account})
	next.count = p.basis.count
	p.basis = next
	for i := range p.shards {
		p.shards[i].placed = 0
		p.relevel(next, i)
	}
	return int(p.stats().Moved-before) + p.promote()
}

// relevel moves the levels of a shard to another basis.
func (p *bare) relevel(next *basis, i int) {
	h := &p.shards[i]
	was := h.basis
	h.basis = next
	h.reprice(&was.prices)
}

// placed is how many entries placing what moved at the last head came to.
func (p *bare) placed() (n int) {
	for i := range p.shards {
		n += p.shards[i].placed
	}
	return n
}

func (p *bare) remove(e *entry) { p.shardOf(e.tx.Sender).remove(e) }

func (p *bare) refresh(addr chain.Address, at account) ([]*entry, int) {
	return p.shardOf(addr).refresh(addr, at)
}

func (p *bare) pendingNonce(addr chain.Address) (uint64, bool) {
	h := p.shardOf(addr)
	return h.pendingNonce(addr), h.senders[addr] != nil
}

// at lists a level of a lane in the order of arrival.
func (p *bare) at(lane chain.LaneID, l level) (out []*entry) {
	for i := range p.shards {
		for e := p.shards[i].lanes[lane].fifos[l].head; e != nil; e = e.next {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) })
	return out
}

// newest lists a level of a lane in the order in which it is evicted, reversed.
func (p *bare) newest(lane chain.LaneID, l level) (out []*entry) {
	t := p.tails(lane, l)
	for e := t.last(); e != nil; e = t.last() {
		out = append(out, e)
	}
	slices.Reverse(out)
	return out
}

func (p *bare) sizes() (txs, senders int) {
	for i := range p.shards {
		txs += len(p.shards[i].byHash)
		senders += len(p.shards[i].senders)
	}
	return txs, senders
}

// checkShards holds every shard against what the documentation of its type
// promises.
func (p *bare) checkShards(t testing.TB) {
	t.Helper()
	var txs, bytes [chain.NumLanes]int
	executable, barred := 0, 0
	for i := range p.shards {
		h := &p.shards[i]
		listed := 0
		for lane := range h.lanes {
			q := &h.lanes[lane]
			floor := level(p.lanes[lane].floor.Load())
			if e := q.resume; e != nil && (!p.midway[lane] || e.level != levelBarred || h.byHash[e.tx.Hash] != e || int(e.lane) != lane) {
				t.Fatalf("shard %d lane %d: the barred are to be gone on with at level %d of lane %d, midway %v", i, lane, e.level, e.lane, p.midway[lane])
			}
			for l := range q.fifos {
				var last uint64
				count := 0
				for e := q.fifos[l].head; e != nil; e = e.next {
					if e.seq <= last || e.mark || int(e.level) != l || h.byHash[e.tx.Hash] != e || p.shardOf(e.tx.Sender) != h || e.level < floor {
						t.Fatalf("shard %d lane %d level %d: entry seq %d after %d, mark %v, level %d, floor %d", i, lane, l, e.seq, last, e.mark, e.level, floor)
					}
					if want := h.basis.prices[lane].levelOfEntry(e); e.level != levelQueued && (want != e.level && (e.level != levelBarred || p.targets.limits == (limits{}) && e.of.stops == 0) || e.level != levelBarred && !q.fifos[l].still.hold(h.basis.prices[lane].base)) {
						t.Fatalf("shard %d lane %d: entry at level %d belongs to %d, bounds %+v, base %+v", i, lane, l, h.basis.prices[lane].levelOfEntry(e), q.fifos[l].still, h.basis.prices[lane].base)
					}
					if price := &h.basis.prices[lane]; e.priced == price.version && e.found != price.levelOfEntry(e) {
						t.Fatalf("shard %d lane %d: level %d was found under prices under which it is %d", i, lane, e.found, price.levelOfEntry(e))
					}
					last = e.seq
					count++
					txs[lane]++
					if e.level >= levelTier0 {
						executable++
					} else if e.level == levelBarred {
						barred++
					}
					bytes[lane] += overPlainly(e.tx, p.cfg.SmallBytes)
				}
				listed += count
				p.checkTurns(t, h, chain.LaneID(lane), level(l))
				if (count > 0) != (q.filled>>l&1 == 1) || l < int(levelTier0) && q.idle[l].Load() != int64(count) {
					t.Fatalf("shard %d lane %d level %d: bitmap or count wrong for %d entries", i, lane, l, count)
				}
			}
		}
		inChains, counted := 0, 0
		for a, s := range h.senders {
			var sum chain.Wei
			for k, e := range s.waiting {
				sum += e.cost
				if e.of != s || k > 0 && e.nonce <= s.waiting[k-1].nonce || (e.level == levelQueued) != (e.nonce != s.Nonce+uint64(k)) {
					t.Fatalf("sender %x: place %d has nonce %d at level %d", a[:2], k, e.nonce, e.level)
				}
			}
			lows := [chain.NumLanes]level{level(numLevels), level(numLevels), level(numLevels), level(numLevels)}
			for _, e := range s.waiting {
				low := min(lows[e.lane], e.level)
				if lows[e.lane] = low; e.low != low || e.weighed != (e.over > 0) {
					t.Fatalf("sender %x: nonce %d is worth %d, says %d; among the heavy %v", a[:2], e.nonce, low, e.low, e.weighed)
				}
			}
			for k, e := range s.waiting {
				if want := anchorPlainly(s.waiting[:k+1]); e.anchor != want || want != nil && want != e && !want.anchors || s.stale {
					t.Fatalf("sender %x: place %d of lane %d level %d has the wrong anchor", a[:2], k, e.lane, e.level)
				}
			}
			inChains += len(s.waiting)
			counted += s.counted
			if sum != s.cost || sum > s.Spendable {
				t.Fatalf("sender %x: cost %d, sum %d, spendable %d", a[:2], s.cost, sum, s.Spendable)
			}
		}
		h.checkHeavies(t)
		if listed != len(h.byHash) || listed != inChains || counted != h.counted {
			t.Fatalf("shard %d: %d entries in lists, %d in chains, %d by hash; %d counted, says %d", i, listed, inChains, len(h.byHash), counted, h.counted)
		}
	}
	if got := p.targets.barred.Load(); int(got) != barred {
		t.Fatalf("%d transactions are barred, says %d", barred, got)
	}
	if got := p.executable(); got != executable {
		t.Fatalf("%d transactions are executable, says %d", executable, got)
	}
	for lane := range p.lanes {
		heldTxs, heldBytes := unpack(p.lanes[lane].held.Load())
		if heldTxs != txs[lane] || heldBytes != bytes[lane] || heldTxs > int(p.lanes[lane].txsMax.Load()) || heldBytes > p.lanes[lane].bytesMax {
			t.Fatalf("lane %d holds %d and %d bytes, says %d and %d", lane, txs[lane], bytes[lane], heldTxs, heldBytes)
		}
	}
}

// checkTurns: the turns of a fifo are those of its entries that lead themselves. It is no
// Helper: it runs for every fifo of every shard, and to say so costs more than the check.
func (p *bare) checkTurns(t testing.TB, h *shard, lane chain.LaneID, l level) {
	q := &h.lanes[lane]
	var want []arrival
	for e := q.fifos[l].head; e != nil; e = e.next {
		if e.anchor == e {
			want = append(want, arrival{e.seq, e})
		}
	}
	if got := q.turns[l].remaining(); !slices.Equal(got, want) || (len(got) > 0) != (q.met>>l&1 == 1) {
		t.Fatalf("lane %d level %d: %d turns, want %d, bitmap %b", lane, l, len(got), len(want), q.met)
	}
	all := q.turns[l].all
	for _, a := range slices.Concat(all[:q.turns[l].gone], all[len(all):cap(all)]) {
		if a.e != nil {
			t.Fatal("a turn that is over keeps its entry alive")
		}
	}
}

// anchorPlainly finds the anchor of the last of a chain by a look at all of it:
// the one that a pick meets last, if it can take them all in one block.
func anchorPlainly(chained []*entry) (last *entry) {
	for i, e := range chained {
		if e.level < levelBarred || i > 0 && e.lane < chained[i-1].lane {
			return nil
		}
		if last == nil || e.lane > last.lane || e.lane == last.lane && (e.level < last.level || e.level == last.level && e.seq > last.seq) {
			last = e
		}
	}
	return last
}
