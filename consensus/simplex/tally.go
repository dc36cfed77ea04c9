package simplex

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// Tally collects votes until a quorum of them is worth a look.
//
// Votes wait unverified: a batch costs little more than one vote, and votes
// that come after the quorum cost nothing. Each validator has one slot per
// view and kind, and the first vote in it stays; a later one can neither
// replace a verified vote nor be counted beside it.
//
// The caller guarantees that a vote comes from its signer, bounds signers and
// views, and drops old views with Advance.
type Tally struct {
	quorum  int
	low     chain.View             // views below are dropped
	high    chain.View             // largest view ever added
	ballots map[chain.View]*ballot // never ranged over
}

// ballot is the votes of one view, by kind.
type ballot [Finalize + 1]poll

type poll struct {
	closed   bool       // a certificate is known
	slots    []slot     // ascending by signer
	subjects []*subject // in order of appearance
}

// slot is the one vote of a signer.
type slot struct {
	vote    Vote
	spoiled bool // its signature was wrong; the signer has no further try
}

// subject is what votes of one kind agree on.
type subject struct {
	proposal Proposal
	verified []Vote
	waiting  []Vote
}

// Conflict is two votes of one validator that must not both exist: two of one
// kind and view, two digests, or nullify and finalize in one view (resolution
// 11.2). Neither was verified; [NewEvidence] tells whether they prove anything.
type Conflict struct{ First, Second Vote }

// NewTally returns an empty tally that looks for quorum votes.
func NewTally(quorum int) *Tally {
	return &Tally{quorum: quorum, ballots: make(map[chain.View]*ballot)}
}

// Add puts a vote of a peer into its slot, to be verified later. It returns
// the conflict when the slot holds a different vote, or when another slot of
// the signer contradicts it; the new vote is then dropped.
func (t *Tally) Add(v Vote) (Conflict, bool) { return t.add(v, false) }

// AddOwn counts a vote that needs no verification: ours.
func (t *Tally) AddOwn(v Vote) { t.add(v, true) }

func (t *Tally) add(v Vote, verified bool) (Conflict, bool) {
	b := t.at(v.Proposal.Round.View)
	if b == nil {
		return Conflict{}, false
	}
	if old, ok := b[v.Kind].find(v.Signer); ok {
		if old.vote == v || old.spoiled {
			return Conflict{}, false
		}
		return Conflict{First: old.vote, Second: v}, true
	}
	for k := range b {
		other, said := b[k].find(v.Signer)
		if said && Contradicts(other.vote.Kind, other.vote.Proposal, v.Kind, v.Proposal) {
			return Conflict{First: other.vote, Second: v}, true
		}
	}
	b[v.Kind].put(v, verified)
	return Conflict{}, false
}

// Count returns a quorum of verified votes of kind k in view v, if there is
// one and the poll is open. It calls check only when a quorum is possible, with
// the votes of one proposal that are not verified yet; check returns the
// positions of the bad ones in ascending order, and Count their signers.
func (t *Tally) Count(v chain.View, k Kind, check func([]Vote) []int) (quorum []Vote, bad []beacon.Participant) {
	b := t.ballots[v]
	if b == nil || b[k].closed {
		return nil, nil
	}
	p := &b[k]
	for _, s := range p.subjects {
		if len(s.verified) < t.quorum && len(s.verified)+len(s.waiting) >= t.quorum {
			spoiled := check(s.waiting)
			for i, vote := range s.waiting {
				if slices.Contains(spoiled, i) {
					p.spoil(vote.Signer)
					bad = append(bad, vote.Signer)
				} else {
					s.verified = append(s.verified, vote)
				}
			}
			s.waiting = nil
		}
		if len(s.verified) >= t.quorum {
			return s.verified[:t.quorum:t.quorum], bad
		}
	}
	return nil, bad
}

// Close ends the poll of kind k in view v: its certificate is known.
func (t *Tally) Close(v chain.View, k Kind) {
	if b := t.at(v); b != nil {
		b[k].closed = true
		b[k].subjects = nil // the slots stay, to recognise conflicts
	}
}

// at returns the ballot of view v, or nil if v was dropped.
func (t *Tally) at(v chain.View) *ballot {
	if v < t.low {
		return nil
	}
	b := t.ballots[v]
	if b == nil {
		b = new(ballot)
		t.ballots[v] = b
		t.high = max(t.high, v)
	}
	return b
}

// Advance drops the views below low.
func (t *Tally) Advance(low chain.View) {
	for ; t.low < low && t.low <= t.high; t.low++ {
		delete(t.ballots, t.low)
	}
	t.low = max(t.low, low)
}

func (p *poll) find(signer beacon.Participant) (slot, bool) {
	i, ok := p.search(signer)
	if !ok {
		return slot{}, false
	}
	return p.slots[i], true
}

func (p *poll) search(signer beacon.Participant) (int, bool) {
	return slices.BinarySearchFunc(p.slots, signer, func(s slot, p beacon.Participant) int {
		return int(int64(s.vote.Signer) - int64(p))
	})
}

func (p *poll) spoil(signer beacon.Participant) {
	i, _ := p.search(signer)
	p.slots[i].spoiled = true
}

func (p *poll) put(v Vote, verified bool) {
	i, _ := p.search(v.Signer)
	p.slots = slices.Insert(p.slots, i, slot{vote: v})
	if p.closed {
		return
	}
	var s *subject
	for _, known := range p.subjects {
		if known.proposal == v.Proposal {
			s = known
		}
	}
	if s == nil {
		s = &subject{proposal: v.Proposal}
		p.subjects = append(p.subjects, s)
	}
	if verified {
		s.verified = append(s.verified, v)
	} else {
		s.waiting = append(s.waiting, v)
	}
}
