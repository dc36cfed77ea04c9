package lanes

import (
	"bytes"
	"cmp"
	"errors"
	"hash/maphash"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
)

// head is a finalized block as the pool sees it: what transactions are held against.
type head struct {
	Height   chain.Height
	Millis   uint64                        // its time; 0: nothing grows old
	BaseFees [chain.NumLanes]chain.FeePair // in force in the next block
	measures *measures                     // likewise; nil: as before
	// account reads what an account may use in the next block. Several
	// goroutines call it, the last of them maybe just after the next head was
	// given; what it returns then is thrown away.
	account func(chain.Address) (account, error)
}

// offer is a transaction and what is known of it without the pool.
type offer struct {
	Tx   *chain.VerifiedTx
	Cost chain.Wei // most that it can take from its sender
	// Unused is the part of its limits that it is known not to use; zero where
	// only execution tells. Another transaction may have that space.
	Unused chain.Usage
	Calls  call
	// MayCall says that it calls nobody now, and that its target may become an actor: then
	// Unused is no more known than that it runs.
	MayCall bool
	// Needs is what it cannot do without, and Drains what it may leave those of its sender
	// behind it without.
	Needs, Drains chain.Means
	// Seated says that only who was drawn for the job which it names may send it: a job
	// that is pruned has nobody left who was.
	Seated bool
	// Key names what it runs, and Expected is what that is known to use, at most the
	// limits. A key of 0 says that Unused is exact, Expected of 0 that nothing is known:
	// then it counts as if it used all that it may.
	Key      uint64
	Expected chain.Usage
	// Least is what it uses whatever becomes of it; zero if nobody knows. A tip on
	// what may not be used ranks it no higher than on that.
	Least chain.Usage
	Err   error // what makes it inadmissible for ever, or nil
}

// call is what a message may take of the cycles that its actor has for a block; the
// zero value is nobody's.
type call struct {
	Actor *chain.Address
	Most  chain.Cycles
	// Likely is what it will take, at most Most; 0: nobody knows. Not below a quarter of
	// Most counts, so that what looks as if it took little cannot stand in crowds for what
	// never runs.
	Likely chain.Cycles
}

// demands is what a message counts with among those that wait for its actor.
func (c *call) demands() chain.Cycles {
	if c.Likely == 0 {
		return c.Most
	}
	return min(max(c.Likely, c.Most/4), c.Most)
}

// pool holds the waiting transactions in shards. Any goroutine may call it.
type pool struct {
	cfg     Config
	seed    maphash.Seed // spreads senders over shards in a way that nobody outside can aim at
	lanes   [chain.NumLanes]laneRoom
	targets targets
	drawn   atomic.Uint64 // numbers of operations; see shard.draw
	counts  struct{ picks, picked atomic.Uint64 }

	// coming is held while a head comes in, and by a pick: it sees all shards on one basis.
	coming    sync.Mutex
	picksWait atomic.Int32 // how many picks wait for coming
	yields    int          // how often the head at hand let those run who waited for a shard; of who holds coming
	basis     *basis       // on which all shards stand while nobody holds coming
	shake     func()       // of tests, or nil; see letOthers

	// Written while all shards are held.
	picks         uint64
	pickedLast    int
	midway        [chain.NumLanes]bool // the last promote of the lane did not come to the end; see laneQueue.resume
	barredWalk    barredWalk           // of the promote at hand
	barredLooks   int                  // const, but in tests
	lookedLast    int                  // entries that it came to; the work of a pick, for the tests
	roomLast      int                  // likewise of the last look for what may leave a full lane
	promoteLooked int                  // likewise of the last promote
	merge         arrivals             // of the pick at hand

	shards [numShards]shard
}

