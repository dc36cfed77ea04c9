package simtest

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Player is a faulty validator: an honest one whose words are changed on the
// way out.
type Player struct {
	Name string

	// rewrite turns a message to one peer into what really leaves.
	rewrite func(v *validator, to beacon.Participant, m message) []message
	// enter adds mischief on entry to a view.
	enter func(v *validator, r beacon.Round)
	// mute: never proposes. invalid: proposes blocks that nobody accepts. brink:
	// proposes when the patience of the others is about to end.
	mute, invalid, brink bool
	// shards: plays with shards. liar: proposes shards that are no codeword.
	shards, liar bool
	// previews: plays with previews.
	previews bool
}

// Players are the faults by name. Each is alone among at least three honest
// validators.
func Players() []*Player {
	return []*Player{
		{Name: "silent leader", mute: true},
		{Name: "absentee", rewrite: sayNothing},
		{Name: "equivocator", rewrite: equivocate},
		{Name: "nuller", enter: nullifyAll},
		{Name: "conflicter", rewrite: contradictSelf},
		{Name: "withholder", rewrite: withhold},
		{Name: "invalid proposer", invalid: true},
		{Name: "invalid signer", rewrite: spoilSignature},
		{Name: "spoiler of seeds", rewrite: spoilSeed},
		{Name: "impersonator", rewrite: impersonate},
		{Name: "unsigned voter", rewrite: spoilIndividual},
		{Name: "reconfigurer", rewrite: nextEpoch},
		{Name: "outdated", rewrite: sayOldThings},
		{Name: "late finalizer", rewrite: keepFinalizes},
		{Name: "brinkman", brink: true, rewrite: leaveOneOut},
		{Name: "certificate forger", rewrite: forgeCertificates},
		{Name: "disrupter", rewrite: disrupt},
		{Name: "liar about blocks", rewrite: spoilAnswers},
		{Name: "liar about proposals", rewrite: spoilProposals},
		{Name: "false prophet", previews: true, rewrite: foretellAnother, enter: foretellAlways},
		{Name: "shard withholder", shards: true, rewrite: withholdShards},
		{Name: "shard equivocator", shards: true, rewrite: equivocateShards},
		{Name: "bad-codeword leader", shards: true, liar: true},
		{Name: "wrong-index relayer", shards: true, rewrite: relayWrongIndex},
		{Name: "spoiler of shards", shards: true, rewrite: spoilShards},
	}
}

// sayNothing hears all and says nothing.
func sayNothing(*validator, beacon.Participant, message) []message { return nil }

// equivocate shows every second peer another block of the same view.
func equivocate(v *validator, to beacon.Participant, m message) []message {
	if m.vote != nil && m.parcel != nil && to%2 != 0 {
		p, w, head := v.another(m.vote.Proposal)
		vote := v.scheme.Sign(simplex.Notarize, p)
		return []message{{vote: &vote, parcel: w.Parcel(head, int(to))}}
	}
	if m.vote == nil || m.block == nil || to%2 == 0 {
		return []message{m}
	}
	body := append([]byte{1}, m.block[1:]...)
	p := m.vote.Proposal
	p.Payload = digestOf(body)
	vote := v.scheme.Sign(simplex.Notarize, p)
	return []message{{vote: &vote, block: body}}
}

// nullifyAll nullifies each view at once towards some peers, and finalizes all
// the same when the time comes.
func nullifyAll(v *validator, r beacon.Round) {
	vote := v.scheme.Sign(simplex.Nullify, simplex.Proposal{Round: r})
	for _, to := range v.net.validators {
		if to.id != v.id && v.net.chance(0.5) {
			v.net.send(v, to, message{vote: &vote})
		}
	}
}

// contradictSelf votes for a block that does not exist towards every second
// peer.
func contradictSelf(v *validator, to beacon.Participant, m message) []message {
	if m.vote == nil || m.block != nil || m.parcel != nil || m.vote.Kind == simplex.Nullify || to%2 == 0 {
		return []message{m}
	}
	p := m.vote.Proposal
	p.Payload[0] ^= 1
	vote := v.scheme.Sign(m.vote.Kind, p)
	return []message{{vote: &vote}, m}
}

// withhold keeps its blocks from one peer, which must fetch them.
func withhold(v *validator, to beacon.Participant, m message) []message {
	if m.block == nil && m.parcel == nil || int(to) != (int(v.id)+1)%v.set.Len() {
		return []message{m}
	}
	if m.relay != nil {
		return nil
	}
	m.block, m.parcel = nil, nil
	return []message{m}
}

// spoilSignature makes votes that only a full verification tells from good
// ones.
func spoilSignature(v *validator, _ beacon.Participant, m message) []message {
	if m.vote == nil {
		return []message{m}
	}
	vote := *m.vote
	p := vote.Proposal
	p.Round.View++
	vote.Signature = v.scheme.Sign(vote.Kind, p).Signature
	return []message{{vote: &vote, block: m.block, parcel: m.parcel}}
}

// spoilSeed does the same to the seed's half of the vote.
func spoilSeed(v *validator, _ beacon.Participant, m message) []message {
	if m.vote == nil {
		return []message{m}
	}
	vote := *m.vote
	p := vote.Proposal
	p.Round.View++
	vote.Seed = v.scheme.Sign(vote.Kind, p).Seed
	return []message{{vote: &vote, block: m.block, parcel: m.parcel}}
}

