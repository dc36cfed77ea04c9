//spec:implements CIP-11 9.3-9.5
//spec:implements restored 9.6, 10

package selection

import "github.com/cowboy-foundation/cowboy/chain"

// Members says who of the candidates may become a member of the committee, and in which
// order they are asked (CIP-11 §7.3).
type Members uint8

const (
	AllMembers   Members = iota // presence decides nothing but where an assignment is sent
	PresentFirst                // the present until none is left, then the rest
	PresentOnly                 // Mode A: the proven present alone
)

// MembersOf returns the rule for a job of some runners on a chain of some validators.
// Where one proposer alone could pack a committee of several, presence decides nothing
// (CIP-11 §7.3, §15.9). hardExclude says that Mode A is in effect.
func MembersOf(validators, runners int, hardExclude bool) Members {
	switch {
	case hardExclude:
		return PresentOnly
	case validators <= 1 || runners <= 1:
		return PresentFirst
	}
	return AllMembers
}

// Presence is who is present in the block of a draw, and what follows from it. Present is
// not asked under AllMembers.
type Presence struct {
	Members Members
	Present func(runner chain.Address) bool
}

// Favourite is the runner that served a submitter's last job of the kind, if one is
// known. It weighs Factor times as much in the first step of a draw (CIP-11 §9.3).
type Favourite struct {
	Known  bool
	Runner chain.Address
	Factor uint32 // MRU_WEIGHT_MULTIPLIER, at least 1
}

// Fresh reports whether what was noted at a height still counts at another: for as many
// blocks as ttl and not one more (MRU_TTL_BLOCKS, CIP-11 §9.3).
func Fresh(noted, now chain.Height, ttl uint64) bool {
	return now <= noted || uint64(now-noted) <= ttl
}

// Served returns the runner to favour from now on: the first in the order of the committee
// whose result is in the matching set (CIP-11 §9.4). False if none is.
func Served(committee []chain.Address, matching func(seat int) bool) (chain.Address, bool) {
	// Bounded: by the seats of a job.
	for seat, runner := range committee {
		if matching(seat) {
			return runner, true
		}
	}
	return chain.Address{}, false
}
