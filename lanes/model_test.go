package lanes

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
)

// model is the pool written as plainly as possible: one slice in queue order,
// and everything else found by looking at all of it.
type model struct {
	cfg      testConfig
	weight   uint64
	base     [chain.NumLanes]chain.FeePair
	was      [chain.NumLanes]chain.FeePair // base before the head that comes in
	behind   map[chain.Address]bool        // senders in shards that this head has not reached
	accounts map[chain.Address]account     // only of senders with transactions
	queue    []*modelTx                    // in order of joining their level
}

type modelTx struct {
	tx   *chain.VerifiedTx
	cost chain.Wei
	at   level
	ran  chain.Usage // see entry

	replaced int // others of its nonce, one after the other
}

// chainOf returns a sender's transactions by nonce.
func (m *model) chainOf(a chain.Address) []*modelTx {
	var out []*modelTx
	for _, t := range m.queue {
		if t.tx.Sender == a {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(x, y *modelTx) int { return int(x.tx.Tx.Nonce) - int(y.tx.Tx.Nonce) })
	return out
}

// levelNow computes where t belongs, with big integers.
func (m *model) levelNow(t *chain.VerifiedTx) level {
	next := m.accounts[t.Sender].Nonce
	have := map[uint64]bool{}
	for _, o := range m.chainOf(t.Sender) {
		have[o.tx.Tx.Nonce] = true
	}
	for n := next; n < t.Tx.Nonce; n++ {
		if !have[n] {
			return levelQueued
		}
	}
	base := m.baseOf(t)
	if t.Tx.MaxFeePerCycle < base.PerCycle || t.Tx.MaxFeePerCell < base.PerCell {
		return levelUnderpriced
	}
	l := m.tierAt(t, mostOf(t))
	if least := leastOf(t); least != (chain.Usage{}) {
		l = min(l, m.tierAt(t, least))
	}
	return l
}

// baseOf is the base fee by which a transaction is judged.
func (m *model) baseOf(t *chain.VerifiedTx) chain.FeePair {
	if m.behind[t.Sender] {
		return m.was[t.Lane]
	}
	return m.base[t.Lane]
}

// tierAt is the level of what pays, if it uses so much.
func (m *model) tierAt(t *chain.VerifiedTx, uses chain.Usage) level {
	n, base := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }, m.baseOf(t)
	tips := new(big.Int).Mul(n(uint64(min(t.Tx.TipPerCycle, t.Tx.MaxFeePerCycle-base.PerCycle))), n(uint64(uses.Cycles)))
	cell := new(big.Int).Mul(n(uint64(min(t.Tx.TipPerCell, t.Tx.MaxFeePerCell-base.PerCell))), n(uint64(uses.Cells)))
	weight := new(big.Int).Add(n(uint64(uses.Cycles)), new(big.Int).Mul(n(uint64(uses.Cells)), n(m.weight)))
	if weight.Sign() == 0 {
		weight.SetInt64(1)
	}
	if weight.BitLen() > 64 {
		return levelTier0
	}
	density := new(big.Int).Div(new(big.Int).Lsh(new(big.Int).Add(tips, cell), 4), weight)
	return levelTier0 + level(min(density.BitLen(), Tiers-1))
}

// placed is levelNow with what an actor can serve: of the messages to it that pay as
// much or more and are as large, so many stand in tiers.
func (m *model) placed(t, old *modelTx) level {
	l := m.levelNow(t.tx)
	if l < levelTier0 {
		return l
	}
	for _, o := range m.chainOf(t.tx.Sender) {
		if o != old && o.tx.Tx.Nonce < t.tx.Tx.Nonce && m.stops(o.tx) {
			return levelBarred
		}
	}
	if claim := m.claim(t.tx); claim > 0 && m.cfg.unsureBlocks > 0 {
		for _, o := range m.queue {
			if o != t && o != old && o.tx.Lane == t.tx.Lane && o.at >= l && m.isWide(o.tx) == m.isWide(t.tx) {
				claim += m.claim(o.tx)
			}
		}
		if room := m.cfg.laneRoom[t.tx.Lane]; claim > m.cfg.unsureBlocks*(uint64(room.Cycles)+m.weight*uint64(room.Cells)) {
			return levelBarred
		}
	}
	if m.cfg.actorMost == 0 || t.tx.Tx.To == nil {
		return l
	}
	sum, large := demandOf(t.tx), t.tx.Tx.CyclesLimit > m.cfg.actorRefill
	for _, o := range m.queue {
		if o != t && o != old && o.tx.Tx.To != nil && *o.tx.Tx.To == *t.tx.Tx.To && o.at >= l && (o.tx.Tx.CyclesLimit > m.cfg.actorRefill) == large {
			sum += demandOf(o.tx)
		}
	}
	if sum > m.cfg.actorMost {
		return levelBarred
	}
	return l
}