// impersonate signs in the name of its neighbour.
func impersonate(v *validator, _ beacon.Participant, m message) []message {
	if m.vote == nil {
		return []message{m}
	}
	vote := *m.vote
	vote.Signer = (v.id + 1) % beacon.Participant(v.set.Len())
	return []message{{vote: &vote, block: m.block, parcel: m.parcel}}
}

// spoilIndividual leaves out the signature that would convict it.
func spoilIndividual(v *validator, _ beacon.Participant, m message) []message {
	if m.vote == nil {
		return []message{m}
	}
	vote := *m.vote
	vote.Individual = simplex.Individual{}
	return []message{{vote: &vote, block: m.block, parcel: m.parcel}}
}

// nextEpoch votes in an epoch that has no validators yet.
func nextEpoch(v *validator, _ beacon.Participant, m message) []message {
	if m.vote == nil {
		return []message{m}
	}
	p := m.vote.Proposal
	p.Round.Epoch++
	vote := v.scheme.Sign(m.vote.Kind, p)
	return []message{{vote: &vote, block: m.block, parcel: m.parcel}}
}

// sayOldThings votes for views that are long over. That is useless, and no
// fault.
func sayOldThings(v *validator, _ beacon.Participant, m message) []message {
	if m.vote == nil {
		return []message{m}
	}
	p := m.vote.Proposal
	if p.Round.View < 20 {
		return nil
	}
	p.Round.View -= 15
	p.Parent = min(p.Parent, p.Round.View-1)
	vote := v.scheme.Sign(m.vote.Kind, p)
	return []message{{vote: &vote}}
}

// keepFinalizes leaves finality to the others: neither its votes leave nor the
// certificates that they complete.
func keepFinalizes(_ *validator, _ beacon.Participant, m message) []message {
	if m.vote != nil && m.vote.Kind == simplex.Finalize || m.certificate != nil && m.certificate.Kind == simplex.Finalize {
		return nil
	}
	return []message{m}
}

// leaveOneOut offers its blocks to all but one validator, and helps none of them
// to become final: with a proposal at the last moment the one left out nullifies
// what the others finalize.
func leaveOneOut(v *validator, to beacon.Participant, m message) []message {
	last := beacon.Participant(v.set.Len() - 1)
	if (m.block != nil || m.parcel != nil) && m.vote != nil && to == last && v.id != last {
		return nil
	}
	return keepFinalizes(v, to, m)
}

// forgeCertificates passes each certificate on with the signatures of another.
func forgeCertificates(v *validator, _ beacon.Participant, m message) []message {
	if m.certificate == nil {
		return []message{m}
	}
	forged := *m.certificate
	forged.Proposal.Round.View++
	return []message{{certificate: &forged, block: m.block}}
}

// disrupt changes one thing in every second message, and signs what is a vote
// anew, so that only the rules stand against it: views, parents, digests, kinds
// and order.
func disrupt(v *validator, to beacon.Participant, m message) []message {
	return v.mutate(m, func(n int) int { return v.net.rng.IntN(n) })
}

// mutate is one step of a disrupter. pick draws below its argument.
func (v *validator) mutate(m message, pick func(n int) int) []message {
	if m.vote == nil {
		switch pick(8) {
		case 0:
			return nil
		case 1:
			return []message{m, m}
		}
		return []message{m}
	}
	k, p := m.vote.Kind, m.vote.Proposal
	switch pick(14) {
	case 0:
		return nil
	case 1:
		p.Round.View += chain.View(pick(4))
	case 2:
		p.Round.View -= min(p.Round.View-1, chain.View(1+pick(4)))
	case 3:
		p.Parent = chain.View(pick(int(p.Round.View)))
	case 4:
		p.Payload[0] ^= 1
	case 5:
		k = simplex.Kind(1 + pick(3))
	case 6:
		k = simplex.Nullify
	default:
		return []message{m}
	}
	p.Parent = min(p.Parent, p.Round.View-1)
	vote := v.scheme.Sign(k, p)
	changed := message{vote: &vote, block: m.block, parcel: m.parcel}
	if k != simplex.Notarize {
		changed.block, changed.parcel = nil, nil
	}
	if pick(2) == 0 {
		return []message{m, changed}
	}
	return []message{changed}
}

// spoilAnswers answers requests with blocks that are not those of their
// certificates.
func spoilAnswers(_ *validator, _ beacon.Participant, m message) []message {
	if m.certificate != nil && m.block != nil {
		m.block = append([]byte{m.block[0] ^ 1}, m.block[1:]...)
	}
	return []message{m}
}

// spoilProposals sends every second peer another block than it votes for.
func spoilProposals(_ *validator, to beacon.Participant, m message) []message {
	if m.vote != nil && m.block != nil && to%2 != 0 {
		m.block = append([]byte{m.block[0] ^ 1}, m.block[1:]...)
	}
	return []message{m}
}

// foretellAnother hands out previews of other blocks than it proposes.
func foretellAnother(_ *validator, to beacon.Participant, m message) []message {
	if m.preview == nil || to%2 == 0 {
		return []message{m}
	}
	d := *m.preview
	d.place = append([]byte{d.place[0] ^ 1}, d.place[1:]...)
	return []message{{preview: &d}, m}
}

// foretellAlways hands out previews in views that others lead, too.
func foretellAlways(v *validator, r beacon.Round) {
	parent := simplex.Parent{Round: beacon.Round{View: r.View - 1}, Payload: v.app.floor().Payload}
	place := encode(r, parent, standing{uint64(len(v.app.chain)) + 1, v.clock()}, 1)
	v.broadcast(message{preview: &preview{r, r.View - 1, place}})
}
