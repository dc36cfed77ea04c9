package lanes

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
)

// postponed are transactions that wait for the rest of a lane, by what they count with:
// those of one list with less than twice what the others of it do. Who asks for the least
// of the room that is left is served first. In the order of tips, those who look as if
// they used much, and use nothing, would hold it whenever the block is packed again, and
// pay for next to none of it (docs/adr/0132). Behind them are, in the same order, those
// without a promise: they may find no room where they stand, and hold it till then.
type postponed [2 * sizes][]*entry

const sizes = 65 // of 64 bits

// postponedMost bounds each list. More would fill the block, with what nothing uses less
// than.
const postponedMost = 1_024

func (p *postponed) add(e *entry, c *count, cellWeight uint64, loose bool) {
	at := bits.Len64(weightOf(c.uses, cellWeight))
	if loose {
		at += sizes
	}
	if list := &p[at]; len(*list) < postponedMost {
		*list = append(*list, e)
	}
}

// riskPart: of a lane's room, the risky take no more than a part in so many before the rest
// is served. What of it comes to nothing is less than a block is packed again for.
const riskPart = 16

// risky reports whether e may be refused, unpaid, for what stands before it in the block of
// its own sender: an instruction that may take more money than was reckoned, or the role
// that e needs (docs/adr/0211). Where an execution has refused somebody's in a way that
// nothing said before, so may everything of a sender be behind what did not run yet. What has
// run on this parent runs again.
func (k *picker) risky(s *sender, e *entry) bool {
	return s.pick.drained&e.needs != 0 && !k.ran(e)
}

// noteDrain notes what e, which was taken, may leave its sender without.
func (k *picker) noteDrain(s *sender, e *entry) {
	s.pick.drained |= e.drains
	if len(k.req.Short)+len(k.req.Busy) > 0 && !k.ran(e) {
		s.pick.drained = chain.AllMeans
	}
}

// short reports whether e stands behind what was refused of its sender, unpaid, in an
// execution on the parent of the block.
func (k *picker) short(e *entry) bool {
	if len(k.req.Short) == 0 || k.ran(e) {
		return false
	}
	_, short := k.req.Short[e.tx.Sender]
	return short
}

// postponeRisky reports whether a risky one must wait until all others are served. It has a
// room of its own: in that of guesses, which pay for something at least, it would keep these
// out for nothing.
func (k *picker) postponeRisky(e *entry, c *count) bool {
	again := k.req.Used != nil && !k.req.Anew
	if k.final || !k.last && !again && !exceeds(sum(k.risked, c.uses), k.riskMost) {
		return false
	}
	if k.risks == nil {
		k.risks = new(postponed)
	}
	k.risks.add(e, c, k.all.basis.prices[e.lane].cellWeight, k.loose(c))
	k.cut[e.lane] = true
	return true
}

// takePostponed gives what is left of a lane to those that had to wait, and what is left
// then to the risky.
func (k *picker) takePostponed() error {
	k.last = true
	if err := k.takeLists(&k.later); err != nil || k.risks == nil {
		return err
	}
	k.final = true
	return k.takeLists(k.risks)
}

// takeLists takes what can run of those that had to wait, each followed by those of its
// sender that came to their turns for nothing meanwhile.
func (k *picker) takeLists(lists *postponed) error {
	later := *lists
	*lists, k.misses, k.larges = postponed{}, 0, 0
	for _, list := range later {
		for _, e := range list {
			if err := k.takeLate(e); err != nil || k.misses >= k.all.cfg.PackMisses {
				return err
			}
		}
	}
	return nil
}

func (k *picker) takeLate(e *entry) error {
	if err := k.meet(e); err != nil {
		return err
	}
	s := e.of
	if s.pick.pick != k.pick {
		return nil // it found no room, and its sender's account was not read
	}
	for i := s.pick.nonce - s.Nonce; s.pick.nonce > e.nonce && i < uint64(len(s.waiting)); i++ {
		if next := s.waiting[i]; next.lane != e.lane || next.level < levelBarred || !k.include(s, next) {
			break
		}
	}
	if !k.onHead { // its next one may be a later lane's and have no turn there
		k.queueAhead(s)
	}
	return nil
}
