package simnode

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/wire"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
)

// Lies beside those of package byzantine: what needs time, memory or company. Each
// is a network between an honest engine and its mesh.
var ownLies = map[string]func(l *liar) func(to beacon.Participant, msg []byte){
	"dripper":   (*liar).drip,
	"refuser":   (*liar).refuse,
	"hoarder":   (*liar).hoard,
	"replayer":  (*liar).repeatMessages,
	"colluder":  (*liar).collude,
	"foreigner": (*liar).foreign,
}

// mustNotice are lies for which every run must see the liar banned by somebody:
// each is plain to whoever hears it.
var mustNotice = []string{"equivocator", "conflicter", "nuller", "impersonator", "reconfigurer", "colluder", "foreigner"}

// liar tells each validator its own version of what its engine says.
type liar struct {
	life   *life
	net    engine.Network
	n      int
	self   beacon.Participant
	scheme *simplex.Threshold
	other  *simplex.Threshold // the same keys on another chain
	say    func(to beacon.Participant, msg []byte)

	mu    sync.Mutex
	rng   *rand.Rand
	drips map[beacon.Participant]bool // one block is on its way
	past  [][]byte
	open  chain.View // the newest in which a hoarder was honest
}

// pact is what colluders agree on: two blocks for a view that one of them leads.
type pact struct {
	mu    sync.Mutex
	views map[chain.View][2]simplex.Proposal
}

func newLiar(l *life, net engine.Network) (*liar, error) {
	m := l.machine
	keys, err := datadir.LoadKeys(m.dir)
	if err != nil {
		return nil, err
	}
	set, err := beacon.NewValidatorSet(epoch.First(m.run.genesis))
	if err != nil {
		return nil, err
	}
	self := beacon.Participant(m.id)
	scheme, err := simplex.NewThreshold(set, self, simplex.Keys{Share: keys.Share.Key, Peer: keys.Peer}, nil)
	if err != nil {
		return nil, err
	}
	abroad, err := m.run.abroad()
	if err != nil {
		return nil, err
	}
	other, err := simplex.NewThreshold(abroad, self, simplex.Keys{Share: keys.Share.Key, Peer: keys.Peer}, nil)
	if err != nil {
		return nil, err
	}
	out := &liar{
		life: l, net: net, n: set.Len(), self: self, scheme: scheme, other: other,
		rng: rand.New(rand.NewPCG(m.run.plan.Seed, uint64(500+m.id))), drips: map[beacon.Participant]bool{},
	}
	out.say = ownLies[m.lie](out)
	return out, nil
}

// Broadcast implements [engine.Network].
func (l *liar) Broadcast(msg []byte) {
	for i := range l.n {
		if to := beacon.Participant(i); to != l.self {
			l.say(to, msg)
		}
	}
}

// Send implements [engine.Network].
func (l *liar) Send(to beacon.Participant, msg []byte) {
	if int(to) < l.n && (msg[0] != wire.TagCertificate || l.life.machine.lie != "refuser") { // certificates of an answer
		l.say(to, msg)
	}
}

// later sends after a while, unless the machine is off by then.
func (l *liar) later(d time.Duration, to beacon.Participant, msg []byte) {
	time.AfterFunc(d, func() {
		l.life.gate.RLock()
		defer l.life.gate.RUnlock()
		if !l.life.dead {
			l.net.Send(to, msg)
		}
	})
}

// drip answers each request with its first block, a moment before it would be
// given up, and says that this was all.
func (l *liar) drip() func(beacon.Participant, []byte) {
	const late = 985 * time.Millisecond
	return func(to beacon.Participant, msg []byte) {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch msg[0] {
		case wire.TagBackfill:
			if !l.drips[to] {
				l.drips[to] = true
				l.later(late, to, msg)
			}
		case wire.TagAnswered:
			delete(l.drips, to)
			l.later(late+5*time.Millisecond, to, msg)
		default:
			l.net.Send(to, msg)
		}
	}
}

// refuse answers no request.
func (l *liar) refuse() func(beacon.Participant, []byte) {
	return func(to beacon.Participant, msg []byte) {
		if msg[0] != wire.TagBackfill && msg[0] != wire.TagAnswered {
			l.net.Send(to, msg)
		}
	}
}

// noiseBytes is the size of the blocks of a hoarder. smallBlockBytes is the largest
// block of a chain on which the hoarders are to fill the budget of all blocks: little
// more than a header may take. The budgets there are the least that an engine allows,
// and a few times that.
const (
	noiseBytes      = 470 << 10
	smallBlockBytes = 480 << 10
	blocksOfSmall   = 4 * smallBlockBytes
	inboxOfSmall    = 16 * smallBlockBytes
)