// isWide reports whether what a transaction may not use is above a sixteenth of its lane.
func (m *model) isWide(tx *chain.VerifiedTx) bool {
	unused, room := unusedOf(tx), m.cfg.laneRoom[tx.Lane]
	if keyOf(tx) != 0 || mayCallOf(tx) {
		unused = chain.Usage{Cycles: tx.Tx.CyclesLimit, Cells: tx.Tx.CellsLimit}
	}
	return m.cfg.unsureBlocks > 0 && (unused.Cycles > room.Cycles/16 || unused.Cells > room.Cells/16)
}

// claim is what a transaction asks of its lane, if it may come to nothing.
func (m *model) claim(tx *chain.VerifiedTx) uint64 {
	if keyOf(tx) == 0 && !mayCallOf(tx) && !m.isWide(tx) {
		return 0
	}
	return uint64(tx.Tx.CyclesLimit) + m.weight*uint64(tx.Tx.CellsLimit)
}

// stops reports whether what stands behind a transaction waits for it among the barred.
func (m *model) stops(tx *chain.VerifiedTx) bool {
	return m.isWide(tx) || m.cfg.actorMost > 0 && tx.Tx.To != nil && tx.Tx.CyclesLimit > m.cfg.actorRefill
}

// requeue moves the sender's transactions whose level between queued and not
// queued is wrong to the end, in nonce order.
func (m *model) requeue(a chain.Address) {
	for _, t := range m.chainOf(a) {
		if (m.levelNow(t.tx) == levelQueued) == (t.at == levelQueued) {
			continue
		}
		t.at = m.placed(t, nil)
		i := slices.Index(m.queue, t)
		m.queue = append(slices.Delete(m.queue, i, i+1), t)
	}
}

func (m *model) remove(t *modelTx) {
	i := slices.Index(m.queue, t)
	m.queue = slices.Delete(m.queue, i, i+1)
	m.requeue(t.tx.Sender)
	if len(m.chainOf(t.tx.Sender)) == 0 {
		delete(m.accounts, t.tx.Sender)
	}
}

func (m *model) laneTotals(l chain.LaneID) (txs, bytes int) {
	for _, t := range m.queue {
		if t.tx.Lane == l {
			txs++
			bytes += m.over(t.tx)
		}
	}
	return txs, bytes
}

// over is what of a body its place has no room for.
func (m *model) over(tx *chain.VerifiedTx) int { return overPlainly(tx, m.cfg.SmallBytes) }

// overPlainly is Config.over, by the sizes of what a list is made of.
func overPlainly(tx *chain.VerifiedTx, small int) int {
	over := len(tx.Body) - small
	if over <= 0 {
		return 0
	}
	for _, e := range tx.Tx.AccessList {
		over += 48 + 32*len(e.Keys)
	}
	return over
}

// verdict is the kind of an answer; the numbers inside errors have tests of
// their own.
func verdict(err error) string { return fmt.Sprintf("%T", err) }

func (m *model) add(tx *chain.VerifiedTx, cost chain.Wei, at account) error {
	for _, t := range m.queue {
		if t.tx.Hash == tx.Hash {
			return ErrKnown
		}
	}
	switch {
	case tx.Tx.Nonce < at.Nonce:
		return &NonceTooLowError{}
	case cost > at.Spendable:
		return &fees.FundsError{}
	}
	mine := m.chainOf(tx.Sender)
	if len(mine) > 0 {
		at = m.accounts[tx.Sender]
	}
	next, spent := at.Nonce, chain.Wei(0)
	var old *modelTx
	for _, t := range mine {
		if t.tx.Tx.Nonce == next {
			next++
		}
		if t.tx.Tx.Nonce == tx.Tx.Nonce {
			old = t
		} else {
			spent += t.cost
		}
	}
	if tx.Tx.Nonce > next+m.cfg.NonceGap {
		return &NonceGapError{}
	}
	if old != nil {
		o, n := old.tx.Tx, tx.Tx
		percent := m.cfg.BumpPercent
		if old.replaced >= 8 {
			percent = max(percent, 100)
		}
		enough := func(o, n chain.Wei) bool { return uint64(n)*100 >= uint64(o)*(100+percent) }
		if !enough(o.MaxFeePerCycle, n.MaxFeePerCycle) || !enough(o.MaxFeePerCell, n.MaxFeePerCell) ||
			!enough(o.TipPerCycle, n.TipPerCycle) || !enough(o.TipPerCell, n.TipPerCell) ||
			(o.MaxFeePerCycle == n.MaxFeePerCycle && o.MaxFeePerCell == n.MaxFeePerCell && o.TipPerCycle == n.TipPerCycle && o.TipPerCell == n.TipPerCell) {
			return &ReplaceError{}
		}
	} else if len(mine) >= m.cfg.SenderTxs {
		return &SenderFullError{}
	}
	bytes := len(tx.Body)
	for _, o := range mine {
		if o != old {
			bytes += len(o.tx.Body)
		}
	}
	if m.cfg.SenderBytes > 0 && bytes > m.cfg.SenderBytes {
		return &SenderFullError{}
	}
	if spent+cost > at.Spendable {
		return &BalanceError{}
	}
	return m.insert(&modelTx{tx: tx, cost: cost}, old, at)
}

