package p2p

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboy-foundation/cowboy/chain"
)

// linksMax is how many connections one peer may have at a time: the one in
// use, and those that linger.
const linksMax = 4

// memberOf returns the member of a key, or nil.
func (t *Transport) memberOf(key chain.PeerKey) *peer {
	i := slices.Index(t.cfg.Committee, key)
	if i < 0 {
		return nil
	}
	return t.members[i]
}

// peerByID returns the peer of a number, or nil.
func (t *Transport) peerByID(id int) *peer {
	switch n := len(t.members); {
	case id < 0:
		return nil
	case id < n:
		return t.members[id]
	case id < n+len(t.fullNodes):
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.fullNodes[id-n]
	}
	return nil
}

// serve runs one connection to its end.
func (t *Transport) serve(ctx context.Context, conn *quic.Conn, p *peer, dialed bool) error {
	p.mu.Lock()
	crowded := p.links >= linksMax
	if !crowded {
		p.links++
	}
	p.mu.Unlock()
	if crowded {
		t.refuse(RefusedCrowded, conn.RemoteAddr(), errDuplicate)
		_ = conn.CloseWithError(closeDuplicate, errDuplicate.Error())
		return errDuplicate
	}
	l := &link{t: t, conn: conn, peer: p, dialed: dialed, greeted: make(chan struct{}), active: make(chan struct{})}
	err := l.run(ctx)
	fault := isViolation(err)
	t.depart(p, fault, time.Now())
	switch {
	case fault && p.member:
		t.warn("peer misbehaves", "peer", p.id, "address", conn.RemoteAddr(), "err", err)
	case fault:
		t.refuse(Misbehaved, conn.RemoteAddr(), err)
	}
	return err
}

// activate makes the link the one in use, or retires it: of two connections of
// the same two processes the one that the smaller key dialed stays, on both
// sides. A new process takes over from an old one.
func (t *Transport) activate(l *link) error {
	p := l.peer
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().Before(p.bannedUntil) {
		return ErrBanned
	}
	old := p.link
	if old != nil && old.instance == l.instance && old.preferred() && !l.preferred() {
		l.retire()
		return nil
	}
	if old != nil {
		old.retire()
	}
	p.set(l)
	p.stats.connections.Add(1)
	if t.cfg.Linked != nil {
		t.cfg.Linked(p.id)
	}
	if old == nil {
		t.cfg.Log.Log(context.Background(), p.level(), "peer connected", "peer", p.id, "address", l.conn.RemoteAddr(), "member", p.member)
		t.notify()
	}
	return nil
}

// preferred says that the smaller key dialed.
func (l *link) preferred() bool {
	return l.dialed == (bytes.Compare(l.t.selfKey[:], l.peer.key[:]) < 0)
}

// deactivate takes the link out of use.
func (t *Transport) deactivate(l *link) {
	p := l.peer
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link != l {
		return
	}
	p.set(nil)
	if t.cfg.Lost != nil {
		t.cfg.Lost(p.id)
	}
	for _, q := range p.queues {
		if !q.limit.KeepOffline {
			q.clear()
		}
	}
	t.cfg.Log.Log(context.Background(), p.level(), "peer lost", "peer", p.id)
	t.notify()
}

// level is how loud the comings and goings of a peer are: those of strangers would
// fill the log.
func (p *peer) level() slog.Level {
	if p.member {
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// notify tells the gossips that a member came or went.
func (t *Transport) notify() {
	t.movedMu.Lock()
	defer t.movedMu.Unlock()
	close(t.moved)
	t.moved = make(chan struct{})
}

// connected returns the members this node is connected to, and the channel
// that is closed when that changes.
func (t *Transport) connected() (members, <-chan struct{}) {
	t.movedMu.Lock()
	moved := t.moved
	t.movedMu.Unlock()
	m := newMembers(len(t.members))
	for i, p := range t.members {
		if p == nil {
			m.set(i)
			continue
		}
		if l, _ := p.current(); l != nil {
			m.set(i)
		}
	}
	return m, moved
}

// PeerStatus is what is known of one peer.
type PeerStatus struct {
	ID           int
	Key          chain.PeerKey
	Member       bool
	Connected    bool
	Address      string // of the connection in use, as are Version and Capabilities
	Version      uint16
	Capabilities uint64
	RTT          time.Duration
	Connections  uint64 // since the start
	Violations   uint64
	LastReceived time.Time
	BannedFor    time.Duration
	Classes      [NumClasses]ClassStatus
}

// ClassStatus counts one class of one peer.
type ClassStatus struct {
	MessagesIn, BytesIn, MessagesOut, BytesOut uint64
	Dropped                                    uint64 // messages that the full queue lost
	Queued                                     int
}

// Peers returns the state of every member but this node, and of the full nodes
// that are connected.
func (t *Transport) Peers() []PeerStatus {
	var out []PeerStatus
	for _, p := range append(slices.Clone(t.members), t.guests()...) {
		if p != nil {
			out = append(out, p.status())
		}
	}
	return out
}

func (p *peer) status() PeerStatus {
	s := PeerStatus{
		ID: p.id, Key: p.key, Member: p.member,
		Connections: p.stats.connections.Load(), Violations: p.stats.violations.Load(),
		BannedFor: max(0, p.banned(time.Now())),
	}
	if ms := p.stats.lastReceived.Load(); ms > 0 {
		s.LastReceived = time.UnixMilli(ms)
	}
	if l, _ := p.current(); l != nil {
		s.Connected, s.Address = true, l.conn.RemoteAddr().String()
		s.Version, s.Capabilities = l.version, l.capabilities
		s.RTT = l.conn.ConnectionStats().SmoothedRTT
	}
	for class := range s.Classes {
		in, out := &p.stats.received[class], &p.stats.sent[class]
		s.Classes[class] = ClassStatus{
			MessagesIn: in.messages.Load(), BytesIn: in.bytes.Load(),
			MessagesOut: out.messages.Load(), BytesOut: out.bytes.Load(),
			Dropped: p.queues[class].dropped.Load(), Queued: p.queues[class].len(),
		}
	}
	return s
}
