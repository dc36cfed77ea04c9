package simtest

import (
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Timers of the simulated chain, the defaults of the parameters.
const (
	leaderTimeout        = 2 * time.Second
	certificationTimeout = 3 * time.Second
	retryInterval        = 2 * time.Second
	clockDrift           = 5 * time.Second // of a proposal's time ahead of a clock
)

// validator drives one machine as package engine does: step, keep, sync, and
// only then let anything leave.
type validator struct {
	net      *network
	node     int                // its place in the network; twins share an id, not a node
	id       beacon.Participant // of the set; beyond it for an observer
	scheme   scheme
	player   *Player // nil: honest
	set      *beacon.ValidatorSet
	elector  simplex.Elector
	slowness time.Duration // on top of what the application takes
	// dies is asked when a turn is durable and nothing of it has left.
	dies func(out []simplex.Effect) bool

	offset time.Duration // of its clock
	rate   float64       // of its clock; 1 is right

	disk disk // survives a crash, but for what was not synced
	app  *application

	// Volatile.
	up       bool
	life     int // counts restarts; what an older life scheduled is void
	machine  *simplex.Machine
	tally    *simplex.Tally
	blocks   map[blockKey]*block // never ranged over
	pool     *shards.Pool        // nil: blocks travel whole
	ahead    ahead
	banned   map[beacon.Participant]bool
	armed    [simplex.NumTimers]int // counts armings by timer; a newer one voids the older
	wants    []*want
	turnOf   int // of the rotation over peers that are asked, as long as they answer
	events   []simplex.Event
	outgoing []simplex.Effect
	busy     bool
	inbox    []delivery // that came since
}

type blockKey struct {
	view   chain.View
	digest chain.Hash
}

// block is a block with what the application says of it and what the machine
// waits for.
type block struct {
	bytes      []byte
	supplier   beacon.Participant // of bytes that came from a peer
	own, kept  bool               // kept: in the journal
	codeword   *shards.Codeword   // of an own block
	rebuilding bool
	rebuilt    bool // from shards
	asked      bool
	judged     bool
	valid      bool
	verifying  *simplex.RequestVerify
	certify    *simplex.RequestCertify
}

// start begins a life from the journal and what the application has durably.
func (v *validator) start() {
	v.up = true
	v.life++
	v.blocks = make(map[blockKey]*block)
	v.banned = make(map[beacon.Participant]bool)
	v.ahead = ahead{}
	if v.app.code != nil && !v.observes() {
		v.pool = shards.NewPool(v.app.code, format, v.id)
	}
	v.events, v.outgoing = nil, nil
	v.busy, v.inbox = false, nil
	v.app.restart()
	v.disk.open()
	v.wants = nil
	cfg := simplex.Config{
		Self: v.id, Elector: v.elector, GenesisBeacon: v.set.GenesisBeacon(),
		Floor: v.app.floor(), Retention: 1 << 20, Permit: v.permit,
		Skip: simplex.Skip{After: v.net.cfg.SkipAfter, Members: v.set.Len(), Quorum: v.set.Quorum()},
	}
	if !v.observes() {
		cfg.Signer = v.scheme
	}
	v.machine = simplex.New(cfg)
	v.tally = simplex.NewTally(v.set.Quorum(), v.machine.TakesVotes)
	for _, rec := range v.disk.journal {
		v.replay(rec)
	}
	v.queueEvent(simplex.Resumed{})
	v.turn()
}

// observes reports whether v is no member of the set: it follows and never
// votes.
func (v *validator) observes() bool { return int(v.id) >= v.set.Len() }

// permit asks the watermark, as package engine asks its guard. A faulty player
// asks nobody.
func (v *validator) permit(k simplex.Kind, p simplex.Proposal) bool {
	if v.player != nil || v.net.cfg.NoGuard {
		return true
	}
	if v.disk.said.Permit(k, p) != nil {
		v.net.report.Withheld++
		return false
	}
	return true
}

func (v *validator) replay(rec []byte) {
	if rec[0] == 'S' {
		v.replayShard(rec)
		return
	}
	if rec[0] == 'B' {
		round, rest, err := attest.ReadRound(rec[2:])
		if err != nil {
			v.net.recordBreach("replay block: %w", err)
			return
		}
		key := blockKey{view: round.View}
		body := rest[copy(key.digest[:], rest):]
		v.blocks[key] = &block{bytes: body, own: rec[1] == 1, kept: true}
		return
	}
	r, err := simplex.DecodeRecord(rec)
	if err != nil {
		v.net.recordBreach("replay: %w", err)
		return
	}
	switch r := r.(type) {
	case simplex.Vote:
		v.disk.said.Note(r.Kind, r.Proposal)
	case simplex.Certificate:
		v.net.ledger.certificate(v, r)
	}
	for _, effect := range v.machine.Step(simplex.Replayed{Record: r}) {
		if halt, ok := effect.(simplex.Halt); ok {
			v.net.recordBreach("validator %d: replay: %w", v.id, halt.Err)
		}
	}
}

// crash ends the life and brings the validator back later.
func (v *validator) crash(down time.Duration) {
	v.up = false
	v.net.report.Crashes++
	v.net.hashIn(byte(v.node), []byte("crash"))
	if v.net.chance(v.net.cfg.Rollback) && v.node == len(v.net.validators)-1 {
		v.net.report.Rollbacks++
		v.disk.journal = v.disk.journal[:v.net.rng.IntN(len(v.disk.journal)+1)]
	}
	v.net.after(down, func() {
		if !v.up {
			v.start()
		}
	})
}

// later runs f in this life, if it lasts.
func (v *validator) later(d time.Duration, f func()) {
	life := v.life
	v.net.after(d, func() {
		if v.up && v.life == life {
			f()
		}
	})
}

func (v *validator) queueEvent(e simplex.Event) { v.events = append(v.events, e) }

// turn does what the events in line lead to, with one sync. A crash can come
// before the sync, after it, or between two messages that leave.
func (v *validator) turn() {
	for len(v.events) > 0 || v.tally.Due() {
		for len(v.events) > 0 {
			e := v.events[0]
			v.events = v.events[1:]
			for _, effect := range v.machine.Step(e) {
				v.applyLocal(effect)
			}
		}
		v.assembleCertificates()
	}
	out := v.outgoing
	v.outgoing = nil
	if !v.carryOut(out) {
		return
	}
	if len(v.events) > 0 || v.tally.Due() {
		v.turn()
	}
}

// carryOut lets effects leave: the binding ones after the sync, the others before
// it. It reports false if a crash came in between.
func (v *validator) carryOut(out []simplex.Effect) bool {
	free, bound := simplex.Split(out)
	if finalities(out) > 1 {
		v.net.report.FinalTogether++
	}
	crashAt := -1
	if len(v.disk.buffered) > 0 && v.mayCrash() {
		crashAt = v.net.rng.IntN(len(out) + 2)
	}
	if len(v.disk.buffered) > 0 && v.net.fate != nil {
		crashAt = v.net.fate(v, len(out))
	}
	down := v.net.between(100*time.Millisecond, 8*time.Second)
	place := 0
	release := func(effects []simplex.Effect) bool {
		for _, effect := range effects {
			if place++; place == crashAt {
				v.crash(down)
				return false
			}
			v.release(effect)
		}
		return true
	}
	if !release(free) {
		return false
	}
	if crashAt == 0 {
		v.tear()
		v.crash(down)
		return false
	}
	if len(bound) > 0 {
		v.disk.sync()
	}
	if v.dies != nil && v.dies(out) {
		v.crash(down)
		return false
	}
	if !release(bound) {
		return false
	}
	if crashAt == len(out)+1 {
		v.crash(down)
		return false
	}
	return true
}

// finalities counts the effects that make blocks final.
func finalities(out []simplex.Effect) (n int) {
	for _, effect := range out {
		if _, ok := effect.(simplex.Finalized); ok {
			n++
		}
	}
	return n
}

// applyLocal does the part of an effect that stays here.
func (v *validator) applyLocal(effect simplex.Effect) {
	switch x := effect.(type) {
	case simplex.Persist:
		v.persist(x.Record)
		return
	case simplex.Broadcast:
		v.tally.AddOwn(x.Vote)
	case simplex.EnterView:
		v.net.hashIn(byte(v.node), x.Round.Append([]byte("enter")))
		for i := range v.armed {
			v.armed[i]++
		}
		v.discard(x.Round.View)
	case simplex.ArmTimer:
		v.arm(x)
		return
	case simplex.RequestVerify:
		if v.glance(x) {
			return
		}
	case simplex.RequestCertify:
		if b := v.at(x.Proposal); b.judged { // it is answered in this turn
			b.certify = &x
			v.reportVerdict(x.Proposal, b)
			return
		}
	case simplex.Finalized:
		if v.pool != nil {
			v.pool.Advance(x.Certificate.Proposal.Round.View)
		}
		v.net.ledger.margins.finalized(v, x.Certificate.Proposal.Round.View)
		v.tally.Advance(v.machine.Floor().View)
	case simplex.Equivocation:
		v.net.report.Equivocations++
		v.ban(x.From)
		return
	case simplex.Halt:
		v.net.recordBreach("validator %d in view %d: %w", v.id, v.machine.View(), x.Err)
		return
	}
	v.outgoing = append(v.outgoing, effect)
}

// persist writes a record, and before a vote or verdict the block it is about.
func (v *validator) persist(r simplex.Record) {
	switch r := r.(type) {
	case simplex.Vote:
		if r.Kind == simplex.Notarize {
			v.keepBlock(r.Proposal.Round, r.Proposal.Payload)
		}
	case simplex.Certification:
		v.keepBlock(r.Round, r.Payload)
	}
	v.disk.buffered = append(v.disk.buffered, simplex.AppendRecord(nil, r))
}

func (v *validator) keepBlock(r beacon.Round, digest chain.Hash) {
	b := v.blocks[blockKey{r.View, digest}]
	if b == nil || b.bytes == nil {
		v.keepShard(r, digest)
		return
	}
	if b.kept {
		return
	}
	b.kept = true
	own := byte(0)
	if b.own {
		own = 1
	}
	rec := r.Append([]byte{'B', own})
	rec = append(rec, digest[:]...)
	v.disk.buffered = append(v.disk.buffered, append(rec, b.bytes...))
}

func (v *validator) arm(x simplex.ArmTimer) {
	d := [simplex.NumTimers]time.Duration{leaderTimeout, certificationTimeout, retryInterval, 0}[x.Timer]
	v.armed[x.Timer]++
	armed := v.armed[x.Timer]
	v.later(v.passing(d), func() {
		if v.armed[x.Timer] == armed {
			if x.Timer == simplex.TimerSkip {
				v.net.report.Skips++
			} else {
				v.net.report.Timeouts++
			}
			v.queueEvent(simplex.TimerFired(x))
			v.turn()
		}
	})
}

// release lets an effect leave.
func (v *validator) release(effect simplex.Effect) {
	switch x := effect.(type) {
	case simplex.Broadcast:
		if v.player == nil {
			v.net.ledger.vote(v, x.Vote)
		}
		m := message{vote: &x.Vote}
		if x.Vote.Kind == simplex.Notarize {
			b := v.blocks[blockKey{x.Vote.Proposal.Round.View, x.Vote.Proposal.Payload}]
			if b != nil && b.own {
				if w := v.codeword(b); w != nil {
					v.offerShards(x.Vote, b, w)
					return
				}
				m.block = b.bytes
			}
		}
		v.broadcast(m)
		if x.Vote.Kind == simplex.Notarize {
			v.relayShard(x.Vote.Proposal)
		}
	case simplex.BroadcastCertificate:
		v.net.ledger.certificate(v, x.Certificate)
		if v.player == nil && v.disk.forgets(x.Certificate) {
			v.net.recordBreach("validator %d sends a %s of view %d that rests on a vote it could forget", v.id, x.Certificate.Kind, x.Certificate.Proposal.Round.View)
		}
		v.broadcast(message{certificate: &x.Certificate})
	case simplex.Fetch:
		v.fetchFor(x)
	case simplex.EnterView:
		if v.player != nil && v.player.enter != nil {
			v.player.enter(v, x.Round)
		}
	case simplex.RequestProposal:
		v.propose(x)
	case simplex.RequestVerify:
		b := v.at(x.Proposal)
		b.verifying = &x
		v.verifyOnce(x.Proposal, x.Parent, b)
	case simplex.RequestCertify:
		b := v.at(x.Proposal)
		b.certify = &x
		if b.bytes == nil && v.awaitShards(x.Proposal, b) {
			return
		}
		if b.bytes == nil {
			v.net.report.BlocksFetched++
			v.fetch(x.Proposal.Round.View, 0)
			return
		}
		v.verifyOnce(x.Proposal, x.Parent, b)
	case simplex.Finalized:
		v.finalize(x)
	default:
		panic(fmt.Sprintf("simtest: unknown effect %T", x))
	}
}

func (v *validator) at(p simplex.Proposal) *block {
	key := blockKey{p.Round.View, p.Payload}
	b := v.blocks[key]
	if b == nil {
		b = new(block)
		v.blocks[key] = b
	}
	return b
}

func (v *validator) broadcast(m message) {
	for _, to := range v.net.validators {
		if to.id != v.id {
			v.sendTo(to, m)
		}
	}
}

func (v *validator) sendTo(to *validator, m message) {
	if v.player == nil || v.player.rewrite == nil {
		v.net.send(v, to, m)
		return
	}
	for _, other := range v.player.rewrite(v, to.id, m) {
		v.net.send(v, to, other)
	}
}

func (v *validator) propose(x simplex.RequestProposal) {
	if v.player != nil && v.player.mute {
		return
	}
	salt := byte(0)
	if v.node != int(v.id) {
		salt = 2 // a twin has a mind of its own
	}
	delay := v.slowness + v.net.between(50*time.Millisecond, 400*time.Millisecond)
	if due := v.app.executed[x.Parent.Payload].at + v.net.cfg.BlockTime; v.net.cfg.BlockTime > 0 {
		delay = max(delay, v.passing(due-v.clock()))
	}
	if v.player != nil && v.player.brink {
		// In time for those who get it, and their notarization too late for the
		// one that does not.
		way := v.net.cfg.Latency + v.net.cfg.Jitter/2
		delay = v.passing(leaderTimeout) - way - v.net.between(0, 2*way)
	}
	v.ahead.own = x.Round.View
	if x.Parent.Round.View > v.machine.Floor().View {
		v.net.report.BuiltAhead++
	}
	v.later(delay, func() { v.build(x, salt) })
}

// build makes a block, hands out its preview, executes it, and proposes it, unless
// its view was given up meanwhile.
func (v *validator) build(x simplex.RequestProposal, salt byte) {
	if v.ahead.own != x.Round.View {
		return
	}
	invalid := v.player != nil && v.player.invalid
	body, digest, s := v.app.build(x, salt, invalid, v.clock())
	var lie *shards.Codeword
	if v.player != nil && v.player.liar {
		body, lie = v.app.lie(body)
		digest = digestOf(body)
	}
	if v.net.cfg.Execution > 0 && v.app.code == nil && !v.net.cfg.NoPreviews {
		v.announce(x, body)
	}
	v.later(v.net.cfg.Execution, func() {
		if v.ahead.own != x.Round.View {
			return
		}
		v.ahead.own = 0
		v.app.executed[digest] = s
		b := v.at(simplex.Proposal{Round: x.Round, Payload: digest})
		b.codeword = lie
		b.bytes, b.own, b.judged, b.valid = body, true, true, true
		v.queueEvent(simplex.ProposalReady{View: x.Round.View, Payload: digest})
		v.turn()
	})
}

// verifyOnce has the application look at a block, once, for some time.
func (v *validator) verifyOnce(p simplex.Proposal, parent simplex.Parent, b *block) {
	if b.judged {
		v.reportVerdict(p, b)
		return
	}
	if b.asked {
		return
	}
	b.asked = true
	v.later(v.slowness+v.net.between(time.Millisecond, 100*time.Millisecond)+v.executing(p, b.bytes), func() {
		if !v.app.fits(p.Payload, b.bytes) {
			v.wrong(p, b)
			v.turn()
			return
		}
		b.judged = true
		b.valid = v.app.execute(p, parent, b.bytes)
		v.reportVerdict(p, b)
		v.turn()
	})
}

func (v *validator) reportVerdict(p simplex.Proposal, b *block) {
	if b.verifying != nil {
		b.verifying = nil
		early := !b.rebuilt && v.early(b.bytes)
		v.queueEvent(simplex.Verified{View: p.Round.View, Payload: p.Payload, OK: b.valid && !early})
	}
	if b.certify != nil {
		b.certify = nil
		ok := b.valid && (v.net.rejects == nil || !v.net.rejects(p))
		v.queueEvent(simplex.Certified{View: p.Round.View, Payload: p.Payload, OK: ok})
	}
}

// early reports whether a block is of a time that has not come.
func (v *validator) early(block []byte) bool { return timeOf(block) > v.clock()+clockDrift }

// finalize makes blocks durable one by one, so that a crash can come between.
func (v *validator) finalize(x simplex.Finalized) {
	v.app.queue = append(v.app.queue, x)
	if len(v.app.queue) == 1 {
		v.deliver()
	}
}

func (v *validator) deliver() {
	v.later(v.net.between(time.Millisecond, 60*time.Millisecond), func() {
		x := &v.app.queue[0]
		next := applied{own: x.Chain[0]}
		next.body = v.at(next.own.Proposal).bytes
		if err := v.app.apply(next); err != nil {
			v.net.recordBreach("validator %d: %w", v.id, err)
			return
		}
		v.net.ledger.certificate(v, x.Certificate)
		v.net.ledger.final(v)
		if x.Chain = x.Chain[1:]; len(x.Chain) == 0 {
			v.app.queue = v.app.queue[1:]
		}
		if v.net.chance(0.2) && !v.prune() {
			return
		}
		if len(v.app.queue) > 0 {
			v.deliver()
		}
	})
}
