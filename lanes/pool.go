package lanes

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/cowboy-foundation/cowboy/chain"
)

// account is what the pool needs to know of a sender at the head.
type account struct {
	nonce     uint64 // next nonce that the chain takes
	spendable chain.Wei
	height    chain.Height // of the head at which it was read
}

// sender is the nonce chain of one account.
type sender struct {
	account
	waiting []*entry  // ascending nonces, all >= account.nonce
	cost    chain.Wei // sum of their costs; admission keeps it within spendable
}

// runnable returns how many of the waiting transactions can run one after
// another from the head's nonce.
func (s *sender) runnable() int {
	return sort.Search(len(s.waiting), func(i int) bool {
		return s.waiting[i].nonce() != s.nonce+uint64(i)
	})
}

// find returns the place of a nonce in waiting and whether it is there.
func (s *sender) find(nonce uint64) (int, bool) {
	return slices.BinarySearchFunc(s.waiting, nonce, func(e *entry, n uint64) int {
		switch have := e.nonce(); {
		case have < n:
			return -1
		case have > n:
			return 1
		}
		return 0
	})
}

// pool is the set of waiting transactions: nonce chains by sender, and fifos by
// lane and level over the same entries. It is pure: what it does depends only
// on the calls made, so that a plain model can check it. The owner around it
// reads the state.
//
// Between calls these hold:
//   - an entry is in byHash, in its sender's waiting and in exactly one fifo;
//   - it is parked if and only if a nonce between the head's and its own is
//     missing from waiting;
//   - seq ascends along every fifo; an entry that joins a level by arriving,
//     by becoming runnable or by losing a predecessor goes to its tail;
//   - a sender's cost does not exceed its spendable balance;
//   - no lane is above its caps.
type pool struct {
	cfg     Config
	prices  [chain.NumLanes]pricing
	lanes   [chain.NumLanes]laneQueue
	byHash  map[chain.Hash]*entry
	senders map[chain.Address]*sender
	lastSeq uint64
}

func newPool(cfg Config, cellWeight uint64) *pool {
	p := &pool{cfg: cfg, byHash: map[chain.Hash]*entry{}, senders: map[chain.Address]*sender{}}
	for i := range p.prices {
		p.prices[i].cellWeight = max(cellWeight, 1)
	}
	return p
}

// added says what an admission did besides admitting.
type added struct {
	replaced bool
	evicted  int
}

// add takes a transaction into the pool or returns one of the refusals of
// errors.go and changes nothing. cost is the most that it can take from its
// sender, at is the sender's account at the head.
func (p *pool) add(tx *chain.VerifiedTx, cost chain.Wei, at account) (added, error) {
	if p.byHash[tx.Hash] != nil {
		return added{}, ErrKnown
	}
	s := p.senders[tx.Sender]
	if s == nil {
		s = &sender{account: at}
	}
	i, taken := s.find(tx.Tx.Nonce)
	var old *entry
	if taken {
		old = s.waiting[i]
	}
	if err := p.checkSender(s, tx, cost, old); err != nil {
		return added{}, err
	}
	e := &entry{tx: tx, of: s, cost: cost, level: levelParked}
	if tx.Tx.Nonce == s.nonce+uint64(i) { // nonces are distinct, so none is missing before it
		e.level = p.prices[tx.Lane].levelOf(tx.Tx)
	}
	victims, err := p.room(s, i, e, old)
	if err != nil {
		return added{}, err
	}
	for _, v := range victims {
		v.mark = false
		p.remove(v)
	}
	p.insert(s, i, e, old)
	return added{replaced: old != nil, evicted: len(victims)}, nil
}

// checkSender holds a transaction against its sender's nonce chain and balance.
func (p *pool) checkSender(s *sender, tx *chain.VerifiedTx, cost chain.Wei, old *entry) error {
	nonce := tx.Tx.Nonce
	if nonce < s.nonce {
		return &NonceTooLowError{Got: nonce, Want: s.nonce}
	}
	next := s.nonce + uint64(s.runnable())
	if nonce > next && nonce-next > p.cfg.NonceGap {
		return &NonceGapError{Got: nonce, Next: next, GapMax: p.cfg.NonceGap}
	}
	others := s.cost
	if old != nil {
		if err := checkReplace(old.tx.Tx, tx.Tx, p.cfg.BumpPercent); err != nil {
			return err
		}
		others -= old.cost
	} else if len(s.waiting) >= p.cfg.SenderTxs {
		return &SenderFullError{Waiting: len(s.waiting), Max: p.cfg.SenderTxs}
	}
	// others <= spendable holds unless the head has taken money away since the
	// last refresh, so the difference is computed only when it exists.
	if others > s.spendable || cost > s.spendable-others {
		return &BalanceError{Spendable: s.spendable, Waiting: others, Cost: cost}
	}
	return nil
}

