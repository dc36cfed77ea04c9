package simplex

import (
	"fmt"
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
// The caller guarantees that a vote comes from its signer, bounds signers, and drops old
// views with Advance.
type Tally struct {
	quorum  int
	open    func(chain.View) bool  // which views take votes of peers
	low     chain.View             // views below are dropped
	high    chain.View             // largest view ever added
	ballots map[chain.View]*ballot // never ranged over
	due     []pollName             // that votes came into since they were counted
}

// pollName names the votes of one kind in one view.
type pollName struct {
	view chain.View
	kind Kind
}

// ballot is the votes of one view.
type ballot struct {
	polls [Finalize + 1]poll // by kind
	seed  *bls.Signature     // of the round, once a certificate told it
}

type poll struct {
	closed   bool       // a certificate is known
	due      bool       // it is in line to be counted
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

// NewTally returns an empty tally that looks for quorum votes of peers in the views that
// open says, which is [Machine.TakesVotes] of the machine that its certificates go to.
func NewTally(quorum int, open func(chain.View) bool) *Tally {
	return &Tally{quorum: quorum, open: open, ballots: make(map[chain.View]*ballot)}
}

// Added is what became of a vote.
type Added uint8

// What becomes of a vote.
const (
	TooOldOrNew  Added = iota // of a view that takes no votes: dropped
	Waits                     // in its slot, or in a view that is not counted any more
	Contradicted              // dropped: there is a [Conflict]
)

// Add puts a vote of a peer into its slot, to be verified later. There is a
// conflict when the slot holds a different vote, or when another slot of
// the signer contradicts it; the new vote is then dropped.
func (t *Tally) Add(v Vote) (Conflict, Added) {
	if !t.open(v.Proposal.Round.View) {
		return Conflict{}, TooOldOrNew
	}
	if c, conflict := t.add(v, false); conflict {
		return c, Contradicted
	}
	return Conflict{}, Waits
}

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
	p := &b.polls[v.Kind]
	p.put(v, verified)
	if !p.closed && !p.due {
		p.due = true
		t.due = append(t.due, pollName{v.Proposal.Round.View, v.Kind})
	}
	return Conflict{}, false
}

// Due reports whether a poll has votes that came in since it was counted.
func (t *Tally) Due() bool { return len(t.due) > 0 }

// Counted is what came of counting a poll.
type Counted struct {
	Certificate Certificate
	Made        bool                 // there is a certificate
	Bad         []beacon.Participant // signers of bad votes
	Judged      int                  // quorums
	Looked      int                  // votes in them that were not known to be good
}

// CountNext counts the first poll that is due, and ends it where that makes a
// certificate. It calls judge only when a quorum is possible, with no more votes than
// that takes: later ones wait and cost nothing, unless a bad one has to be replaced.
func (t *Tally) CountNext(judge Judge) (Counted, error) {
	next := t.due[0]
	t.due = slices.Delete(t.due, 0, 1)
	n, err := t.countPoll(next, judge)
	if err != nil {
		err = fmt.Errorf("view %d: %w", next.view, err)
	}
	return n, err
}

func (t *Tally) countPoll(name pollName, judge Judge) (n Counted, err error) {
	b := t.ballots[name.view]
	if b == nil {
		return n, nil
	}
	p := &b.polls[name.kind]
	if p.due = false; p.closed {
		return n, nil
	}
	for _, s := range p.subjects {
		for len(s.verified)+len(s.waiting) >= t.quorum {
			q := s.nextQuorum(t.quorum)
			q.Seed = b.seed
			n.Judged++
			n.Looked += len(q.Votes) - q.Sure
			c, spoiled, err := judge(q)
			if err != nil {
				return n, err
			}
			if len(spoiled) == 0 {
				n.Certificate, n.Made = c, true
				b.close(name.kind, &c.Seed)
				return n, nil
			}
			n.Bad = append(n.Bad, p.resolveQuorum(s, q, spoiled)...)
		}
	}
	return n, nil
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

// Close ends the poll that c decides: a good certificate came from elsewhere, and with
// it the seed of the round.
func (t *Tally) Close(c Certificate) {
	if b := t.at(c.Proposal.Round.View); b != nil {
		b.close(c.Kind, &c.Seed)
	}
}

func (b *ballot) close(k Kind, seed *bls.Signature) {
	if b.seed == nil {
		b.seed = seed
	}
	p := &b.polls[k]
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
