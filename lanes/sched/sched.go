package sched

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
)

// Head is the finalized block that transactions are held against.
type Head struct {
	Height   chain.Height
	Millis   uint64                        // its time; 0: nothing grows old
	BaseFees [chain.NumLanes]chain.FeePair // in force in the next block
	Measures *Measures                     // likewise; nil: as before
	// Account reads what an account may use in the next block. Several
	// goroutines call it, the last of them maybe just after the next head was
	// given; what it returns then is thrown away.
	Account func(chain.Address) (Account, error)
}

// Offer is a transaction and what is known of it without the pool.
type Offer struct {
	Tx   *chain.VerifiedTx
	Cost chain.Wei // most that it can take from its sender
	// Spare is the part of its limits that it is known not to use; zero where
	// only execution tells. Another transaction may have that space.
	Spare chain.Usage
	Calls Call
	// MayCall says that it calls nobody now, and that its target may become an actor: then
	// Spare is no more known than that it runs.
	MayCall bool
	// Key names what it runs, and Expected is what that is known to use, at most the
	// limits. A key of 0 says that Spare is exact, Expected of 0 that nothing is known:
	// then it counts as if it used all that it may.
	Key      uint64
	Expected chain.Usage
	// Least is what it uses whatever becomes of it; zero if nobody knows. A tip on
	// what may not be used ranks it no higher than on that.
	Least chain.Usage
	Err   error // what makes it inadmissible for ever, or nil
}

// Call is what a message may take of the cycles that its actor has for a block; the
// zero value is nobody's.
type Call struct {
	Actor *chain.Address
	Most  chain.Cycles
	// Likely is what it will take, at most Most; 0: nobody knows. Not below a quarter of
	// Most counts, so that what looks as if it took little cannot stand in crowds for what
	// never runs.
	Likely chain.Cycles
}

// demands is what a message counts with among those that wait for its actor.
func (c *Call) demands() chain.Cycles {
	if c.Likely == 0 {
		return c.Most
	}
	return min(max(c.Likely, c.Most/4), c.Most)
}

// Scheduler is the sharded pool of waiting transactions.
type Scheduler struct {
	cfg     Config
	seed    maphash.Seed // spreads senders over shards in a way that nobody outside can aim at
	lanes   [chain.NumLanes]laneRoom
	targets targets
	drawn   atomic.Uint64 // numbers of operations; see shard.draw
	counts  struct{ picks, picked atomic.Uint64 }

	// Written while all shards are held, read while any is.
	head       Head
	heads      uint64 // that have come in
	prices     [chain.NumLanes]pricing
	picks      uint64
	pickedLast int
	lookedLast int      // entries that it came to; the work of a pick, for the tests
	movedLast  int      // likewise of placing what has moved at the last head
	roomLast   int      // likewise of the last look for what may leave a full lane
	merge      arrivals // of the pick at hand

	shards [Shards]shard
}

// New returns an empty scheduler.
func New(cfg Config, head Head) (*Scheduler, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("scheduler: %w", err)
	}
	s := &Scheduler{cfg: cfg, seed: maphash.MakeSeed(), head: head}
	s.targets.adopt(limitsIn(&cfg.Measures))
	for i := range s.prices {
		s.prices[i] = pricing{base: head.BaseFees[i], cellWeight: max(cfg.CellWeight, 1), version: 1}
		s.lanes[i].txsMax, s.lanes[i].bytesMax = cfg.LaneTxs[i], cfg.LaneBytes[i]
		s.lanes[i].floor.Store(math.MaxUint8) // an empty lane holds nothing below any level
	}
	for i := range s.shards {
		h := &s.shards[i]
		h.all, h.byHash, h.senders = s, map[chain.Hash]*entry{}, map[chain.Address]*sender{}
		for lane := range h.lanes {
			h.lanes[lane].calls = &s.targets
		}
	}
	return s, nil
}

func (s *Scheduler) shardOf(sender chain.Address) *shard {
	return &s.shards[maphash.Bytes(s.seed, sender[:])%Shards]
}

// holdAll stops every shard. Shards are always taken in this order, and nobody
// takes a second one otherwise.
func (s *Scheduler) holdAll() {
	for i := range s.shards {
		s.shards[i].mu.Lock()
	}
}

func (s *Scheduler) releaseAll() {
	for i := range s.shards {
		s.shards[i].mu.Unlock()
	}
}

