package lanes

import (
	"cmp"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/order"
)

// pick selects transactions for a block. They stay in the pool. The error is
// account's or Left's.
//
// All shards stand still meanwhile, and none is behind another by a head, so the selection
// is made from the pool of one instant and one head.
func (s *pool) pick(req *PackRequest) (order.Selection, error) {
	s.picksWait.Add(1)
	s.coming.Lock()
	s.picksWait.Add(-1)
	defer s.coming.Unlock()
	ahead, err := s.readAhead(req)
	if err != nil {
		return order.Selection{}, err
	}
	s.holdAll()
	defer s.releaseAll()
	defer s.merge.clearEntries()
	if req.Doubt {
		s.believe(req.Ran, req.Used)
	}
	k, err := s.picker(req, ahead, false, nil)
	if err == nil && (k.cramped || len(k.called.tight) > 0) { // somebody's unused limits keep others out
		k, err = s.picker(req, ahead, k.cramped, k.called.tight)
	}
	if err != nil {
		return order.Selection{}, err
	}
	s.pickedLast = len(k.picked)
	s.counts.picks.Add(1)
	s.counts.picked.Add(uint64(len(k.picked)))
	return k.result(), nil
}

// picker goes through all lanes.
func (s *pool) picker(req *PackRequest, ahead []early, narrow bool, tight map[chain.Address]struct{}) (*picker, error) {
	s.picks++
	k := &picker{
		req: req, all: s, pick: s.picks,
		budget: fees.NewBudget(req.Params),
		bytes:  req.MaxBytes,
		onHead: req.Height == s.basis.Height+1,
		narrow: narrow, tight: tight,
	}
	k.budget.Reserve(chain.LaneTimer, req.Reserved)
	most := min(s.pickedLast+s.pickedLast/8, s.held())
	k.picked, k.counts = make([]*chain.VerifiedTx, 0, most), make([]chain.Usage, 0, most)
	defer func() { s.lookedLast = k.looked }()
	k.lookAhead(ahead)
	defer k.dropStrays()
	for lane := range chain.NumLanes {
		if err := k.lane(lane); err != nil {
			return nil, err
		}
	}
	return k, cmp.Or(k.called.err, k.strays.err)
}

// picker is the state of one pick. At every step it takes the best transaction
// that can run: the highest tier first, in a tier the first to arrive, and only
// when the nonce before it is in the parent's state or taken already.
type picker struct {
	req    *PackRequest
	all    *pool
	pick   uint64
	budget *fees.Budget
	bytes  int         // left in the block
	left   fees.Space  // what the budget has for the lane at hand, within bytes
	unused chain.Usage // largest unused limits of a transaction taken for the lane
	onHead bool        // the parent is the finalized head, so the pool knows the accounts
	picked []*chain.VerifiedTx
	counts []chain.Usage         // of those picked
	misses int                   // in a row, in the lane at hand, of what is not large
	larges int                   // misses of what is large, in the lane at hand
	looked int                   // entries that it came to
	ahead  [chain.NumLanes]heads // of the senders whose turns are not the pool's
	called called
	strays strays

	narrow     bool                       // large unused limits have no promise; see loose
	tight      map[chain.Address]struct{} // actors of which they have none; see mayCall
	cramped    bool                       // such a promise has kept something out
	cut        [chain.NumLanes]bool       // something of the lane was left for want of room
	unusedMost chain.Usage                // of the lane at hand: what counts as large, unused limits among it
	bytesMost  uint64                     // likewise
	guessMost  chain.Usage                // room of the lane for what may come to nothing; see postpone
	guessed    chain.Usage                // what such have taken of it
	later      postponed                  // such that wait for the rest of the lane
	last       bool                       // it is their turn
	riskMost   chain.Usage                // room of the lane for the risky before all others
	risked     chain.Usage                // what such have taken of it
	risks      *postponed                 // such that wait for all others; nil: none does
	final      bool                       // it is their turn
}

// pickState is a sender's account after the transactions picked so far, each at its highest
// cost, nothing received. What instructions take beyond that is not known: see drained.
type pickState struct {
	pick      uint64 // the rest is of this pick
	nonce     uint64
	spendable chain.Wei
	met       bool        // one of the sender's was taken, or is overcommitted
	shut      bool        // that one must stay the only one
	drained   chain.Means // what those taken may leave the sender without
}

// lane fills the lane's share of the block. It ends when the lane has nothing
// more, or when so many transactions in a row did not fit, none of which was large,
// that the rest is not worth the time.
func (k *picker) lane(lane chain.LaneID) error {
	k.left, k.unused, k.misses, k.larges = k.budget.Left(lane), chain.Usage{}, 0, 0
	k.bytesMost = k.left.Bytes / narrowPart // of its share: in a smaller block nothing is larger
	k.left.Bytes = min(k.left.Bytes, uint64(max(k.bytes, 0)))
	k.called.room = overcommittedBlocks * k.left.Cycles
	k.unusedMost, k.guessMost = part(k.left.Usage, narrowPart), part(k.left.Usage, guessPart)
	k.guessed, k.last = chain.Usage{}, false
	k.riskMost, k.risked, k.final = part(k.left.Usage, riskPart), chain.Usage{}, false
	if err := k.walk(lane); err != nil {
		return err
	}
	return k.takePostponed()
}

