package simtest

import (
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// auditor sees everything and holds it against the invariants.
type auditor struct {
	net       *network
	chain     []simplex.Proposal // finalized by anybody honest, by height - 1
	votes     map[voteKey]simplex.Vote
	seeds     map[chain.View]bls.Signature
	certs     map[certKey]simplex.Proposal
	closed    map[chain.View]bool // counted in BothEnds
	codewords map[chain.Hash]bool // whether a block's shards are a codeword

	voters  map[chain.View]int           // honest validators that voted in a view
	known   map[chain.View]time.Duration // when f liars and they could know its seed
	finalAt map[chain.View]time.Duration // when an honest validator first saw it final
}

type voteKey struct {
	who  beacon.Participant
	view chain.View
	kind simplex.Kind
}

type certKey struct {
	view chain.View
	kind simplex.Kind
}

func newAuditor(n *network) *auditor {
	return &auditor{
		net:   n,
		votes: make(map[voteKey]simplex.Vote), seeds: make(map[chain.View]bls.Signature),
		certs: make(map[certKey]simplex.Proposal), closed: make(map[chain.View]bool), codewords: make(map[chain.Hash]bool),
		voters: make(map[chain.View]int), known: make(map[chain.View]time.Duration), finalAt: make(map[chain.View]time.Duration),
	}
}

// vote checks a vote that leaves an honest validator against all that ever
// left it, in this life and earlier ones.
func (a *auditor) vote(v *validator, vote simplex.Vote) {
	view := vote.Proposal.Round.View
	a.voted(v, view)
	at := func(k simplex.Kind) (simplex.Vote, bool) {
		old, ok := a.votes[voteKey{v.id, view, k}]
		return old, ok
	}
	if old, ok := at(vote.Kind); ok && old != vote {
		a.net.fail("validator %d signs two %s of view %d", v.id, vote.Kind, view)
	}
	a.votes[voteKey{v.id, view, vote.Kind}] = vote
	notarize, notarized := at(simplex.Notarize)
	finalize, finalized := at(simplex.Finalize)
	if _, nullified := at(simplex.Nullify); nullified && finalized {
		a.net.fail("validator %d nullifies and finalizes view %d", v.id, view)
	}
	if notarized && finalized && notarize.Proposal != finalize.Proposal {
		a.net.fail("validator %d notarizes one block and finalizes another in view %d", v.id, view)
	}
}

// marginViews is how many views lie between the block that a selection is
// about and the seed that makes it (resolution 11.17).
const marginViews = 3

// voted measures when a coalition of f could know the seed of a view: with the
// earliest honest votes that complete a quorum.
func (a *auditor) voted(v *validator, view chain.View) {
	for k := simplex.Notarize; k <= simplex.Finalize; k++ {
		if _, before := a.votes[voteKey{v.id, view, k}]; before {
			return
		}
	}
	a.voters[view]++
	n := v.set.Len()
	if n > 1 && a.voters[view] == v.set.Quorum()-(n-1)/3 {
		a.known[view] = a.net.now
		if at, ok := a.finalAt[view-min(view, marginViews)]; ok {
			a.margin(a.net.now - at)
		}
	}
}

// finalized notes that a view is final for v.
func (a *auditor) finalized(v *validator, view chain.View) {
	if _, before := a.finalAt[view]; before || v.player != nil {
		return
	}
	a.finalAt[view] = a.net.now
	if at, ok := a.known[view+marginViews]; ok {
		a.margin(at - a.net.now)
	}
}

// margin keeps the smallest time between the first finalization of a view and
// the moment when a coalition can know the seed three views on. Below zero, a
// coalition knew the seed before the block was final.
func (a *auditor) margin(d time.Duration) {
	r := &a.net.report
	if !r.Measured || d < r.Margin {
		r.Measured, r.Margin = true, d
	}
}

// certificate checks a certificate that verified against all others.
func (a *auditor) certificate(v *validator, c simplex.Certificate) {
	view := c.Proposal.Round.View
	if len(v.scheme.BadCertificates([]simplex.Certificate{c})) > 0 {
		a.net.fail("bad %s of view %d accepted", c.Kind, view)
	}
	if seed, ok := a.seeds[view]; ok && seed != c.Seed {
		a.net.fail("two seeds of view %d", view)
	}
	a.seeds[view] = c.Seed
	if old, ok := a.certs[certKey{view, c.Kind}]; ok && old != c.Proposal {
		a.net.fail("two %s certificates of view %d", c.Kind, view)
	}
	a.certs[certKey{view, c.Kind}] = c.Proposal
	notarized, n := a.certs[certKey{view, simplex.Notarize}]
	finalized, f := a.certs[certKey{view, simplex.Finalize}]
	_, null := a.certs[certKey{view, simplex.Nullify}]
	if f && null {
		a.net.fail("view %d is finalized and nullified", view)
	}
	if n && f && notarized != finalized {
		a.net.fail("view %d: one block notarized, another finalized", view)
	}
	if n && null && !a.closed[view] {
		a.closed[view] = true
		a.net.report.BothEnds++
	}
}

// final checks the newest block of an honest validator against everybody's.
func (a *auditor) final(v *validator) {
	if v.player != nil {
		return
	}
	height := len(v.app.chain)
	p := v.app.chain[height-1].own.Proposal
	switch {
	case height <= len(a.chain):
		if a.chain[height-1] != p {
			a.net.fail("validator %d disagrees at height %d", v.id, height)
		}
	case height == len(a.chain)+1:
		a.chain = append(a.chain, p)
	default:
		a.net.fail("validator %d skips to height %d", v.id, height)
	}
}

// fail records the first breach.
func (n *network) fail(format string, args ...any) {
	if n.err == nil {
		n.err = fmt.Errorf("at %v: %w", n.now, fmt.Errorf(format, args...))
	}
}
