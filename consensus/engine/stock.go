package engine

import (
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// stock answers what is here and what is not, for those who ask peers for the rest. It
// has no state of its own.
type stock struct {
	cfg        *Config
	machine    *simplex.Machine
	blocks     *blocks
	deliveries *deliveries
	bans       *bans
}

// has reports whether what was wanted is here: the block of view below, or, if
// that is 0, whatever view v has.
func (s *stock) has(v, below chain.View) bool {
	if max(v, below) <= s.machine.Floor().View {
		return true
	}
	if below > 0 {
		return s.machine.Knows(below, simplex.Notarize) || s.machine.Knows(below, simplex.Finalize)
	}
	for _, b := range s.blocks.list {
		if b.round.View == v && b.certify != nil && b.bytes == nil && !b.fitting {
			return false
		}
	}
	return s.machine.Knows(v, simplex.Notarize) || s.machine.Knows(v, simplex.Finalize) || s.machine.Knows(v, simplex.Nullify)
}

// missingFrom returns from which view on we ask for what leads to the unknown block of
// view p: the blocks that came need not reach as far as the certificates that came.
func (s *stock) missingFrom(p chain.View) chain.View {
	return s.machine.LackingFrom(p, func(at simplex.Proposal) bool {
		b := s.blocks.byDigest(at.Round.View, at.Payload)
		return b != nil && (b.bytes != nil || b.fitting || b.rebuilding || b.verdict != unknown)
	})
}

// hole is the parent that the lowest block has and that is not known, and whether
// nothing can be executed before it is here ([simplex.Machine.Hole]).
func (s *stock) hole() (parent chain.View, first bool) { return s.machine.Hole() }

// backlog counts the blocks that came faster than the application took them. In
// bytes a backlog is full at half of what blocks may take.
func (s *stock) backlog() int {
	n, bytes := s.blocks.unjudged()
	full := backlogMax * (bytes + s.blocks.fitting) / (s.cfg.PendingBytesMax / 2)
	return max(s.undelivered()+n, full)
}

// undelivered counts the blocks that are final and not durable.
func (s *stock) undelivered() int { return len(s.deliveries.waiting) }

// mayAsk reports whether a validator can be asked for something: it is not us, and it
// did not lie lately.
func (s *stock) mayAsk(p beacon.Participant, now time.Time) bool {
	return !s.cfg.isSelf(p) && !s.bans.has(p, now)
}