// Admit offers transactions to the pool, in order, and writes one answer for
// each: nil, or the refusal that the sender should see, or the error of
// Head.Account. Any number of goroutines may admit at once; each waits for
// others only where their senders share a shard.
func (s *Scheduler) Admit(offers []Offer, answers []error) {
	for i := 0; i < len(offers); {
		h := s.shardOf(offers[i].Tx.Sender)
		var t try
		h.mu.Lock()
		for {
			if t = h.admit(&offers[i]); t.crowded {
				break
			}
			answers[i] = t.err
			if i++; i == len(offers) || s.shardOf(offers[i].Tx.Sender) != h {
				break
			}
		}
		h.mu.Unlock()
		if t.crowded {
			answers[i] = s.admitHoldingAll(h, &offers[i], t)
			i++
		}
	}
}

// try is the outcome of admitting one offer with hold of one shard.
type try struct {
	err     error
	crowded bool    // it takes hold of all shards to decide
	at      Account // of the sender, as read
	heads   uint64  // at that time
}

// admit decides on one offer if hold of its sender's shard is enough to. It may
// let go of the shard for a while.
func (h *shard) admit(o *Offer) (t try) {
	if h.byHash[o.Tx.Hash] != nil {
		h.counts.known.Add(1)
		return try{err: ErrKnown}
	}
	t.at, t.err = h.account(o.Tx.Sender)
	t.heads = h.all.heads
	if t.err == nil {
		t.crowded, t.err = h.decide(o, t.at, false)
	} else {
		h.counts.refused.Add(1)
	}
	return t
}

// admitHoldingAll decides on an offer after a try that could not.
func (s *Scheduler) admitHoldingAll(h *shard, o *Offer, t try) error {
	s.holdAll()
	defer s.releaseAll()
	if t.heads != s.heads { // a head has come in between
		var err error
		if t.at, err = h.accountNow(o.Tx.Sender); err != nil {
			h.counts.refused.Add(1)
			return err
		}
	}
	_, err := h.decide(o, t.at, true)
	return err
}

// decide admits an offer or says why not, and counts it.
func (h *shard) decide(o *Offer, at Account, holdsAll bool) (crowded bool, err error) {
	did, err := h.judge(o, at, holdsAll)
	switch {
	case did.crowded:
		return true, nil
	case err == nil:
		h.counts.admitted.Add(1)
	case err == ErrKnown:
		h.counts.known.Add(1)
	case errors.As(err, new(*LaneFullError)):
		h.counts.full.Add(1)
	default:
		h.counts.refused.Add(1)
	}
	if did.replaced {
		h.counts.replaced.Add(1)
	}
	if did.evicted > 0 {
		h.counts.evicted.Add(uint64(did.evicted))
	}
	return false, err
}

func (h *shard) judge(o *Offer, at Account, holdsAll bool) (outcome, error) {
	switch {
	case h.byHash[o.Tx.Hash] != nil:
		return outcome{}, ErrKnown
	case o.Tx.Tx.Nonce < at.Nonce:
		return outcome{}, &NonceTooLowError{Got: o.Tx.Tx.Nonce, Want: at.Nonce}
	case o.Err != nil:
		return outcome{}, o.Err
	case o.Cost > at.Spendable:
		return outcome{}, &fees.FundsError{Need: o.Cost, Spendable: at.Spendable}
	}
	return h.add(o, at, holdsAll)
}

// account returns a sender's account at the head. What is known of a sender
// with waiting transactions is read again at the first use under a new head,
// since a balance can also become spendable by the passing of blocks.
//
// The shard is held by the caller and let go while the state is read: nobody
// waits for a disk because of another's transaction.
func (h *shard) account(addr chain.Address) (Account, error) {
	for {
		if at, ok := h.current(addr); ok {
			return at, nil
		}
		heads, read := h.all.heads, h.all.head.Account
		h.mu.Unlock()
		at, err := read(addr)
		h.mu.Lock()
		if h.all.heads == heads {
			if err == nil && h.senders[addr] != nil {
				h.all.targets.mu.Lock()
				h.leave(h.refresh(addr, at))
				h.all.targets.mu.Unlock()
			}
			return at, err
		}
	}
}

