package engine

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// peer is what we keep of a validator.
type peer struct {
	guest
	given given
	words [simplex.Finalize + 1]simplex.Vote // the newest of each kind that came in; not verified
	spoke time.Time                          // when a vote came in last; zero: never
	lives lives                              // that asked in its name
}

// receive takes a message from a peer. A message that no honest validator
// sends gets its sender banned for a while; one that comes too early or too
// late is dropped without blame.
func (e *Engine) receive(d delivery) {
	if e.isBanned(d.from) {
		e.Stats.Dropped.Add(1)
		return
	}
	msg, err := e.decode(d.msg)
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
	case wire.Offer:
		e.receiveOffer(d.from, m)
	case wire.ShardOffer:
		e.receiveShardOffer(d.from, m)
	case wire.ShardRelay:
		e.receiveShardRelay(d.from, m)
	case simplex.Certificate:
		e.receiveCertificate(arrival{d.from, m, nil})
	case wire.Backfill:
		e.receiveCertificate(arrival{d.from, m.Certificate, m.Block})
	case wire.Draft:
		e.receiveDraft(d.from, m)
	case wire.Request:
		e.answer(d.from, m.Round)
	case wire.Answered:
		e.ends = append(e.ends, end{d.from, m.Round.View}) // what came before it is the answer
	case wire.Ask:
		e.answerAsk(d.from, m)
	case wire.Answer:
		e.receiveAnswer(d.from, m)
	}
}

// receiveOther takes what is not from another validator: requests of full
// nodes, and whatever comes in our own name.
func (e *Engine) receiveOther(from beacon.Participant, msg wire.Message) {
	switch m := msg.(type) {
	case wire.Request:
		if !e.isSelf(from) {
			e.answer(from, m.Round)
			return
		}
	case simplex.Vote:
		if e.isSelf(from) {
			e.recognise(m, false)
		}
	case wire.Offer:
		if e.isSelf(from) {
			e.recognise(m.Vote, false)
		}
	case wire.ShardOffer:
		if e.isSelf(from) {
			e.recognise(m.Vote, false)
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
	e.peers[from].spoke = time.Now()
	if last := &e.peers[from].words[v.Kind]; view >= last.Proposal.Round.View {
		*last = v
	}
	if newest := &e.Stats.Peers[from].LastVoteView; uint64(view) > newest.Load() {
		newest.Store(uint64(view))
	}
	e.step(simplex.VoteSeen{From: from, View: view, Kind: v.Kind})
	if view <= e.machine.Floor().View || view > e.machine.View()+1 {
		return false // certificates help a validator that is behind, votes do not
	}
	if c, conflict := e.tally.Add(v); conflict {
		e.Stats.Equivocations.Add(1)
		e.accuse(c)
		e.ban(from)
		return false
	}
	e.recount(view, v.Kind)
	e.heardIn(view)
	return true
}

func (e *Engine) receiveOffer(from beacon.Participant, o wire.Offer) {
	if !e.receiveVote(from, o.Vote) {
		return
	}
	p := o.Vote.Proposal
	who, known := e.machine.LeaderOf(p.Round.View, p.Parent)
	if known && who != from {
		return // bytes from a stranger could take the place of the leader's
	}
	if e.blocks.offer(p, o.Block, from, known) {
		e.step(simplex.ProposalReceived{From: from, Proposal: p})
		e.wakeCertify(p)
		e.proposedIn(p.Round.View)
		if known {
			e.seen.see(p.Round.View)
		}
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

// arrival is a certificate from a peer, alone or with its block.
type arrival struct {
	from        beacon.Participant
	certificate simplex.Certificate
	block       []byte
}

// receiveCertificate takes a certificate that is news, or that differs from the
// one we have: it is verified with the others of the turn.
func (e *Engine) receiveCertificate(a arrival) {
	at := a.certificate.Proposal
	if at.Round.Epoch != e.cfg.Set.Epoch() {
		e.ban(a.from)
		return
	}
	if e.machine.Knows(at.Round.View, a.certificate.Kind) {
		same, ok := e.machine.Certificate(at.Round.View, a.certificate.Kind)
		if !ok {
			return // of a view that is over
		}
		if same.Proposal == at {
			if a.block != nil {
				e.fetches.helped(a.from, at.Round.View, simplex.CertificateBytesMax+len(a.block))
			}
			e.receiveBackfill(a)
			return
		}
	}
	e.arrivals = append(e.arrivals, a)
}

// admit verifies the certificates that came in, all at once, and passes the
// good ones on.
func (e *Engine) admit() {
	arrivals := e.arrivals
	e.arrivals = nil
	if len(arrivals) == 0 {
		return
	}
	certificates := make([]simplex.Certificate, len(arrivals))
	for i := range arrivals {
		certificates[i] = arrivals[i].certificate
	}
	start := time.Now()
	refused := e.checks.BadCertificates(certificates)
	e.Stats.Stages[StageAdmit].add(time.Since(start))
	for i, a := range arrivals {
		if slices.Contains(refused, i) {
			e.ban(a.from)
			continue
		}
		e.certified(a.certificate)
		if a.certificate.Proposal.Round.View+1 < e.machine.View() { // not what the peer tells everybody
			e.fetches.helped(a.from, a.certificate.Proposal.Round.View, simplex.CertificateBytesMax+len(a.block))
		}
		e.receiveBackfill(a)
	}
}

// certified passes a good certificate on.
func (e *Engine) certified(c simplex.Certificate) {
	if c.Kind == simplex.Notarize && !e.machine.Knows(c.Proposal.Round.View, c.Kind) {
		e.seen.since(c.Proposal.Round.View, &e.Stats.Stages[StageNotarized])
	}
	e.step(simplex.CertificateReceived{Certificate: c})
	e.tally.Close(c)
}

// count turns quorums of votes into certificates.
func (e *Engine) count() error {
	polls := e.polls
	e.polls = nil
	for _, p := range polls {
		c, ok, bad, err := e.tally.Count(p.view, p.kind, e.assemble)
		for _, signer := range bad {
			e.ban(signer)
		}
		if err != nil {
			return fmt.Errorf("view %d: %w", p.view, err)
		}
		if ok {
			e.Stats.Certificates[p.kind].Add(1)
			e.certified(c)
		}
	}
	return nil
}

// assemble makes the certificate of a quorum, with the individual signatures
// checked beside the rest.
func (e *Engine) assemble(q simplex.Quorum) (simplex.Certificate, []int, error) {
	start := time.Now()
	unsure := q.Votes[q.Sure:]
	var individuals []int
	var beside sync.WaitGroup
	if len(unsure) > 0 {
		beside.Go(func() { individuals = e.checks.BadIndividuals(unsure) })
	}
	c, bad, err := simplex.Assemble(e.checks, q, func() []int { beside.Wait(); return individuals })
	e.Stats.Stages[StageQuorum].add(time.Since(start))
	e.Stats.VotesVerified.Add(uint64(len(unsure)))
	return c, bad, err
}

// ban ignores a peer for a while. The ban ends by itself: the cause may be a
// fault that its operator repairs, and with it gone the peer is needed.
func (e *Engine) ban(p beacon.Participant) {
	if int(p) >= e.cfg.Set.Len() {
		return // full nodes come and go under any number: the network's matter
	}
	if !e.isBanned(p) { // an answer full of lies is one reason
		e.Stats.Bans.Add(1)
	}
	until := time.Now().Add(e.cfg.BlockPeerFor)
	e.banned[p] = until
	if e.watch.heard != nil {
		e.watch.heard[p] = heard{} // it may have lied
	}
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
