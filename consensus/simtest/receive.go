package simtest

import (
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// receive takes a message from the network, which vouches for the sender.
func (v *validator) receive(from *validator, m message) {
	if v.banned[from.id] {
		return
	}
	switch {
	case m.vote != nil:
		v.receiveVote(from.id, *m.vote, m)
	case m.certificate != nil:
		v.receiveCertificate(from.id, *m.certificate, m.block)
	case m.relay != nil:
		v.receiveShardRelay(from.id, *m.relay, m.parcel)
	case m.preview != nil:
		v.receivePreview(from.id, m.preview)
	default:
		v.answer(from, m.request)
	}
}

// waits reports whether a message lies in the inbox because its receiver is busy, with
// a sync or a block. What came until then is taken in one turn, as package engine does.
func (v *validator) waits(from *validator, m message) bool {
	if !v.busy && !v.net.quiet && v.net.chance(v.net.cfg.Busy) {
		v.busy = true
		v.later(v.net.between(0, v.net.cfg.BusyFor), v.drain)
	}
	if v.busy {
		v.inbox = append(v.inbox, delivery{from, m})
	}
	return v.busy
}

// delivery is a message with its sender.
type delivery struct {
	from *validator
	message
}

// drain takes the inbox.
func (v *validator) drain() {
	inbox := v.inbox
	v.busy, v.inbox = false, nil
	for _, d := range inbox {
		v.receive(d.from, d.message)
	}
	v.turn()
}

func (v *validator) receiveVote(from beacon.Participant, vote simplex.Vote, m message) {
	if vote.Signer != from || vote.Proposal.Round.Epoch != v.set.Epoch() {
		v.ban(from)
		return
	}
	view := vote.Proposal.Round.View
	v.queueEvent(simplex.VoteSeen{From: from, View: view, Kind: vote.Kind})
	switch c, added := v.tally.Add(vote); added {
	case simplex.TooOldOrNew:
		return
	case simplex.Contradicted:
		v.net.report.Equivocations++
		v.accuse(c)
		v.ban(from)
		return
	}
	switch who, known := v.machine.LeaderOf(view, vote.Proposal.Parent); {
	case known && who != from:
	case m.block != nil:
		v.arrived(vote.Proposal, v.at(vote.Proposal), from, m.block)
		v.queueEvent(simplex.ProposalReceived{From: from, Proposal: vote.Proposal})
	case m.parcel != nil:
		v.receiveOwnShard(from, vote.Proposal, m.parcel)
	}
}

func (v *validator) receiveCertificate(from beacon.Participant, c simplex.Certificate, body []byte) {
	if !v.machine.Knows(c.Proposal.Round.View, c.Kind) {
		if len(v.scheme.BadCertificates([]simplex.Certificate{c})) > 0 {
			v.ban(from)
			return
		}
		v.net.ledger.certificate(v, c)
		v.tally.Close(c)
		v.queueEvent(simplex.CertificateReceived{Certificate: c})
	}
	if body == nil || c.Proposal.Round.View <= v.machine.Floor().View {
		return
	}
	// As package engine does, it is kept ahead of its turn: an answer is of many
	// blocks, and who asks for each on its own never catches up over slow links.
	b := v.at(c.Proposal)
	switch {
	case b.bytes != nil || b.certify == nil && v.backlog() >= backlogMax:
	case v.app.fits(c.Proposal.Payload, body):
		v.arrived(c.Proposal, b, from, body)
	default: // not the block of the certificate, and who sends it knows
		v.net.report.WrongBlocks++
		v.ban(from)
		v.refused(from)
	}
}

// backlogMax bounds the blocks that are kept ahead of their turn.
const backlogMax = 256

// backlog counts blocks that came faster than the application took them.
func (v *validator) backlog() int {
	n := v.app.undelivered()
	floor := v.machine.Floor().View
	for at, b := range v.blocks {
		if at.view > floor && b.bytes != nil && !b.judged {
			n++
		}
	}
	return n
}

// arrived keeps the bytes of a block, and goes on with it if it is waited for.
func (v *validator) arrived(p simplex.Proposal, b *block, from beacon.Participant, body []byte) {
	if b.bytes != nil {
		return
	}
	b.bytes, b.supplier = body, from
	if x := b.certify; x != nil {
		v.outgoing = append(v.outgoing, *x)
	}
}

// wrong drops bytes that are not the block of their digest at all. The block
// itself is not judged: the machine hears no more than that its leader did not
// offer it.
func (v *validator) wrong(p simplex.Proposal, b *block) {
	v.net.report.WrongBlocks++
	v.ban(b.supplier)
	b.bytes, b.asked = nil, false
	if x := b.verifying; x != nil && b.supplier == x.Leader {
		b.verifying = nil
		v.queueEvent(simplex.Verified{View: p.Round.View, Payload: p.Payload})
	}
	if b.certify != nil {
		v.fetch(p.Round.View, 0)
	}
}

func (v *validator) assembleCertificates() {
	for v.tally.Due() {
		n, err := v.tally.CountNext(simplex.JudgeBy(v.scheme, simplex.InTurn))
		for _, signer := range n.Bad {
			v.ban(signer)
		}
		if err != nil {
			v.net.recordBreach("validator %d: %w", v.id, err)
			return
		}
		if !n.Made {
			continue
		}
		c := n.Certificate
		if len(v.scheme.BadCertificates([]simplex.Certificate{c})) > 0 {
			v.net.recordBreach("validator %d made a bad %s of view %d", v.id, c.Kind, c.Proposal.Round.View)
			return
		}
		v.queueEvent(simplex.CertificateReceived{Certificate: c})
	}
}

// answersMax bounds the certificates that answer one request.
const answersMax = 16

// answer helps a peer that is behind or lacks a block, from memory, and from
// the store where memory does not reach.
func (v *validator) answer(to *validator, from chain.View) {
	for _, b := range v.app.from(from, answersMax) {
		v.sendTo(to, message{certificate: &b.own, block: b.body})
	}
	for _, c := range v.machine.Certificates(from, answersMax) {
		m := message{certificate: &c}
		if c.Kind != simplex.Nullify {
			if b := v.blocks[blockKey{c.Proposal.Round.View, c.Proposal.Payload}]; b != nil {
				m.block = b.bytes
			}
		}
		v.sendTo(to, m)
	}
}

// fetchFor asks for what the machine lacks, as package engine does.
func (v *validator) fetchFor(x simplex.Fetch) {
	switch {
	case x.Below == 0:
		v.fetch(x.View, 0)
	case !v.has(x.View, x.Below):
		v.fetch(v.machine.MissingFrom(x.Below), x.Below)
	}
}

// want is a view whose certificates or block are missing. One peer at a time is
// asked for it.
type want struct {
	view, below chain.View // as in [simplex.Fetch]
	peer        beacon.Participant
	tries       int
}

// fetchTimeout is how long one peer has for its answer.
const fetchTimeout = time.Second

// fetch asks one peer after the other for a view, until it is here or all were
// asked.
func (v *validator) fetch(view, below chain.View) {
	if !slices.ContainsFunc(v.wants, func(w *want) bool { return w.view == view }) {
		w := &want{view: view, below: below}
		v.wants = append(v.wants, w)
		v.ask(w)
	}
}

// ask sends the request to the peer that answered last or, when it did not help
// with w, to the next one that is not banned. A want that nobody can serve is
// forgotten: the machine repeats what still matters.
func (v *validator) ask(w *want) {
	n := v.set.Len()
	for range n + 1 {
		p := beacon.Participant(v.turnOf)
		if p == v.id || v.banned[p] || w.tries > 0 && p == w.peer {
			v.turnOf = (v.turnOf + 1) % n
			continue
		}
		w.peer = p
		w.tries++
		v.net.report.Fetches++
		for _, to := range v.net.validators {
			if to.id == p {
				v.sendTo(to, message{request: w.view})
			}
		}
		tries := w.tries
		v.later(fetchTimeout, func() {
			if w.tries == tries {
				v.overdue(w)
			}
		})
		return
	}
	v.dropWant(w)
}

// overdue turns to the next peer for a want that was not served in time.
func (v *validator) overdue(w *want) {
	switch {
	case !slices.Contains(v.wants, w):
	case v.has(w.view, w.below) || w.tries >= v.set.Len():
		v.dropWant(w)
	default:
		v.ask(w)
	}
}

func (v *validator) dropWant(w *want) {
	v.wants = slices.DeleteFunc(v.wants, func(o *want) bool { return o == w })
}

// refused turns to the next peer for all that was asked of one whose answers are
// not what they say.
func (v *validator) refused(from beacon.Participant) {
	for _, w := range slices.Clone(v.wants) {
		if w.peer == from {
			v.overdue(w)
		}
	}
}

// has reports whether what was wanted is here: the block of view below, or, if
// that is 0, whatever view has.
func (v *validator) has(view, below chain.View) bool {
	if max(view, below) <= v.machine.Floor().View {
		return true
	}
	if below > 0 {
		_, notarized := v.machine.Certificate(below, simplex.Notarize)
		_, finalized := v.machine.Certificate(below, simplex.Finalize)
		return notarized || finalized
	}
	for _, k := range []simplex.Kind{simplex.Notarize, simplex.Finalize} {
		if c, ok := v.machine.Certificate(view, k); ok {
			b := v.blocks[blockKey{view, c.Proposal.Payload}]
			return b != nil && b.bytes != nil
		}
	}
	_, null := v.machine.Certificate(view, simplex.Nullify)
	return null
}

// accuse makes evidence of a contradiction and holds it against the auditor's
// knowledge: nobody honest is convicted.
func (v *validator) accuse(c simplex.Conflict) {
	if !v.net.cfg.RealKeys {
		return // hashes are no signatures of peer keys
	}
	proof, err := simplex.NewEvidence(v.set, c.First, c.Second)
	if err != nil {
		return
	}
	v.net.report.Evidence++
	if who, _ := v.set.Find(proof.Accused); v.net.honest(who) {
		v.net.recordBreach("evidence convicts honest validator %d", who)
	}
}

func (v *validator) ban(p beacon.Participant) {
	if v.net.honest(p) && v.player == nil {
		v.net.recordBreach("validator %d bans honest validator %d", v.id, p)
		return
	}
	v.net.report.Bans++
	v.banned[p] = true
}
