package simnode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
	"github.com/cowboy-foundation/cowboy/node"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/state/journal/disktest"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// machine is one validator's computer, through all its lives.
type machine struct {
	run     *run
	id      int    // participant of consensus
	place   int    // on the network: two machines can have one key
	dir     string // keys and other files that are not simulated
	address string
	lie     string // kind of package byzantine; empty: honest
	skew    atomic.Int64
	guards  guard.Identity
	disk    *disk
	backup  *disktest.Disk // an older vote journal
	lives   int
	life    *life // nil while the machine is off
	doomed  bool  // its disk was told to fail
	follows bool  // it is no validator: it came later, and fetched the state
	// door is the API of the present life; nil while the machine is off.
	door atomic.Pointer[doors]
}

// life is one process of a machine.
type life struct {
	machine *machine
	disk    *disk
	node    *node.Node
	port    *port
	door    *doors
	cancel  context.CancelFunc
	done    chan error // gets what Run and Close returned, once

	// gate is held for reading while something leaves, and for writing while the
	// power goes: what left before was synced before.
	gate sync.RWMutex
	dead bool
}

func (m *machine) honest() bool { return m.lie == "" }

// start begins a life.
func (m *machine) start() error {
	m.lives++
	l := &life{machine: m, disk: m.disk, done: make(chan error, 1)}
	n, err := node.OpenOn(m.host(l), m.config(), m.run.genesis, m.log())
	if err != nil {
		return fmt.Errorf("machine %d opens: %w", m.id, err)
	}
	if err := n.Listen(); err != nil {
		return errors.Join(fmt.Errorf("machine %d listens: %w", m.id, err), n.Close())
	}
	l.node = n
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel, m.life = cancel, l
	m.door.Store(l.door)
	m.run.trace.note("machine %d starts life %d", m.id, m.lives)
	go func() { l.done <- errors.Join(n.Run(ctx), n.Close()) }()
	return nil
}

// config is what the operator of a machine set.
func (m *machine) config() node.Config {
	cfg, plan := node.DefaultConfig(), m.run.plan
	cfg.DataDir, cfg.P2PAddr = m.dir, m.address
	if !isOwnLie(m.lie) {
		cfg.Byzantine = m.lie
	}
	cfg.FreeBytesFloor, cfg.SubmittedBytes, cfg.CheckpointBlocks = 0, 0, 0
	cfg.Exec.Workers, cfg.StateMemory = 1, 1<<30
	cfg.FullNodeBytes, cfg.FullNodesBytes = plan.guestBytes()
	cfg.RPCPerSec = 0 // all wallets have one address
	if plan.WatchFor >= 0 {
		cfg.WatchFor = plan.WatchFor
	}
	if plan.JoinsAt > 0 {
		cfg.CheckpointBlocks = checkpointBlocks
	}
	if plan.Withheld > 0 {
		cfg.Budgets.BlockBytes, cfg.Budgets.InboxBytes = blocksOfSmall, inboxOfSmall
		// Or the views in which nothing is final are few.
		cfg.Timeouts = node.Timeouts{Leader: time.Second, Certification: 1500 * time.Millisecond, Max: 1500 * time.Millisecond}
		cfg.Alone = !m.honest() // or it hears its own lies, and takes them for another life's
	}
	return cfg
}

func (m *machine) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(m.run.trace, &slog.HandlerOptions{Level: slog.LevelInfo})).With("node", m.place)
}

// host is the machine as a node sees it.
func (m *machine) host(l *life) node.Host {
	return node.Host{
		Shared: m.run.shared(m.place),
		Store: func(o *store.Options) {
			o.FS, o.CacheBytes, o.MemTableBytes, o.Workers = l.disk.store, 2<<20, 512<<10, 1
		},
		Votes: voteFolder{folder{l.disk, l.disk.votes}},
		Guard: guardFolder{folder{l.disk, l.disk.guard}},
		Packets: func(address string) (net.PacketConn, error) {
			p, err := m.run.net.listen(m.place, address)
			l.port = p
			return p, err
		},
		Listen: func(what, address string) (net.Listener, error) {
			d := newDoors(what + " of " + address)
			if what == "RPC" {
				l.door = d
			}
			return d, nil
		},
		Now: func() time.Time { return time.Now().Add(time.Duration(m.skew.Load())) },
		Between: func(app engine.Application, net engine.Network) (engine.Application, engine.Network) {
			chain, ok := app.(*ledger.Ledger)
			if isOwnLie(m.lie) {
				if lies, err := newLiar(l, net); err == nil {
					net = lies
				}
			}
			if ok && m.lie == "hoarder" {
				app = &doubter{chain, m.run}
			}
			if !ok || !m.honest() {
				return app, &mouth{net, l} // a liar's is wrapped already
			}
			head := chain.Head()
			m.run.witness.starts(m.place, head.Height(), head.Digest)
			return &ears{chain, l}, &mouth{net, l}
		},
	}
}