func (m *model) insert(t, old *modelTx, at account) error {
	before, had := m.accounts[t.tx.Sender]
	m.accounts[t.tx.Sender] = at
	t.at = m.placed(t, old)
	worth := t.at
	for _, o := range m.chainOf(t.tx.Sender) {
		if o.tx.Tx.Nonce < t.tx.Tx.Nonce && worth != levelQueued && (o.tx.Lane == t.tx.Lane || o.at < levelTier0) {
			worth = min(worth, o.at)
		}
	}
	txs, bytes := m.laneTotals(t.tx.Lane)
	if old != nil && old.tx.Lane == t.tx.Lane {
		txs--
		bytes -= m.over(old.tx)
	}
	var victims []*modelTx
	for txs+1 > m.cfg.LaneTxs[t.tx.Lane] || bytes+m.over(t.tx) > m.cfg.LaneBytes[t.tx.Lane] {
		v := m.cheapest(t.tx, worth, victims, bytes+m.over(t.tx) > m.cfg.LaneBytes[t.tx.Lane])
		if v == nil {
			if !had {
				delete(m.accounts, t.tx.Sender)
			} else {
				m.accounts[t.tx.Sender] = before
			}
			return &LaneFullError{}
		}
		victims = append(victims, v)
		txs--
		bytes -= m.over(v.tx)
	}
	for _, v := range victims {
		m.remove(v)
	}
	if old != nil {
		t.replaced = old.replaced + 1
	}
	if old != nil && old.tx.Lane == t.tx.Lane && old.at == t.at {
		m.queue[slices.Index(m.queue, old)] = t
	} else {
		if old != nil {
			i := slices.Index(m.queue, old)
			m.queue = slices.Delete(m.queue, i, i+1)
		}
		m.queue = append(m.queue, t)
	}
	m.requeue(t.tx.Sender)
	for _, o := range m.chainOf(t.tx.Sender) {
		if m.stops(t.tx) && o.tx.Tx.Nonce > t.tx.Tx.Nonce && o.at >= levelTier0 {
			o.at = levelBarred
			i := slices.Index(m.queue, o)
			m.queue = append(slices.Delete(m.queue, i, i+1), o)
		}
	}
	return nil
}

// cheapest returns who leaves next: of the lowest level under worth the newest,
// or rather the last transaction of its sender in that lane. For bytes, only what has
// more of these than its place holds leaves, at the level of the chain up to it.
func (m *model) cheapest(tx *chain.VerifiedTx, worth level, gone []*modelTx, bytes bool) *modelTx {
	at := func(t *modelTx) level {
		if bytes {
			return m.worthOf(t)
		}
		return t.at
	}
	var low *modelTx
	for _, t := range m.queue { // later in the queue wins a tie
		if t.tx.Lane == tx.Lane && t.tx.Sender != tx.Sender && at(t) < worth && !slices.Contains(gone, t) && (!bytes || m.over(t.tx) > 0) && (low == nil || at(t) <= at(low)) {
			low = t
		}
	}
	if low == nil {
		return nil
	}
	last := low
	for _, t := range m.chainOf(low.tx.Sender) {
		if t.tx.Lane == tx.Lane && !slices.Contains(gone, t) {
			last = t
		}
	}
	return last
}

// worthOf is the least level of a sender's chain in the lane up to a transaction.
func (m *model) worthOf(t *modelTx) level {
	low := t.at
	for _, o := range m.chainOf(t.tx.Sender) {
		if o.tx.Tx.Nonce < t.tx.Tx.Nonce && o.tx.Lane == t.tx.Lane {
			low = min(low, o.at)
		}
	}
	return low
}