// newPool returns an empty pool. The head has measures.
func newPool(cfg Config, head head) (*pool, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	s := &pool{cfg: cfg, seed: maphash.MakeSeed(), basis: new(basis).after(head), barredLooks: barredLooks}
	s.targets.adopt(limitsIn(head.measures))
	for i := range s.lanes {
		s.lanes[i].setCap(cfg.LaneTxs[i], cfg.LaneTxs[i])
		s.lanes[i].bytesMax = cfg.LaneBytes[i]
		s.lanes[i].floor.Store(math.MaxUint8) // an empty lane holds nothing below any level
	}
	for i := range s.shards {
		h := &s.shards[i]
		h.number, h.all, h.basis, h.byHash, h.senders = i, s, s.basis, map[chain.Hash]*entry{}, map[chain.Address]*sender{}
		for lane := range h.lanes {
			h.lanes[lane].calls = &s.targets
		}
	}
	return s, nil
}

func (s *pool) shardOf(sender chain.Address) *shard { return &s.shards[s.shardNumber(sender)] }

func (s *pool) shardNumber(sender chain.Address) uint64 {
	return maphash.Bytes(s.seed, sender[:]) % numShards
}

// holdAll stops every shard. numShards are always taken in this order, and nobody
// takes a second one otherwise.
func (s *pool) holdAll() {
	for i := range s.shards {
		s.shards[i].mu.Lock()
	}
}

// releaseAll gives them free, and lets those run who waited (see letOthers).
func (s *pool) releaseAll() {
	waited := false
	for i := range s.shards {
		s.shards[i].mu.Unlock()
		waited = waited || s.shards[i].wanted.Load() > 0
	}
	if waited {
		runtime.Gosched()
	}
}

// admit offers transactions to the pool, in order, and writes one answer for
// each: nil, or the refusal that the sender should see, or the error of
// head.account. Any number of goroutines may admit at once; each waits for
// others only where their senders share a shard.
func (s *pool) admit(offers []offer, answers []error) {
	for i := 0; i < len(offers); {
		h := s.shardOf(offers[i].Tx.Sender)
		var t try
		h.enter()
		for {
			if t = h.admit(&offers[i]); t.needsAll {
				break
			}
			answers[i] = t.err
			if i++; i == len(offers) || s.shardOf(offers[i].Tx.Sender) != h {
				break
			}
		}
		h.mu.Unlock()
		if t.needsAll {
			answers[i] = s.admitHoldingAll(h, &offers[i], t)
			i++
		}
	}
}

// try is the outcome of admitting one offer with hold of one shard.
type try struct {
	err      error
	needsAll bool    // it takes hold of all shards to decide
	at       account // of the sender, as read
	basis    *basis  // of the shard at that time
}

// admit decides on one offer if hold of its sender's shard is enough to. It may
// let go of the shard for a while.
func (h *shard) admit(o *offer) (t try) {
	if h.byHash[o.Tx.Hash] != nil { // nothing is read for what is here already
		h.counts.known.Add(1)
		return try{err: ErrKnown}
	}
	t.at, t.err = h.account(o.Tx.Sender)
	t.basis = h.basis
	if t.err == nil {
		t.needsAll, t.err = h.decide(o, t.at, false)
	} else {
		h.counts.refused.Add(1)
	}
	return t
}