// hoard offers large blocks that are not what their names say in the views that it
// leads. Where nothing is to become final it is honest until then, and from then on keeps
// back the votes that blocks need, and offers blocks whose parent was given up, so that
// they can neither be judged nor forgotten.
func (l *liar) hoard() func(beacon.Participant, []byte) {
	noise := make([]byte, noiseBytes)
	r := l.life.machine.run
	return func(to beacon.Participant, msg []byte) {
		withholds := r.withholds.Load()
		if r.plan.Withheld > 0 && !withholds && msg[0] != wire.TagAsk {
			if v, ok := ownVote(msg, l.self); ok {
				l.mu.Lock()
				l.open = max(l.open, v.Proposal.Round.View)
				l.mu.Unlock()
			}
			l.net.Send(to, msg)
			return
		}
		if msg[0] == wire.TagAsk || withholds && l.helps(msg) {
			return // who asks what was heard from its key takes its own lies for another life's
		}
		if msg[0] != wire.TagOffer {
			l.net.Send(to, msg)
			return
		}
		v, _, err := simplex.ReadVote(msg[1:])
		if err != nil {
			return
		}
		p := v.Proposal
		if withholds {
			if p.Parent+2 >= p.Round.View {
				return // there is no other parent below the last view, and of it hangs who leads
			}
			p.Parent = p.Round.View - 2
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if p.Round.View <= l.open {
			return // it said something else there
		}
		p.Payload[0] ^= 1 // the same each time
		copy(noise, p.Payload[:])
		l.net.Send(to, append(simplex.AppendVote([]byte{wire.TagOffer}, l.scheme.Sign(simplex.Notarize, p)), noise...))
	}
}

// doubter is the application of a hoarder: it has no room for blocks of others while
// nothing is to become final, so that the engine gives the views up.
type doubter struct {
	*ledger.Ledger
	run *run
}

// Verify implements [engine.Application].
func (d *doubter) Verify(ctx context.Context, req engine.VerifyRequest) (bool, error) {
	if d.run.withholds.Load() {
		return false, engine.ErrEarly
	}
	d.run.judged.Store(max(d.run.judged.Load(), uint64(req.Round.View)))
	return d.Ledger.Verify(ctx, req)
}

// helps reports whether a message brings a block nearer to being final: an own vote for
// it, or a certificate that was made with one, alone or with its block. Blocks that were
// judged before votes were kept back do not count: the hoarder's engine would leave their
// views with a certificate that nobody else has, and the others would stand there.
func (l *liar) helps(msg []byte) bool {
	judged := chain.View(l.life.machine.run.judged.Load())
	if c, err := simplex.DecodeCertificate(msg); err == nil {
		return c.Kind != simplex.Nullify && c.Proposal.Round.View > judged
	}
	v, ok := ownVote(msg, l.self)
	return msg[0] == wire.TagBackfill || ok && msg[0] == wire.TagVote && v.Kind != simplex.Nullify && v.Proposal.Round.View > judged
}

// pastKept is how much a replayer remembers.
const pastKept = 4096

// repeatMessages says again, beside each message, some that it said at any time before.
func (l *liar) repeatMessages() func(beacon.Participant, []byte) {
	return func(to beacon.Participant, msg []byte) {
		l.net.Send(to, msg)
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.past) < pastKept {
			l.past = append(l.past, msg)
		} else {
			l.past[l.rng.IntN(pastKept)] = msg
		}
		for range l.rng.IntN(4) {
			l.net.Send(to, l.past[l.rng.IntN(len(l.past))])
		}
	}
}

// collude shows one half of the validators one block and the other half another,
// in the views that a colluder leads, and all colluders vote for either before its
// half, to the end.
func (l *liar) collude() func(beacon.Participant, []byte) {
	shared := l.life.machine.run.pact
	return func(to beacon.Participant, msg []byte) {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		switch msg[0] {
		case wire.TagOffer:
			v, block, err := simplex.ReadVote(msg[1:])
			if err != nil || to%2 == 0 {
				break
			}
			b, err := chain.DecodeBlock(block, len(block))
			if err != nil {
				break
			}
			b.Header.TimestampMillis++
			other := v.Proposal
			other.Payload = b.Header.Digest()
			shared.views[v.Proposal.Round.View] = [2]simplex.Proposal{v.Proposal, other}
			l.net.Send(to, append(simplex.AppendVote([]byte{wire.TagOffer}, l.scheme.Sign(simplex.Notarize, other)), b.Encode()...))
			return
		case wire.TagVote:
			v, _, err := simplex.ReadVote(msg)
			if err != nil {
				break
			}
			two, ok := shared.views[v.Proposal.Round.View]
			if !ok {
				break
			}
			mine := two[to%2]
			l.net.Send(to, simplex.AppendVote(nil, l.scheme.Sign(simplex.Notarize, mine)))
			if v.Kind != simplex.Notarize {
				l.net.Send(to, simplex.AppendVote(nil, l.scheme.Sign(simplex.Finalize, mine)))
				l.net.Send(to, msg)
			}
			return
		}
		l.net.Send(to, msg)
	}
}

// isOwnLie reports whether package byzantine does not know a lie.
func isOwnLie(lie string) bool { return ownLies[lie] != nil }

// unnoticed returns a lie of the plan that was plain and that nobody banned.
func (r *run) unnoticed() string {
	for _, m := range r.machines {
		if slices.Contains(mustNotice, m.lie) && !r.banned[m.id] && r.spoke[m.id] {
			return m.lie
		}
	}
	return ""
}