// accountNow is account for who holds all shards and lets none go.
func (h *shard) accountNow(addr chain.Address) (Account, error) {
	if at, ok := h.current(addr); ok {
		return at, nil
	}
	at, err := h.all.head.Account(addr)
	if err == nil {
		h.leave(h.refresh(addr, at))
	}
	return at, err
}

// current returns what is known of a sender if it was read under this head.
func (h *shard) current(addr chain.Address) (Account, bool) {
	s := h.senders[addr]
	if s == nil || s.Height != h.all.head.Height {
		return Account{}, false
	}
	return s.Account, true
}

// Advance moves the pool to a new head. The block's transactions leave it, with
// every other one of their nonces; so do, for the senders of the block and the
// accounts in touched, the last transactions that the balance no longer covers.
// No other transaction is looked at, except where a base fee crosses an edge of
// fee tiers. The error is the head's Account's.
//
// Accounts are read before anything stands still.
func (s *Scheduler) Advance(head Head, txs []*chain.VerifiedTx, touched []chain.Address) error {
	ahead := map[chain.Address]Account{}
	read := func(addr chain.Address) {
		h := s.shardOf(addr)
		h.mu.Lock()
		known := h.senders[addr] != nil
		h.mu.Unlock()
		if _, done := ahead[addr]; done || !known {
			return
		}
		if at, err := head.Account(addr); err == nil { // else it is read again below
			ahead[addr] = at
		}
	}
	for _, tx := range txs {
		read(tx.Sender)
	}
	for _, addr := range touched {
		read(addr)
	}

	s.holdAll()
	defer s.releaseAll()
	s.head = head
	s.heads++
	weighsAnew := head.Measures != nil && s.adopt(*head.Measures)
	for _, tx := range txs {
		if e := s.shardOf(tx.Sender).byHash[tx.Hash]; e != nil {
			e.final = true
		}
	}
	err := s.refreshAll(txs, touched, ahead)
	// Prices last, so that what leaves is not moved first.
	s.shards[0].counts.moved.Add(uint64(s.reprice(head.BaseFees, weighsAnew)))
	s.retire()
	return err
}

func (s *Scheduler) refreshAll(txs []*chain.VerifiedTx, touched []chain.Address, ahead map[chain.Address]Account) error {
	refresh := func(addr chain.Address) error {
		h := s.shardOf(addr)
		if h.senders[addr] == nil {
			return nil
		}
		if at, ok := ahead[addr]; ok {
			if h.senders[addr].Account != at {
				h.leave(h.refresh(addr, at))
			}
			return nil
		}
		_, err := h.accountNow(addr)
		return err
	}
	for _, tx := range txs {
		if err := refresh(tx.Sender); err != nil {
			return err
		}
	}
	for _, addr := range touched {
		if err := refresh(addr); err != nil {
			return err
		}
	}
	return nil
}

// reprice sets the base fees of the next block, while all shards are held. Only
// lanes whose fees changed are touched, in them only lists for which the change
// matters, and in those only transactions that cross a tier's edge move; all, if they
// weigh anew.
func (s *Scheduler) reprice(base [chain.NumLanes]chain.FeePair, weighsAnew bool) (moved int) {
	s.movedLast = 0
	var changed []chain.LaneID
	for lane := range chain.NumLanes {
		if weighsAnew || s.prices[lane].base != base[lane] {
			changed = append(changed, lane)
			s.prices[lane].base = base[lane]
			s.prices[lane].version++
			s.lanes[lane].raise(levelParked) // the next look finds the true floor
		}
	}
	for i := range s.shards {
		moved += s.shards[i].reprice(changed)
	}
	return moved + s.promote()
}

// adopt takes in what governance has changed, and reports whether every transaction is to
// be looked at for its tier. All shards are held.
func (s *Scheduler) adopt(m Measures) (weighsAnew bool) {
	if now := limitsIn(&m); s.targets.limits != now {
		s.targets.adopt(now)
		for i := range s.shards {
			for _, e := range s.shards[i].byHash {
				s.targets.join(e) // in any order: sums
			}
		}
	}
	weight := max(m.CellWeight, 1)
	if s.prices[0].cellWeight == weight {
		return false
	}
	for lane := range s.prices {
		s.prices[lane].cellWeight = weight
		s.prices[lane].version++
		for i := range s.shards {
			for l := range s.shards[i].lanes[lane].fifos {
				s.shards[i].lanes[lane].fifos[l].still = noFee
			}
		}
	}
	return true
}

