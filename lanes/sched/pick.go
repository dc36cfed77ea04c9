package sched

import (
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
)

// PickRequest describes the block that transactions are picked for.
type PickRequest struct {
	Params   *chain.Params
	BaseFees [chain.NumLanes]chain.FeePair // of the new block
	Height   chain.Height                  // of the new block
	MaxBytes int                           // for all bodies with their frames
	// Reserved is what due timers may take of the timer lane's share.
	Reserved chain.Usage
	// Before are the transactions of the blocks before the new one, the parent's
	// first. Those above the pool's head have used nonces that the pool does not
	// know of. A sender who is missing here is picked at the turns of transactions
	// that the parent has used already, which may be too late.
	Before [][]*chain.VerifiedTx
	// Account reads what an account may use in the new block: as the parent has
	// it, which need not be finalized.
	Account func(chain.Address) (Account, error)
	// Left reads how many cycles an actor has for messages in the new block. It is
	// asked for actors that are called for more than what all get for a block; nil:
	// of these, no message is taken beyond that.
	Left func(chain.Address) (chain.Cycles, error)
	// Expect says what is used by what a key names (see [Offer]), if anything is known
	// of it. nil: everything counts with its limits.
	Expect func(key uint64) (chain.Usage, bool)
	// Used is what transactions used in an execution on the same parent: what is known
	// of them best.
	Used map[chain.Hash]chain.Usage
	// Busy are actors that had no cycles left for a message in that execution: others to
	// them would find as many.
	Busy map[chain.Address]struct{}
	// Doubt says that Expect was wrong for this block: what is not in Used is a guess,
	// and what is counts with that from now on.
	Doubt bool
	// Anew says that the selection which was executed counts for nothing but Used: it is
	// not filled up, but made again.
	Anew bool
}

// Picked is a selection for a block.
type Picked struct {
	Txs []*chain.VerifiedTx // in the order of selection

	// Spares are messages to actors that may have no cycles for them, when those
	// before have used all that they may: what a handler uses, only execution tells.
	// Each is the only one of its sender, in Txs or here, so that a block is in
	// order with any of them or without.
	Spares []*chain.VerifiedTx
	Slack  chain.Usage // of the user lane, when all of Txs use what they were counted with

	Counts []chain.Usage // what each of Txs was counted with
	Cut    bool          // something that could run was left for want of room
}

// Pick selects transactions for a block. They stay in the pool. The error is
// Account's or Left's.
//
// All shards stand still meanwhile, so the selection is made from the pool of
// one instant.
func (s *Scheduler) Pick(req *PickRequest) (Picked, error) {
	s.holdAll()
	defer s.releaseAll()
	defer s.merge.forget()
	if req.Doubt {
		s.believe(req.Used)
	}
	k, err := s.picker(req, false, nil)
	if err == nil && (k.cramped || len(k.called.tight) > 0) { // somebody's unused limits keep others out
		k, err = s.picker(req, k.cramped, k.called.tight)
	}
	if err != nil {
		return Picked{}, err
	}
	s.pickedLast = len(k.picked)
	s.counts.picks.Add(1)
	s.counts.picked.Add(uint64(len(k.picked)))
	return k.result(), nil
}

// picker goes through all lanes.
func (s *Scheduler) picker(req *PickRequest, narrow bool, tight map[chain.Address]struct{}) (*picker, error) {
	s.picks++
	k := &picker{
		req: req, all: s, pick: s.picks,
		budget: fees.NewBudget(req.Params),
		bytes:  req.MaxBytes,
		onHead: req.Height == s.head.Height+1,
		narrow: narrow, tight: tight,
	}
	k.budget.Reserve(chain.LaneTimer, req.Reserved)
	most := min(s.pickedLast+s.pickedLast/8, s.waiting())
	k.picked, k.counts = make([]*chain.VerifiedTx, 0, most), make([]chain.Usage, 0, most)
	defer func() { s.lookedLast = k.looked }()
	if err := k.lookAhead(); err != nil {
		return nil, err
	}
	for lane := range chain.NumLanes {
		if err := k.lane(lane); err != nil {
			return nil, err
		}
	}
	return k, k.called.err
}

// picker is the state of one Pick. At every step it takes the best transaction
// that can run: the highest tier first, in a tier the first to arrive, and only
// when the nonce before it is in the parent's state or taken already.
type picker struct {
	req    *PickRequest
	all    *Scheduler
	pick   uint64
	budget *fees.Budget
	bytes  int         // left in the block
	left   fees.Space  // what the budget has for the lane at hand, within bytes
	spare  chain.Usage // largest spare of a transaction taken for the lane
	onHead bool        // the parent is the finalized head, so the pool knows the accounts
	picked []*chain.VerifiedTx
	counts []chain.Usage         // of those picked
	misses int                   // in a row, in the lane at hand, of what is not large
	larges int                   // misses of what is large, in the lane at hand
	looked int                   // entries that it came to
	ahead  [chain.NumLanes]heads // of the senders whose turns are not the pool's
	called called

	narrow    bool                       // large unused limits have no promise; see loose
	tight     map[chain.Address]struct{} // actors of which they have none; see mayCall
	cramped   bool                       // such a promise has kept something out
	cut       bool                       // something was left for want of room
	spareMost chain.Usage                // of the lane at hand: what counts as large, unused limits among it
	bytesMost uint64                     // likewise
	guessMost chain.Usage                // room of the lane for what may come to nothing; see postpone
	guessed   chain.Usage                // what such have taken of it
	later     postponed                  // such that wait for the rest of the lane
	last      bool                       // it is their turn
}