func (m *model) refresh(a chain.Address, at account) {
	if len(m.chainOf(a)) == 0 {
		return
	}
	m.accounts[a] = at
	var sum chain.Wei
	for _, t := range m.chainOf(a) {
		if sum += t.cost; t.tx.Tx.Nonce < at.Nonce {
			sum = 0
		}
		if t.tx.Tx.Nonce < at.Nonce || sum > at.Spendable {
			i := slices.Index(m.queue, t)
			m.queue = slices.Delete(m.queue, i, i+1)
		}
	}
	m.requeue(a)
	if len(m.chainOf(a)) == 0 {
		delete(m.accounts, a)
	}
}

// reprice is a head that changes nothing but base fees, and reaches all at once.
func (m *model) reprice(base [chain.NumLanes]chain.FeePair) {
	m.comes(base, nil)
	m.relevel(m.all())
	m.promote()
}

// comes begins to take in a head. It reaches the given senders later.
func (m *model) comes(base [chain.NumLanes]chain.FeePair, later []chain.Address) {
	m.was, m.base, m.behind = m.base, base, map[chain.Address]bool{}
	for _, a := range later {
		m.behind[a] = true
	}
}

// reaches says that the head has come to senders.
func (m *model) reaches(senders []chain.Address) {
	for _, a := range senders {
		delete(m.behind, a)
	}
}

// all are the senders of all that waits.
func (m *model) all() (out []chain.Address) {
	for _, t := range m.queue {
		out = append(out, t.tx.Sender)
	}
	return out
}

// relevel keeps arrival order inside each level by construction: the queue is
// one list, and a change of price does not move anybody in it.
func (m *model) relevel(of []chain.Address) {
	for _, t := range m.queue {
		if t.at == levelQueued || t.at == levelBarred || !slices.Contains(of, t.tx.Sender) {
			continue
		}
		now := m.levelNow(t.tx)
		if now >= levelTier0 && t.at < levelTier0 && m.mayBar(t.tx) { // until it has its turn at the end of the head
			now = levelBarred
		}
		t.at = now
	}
}

// mayBar reports whether anything can bar a transaction from its tier.
func (m *model) mayBar(tx *chain.VerifiedTx) bool {
	return m.cfg.actorMost > 0 && tx.Tx.To != nil || m.cfg.unsureBlocks > 0 && m.claim(tx) > 0 ||
		slices.ContainsFunc(m.chainOf(tx.Sender), func(t *modelTx) bool { return m.stops(t.tx) })
}

// promote gives places to those whose actors can serve more.
func (m *model) promote() {
	for _, t := range m.queue {
		if t.at == levelBarred {
			t.at = m.placed(t, nil)
		}
	}
}

// compare checks every list of the pool against the model.
func (m *model) compare(t *testing.T, p *bare) {
	t.Helper()
	want := map[[2]uint8][]*chain.VerifiedTx{}
	for _, e := range m.queue {
		k := [2]uint8{uint8(e.tx.Lane), uint8(e.at)}
		want[k] = append(want[k], e.tx)
	}
	if txs, senders := p.sizes(); txs != len(m.queue) || senders != len(m.accounts) {
		t.Fatalf("pool has %d transactions of %d senders, model %d of %d", txs, senders, len(m.queue), len(m.accounts))
	}
	p.checkShards(t)
	for lane := range chain.NumLanes {
		txs, bytes := m.laneTotals(lane)
		if got := p.stats().Lanes[lane]; got.Txs != txs || got.Bytes != bytes {
			t.Fatalf("%s lane totals %d, %d; model %d, %d", lane, got.Txs, got.Bytes, txs, bytes)
		}
		for l := range level(numLevels) {
			var got []*chain.VerifiedTx
			for _, e := range p.at(lane, l) {
				got = append(got, e.tx)
			}
			if !slices.Equal(got, want[[2]uint8{uint8(lane), uint8(l)}]) {
				t.Fatalf("%s lane level %d holds %s, model %s", lane, l, names(got), names(want[[2]uint8{uint8(lane), uint8(l)}]))
			}
			if !slices.Equal(p.at(lane, l), p.newest(lane, l)) {
				t.Fatalf("%s lane level %d: the order of eviction is not the reverse of that of picking", lane, l)
			}
		}
	}
	for a, at := range m.accounts {
		if s := p.shardOf(a).senders[a]; s.account != at {
			t.Fatalf("sender %x: %+v, model %+v", a[:2], s.account, at)
		}
	}
}
