package sched

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
)

// bodyFrameBytes is the most that a block spends on a body besides its bytes:
// the head of a CBOR byte string of at most 128 KiB.
const bodyFrameBytes = 5

// PickRequest describes the block that transactions are picked for.
type PickRequest struct {
	Params   *chain.Params
	BaseFees [chain.NumLanes]chain.FeePair // of the new block
	Height   chain.Height                  // of the new block
	MaxBytes int                           // for all bodies with their frames
	Exclude  []chain.Hash                  // transactions to leave out
	// Account reads what an account may use in the new block: as the parent has
	// it, which need not be finalized.
	Account func(chain.Address) (Account, error)
}

// Pick selects transactions for a block, in the order of selection. They stay
// in the pool. The error is Account's.
//
// All shards stand still meanwhile, so the selection is made from the pool of
// one instant.
func (s *Scheduler) Pick(req *PickRequest) ([]*chain.VerifiedTx, error) {
	s.holdAll()
	defer s.releaseAll()
	s.picks++
	k := &picker{
		req: req, all: s, pick: s.picks,
		budget: fees.NewBudget(req.Params),
		bytes:  req.MaxBytes,
		onHead: req.Height == s.head.Height+1,
	}
	if len(req.Exclude) > 0 {
		k.exclude = make(map[chain.Hash]struct{}, len(req.Exclude))
	}
	for _, hash := range req.Exclude {
		k.exclude[hash] = struct{}{}
	}
	k.picked = make([]*chain.VerifiedTx, 0, min(s.pickedLast+s.pickedLast/8, s.waiting()))
	defer s.merge.forget()
	for lane := range chain.NumLanes {
		if err := k.lane(lane); err != nil {
			return nil, err
		}
	}
	s.pickedLast = len(k.picked)
	s.counts.picks.Add(1)
	s.counts.picked.Add(uint64(len(k.picked)))
	return k.picked, nil
}

// picker is the state of one Pick. At every step it takes the best transaction
// that can run: the highest tier first, in a tier the first to arrive, and only
// when the nonce before it is in the parent's state or taken already.
type picker struct {
	req     *PickRequest
	all     *Scheduler
	pick    uint64
	budget  *fees.Budget
	bytes   int         // left in the block
	left    chain.Usage // what the budget has for the lane at hand
	spare   chain.Usage // largest spare of a transaction taken for the lane
	onHead  bool        // the parent is the finalized head, so the pool knows the accounts
	exclude map[chain.Hash]struct{}
	picked  []*chain.VerifiedTx
}

// pickState is a sender's account after the transactions picked so far, in the
// worst case: each at its highest cost, nothing received.
type pickState struct {
	pick      uint64 // the rest is of this pick
	nonce     uint64
	spendable chain.Wei
	at        int // place in waiting where the pick was last
}

// lane fills the lane's share of the block. It ends when the lane has nothing
// more, or when so many transactions in a row did not fit that the rest is not
// worth the time.
func (k *picker) lane(lane chain.LaneID) error {
	k.left, k.spare = k.budget.Left(lane), chain.Usage{}
	filled := k.all.filled(lane)
	misses := 0
	for l, ok := highestBelow(filled, level(numLevels)); ok && l >= levelTier0; l, ok = highestBelow(filled, l) {
		k.all.merge.gather(k.all, lane, l)
		for some := k.all.merge.stretch(); len(some) > 0; some = k.all.merge.stretch() {
			for i := range some {
				e := some[i].e
				if !k.fits(e) {
					if misses++; misses >= k.all.cfg.PackMisses {
						return nil
					}
					continue
				}
				taken, err := k.takeFrom(e)
				if err != nil {
					return err
				}
				if taken {
					misses = 0
				}
			}
		}
	}
	return nil
}

// fits reports whether the block has room for e and its bytes. A transaction
// starts only if its limits fit what those before it left (resolution 11.14),
// and the order is not known yet: so what all of them use, and the largest spare
// on top, must fit. Then each finds room for its limits wherever it stands.
func (k *picker) fits(e *entry) bool {
	return e.uses.Cycles <= k.left.Cycles && max(k.spare.Cycles, e.spare.Cycles) <= k.left.Cycles-e.uses.Cycles &&
		e.uses.Cells <= k.left.Cells && max(k.spare.Cells, e.spare.Cells) <= k.left.Cells-e.uses.Cells &&
		e.bytes+bodyFrameBytes <= k.bytes
}

// takeFrom takes e if it can run, and then those successors of e that come
// before e in the lane: they were passed over when e was still missing, and are
// worth more than whatever follows e.
func (k *picker) takeFrom(e *entry) (taken bool, err error) {
	s := e.of
	if s.pick.pick != k.pick {
		if k.onHead && e.nonce != s.Nonce {
			s.passed = k.pick
			return false, nil // its predecessor is neither in the state nor taken: no need to read
		}
		at := s.Account
		if !k.onHead || at.Height != k.all.head.Height {
			if at, err = k.req.Account(e.tx.Sender); err != nil {
				return false, err
			}
		}
		s.pick = pickState{pick: k.pick, nonce: at.Nonce, spendable: at.Spendable}
	}
	if e.nonce > s.pick.nonce {
		s.passed = k.pick
		return false, nil
	}
	if s.passed != k.pick {
		return k.take(s, e), nil // no successor stands before it
	}
	for next := e; next != nil && k.take(s, next); next = k.passedOver(next, e) {
		taken = true
	}
	return taken, nil
}

// take adds e to the block if the rules that the verifier applies let it
// (fees.CheckSender; what cannot change was judged at admission). Lanes come in
// block order, so a predecessor that was taken stands in the same or an earlier
// segment (resolution 11.15).
func (k *picker) take(s *sender, e *entry) bool {
	base := k.req.BaseFees[e.lane]
	if e.nonce != s.pick.nonce || !k.fits(e) || // fits: for successors, which the walk did not ask about
		e.maxFee.PerCycle < base.PerCycle || e.maxFee.PerCell < base.PerCell ||
		e.cost > s.pick.spendable {
		return false
	}
	if k.exclude != nil {
		if _, out := k.exclude[e.tx.Hash]; out {
			return false
		}
	}
	k.budget.Take(e.lane, e.uses)
	k.left.Cycles -= e.uses.Cycles
	k.left.Cells -= e.uses.Cells
	k.spare.Cycles = max(k.spare.Cycles, e.spare.Cycles)
	k.spare.Cells = max(k.spare.Cells, e.spare.Cells)
	k.bytes -= e.bytes + bodyFrameBytes
	s.pick.nonce++
	s.pick.spendable -= e.cost
	k.picked = append(k.picked, e.tx)
	return true
}

// passedOver returns the successor of e if the walk has gone past it, standing
// at cursor.
func (k *picker) passedOver(e, cursor *entry) *entry {
	s := e.of
	i := s.pick.at
	if i >= len(s.waiting) || s.waiting[i] != e {
		i, _ = s.find(e.nonce)
	}
	i++
	s.pick.at = i
	if i >= len(s.waiting) {
		return nil
	}
	next := s.waiting[i]
	before := next.level > cursor.level || next.level == cursor.level && next.seq < cursor.seq
	if next.nonce != e.nonce+1 || next.lane != cursor.lane || next.level < levelTier0 || !before {
		return nil
	}
	return next
}