// admitHoldingAll decides on an offer after a try that could not.
func (s *pool) admitHoldingAll(h *shard, o *offer, t try) error {
	s.holdAll()
	defer s.releaseAll()
	if t.basis != h.basis { // a head has come in between
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
func (h *shard) decide(o *offer, at account, holdsAll bool) (needsAll bool, err error) {
	did, err := h.checkAndAdd(o, at, holdsAll)
	switch {
	case did.needsAll:
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

// checkAndAdd adds an offer that the head's account at allows. It asks again whether the
// transaction is here: the shard was let go while the account was read.
func (h *shard) checkAndAdd(o *offer, at account, holdsAll bool) (outcome, error) {
	switch {
	case h.byHash[o.Tx.Hash] != nil:
		return outcome{}, ErrKnown
	case o.Tx.Tx.Nonce < at.Nonce:
		return outcome{}, &NonceTooLowError{Got: o.Tx.Tx.Nonce, Want: at.Nonce}
	case o.Err != nil:
		return outcome{}, o.Err
	}
	if err := (fees.Standing{Spendable: at.Spendable}).Covers(o.Cost); err != nil {
		return outcome{}, err
	}
	return h.add(o, at, holdsAll)
}

// account returns a sender's account at the head. What is known of a sender
// with waiting transactions is read again at the first use under a new head,
// since a balance can also become spendable by the passing of blocks.
//
// The shard is held by the caller and let go while the state is read: nobody
// waits for a disk because of another's transaction.
func (h *shard) account(addr chain.Address) (account, error) {
	for {
		if at, ok := h.current(addr); ok {
			return at, nil
		}
		on := h.basis
		h.mu.Unlock()
		at, err := on.account(addr)
		h.enter()
		if h.basis == on {
			if err == nil && h.senders[addr] != nil {
				h.all.targets.mu.Lock()
				h.countRefreshed(h.refresh(addr, at))
				h.all.targets.mu.Unlock()
			}
			return at, err
		}
	}
}

// accountNow is account for who lets no shard go, and holds all or the targets.
func (h *shard) accountNow(addr chain.Address) (account, error) {
	if at, ok := h.current(addr); ok {
		return at, nil
	}
	at, err := h.basis.account(addr)
	if err == nil {
		h.countRefreshed(h.refresh(addr, at))
	}
	return at, err
}

// current returns what is known of a sender if it was read under this head.
func (h *shard) current(addr chain.Address) (account, bool) {
	s := h.senders[addr]
	if s == nil || s.Height != h.basis.Height {
		return account{}, false
	}
	return s.account, true
}

// discard removes transactions from the pool. Unknown ones are ignored.
func (s *pool) discard(txs []*chain.VerifiedTx) {
	s.holdAll()
	defer s.releaseAll()
	for _, tx := range txs {
		h := s.shardOf(tx.Sender)
		if e := h.byHash[tx.Hash]; e != nil {
			h.remove(e)
			h.counts.discarded.Add(1)
		}
	}
}

// waiting returns all transactions, in an order in which they may be admitted again: each
// behind those that arrived before it and those of its sender that it waits for.
func (s *pool) waiting() []*chain.VerifiedTx {
	s.holdAll()
	list := make([]arrival, 0, s.held())
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

// eachHash calls f with the hash of every waiting transaction, in any order.
func (s *pool) eachHash(f func(hash chain.Hash)) {
	var hashes []chain.Hash
	for i := range s.shards {
		h := &s.shards[i]
		hashes = hashes[:0]
		h.mu.Lock()
		for hash := range h.byHash {
			hashes = append(hashes, hash)
		}
		h.mu.Unlock()
		for _, hash := range hashes {
			f(hash)
		}
	}
}

// lookup finds a waiting transaction by its hash. It asks one shard after the
// other: who looks up does not know the sender, and an index of all hashes
// would cost every admission more than it saves here.
func (s *pool) lookup(hash chain.Hash) (Waiting, bool) {
	for i := range s.shards {
		if p, ok := s.shards[i].lookup(hash); ok {
			return p, true
		}
	}
	return Waiting{}, false
}

func (h *shard) lookup(hash chain.Hash) (Waiting, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.byHash[hash]
	if e == nil {
		return Waiting{}, false
	}
	w := Waiting{Tx: e.tx, seq: e.seq, calls: e.calls.Actor != nil}
	switch e.level {
	case levelQueued:
		w.State = WaitQueued
	case levelUnderpriced:
		w.State = WaitUnderpriced
	case levelBarred:
		w.State = WaitBarred
	default:
		w.State, w.Tier = WaitExecutable, int(e.level-levelTier0)
	}
	return w, true
}

// pendingNonce returns the first nonce that neither the chain nor a sender's
// executable transactions use. The error is head.account's.
func (s *pool) pendingNonce(addr chain.Address) (uint64, error) {
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
	return s.Nonce + uint64(s.executable())
}