// checkReplace reports the first price of tx that is not high enough to take
// old's place. Each of the four prices must be at least old's plus percent of
// it, rounded up: 100 needs 110, 1 needs 2, and 0 needs 0. At least one price
// must truly rise, else a transaction with all prices 0 could be replaced for
// nothing forever.
func checkReplace(old, tx *chain.Tx, percent uint64) error {
	prices := [...]struct {
		name     string
		old, new chain.Wei
	}{
		{"max_fee_per_cycle", old.MaxFeePerCycle, tx.MaxFeePerCycle},
		{"max_fee_per_cell", old.MaxFeePerCell, tx.MaxFeePerCell},
		{"tip_per_cycle", old.TipPerCycle, tx.TipPerCycle},
		{"tip_per_cell", old.TipPerCell, tx.TipPerCell},
	}
	rises := false
	for _, price := range prices {
		if needed := bumped(price.old, percent); price.new < needed {
			return &ReplaceError{Nonce: tx.Nonce, Price: price.name, Offered: price.new, Needed: needed}
		}
		rises = rises || price.new > price.old
	}
	if !rises {
		return &ReplaceError{Nonce: tx.Nonce, Price: prices[0].name, Offered: prices[0].new, Needed: prices[0].old + 1}
	}
	return nil
}

// bumped returns ceil(price·(100+percent)/100), or the largest price when that
// does not fit.
func bumped(price chain.Wei, percent uint64) chain.Wei {
	hi, lo := bits.Mul64(uint64(price), 100+percent)
	lo, carry := bits.Add64(lo, 99, 0)
	if hi += carry; hi >= 100 {
		return ^chain.Wei(0)
	}
	q, _ := bits.Div64(hi, lo, 100)
	return chain.Wei(q)
}

// insert links e at place i of its sender, instead of old if that is there. A
// replacement that stays in old's lane and level keeps old's place in the fifo,
// so raising a fee never costs the turn; any other entry joins at the tail.
func (p *pool) insert(s *sender, i int, e, old *entry) {
	q := &p.lanes[e.tx.Lane]
	switch {
	case old == nil:
		s.waiting = slices.Insert(s.waiting, i, e)
		p.push(e)
	case old.tx.Lane == e.tx.Lane && old.level == e.level:
		s.waiting[i] = e
		q.swap(old, e)
	default:
		s.waiting[i] = e
		p.lanes[old.tx.Lane].remove(old)
		p.push(e)
	}
	if old != nil {
		s.cost -= old.cost
		delete(p.byHash, old.tx.Hash)
	}
	s.cost += e.cost
	p.byHash[e.tx.Hash] = e
	p.senders[e.tx.Sender] = s
	p.settle(s, i+1)
}

// push gives e the next seq and appends it to its lane.
func (p *pool) push(e *entry) {
	p.lastSeq++
	e.seq = p.lastSeq
	p.lanes[e.tx.Lane].push(e)
}

// settle parks and unparks the waiting transactions from place i on, after the
// chain before them changed. It stops at the first that stays as it is: if that
// one is parked, so is and was everything after it; if it is runnable, the next
// gap behind it is where it was.
func (p *pool) settle(s *sender, i int) {
	for ; i < len(s.waiting); i++ {
		e := s.waiting[i]
		runnable := e.nonce() == s.nonce+uint64(i)
		if runnable == (e.level != levelParked) {
			return
		}
		p.lanes[e.tx.Lane].remove(e)
		e.level = levelParked
		if runnable {
			e.level = p.prices[e.tx.Lane].levelOf(e.tx.Tx)
		}
		p.push(e)
	}
}

// remove takes e out of the pool; its successors become parked.
func (p *pool) remove(e *entry) {
	s := e.of
	i, _ := s.find(e.nonce())
	s.waiting = slices.Delete(s.waiting, i, i+1)
	p.forget(e)
	p.settle(s, i)
	p.drop(s, e.tx.Sender)
}

// forget unlinks e from everything but its sender's waiting.
func (p *pool) forget(e *entry) {
	p.lanes[e.tx.Lane].remove(e)
	delete(p.byHash, e.tx.Hash)
	e.of.cost -= e.cost
}

// drop deletes a sender without transactions.
func (p *pool) drop(s *sender, at chain.Address) {
	if len(s.waiting) == 0 {
		delete(p.senders, at)
	}
}

// refresh holds a sender's chain against its account at a new head: used nonces
// leave, and if the balance no longer covers the rest, so do the last ones. It
// returns what left, in nonce order: first used of them by their nonce, the
// others for want of balance.
func (p *pool) refresh(addr chain.Address, at account) (left []*entry, used int) {
	s := p.senders[addr]
	if s == nil {
		return nil, 0
	}
	s.account = at
	keep, _ := s.find(at.nonce)
	left = slices.Clone(s.waiting[:keep])
	for _, e := range left {
		p.forget(e)
	}
	s.waiting = slices.Delete(s.waiting, 0, keep)
	end := len(s.waiting)
	for cost := s.cost; cost > at.spendable; end-- {
		cost -= s.waiting[end-1].cost
	}
	for _, e := range s.waiting[end:] {
		p.forget(e)
		left = append(left, e)
	}
	s.waiting = slices.Delete(s.waiting, end, len(s.waiting))
	p.settle(s, 0)
	p.drop(s, addr)
	return left, keep
}

// reprice sets the base fees of the next block. Only lanes whose fees changed
// are touched, and in them only transactions that cross a tier's edge move.
func (p *pool) reprice(base [chain.NumLanes]chain.FeePair) (moved int) {
	for lane := range p.lanes {
		if p.prices[lane].base == base[lane] {
			continue
		}
		p.prices[lane].base = base[lane]
		moved += p.lanes[lane].relevel(p.prices[lane].levelOf)
	}
	return moved
}
