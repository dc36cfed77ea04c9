package beacon

import (
	"encoding/binary"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Domains of the two draws. They keep leader draws apart from every other use
// of a beacon.
var (
	drawDomain   = []byte("cowboy-leader-v1")
	redrawDomain = []byte("cowboy-leader-redraw-v1")
)

// nobody is no position of any set.
const nobody = ^Participant(0)

// Leader returns the leader of a view when the view before ended with a block:
// a draw by stake on that view's beacon (resolution 11.16). For view 1 prev is
// [ValidatorSet.GenesisBeacon].
func (s *ValidatorSet) Leader(prev chain.Hash) Participant {
	return s.draw(drawDomain, prev, nobody)
}

// LeaderPast returns the leader of view v when view v-1 was nullified: the
// draw on the beacon prev of v-1, or, should that name the validator that the
// beacon before of v-2 names, a second draw among the others (resolution
// 11.16). A validator that is down thus costs one view at a time. Nobody else
// is passed over. Where the others have no stake, the first draw holds.
func (s *ValidatorSet) LeaderPast(prev, before chain.Hash) Participant {
	past := s.Leader(before)
	first := s.Leader(prev)
	if first != past || uint64(s.members[past].Stake) == s.stake {
		return first
	}
	return s.draw(redrawDomain, prev, past)
}

// draw picks a member other than skip, each with probability stake / total.
// Reducing 256 bits modulo a 64-bit total favours low numbers by less than
// 2^-192.
func (s *ValidatorSet) draw(domain []byte, beacon chain.Hash, skip Participant) Participant {
	total := s.stake
	if skip != nobody {
		total -= uint64(s.members[skip].Stake)
	}
	digest := keccak.Sum256(domain, beacon[:])
	var ticket uint64 // digest as a big-endian integer, modulo total
	for i := 0; i < len(digest); i += 8 {
		ticket = bits.Rem64(ticket, binary.BigEndian.Uint64(digest[i:]), total)
	}
	for i := range s.members {
		if Participant(i) == skip {
			continue
		}
		stake := uint64(s.members[i].Stake)
		if ticket < stake {
			return Participant(i)
		}
		ticket -= stake
	}
	panic("beacon: a ticket lies beyond the stake") // total is the sum of the stakes walked
}