// reprice moves what crosses an edge of the tiers in the lanes whose base fees
// have changed.
func (h *shard) reprice(changed []chain.LaneID) (moved int) {
	for _, lane := range changed {
		movers := h.lanes[lane].relevel(&h.all.prices[lane])
		h.movers[lane] = movers
		moved += len(movers)
	}
	h.settleMovers()
	return moved
}

// retire drops what has grown old, of one shard at each head: a pool that looked at all
// of it would stop everybody for as long as that takes.
func (s *Scheduler) retire() {
	if s.head.Millis == 0 || s.cfg.AgeMillis == 0 {
		return
	}
	h := &s.shards[s.heads%Shards]
	var old []*entry
	for _, e := range h.byHash {
		if e.born == 0 || e.born > s.head.Millis {
			e.born = s.head.Millis
		} else if s.head.Millis-e.born > s.cfg.AgeMillis {
			old = append(old, e)
		}
	}
	slices.SortFunc(old, func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) }) // not the map's order
	for _, e := range old {
		h.remove(e)
	}
	h.counts.aged.Add(uint64(len(old)))
}

// Discard removes transactions from the pool. Unknown ones are ignored.
func (s *Scheduler) Discard(hashes []chain.Hash) {
	s.holdAll()
	defer s.releaseAll()
	for _, hash := range hashes {
		for i := range s.shards {
			h := &s.shards[i]
			if e := h.byHash[hash]; e != nil {
				h.remove(e)
				h.counts.discarded.Add(1)
				break
			}
		}
	}
}

// Waiting returns all transactions, in an order in which they may be admitted again: each
// behind those that arrived before it and those of its sender that it waits for.
func (s *Scheduler) Waiting() []*chain.VerifiedTx {
	s.holdAll()
	list := make([]arrival, 0, s.waiting())
	for i := range s.shards {
		for _, from := range s.shards[i].senders { // in any order: sorted below
			last := uint64(0)
			for _, e := range from.waiting {
				last = max(last+1, e.seq) // another level may have given it a later place
				list = append(list, arrival{last, e})
			}
		}
	}
	s.releaseAll()
	slices.SortFunc(list, func(a, b arrival) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), bytes.Compare(a.e.tx.Hash[:], b.e.tx.Hash[:]))
	})
	txs := make([]*chain.VerifiedTx, len(list))
	for i := range list {
		txs[i] = list[i].e.tx
	}
	return txs
}

// Place is where a transaction stands.
type Place struct {
	Tx    *chain.VerifiedTx
	State State
	Tier  int    // 0..Tiers-1 if State is Ready
	Seq   uint64 // in the order of arrival at its tier
	Calls bool   // it was judged as a message
}

// Lookup finds a waiting transaction by its hash. It asks one shard after the
// other: who looks up does not know the sender, and an index of all hashes
// would cost every admission more than it saves here.
func (s *Scheduler) Lookup(hash chain.Hash) (Place, bool) {
	for i := range s.shards {
		if p, ok := s.shards[i].lookup(hash); ok {
			return p, true
		}
	}
	return Place{}, false
}

func (h *shard) lookup(hash chain.Hash) (Place, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.byHash[hash]
	if e == nil {
		return Place{}, false
	}
	p := Place{Tx: e.tx, Seq: e.seq, Calls: e.calls.Actor != nil}
	switch e.level {
	case levelParked:
		p.State = Parked
	case levelUnderpriced:
		p.State = Underpriced
	case levelBarred:
		p.State = Barred
	default:
		p.State, p.Tier = Ready, int(e.level-levelTier0)
	}
	return p, true
}

// PendingNonce returns the first nonce that neither the chain nor a sender's
// runnable transactions use. The error is Head.Account's.
func (s *Scheduler) PendingNonce(addr chain.Address) (uint64, error) {
	h := s.shardOf(addr)
	h.mu.Lock()
	defer h.mu.Unlock()
	at, err := h.account(addr)
	if err != nil {
		return 0, err
	}
	return max(at.Nonce, h.pendingNonce(addr)), nil
}

// pendingNonce is 0 for a sender without transactions.
func (h *shard) pendingNonce(addr chain.Address) uint64 {
	s := h.senders[addr]
	if s == nil {
		return 0
	}
	return s.Nonce + uint64(s.runnable())
}
