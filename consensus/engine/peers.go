package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// voice is what we heard of a validator's own words.
type voice struct {
	words [simplex.Finalize + 1]simplex.Vote // the newest of each kind that came in; not verified
	spoke time.Time                          // when a vote came in last; zero: never
	lives lives                              // that asked in its name
}

// receive takes a message from a peer. A message that no honest validator
// sends gets its sender banned for a while; one that comes too early or too
// late is dropped without blame.
func (e *Engine) receive(ctx context.Context, d delivery) {
	now := time.Now()
	if e.banned.has(d.from, now) {
		e.Stats.Dropped.Add(1)
		return
	}
	msg, err := wire.Decode(d.msg, e.sharding.limits())
	if int(d.from) >= e.cfg.Set.Len() || e.cfg.isSelf(d.from) {
		e.receiveOther(ctx, d.from, msg)
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
		if known, ok := e.receiveProposal(d.from, m.Vote); ok {
			e.do(ctx, e.judging.offered(d.from, m.Vote.Proposal, m.Block, known))
		}
	case wire.ShardOffer:
		if known, ok := e.receiveProposal(d.from, m.Vote); ok {
			e.do(ctx, e.sharding.offered(d.from, m, known))
		}
	case wire.ShardRelay:
		e.do(ctx, e.sharding.relayed(d.from, m, e.voices[d.from].words[simplex.Notarize]))
	case simplex.Certificate:
		e.receiveCertificate(arrival{d.from, m, nil})
	case wire.Backfill:
		e.receiveCertificate(arrival{d.from, m.Certificate, m.Block})
	case wire.Preview:
		e.previewing.receive(d.from, m)
	case wire.Request:
		e.do(ctx, e.serving.answer(now, d.from, m.Round))
	case wire.Answered:
		e.fetches.ends = append(e.fetches.ends, end{d.from, m.Round.View}) // what came before it is the answer
	case wire.Ask:
		if m.Instance != 0 && e.serving.allows(now, d.from) {
			e.do(ctx, e.watch.answerTo(now, d.from, m, &e.voices[d.from]))
		}
	case wire.Answer:
		e.do(ctx, e.watch.answered(now, d.from, m))
	}
}

// receiveOther takes what is not from another validator: requests of full
// nodes, and whatever comes in our own name.
func (e *Engine) receiveOther(ctx context.Context, from beacon.Participant, msg wire.Message) {
	var own simplex.Vote
	switch m := msg.(type) {
	case wire.Request:
		if !e.cfg.isSelf(from) {
			e.do(ctx, e.serving.answer(time.Now(), from, m.Round))
			return
		}
	case simplex.Vote:
		own = m
	case wire.Offer:
		own = m.Vote
	case wire.ShardOffer:
		own = m.Vote
	}
	if own.Kind != 0 && e.cfg.isSelf(from) {
		e.do(ctx, e.watch.heardAs(time.Now(), own))
	}
	e.Stats.Dropped.Add(1)
}

// receiveVote puts a vote into the tally, unverified. It reports whether the
// vote may be what it says.
func (e *Engine) receiveVote(from beacon.Participant, v simplex.Vote) bool {
	if v.Signer != from || v.Proposal.Round.Epoch != e.cfg.Set.Epoch() {
		e.ban(from)
		return false
	}
	view := v.Proposal.Round.View
	e.voices[from].spoke = time.Now()
	if last := &e.voices[from].words[v.Kind]; view >= last.Proposal.Round.View {
		*last = v
	}
	if newest := &e.Stats.Peers[from].LastVoteView; uint64(view) > newest.Load() {
		newest.Store(uint64(view))
	}
	e.queueEvent(simplex.VoteSeen{From: from, View: view, Kind: v.Kind})
	switch c, added := e.tally.Add(v); added {
	case simplex.TooOldOrNew:
		return false
	case simplex.Contradicted:
		e.Stats.Equivocations.Add(1)
		e.accuse(c)
		e.ban(from)
		return false
	default:
		e.leads.heard(view)
		return true
	}
}

// receiveProposal takes the vote beside a block, or beside a shard of one, and reports
// whether the rest of the message is to be looked at, and whether its sender is known to
// lead the view. Bytes from a stranger could take the place of the leader's.
func (e *Engine) receiveProposal(from beacon.Participant, v simplex.Vote) (known, ok bool) {
	if !e.receiveVote(from, v) {
		return false, false
	}
	who, known := e.machine.LeaderOf(v.Proposal.Round.View, v.Proposal.Parent)
	return known, !known || who == from
}

// sighted notes a proposal that is here.
func (e *Engine) sighted(x sighted) {
	e.queueEvent(simplex.ProposalReceived{From: x.from, Proposal: x.proposal})
	e.leads.proposed(x.proposal.Round.View)
	if x.known {
		e.seen.see(x.proposal.Round.View)
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
				e.fetches.helped(time.Now(), a.from, at.Round.View, simplex.CertificateBytesMax+len(a.block))
			}
			e.judging.backfill(a)
			return
		}
	}
	e.arrivals = append(e.arrivals, a)
}

// verifyCertificates verifies the certificates that came in, all at once, and passes the
// good ones on.
func (e *Engine) verifyCertificates() {
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
		e.tally.Close(a.certificate)
		e.certified(a.certificate)
		if a.certificate.Proposal.Round.View+1 < e.machine.View() { // not what the peer tells everybody
			e.fetches.helped(time.Now(), a.from, a.certificate.Proposal.Round.View, simplex.CertificateBytesMax+len(a.block))
		}
		e.judging.backfill(a)
	}
}

// certified passes a good certificate on.
func (e *Engine) certified(c simplex.Certificate) {
	if c.Kind == simplex.Notarize && !e.machine.Knows(c.Proposal.Round.View, c.Kind) {
		e.seen.since(c.Proposal.Round.View, &e.Stats.Stages[StageNotarized])
	}
	e.queueEvent(simplex.CertificateReceived{Certificate: c})
}

// assembleCertificates turns quorums of votes into certificates.
func (e *Engine) assembleCertificates() error {
	for e.tally.Due() {
		start := time.Now()
		n, err := e.tally.CountNext(simplex.JudgeBy(e.checks, beside))
		if n.Judged > 0 {
			e.Stats.Stages[StageQuorum].add(time.Since(start))
			e.Stats.VotesVerified.Add(uint64(n.Looked))
		}
		for _, signer := range n.Bad {
			e.ban(signer)
		}
		if err != nil {
			return err
		}
		if n.Made {
			e.Stats.Certificates[n.Certificate.Kind].Add(1)
			e.certified(n.Certificate)
		}
	}
	return nil
}

// beside is a [simplex.Beside] for more than one core.
func beside(f func()) (wait func()) {
	var under sync.WaitGroup
	under.Go(f)
	return under.Wait
}

// ban ignores a peer for a while. What it heard in our name counts no more: it may have
// lied.
func (e *Engine) ban(p beacon.Participant) {
	if e.banned.add(p, time.Now()) {
		e.watch.dropPeer(p)
	}
}