// pickState is a sender's account after the transactions picked so far, in the
// worst case: each at its highest cost, nothing received.
type pickState struct {
	pick      uint64 // the rest is of this pick
	nonce     uint64
	spendable chain.Wei
	met       bool // one of the sender's was taken, or is a spare
	shut      bool // that one must stay the only one
}

// lane fills the lane's share of the block. It ends when the lane has nothing
// more, or when so many transactions in a row did not fit, none of which was large,
// that the rest is not worth the time.
func (k *picker) lane(lane chain.LaneID) error {
	k.left, k.spare, k.misses, k.larges = k.budget.Left(lane), chain.Usage{}, 0, 0
	k.bytesMost = k.left.Bytes / narrowPart // of its share: in a smaller block nothing is larger
	k.left.Bytes = min(k.left.Bytes, uint64(max(k.bytes, 0)))
	k.called.room = spareBlocks * k.left.Cycles
	k.spareMost, k.guessMost = part(k.left.Usage, narrowPart), part(k.left.Usage, guessPart)
	k.guessed, k.last = chain.Usage{}, false
	if err := k.walk(lane); err != nil {
		return err
	}
	return k.takePostponed()
}

// walk goes through the turns of a lane.
func (k *picker) walk(lane chain.LaneID) error {
	met := k.all.met(lane)
	for l, ok := highestBelow(met, level(numLevels)); ok; l, ok = highestBelow(met, l) {
		k.all.merge.gather(k.all, lane, l)
		for some := k.all.merge.stretch(); len(some) > 0; some = k.all.merge.stretch() {
			for i := range some {
				if len(k.ahead[lane]) > 0 {
					k.takeAhead(lane, l, some[i].seq)
				}
				if err := k.meet(some[i].e); err != nil || k.misses >= k.all.cfg.PackMisses {
					return err
				}
			}
		}
	}
	k.takeAhead(lane, levelBarred, math.MaxUint64)
	return nil
}

// meet takes e, at its turn, if it can run, and what it leads.
func (k *picker) meet(e *entry) error {
	k.looked++
	if k.larges/largeMisses >= k.all.cfg.PackMisses && k.large(e.uses, e) {
		return nil // at a glance
	}
	c := k.countOf(e)
	if !k.fits(e, &c) {
		k.miss(e, &c)
		return nil
	}
	s := e.of
	if s.pick.pick != k.pick {
		if k.onHead && e.nonce != s.Nonce {
			return nil // the one before it, which came first, was not taken
		}
		// Without a look at the account: a crowd may be so.
		if k.busy(e) || k.barred(e, &c) || !k.pays(e) || e.nonce == s.Nonce && k.postpone(e, &c) {
			return nil
		}
		if err := k.read(s, e.tx.Sender); err != nil {
			return err
		}
	}
	if !k.take(s, e) && e.nonce >= s.pick.nonce || !e.leads {
		return nil
	}
	// Runnable ones have no gap between them.
	for _, next := range s.waiting[e.nonce-s.Nonce+1:] {
		k.looked++
		if next.leader != e || next.nonce >= s.pick.nonce && !k.take(s, next) {
			return nil
		}
	}
	return nil
}

// pays reports whether the fee caps cover the base fee of the block, which on a parent
// above the head may be higher than the one that the levels were made for.
func (k *picker) pays(e *entry) bool {
	base := k.req.BaseFees[e.lane]
	return e.maxFee.PerCycle >= base.PerCycle && e.maxFee.PerCell >= base.PerCell
}

// read opens the account of a sender for this pick.
func (k *picker) read(s *sender, addr chain.Address) (err error) {
	at := s.Account
	if !k.onHead || at.Height != k.all.head.Height {
		if at, err = k.req.Account(addr); err != nil {
			return err
		}
	}
	s.pick = pickState{pick: k.pick, nonce: at.Nonce, spendable: at.Spendable}
	return nil
}

// take adds e to the block if the rules that the verifier applies let it
// (fees.CheckSender; what cannot change was judged at admission). Lanes come in
// block order, so a predecessor that was taken stands in the same or an earlier
// segment (resolution 11.15).
func (k *picker) take(s *sender, e *entry) bool {
	c := k.countOf(e)
	if e.nonce != s.pick.nonce || s.pick.shut || !k.fits(e, &c) || // fits: for what it leads, which was not asked yet
		k.busy(e) || !k.pays(e) || e.cost > s.pick.spendable {
		return false
	}
	loose := k.loose(&c)
	if loose && s.pick.met || k.postpone(e, &c) {
		return false
	}
	if e.calls.Actor != nil && !k.mayCall(s, e, &c) {
		return false
	}
	if c.guess || loose {
		k.guessed = sum(k.guessed, c.uses)
	}
	k.spare = k.promise(&c)
	k.budget.Take(e.lane, fees.Space{Usage: c.uses, Bytes: e.space()})
	k.left.Cycles -= c.uses.Cycles
	k.left.Cells -= c.uses.Cells
	k.left.Bytes -= e.space()
	k.bytes -= int(e.space())
	s.pick.met, s.pick.shut = true, loose
	s.pick.nonce++
	s.pick.spendable -= e.cost
	k.misses = 0
	k.picked, k.counts = append(k.picked, e.tx), append(k.counts, c.uses)
	return true
}
