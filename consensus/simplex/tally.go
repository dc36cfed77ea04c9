package simplex

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
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

// ballot is the votes of one view.
type ballot struct {
	polls [Finalize + 1]poll // by kind
	seed  *bls.Signature     // of the round, once a certificate told it
}

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
	sawBad   bool // one of its votes was bad
}

// Quorum is votes of one kind and proposal, as many as a certificate takes.
type Quorum struct {
	Votes []Vote
	Sure  int            // the first so many are known to be good
	Seed  *bls.Signature // of the round, if known: then the votes' own need no look
	Doubt bool           // there were bad votes for the same proposal: to hope is no use
}

// Judge makes the certificate of a quorum, or returns the positions in Votes of
// those that are bad, in ascending order, all of them beyond Sure. An error
// means that neither can be had. [Assemble] is the one of a node.
type Judge func(Quorum) (c Certificate, bad []int, err error)

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
	if old, ok := b.polls[v.Kind].voteOf(v.Signer); ok {
		if old.vote == v || old.spoiled {
			return Conflict{}, false
		}
		return Conflict{First: old.vote, Second: v}, true
	}
	for k := range b.polls {
		other, said := b.polls[k].voteOf(v.Signer)
		if said && attest.Contradicts(other.vote.Kind, other.vote.Proposal, v.Kind, v.Proposal) {
			return Conflict{First: other.vote, Second: v}, true
		}
	}
	b.polls[v.Kind].put(v, verified)
	return Conflict{}, false
}

// Count returns the certificate of kind k in view v, if its votes make one and
// the poll is open. It calls judge only when a quorum is possible, with no more
// votes than that takes: later ones wait and cost nothing, unless a bad one has
// to be replaced. It also returns the signers of bad votes.
func (t *Tally) Count(v chain.View, k Kind, judge Judge) (c Certificate, ok bool, bad []beacon.Participant, err error) {
	b := t.ballots[v]
	if b == nil || b.polls[k].closed {
		return Certificate{}, false, nil, nil
	}
	p := &b.polls[k]
	for _, s := range p.subjects {
		for len(s.verified)+len(s.waiting) >= t.quorum {
			q := s.nextQuorum(t.quorum)
			q.Seed = b.seed
			c, spoiled, err := judge(q)
			if err != nil || len(spoiled) == 0 {
				return c, err == nil, bad, err
			}
			bad = append(bad, p.resolveQuorum(s, q, spoiled)...)
		}
	}
	return Certificate{}, false, bad, nil
}

// nextQuorum returns the quorum to be judged.
func (s *subject) nextQuorum(size int) Quorum {
	sure := min(len(s.verified), size)
	votes := make([]Vote, 0, size)
	votes = append(append(votes, s.verified[:sure]...), s.waiting[:size-sure]...)
	return Quorum{Votes: votes, Sure: sure, Doubt: s.sawBad}
}

// resolveQuorum takes the verdict on the votes of q that were waiting: those at the
// positions spoiled are bad. It returns their signers.
func (p *poll) resolveQuorum(s *subject, q Quorum, spoiled []int) (bad []beacon.Participant) {
	s.waiting = s.waiting[len(q.Votes)-q.Sure:]
	s.sawBad = true
	for i := q.Sure; i < len(q.Votes); i++ {
		vote := q.Votes[i]
		if slices.Contains(spoiled, i) {
			p.spoil(vote.Signer)
			bad = append(bad, vote.Signer)
		} else {
			s.verified = append(s.verified, vote)
		}
	}
	return bad
}

// Close ends the poll that c decides: a good certificate is known, and with it
// the seed of the round.
func (t *Tally) Close(c Certificate) {
	b := t.at(c.Proposal.Round.View)
	if b == nil {
		return
	}
	if b.seed == nil {
		b.seed = &c.Seed
	}
	p := &b.polls[c.Kind]
	p.closed = true
	p.subjects = nil // the slots stay, to recognise conflicts
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

// TallyViewBytes returns the most that a [Tally] keeps of one view with n signers:
// of each kind a slot and a place in a subject for each, in slices that doubled
// last, and a subject for each where all differ.
func TallyViewBytes(n int) int {
	const slotBytes, voteBytes, subjectBytes, ballotBytes = 264, 256, 160, 256 // at least; a test holds them
	return ballotBytes + int(Finalize)*n*(2*(slotBytes+voteBytes)+subjectBytes)
}

// Views returns how many views have ballots.
func (t *Tally) Views() int { return len(t.ballots) }

// Advance drops the views below low.
func (t *Tally) Advance(low chain.View) {
	for ; t.low < low && t.low <= t.high; t.low++ {
		delete(t.ballots, t.low)
	}
	t.low = max(t.low, low)
}

func (p *poll) voteOf(signer beacon.Participant) (slot, bool) {
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
