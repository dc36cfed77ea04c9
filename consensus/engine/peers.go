package engine

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// peer is what we keep of a validator.
type peer struct {
	guest
	last simplex.Vote // the newest that came in; not verified
}

// receive takes a message from a peer. A message that no honest validator
// sends gets its sender banned for a while; one that comes too early or too
// late is dropped without blame.
func (e *Engine) receive(d delivery) {
	if e.isBanned(d.from) {
		e.Stats.Dropped.Add(1)
		return
	}
	msg, err := decodeMessage(d.msg, e.cfg.MaxBlockBytes)
	if int(d.from) >= e.cfg.Set.Len() || e.isSelf(d.from) {
		e.receiveOther(d.from, msg)
		return
	}
	if err != nil {
		e.ban(d.from)
		return
	}
	switch m := msg.(type) {
	case simplex.Vote:
		e.receiveVote(d.from, m)
	case offer:
		e.receiveOffer(d.from, m)
	case simplex.Certificate:
		e.receiveCertificate(d.from, m)
	case backfill:
		if e.receiveCertificate(d.from, m.certificate) && m.certificate.Proposal.Round.View > e.machine.Floor().View {
			e.blocks.offer(m.certificate.Proposal, m.block, d.from)
			e.wakeCertify(m.certificate.Proposal)
		}
	case request:
		e.answer(d.from, m.round)
	case answered:
		e.answeredBy(d.from, m.round.View)
	case watchCall:
		e.answerWatch(d.from)
	case echo:
		e.receiveEcho(d.from, m.vote)
	}
}

// receiveOther takes what is not from another validator: requests of full
// nodes, and whatever comes in our own name.
func (e *Engine) receiveOther(from beacon.Participant, msg message) {
	switch m := msg.(type) {
	case request:
		if !e.isSelf(from) {
			e.answer(from, m.round)
			return
		}
	case simplex.Vote:
		if e.isSelf(from) {
			e.recognise(m)
		}
	case offer:
		if e.isSelf(from) {
			e.recognise(m.vote)
		}
	}
	e.Stats.Dropped.Add(1)
}

func (e *Engine) isSelf(p beacon.Participant) bool { return e.cfg.Share != nil && p == e.cfg.Self }

// receiveVote puts a vote into the tally, unverified. It reports whether the
// vote may be what it says.
func (e *Engine) receiveVote(from beacon.Participant, v simplex.Vote) bool {
	if v.Signer != from || v.Proposal.Round.Epoch != e.cfg.Set.Epoch() {
		e.ban(from)
		return false
	}
	view := v.Proposal.Round.View
	if p := &e.peers[from]; view >= p.last.Proposal.Round.View {
		p.last = v
		e.Stats.Peers[from].LastVoteView.Store(uint64(view))
	}
	if view <= e.machine.Floor().View || view > e.machine.View()+1 {
		return false // certificates help a validator that is behind, votes do not
	}
	if c, conflict := e.tally.Add(v); conflict {
		e.Stats.Equivocations.Add(1)
		e.accuse(c)
		e.ban(from)
		return false
	}
	if v.Kind == simplex.Nullify {
		e.step(simplex.NullifySeen{From: from, View: view})
	}
	e.recount(view, v.Kind)
	return true
}

func (e *Engine) receiveOffer(from beacon.Participant, o offer) {
	if !e.receiveVote(from, o.vote) {
		return
	}
	p := o.vote.Proposal
	if who, known := e.machine.LeaderOf(p.Round.View, p.Parent); known && who != from {
		return // bytes from a stranger could take the place of the leader's
	}
	if e.blocks.offer(p, o.block, from) {
		e.step(simplex.ProposalReceived{From: from, Proposal: p})
		e.wakeCertify(p)
		e.proposedIn(p.Round.View)
	}
}

// accuse turns a contradiction into evidence, if the individual signatures
// hold.
func (e *Engine) accuse(c simplex.Conflict) {
	proof, err := simplex.NewEvidence(e.cfg.Set, c.First, c.Second)
	if err != nil {
		return // only we saw it
	}
	e.Stats.Evidence.Add(1)
	if e.cfg.Evidence != nil {
		e.cfg.Evidence(proof)
	}
}

// receiveCertificate verifies a certificate that is news, or that differs from
// the one we have. It reports whether the certificate is good.
func (e *Engine) receiveCertificate(from beacon.Participant, c simplex.Certificate) bool {
	if c.Proposal.Round.Epoch != e.cfg.Set.Epoch() {
		e.ban(from)
		return false
	}
	if e.machine.Knows(c.Proposal.Round.View, c.Kind) {
		same, ok := e.machine.Certificate(c.Proposal.Round.View, c.Kind)
		if !ok {
			return false // of a view that is over
		}
		if same.Proposal == c.Proposal {
			return true
		}
	}
	start := time.Now()
	good := e.scheme.VerifyCertificate(c)
	e.Stats.VerifyNanos.Add(since(start))
	if !good {
		e.ban(from)
		return false
	}
	e.step(simplex.CertificateReceived{Certificate: c})
	e.tally.Close(c.Proposal.Round.View, c.Kind)
	if c.Proposal.Round.View+1 < e.machine.View() { // not what the peer tells everybody
		e.fetches.helped(from)
	}
	return true
}

// count turns quorums of votes into certificates.
func (e *Engine) count() error {
	polls := e.polls
	e.polls = nil
	for _, p := range polls {
		quorum, bad := e.tally.Count(p.view, p.kind, e.check)
		for _, signer := range bad {
			e.ban(signer)
		}
		if quorum == nil {
			continue
		}
		start := time.Now()
		c, err := e.scheme.Recover(quorum)
		if err != nil {
			return fmt.Errorf("view %d: %w", p.view, err)
		}
		e.Stats.RecoverNanos.Add(since(start))
		e.Stats.Certificates[p.kind].Add(1)
		e.tally.Close(p.view, p.kind)
		e.step(simplex.CertificateReceived{Certificate: c})
	}
	return nil
}

// check verifies votes, seeds and individual signatures of one batch side by
// side and returns the positions that fail any.
func (e *Engine) check(votes []simplex.Vote) []int {
	start := time.Now()
	var badSeeds, badIndividuals []int
	var others sync.WaitGroup
	others.Go(func() { badSeeds = e.scheme.BadSeeds(votes) })
	others.Go(func() { badIndividuals = e.scheme.BadIndividuals(votes) })
	bad := e.scheme.BadVotes(votes)
	others.Wait()
	bad = append(append(bad, badSeeds...), badIndividuals...)
	slices.Sort(bad)
	e.Stats.VerifyNanos.Add(since(start))
	e.Stats.VotesVerified.Add(uint64(len(votes)))
	return slices.Compact(bad)
}

// ban ignores a peer for a while. The ban ends by itself: the cause may be a
// fault that its operator repairs, and with it gone the peer is needed.
func (e *Engine) ban(p beacon.Participant) {
	if int(p) >= e.cfg.Set.Len() {
		return // full nodes come and go under any number: the network's matter
	}
	e.Stats.Bans.Add(1)
	until := time.Now().Add(e.cfg.BlockPeerFor)
	e.banned[p] = until
	e.Stats.Peers[p].BlockedUntilUnix.Store(until.Unix())
}

func (e *Engine) isBanned(p beacon.Participant) bool {
	until, ok := e.banned[p]
	if ok && time.Now().After(until) {
		delete(e.banned, p)
		e.Stats.Peers[p].BlockedUntilUnix.Store(0)
		return false
	}
	return ok
}
