package simtest

import (
	"fmt"
	"slices"

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
	all       map[certKey][]simplex.Certificate // different ones
	closed    map[chain.View]bool               // counted in BothEnds
	codewords map[chain.Hash]bool               // whether a block's shards are a codeword

	margins margins
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
		certs: make(map[certKey]simplex.Proposal), all: make(map[certKey][]simplex.Certificate), closed: make(map[chain.View]bool), codewords: make(map[chain.Hash]bool),
		margins: newMargins(),
	}
}

// vote checks a vote that leaves an honest validator against all that ever
// left it, in this life and earlier ones.
func (a *auditor) vote(v *validator, vote simplex.Vote) {
	view := vote.Proposal.Round.View
	a.margins.voted(a, v, vote)
	at := func(k simplex.Kind) (simplex.Vote, bool) {
		old, ok := a.votes[voteKey{v.id, view, k}]
		return old, ok
	}
	if old, ok := at(vote.Kind); ok && old != vote {
		a.net.recordBreach("validator %d signs two %s of view %d", v.id, vote.Kind, view)
	}
	a.votes[voteKey{v.id, view, vote.Kind}] = vote
	notarize, notarized := at(simplex.Notarize)
	finalize, finalized := at(simplex.Finalize)
	if _, nullified := at(simplex.Nullify); nullified && finalized {
		a.net.recordBreach("validator %d nullifies and finalizes view %d", v.id, view)
	}
	if notarized && finalized && notarize.Proposal != finalize.Proposal {
		a.net.recordBreach("validator %d notarizes one block and finalizes another in view %d", v.id, view)
	}
}

// certificate checks a certificate that verified against all others.
func (a *auditor) certificate(v *validator, c simplex.Certificate) {
	view := c.Proposal.Round.View
	if len(v.scheme.BadCertificates([]simplex.Certificate{c})) > 0 {
		a.net.recordBreach("bad %s of view %d accepted", c.Kind, view)
	}
	if seed, ok := a.seeds[view]; ok && seed != c.Seed {
		a.net.recordBreach("two seeds of view %d", view)
	}
	a.seeds[view] = c.Seed
	if old, ok := a.certs[certKey{view, c.Kind}]; ok && old != c.Proposal {
		a.net.recordBreach("two %s certificates of view %d", c.Kind, view)
	}
	key := certKey{view, c.Kind}
	a.certs[key] = c.Proposal
	if !slices.Contains(a.all[key], c) {
		a.all[key] = append(a.all[key], c)
	}
	notarized, n := a.certs[certKey{view, simplex.Notarize}]
	finalized, f := a.certs[certKey{view, simplex.Finalize}]
	_, null := a.certs[certKey{view, simplex.Nullify}]
	if f && null {
		a.net.recordBreach("view %d is finalized and nullified", view)
	}
	if n && f && notarized != finalized {
		a.net.recordBreach("view %d: one block notarized, another finalized", view)
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
			a.net.recordBreach("validator %d disagrees at height %d", v.id, height)
		}
	case height == len(a.chain)+1:
		a.chain = append(a.chain, p)
	default:
		a.net.recordBreach("validator %d skips to height %d", v.id, height)
	}
}

// recordBreach records the first breach.
func (n *network) recordBreach(format string, args ...any) {
	if n.err == nil {
		n.err = fmt.Errorf("at %v: %w", n.now, fmt.Errorf(format, args...))
	}
}