// off says that the present life is over.
func (m *machine) off() {
	m.life = nil
	m.door.Store(nil)
}

// stop ends a life in good order.
func (m *machine) stop() error {
	l := m.life
	m.off()
	l.cancel()
	err := <-l.done
	l.reached()
	return err
}

// cut takes the power away, or with keep = 100 kills the process. What leaves the
// old life from now on reaches nobody, and what it writes is lost.
func (m *machine) cut(keep int) {
	l := m.life
	m.off()
	l.gate.Lock()
	l.dead = true
	m.run.net.unplug(l.port)
	m.disk = l.disk.cut(keep)
	l.gate.Unlock()
	m.run.trace.note("machine %d loses power, %d percent of what is not synced is kept", m.id, keep)
	l.cancel()
	<-l.done // whatever it says
	l.reached()
}

// mouth is where votes leave.
type mouth struct {
	engine.Network
	life *life
}

func (o *mouth) Broadcast(msg []byte) { o.say(msg, func() { o.Network.Broadcast(msg) }) }

func (o *mouth) Send(to beacon.Participant, msg []byte) {
	o.say(msg, func() { o.Network.Send(to, msg) })
}

// ForgetVotes implements engine.Forgetter.
func (o *mouth) ForgetVotes() {
	if net, ok := o.Network.(engine.Forgetter); ok {
		net.ForgetVotes()
	}
}

func (o *mouth) say(msg []byte, send func()) {
	o.life.gate.RLock()
	defer o.life.gate.RUnlock()
	if o.life.dead {
		return
	}
	m := o.life.machine
	if v, ok := ownVote(msg, beacon.Participant(m.id)); ok {
		m.run.trace.note("vote %d %s view %d %x", m.id, v.Kind, v.Proposal.Round.View, v.Proposal.Payload[:4])
		if m.honest() && m.run.witness.vote(m.id, v) {
			if err := o.life.disk.keeps(m.guards, v); err != nil {
				m.run.witness.fault(fmt.Errorf("%d: %w", m.id, err))
			}
		}
	}
	send()
}

// ownVote reads the vote that a message of the engine brings, if it is the
// sender's own.
func ownVote(msg []byte, self beacon.Participant) (simplex.Vote, bool) {
	rest := msg
	switch msg[0] {
	case wire.TagVote:
	case wire.TagOffer, wire.TagShardOffer, wire.TagShardRelay:
		rest = msg[1:]
	default:
		return simplex.Vote{}, false
	}
	v, _, err := simplex.ReadVote(rest)
	return v, err == nil && v.Signer == self
}

// ears are where finality arrives.
type ears struct {
	*ledger.Ledger
	life *life
}

func (e *ears) Finalized(ctx context.Context, f engine.Finalization) error {
	if err := e.Ledger.Finalized(ctx, f); err != nil {
		return err
	}
	e.life.gate.RLock()
	defer e.life.gate.RUnlock()
	m := e.life.machine
	if e.life.dead {
		return nil
	}
	head := e.Head()
	if head.Digest != f.Digest {
		m.run.witness.fault(fmt.Errorf("%w: %d finalized %v and has %v for its head", ErrGap, m.id, f.Digest, head.Digest))
	}
	m.run.trace.note("final %d height %d view %d %x", m.id, head.Height(), f.Round.View, f.Digest[:4])
	m.run.witness.finalized(m.place, head.Height(), finalBlock{digest: f.Digest, root: head.Block.Header.StateRoot, view: f.Round.View})
	return nil
}