// barredMisses: so many times as many of the barred are looked at in vain as of others in a
// row. Not all of them say that there is no room: many may wait for few actors.
const barredMisses = 16

// vain is how many entries the pick came to that are not in the block.
func (k *picker) vain() int { return k.looked - len(k.picked) - len(k.called.overcommitted) }

// walk goes through the turns of a lane. The barred come last, and may be a crowd whose
// actors have nothing left: of these it looks at a part. Who can run is promoted at a head.
func (k *picker) walk(lane chain.LaneID) error {
	met, most := k.all.met(lane), math.MaxInt
	for l, ok := highestBelow(met, level(numLevels)); ok; l, ok = highestBelow(met, l) {
		if l == levelBarred {
			most = k.vain() + barredMisses*min(k.all.cfg.PackMisses, math.MaxInt/(2*barredMisses))
		}
		k.all.merge.gather(k.all, lane, l)
		for some := k.all.merge.stretch(); len(some) > 0; some = k.all.merge.stretch() {
			for i := range some {
				if len(k.ahead[lane]) > 0 {
					k.takeAhead(lane, l, some[i].seq)
				}
				if err := k.meet(some[i].e); err != nil || k.misses >= k.all.cfg.PackMisses || k.vain() >= most {
					return err
				}
			}
		}
	}
	k.takeAhead(lane, levelBarred, math.MaxUint64)
	return nil
}

// meet takes e, at its turn, if it can run, and what it anchors.
func (k *picker) meet(e *entry) error {
	k.looked++
	if k.larges/largeMisses >= k.all.cfg.PackMisses && k.large(e.uses, e) {
		return nil // at a glance
	}
	if s := e.of; s.pick.pick == k.pick && e.nonce < s.pick.nonce && !e.anchors {
		return nil // taken, or used between the pool's head and the parent
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
		if k.busy(e) || k.short(e) || k.barred(e, &c) || !k.pays(e) || !k.hasSeat(e) || e.nonce == s.Nonce && k.postpone(e, &c) {
			return nil
		}
		if err := k.read(s, e.tx.Sender); err != nil {
			return err
		}
	}
	if !k.include(s, e) && e.nonce >= s.pick.nonce || !e.anchors {
		return nil
	}
	// Runnable ones have no gap between them.
	for _, next := range s.waiting[e.nonce-s.Nonce+1:] {
		k.looked++
		if next.anchor != e || next.nonce >= s.pick.nonce && !k.include(s, next) {
			return nil
		}
	}
	return nil
}

// pays reports whether the fee caps cover the base fee of the block, which on a parent
// above the head may be higher than the one that the levels were made for.
func (k *picker) pays(e *entry) bool {
	return e.maxFee.Covers(k.req.BaseFees[e.lane])
}

// read opens the account of a sender for this pick.
func (k *picker) read(s *sender, addr chain.Address) (err error) {
	at := s.account
	if !k.onHead || at.Height != k.all.basis.Height {
		if at, err = k.req.account(addr); err != nil {
			return err
		}
	}
	k.open(s, at)
	return nil
}

func (k *picker) open(s *sender, at account) {
	s.pick = pickState{pick: k.pick, nonce: at.Nonce, spendable: at.Spendable}
}

// include adds e to the block if the rules that the verifier applies let it
// (fees.CheckSender; what cannot change was judged at admission). Lanes come in
// block order, so a predecessor that was taken stands in the same or an earlier
// segment (resolution 11.15).
func (k *picker) include(s *sender, e *entry) bool {
	c := k.countOf(e)
	if e.nonce != s.pick.nonce || s.pick.shut || !k.fits(e, &c) || // fits: for what it anchors, which was not asked yet
		k.busy(e) || k.short(e) || !k.pays(e) || e.cost > s.pick.spendable {
		return false
	}
	if !k.hasSeat(e) {
		return false
	}
	loose := k.loose(&c)
	c.risky = k.risky(s, e)
	if loose && s.pick.met || k.postpone(e, &c) {
		return false
	}
	if e.calls.Actor != nil && !k.mayCall(s, e, &c) {
		return false
	}
	if c.guess || loose {
		k.guessed = sum(k.guessed, c.uses)
	}
	if c.risky {
		k.risked = sum(k.risked, c.uses)
	}
	k.unused = k.promise(&c)
	k.budget.Take(e.lane, fees.Space{Usage: c.uses, Bytes: e.space()})
	k.left.Cycles -= c.uses.Cycles
	k.left.Cells -= c.uses.Cells
	k.left.Bytes -= e.space()
	k.bytes -= int(e.space())
	s.pick.met, s.pick.shut = true, loose
	k.noteDrain(s, e)
	s.pick.nonce++
	s.pick.spendable -= e.cost
	k.misses = 0
	k.picked, k.counts = append(k.picked, e.tx), append(k.counts, c.uses)
	return true
}
