package engine

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// answerCertificates bounds the answer to one request.
const answerCertificates = 16

// receive takes a message from a peer. A message that no honest validator
// sends gets its sender banned for a while; one that comes too early or too
// late is dropped without blame.
func (e *Engine) receive(d delivery) {
	if int(d.from) >= e.cfg.Set.Len() || e.isBanned(d.from) {
		e.Stats.Dropped.Add(1)
		return
	}
	msg, err := decodeMessage(d.msg, e.cfg.MaxBlockBytes)
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
		if e.receiveCertificate(d.from, m.certificate) {
			e.blocks.fill(m.certificate.Proposal, m.block)
			e.wakeCertify(m.certificate.Proposal)
		}
	case request:
		e.answer(d.from, m.round)
	}
}

// receiveVote puts a vote into the tally, unverified. It reports whether the
// vote may be what it says.
func (e *Engine) receiveVote(from beacon.Participant, v simplex.Vote) bool {
	if v.Signer != from || v.Proposal.Round.Epoch != e.cfg.Set.Epoch() {
		e.ban(from)
		return false
	}
	view := v.Proposal.Round.View
	if view <= e.machine.Floor().View || view > e.machine.View()+1 {
		return false // certificates help a validator that is behind, votes do not
	}
	if _, conflict := e.tally.Add(v); conflict {
		e.Stats.Equivocations.Add(1)
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
	if e.blocks.offer(o.vote.Proposal, copyOf{from, o.block}) {
		e.step(simplex.ProposalReceived{From: from, Proposal: o.vote.Proposal})
		e.wakeCertify(o.vote.Proposal)
	}
}

// receiveCertificate verifies a certificate that is news. It reports whether
// the certificate is good.
func (e *Engine) receiveCertificate(from beacon.Participant, c simplex.Certificate) bool {
	if c.Proposal.Round.Epoch != e.cfg.Set.Epoch() {
		e.ban(from)
		return false
	}
	if e.machine.Knows(c.Proposal.Round.View, c.Kind) {
		return true
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

// check verifies votes and seeds of one batch side by side and returns the
// positions that fail either.
func (e *Engine) check(votes []simplex.Vote) []int {
	start := time.Now()
	var badSeeds []int
	var seeds sync.WaitGroup
	seeds.Go(func() { badSeeds = e.scheme.BadSeeds(votes) })
	bad := e.scheme.BadVotes(votes)
	seeds.Wait()
	bad = append(bad, badSeeds...)
	slices.Sort(bad)
	e.Stats.VerifyNanos.Add(since(start))
	e.Stats.VotesVerified.Add(uint64(len(votes)))
	return slices.Compact(bad)
}

// answer helps a peer that is behind, or that lacks a block.
func (e *Engine) answer(to beacon.Participant, r beacon.Round) {
	if r.Epoch != e.cfg.Set.Epoch() {
		return
	}
	for _, c := range e.machine.Certificates(r.View, answerCertificates) {
		if c.Kind != simplex.Nullify {
			if b := e.blocks.find(c.Proposal.Round.View, c.Proposal.Payload); b != nil && b.bytes != nil {
				e.net.Send(to, appendBackfill(nil, backfill{c, b.bytes}))
				continue
			}
		}
		e.net.Send(to, simplex.AppendCertificate(nil, c))
	}
}

// request asks all peers for view v and later ones.
func (e *Engine) request(v chain.View) {
	e.net.Broadcast(appendRequest(nil, request{beacon.Round{Epoch: e.cfg.Set.Epoch(), View: v}}))
}

// ban ignores a peer for a while. The ban ends by itself: the cause may be a
// fault that its operator repairs, and with it gone the peer is needed.
func (e *Engine) ban(p beacon.Participant) {
	e.Stats.Bans.Add(1)
	e.banned[p] = time.Now().Add(e.cfg.BlockPeerFor)
}

func (e *Engine) isBanned(p beacon.Participant) bool {
	until, ok := e.banned[p]
	if ok && time.Now().After(until) {
		delete(e.banned, p)
		return false
	}
	return ok
}
