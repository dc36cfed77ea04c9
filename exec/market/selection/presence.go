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

// Presence is the candidates of a snapshot divided by who is present in a block. All draws
// of the block share it. It does not change.
type Presence struct {
	snapshot *Snapshot
	pools    []pool // in the order in which they are drawn from
}

// Divide divides the candidates for the draws of a block; present is not asked under
// AllMembers, where it may be nil.
func (s *Snapshot) Divide(m Members, present func(runner chain.Address) bool) *Presence {
	p := &Presence{snapshot: s}
	switch m {
	case AllMembers:
		p.pools = []pool{s.all}
	case PresentFirst:
		here, rest := s.split(present)
		p.pools = []pool{here, rest}
	case PresentOnly:
		here, _ := s.split(present)
		p.pools = []pool{here}
	}
	return p
}

// MRU is the most recently used runner of a submitter and a kind of job, if one is
// known. It weighs Factor times as much in the first step of a draw (CIP-11 §9.3).
type MRU struct {
	Known  bool
	Runner chain.Address
	Factor uint32 // MRU_WEIGHT_MULTIPLIER, at least 1
}

// Fresh reports whether what was noted at a height still counts at another: for as many
// blocks as ttl and not one more (MRU_TTL_BLOCKS, CIP-11 §9.3).
func Fresh(noted, now chain.Height, ttl uint64) bool {
	return now <= noted || uint64(now-noted) <= ttl
}

// Served returns the most recently used runner from now on: the first in the order of the committee
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
