package p2p

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Receiver takes what peers send. [ErrBusy] makes the transport offer the same
// message again later; any other error says that no honest peer sends this,
// and ends the connection. from is the sender's number: below the committee's
// length a member, else a full node.
type Receiver interface {
	// Deliver takes one message of any class but Transactions. It keeps msg
	// and does not block.
	Deliver(from int, class Class, msg []byte) error
	// Transactions takes transactions that were not seen lately: the first of
	// them, as many as it has room for, and says how many. The rest is offered
	// again. The bodies share one frame's memory. It does not block.
	Transactions(from int, bodies [][]byte) (taken int, err error)
}

// Transport is a node's place in the mesh. New builds it, Listen takes the
// port, Run works until its context ends, Close releases the port.
type Transport struct {
	offline     offline // what waits for members that are away
	cfg         Config
	self        int // own number in the committee, or -1
	selfKey     chain.PeerKey
	instance    uint64
	certificate tls.Certificate
	book        *book
	flood       *flood
	members     []*peer // by number; nil for this node itself
	Stats       Stats

	socket   net.PacketConn
	reads    *steady // of the socket
	quic     *quic.Transport
	listener *quic.Listener
	door     *door
	egress   egress
	serving  serving
	receiver Receiver
	links    sync.WaitGroup

	mu        sync.Mutex
	fullNodes []*peer                     // by number less the committee's length; nil: free
	proven    map[chain.PeerKey]time.Time // full nodes that were good guests, and when they left

	movedMu sync.Mutex
	moved   chan struct{} // closed and replaced when a member comes or goes

	handshakes atomic.Int64 // begun within the last HandshakeTimeout
	strangers  notice
	warned     atomic.Int64 // Unix nanoseconds of the last warning that members can cause
}

// Stats counts what belongs to no one peer. Anyone may read it.
type Stats struct {
	Refused      [NumRefusals]atomic.Uint64 // incoming connections, and guests shown the door
	DialFailures atomic.Uint64
	TxsRepeated  atomic.Uint64 // transactions that came again and were left out
	TxsNotSpread atomic.Uint64 // transactions not sent on for lack of room
	SpreadNanos  atomic.Uint64 // that transactions were framed and queued to be sent on, one batch after the other
	NewerIgnored atomic.Uint64 // messages and streams of unknown kinds from peers of a newer version
	Stalled      atomic.Uint64 // connections that ended in the middle of a frame
	// SocketFailures counts reads of the UDP socket that failed and were tried again.
	SocketFailures atomic.Uint64
	// RecordsIgnored counts addresses of members that were not taken, by reason.
	RecordsIgnored [NumRecordFaults]atomic.Uint64
}

// New returns a transport that has not touched the network yet.
func New(cfg Config) (*Transport, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	now := time.Now()
	t := &Transport{
		cfg: cfg, self: -1, selfKey: cfg.Key.PublicKey(), moved: make(chan struct{}),
		door: newDoor(&cfg, now), proven: map[chain.PeerKey]time.Time{},
	}
	t.serving.all = newBucket(float64(cfg.FullNodesBytesPerSecond), reserveMax, now)
	t.egress.all = newBucket(float64(cfg.FullNodesBytesPerSecond), guestBurstBytes, now)
	t.strangers.log = cfg.Log
	var draw [8]byte
	if _, err := rand.Read(draw[:]); err != nil {
		return nil, fmt.Errorf("draw an instance number: %w", err)
	}
	t.instance = binary.BigEndian.Uint64(draw[:])
	t.offline.bytesMax = int64(cfg.OfflineBytes)
	t.flood = newFlood(&t.Stats)
	var err error
	if t.certificate, err = certificate(cfg.Key); err != nil {
		return nil, err
	}
	t.book = newBook(&cfg)
	t.members = make([]*peer, len(cfg.Committee))
	for i, key := range cfg.Committee {
		if key == t.selfKey {
			t.self = i
			continue
		}
		t.members[i] = newPeer(i, key, true, cfg.Limits)
		t.members[i].share(&t.offline)
	}
	if cfg.BookFile != "" {
		if _, err := t.book.load(cfg.BookFile, t.self); err != nil {
			return nil, err
		}
	}
	t.fullNodes = make([]*peer, cfg.FullNodesMax)
	return t, nil
}

// Windows of QUIC flow control. A stream that is not read holds back its own
// window only: the connection's is as large as all of them together.
const (
	streamWindow     = 2 << 20
	connectionWindow = int(NumClasses) * streamWindow
	// strangerWindow is what somebody may send at first who does not call from where a
	// member said it is. It grows with what is read.
	strangerWindow = 2 << 10
	newerClasses   = 16 // streams of classes that only newer peers know
	retryAfter     = 64 // unfinished handshakes past which addresses must prove themselves
)

func (t *Transport) quicConfig() *quic.Config {
	return &quic.Config{
		HandshakeIdleTimeout:           t.cfg.HandshakeTimeout,
		MaxIdleTimeout:                 t.cfg.IdleTimeout,
		KeepAlivePeriod:                t.cfg.KeepAlive,
		InitialStreamReceiveWindow:     512 << 10,
		MaxStreamReceiveWindow:         streamWindow,
		InitialConnectionReceiveWindow: uint64(connectionWindow),
		MaxConnectionReceiveWindow:     uint64(connectionWindow),
		MaxIncomingStreams:             -1,
		MaxIncomingUniStreams:          int64(NumClasses) + newerClasses,
		RequireStreamCreditRelease:     true, // one stream per class, never another
	}
}

// welcomeConfig is what incoming connections begin with.
func (t *Transport) welcomeConfig() *quic.Config {
	members, strangers := t.quicConfig(), t.quicConfig()
	strangers.InitialStreamReceiveWindow = strangerWindow
	strangers.InitialConnectionReceiveWindow = 64 << 10
	members.GetConfigForClient = func(from *quic.ClientInfo) (*quic.Config, error) {
		if exactly, _ := t.book.known(addrPortOf(from.RemoteAddr)); exactly {
			return members, nil
		}
		return strangers, nil
	}
	return members
}

// Listen takes the UDP port.
func (t *Transport) Listen() error {
	packets := t.cfg.Packets
	if packets == nil {
		packets = listenUDP
	}
	socket, err := packets(t.cfg.ListenAddr)
	if err != nil {
		return fmt.Errorf("p2p address %s: %w", t.cfg.ListenAddr, err)
	}
	t.socket, t.reads = t.steadied(socket)
	reset := quic.StatelessResetKey(resetKey(t.cfg.Key))
	t.quic = &quic.Transport{
		Conn: t.socket, StatelessResetKey: &reset,
		VerifySourceAddress: t.mustProve, ConnContext: t.knocked,
	}
	config := t.tlsConfig(t.admissible)
	config.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		for _, name := range h.SupportedProtos {
			if name == config.NextProtos[0] {
				return t.tlsConfig(func(key chain.PeerKey) error {
					err := t.admissible(key)
					if errors.Is(err, ErrUnknownPeer) {
						t.refuse(RefusedUnknown, h.Conn.RemoteAddr(), err)
					}
					return err
				}), nil
			}
		}
		t.refuse(RefusedGenesis, h.Conn.RemoteAddr(), ErrOtherGenesis)
		return nil, nil // the handshake goes on to say so to the peer
	}
	t.listener, err = t.quic.Listen(config, t.welcomeConfig())
	if err != nil {
		return errors.Join(fmt.Errorf("p2p listener: %w", err), t.Close())
	}
	return t.introduce()
}

func listenUDP(address string) (net.PacketConn, error) {
	addr, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, err
	}
	socket, err := net.ListenUDP("udp", addr)
	if err != nil {
		return nil, err // a nil socket in an interface is not nil
	}
	return socket, nil
}

// introduce writes this node's own record, if others can use it.
func (t *Transport) introduce() error {
	address := t.cfg.Advertise
	if address == "" {
		address = t.Addr()
	}
	if t.self < 0 || checkRecordAddress(address) != nil {
		return nil
	}
	now := time.Now()
	r := record{member: t.self, timestamp: uint64(now.UnixMilli()), address: address}
	r.signature = t.cfg.Key.Sign(r.signedBytes(t.cfg.Genesis, t.selfKey))
	if _, honest := t.book.learn(r, now); !honest {
		return errors.New("own address record does not verify")
	}
	return nil
}

// Addr is where the transport listens, after Listen.
func (t *Transport) Addr() string { return t.socket.LocalAddr().String() }

// Close releases the port. Run must have returned.
func (t *Transport) Close() error {
	if t.socket == nil {
		return nil
	}
	t.reads.close()
	var errs []error
	if t.listener != nil {
		errs = append(errs, t.listener.Close())
	}
	if t.quic != nil {
		errs = append(errs, t.quic.Close())
	}
	errs = append(errs, t.socket.Close())
	t.socket = nil
	return errors.Join(errs...)
}

// Run connects to the members, admits peers and carries messages to the
// receiver until ctx ends. It is called once.
func (t *Transport) Run(ctx context.Context, receiver Receiver) error {
	if t.listener == nil {
		return ErrNotListening
	}
	t.receiver = receiver
	var parts sync.WaitGroup
	defer t.links.Wait()
	defer parts.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // before those two: who waits for them has no peers any more
	for _, p := range t.members {
		if p != nil {
			parts.Go(func() { t.maintain(ctx, p) })
		}
	}
	parts.Go(func() { _ = t.flood.run(ctx, t) })
	parts.Go(func() { // records end: say it again in time
		for sleep(ctx, t.cfg.RecordFor/4) == nil {
			_ = t.introduce() // it verified before
		}
	})
	parts.Go(func() {
		for sleep(ctx, noticeEvery) == nil {
			t.strangers.logGathered(time.Now())
		}
	})
	parts.Go(func() {
		for d := new(drops); sleep(ctx, dropsEvery) == nil; {
			d.logDropped(t)
		}
	})
	if t.cfg.BookFile != "" {
		parts.Go(func() { t.keepBook(ctx) })
	}
	for {
		conn, err := t.listener.Accept(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("accept peers: %w", err)
		}
		t.links.Go(func() { t.welcome(ctx, conn) })
	}
}

// Broadcast queues a message for every member. Certificates go to full nodes
// as well: they follow the chain by them. It never blocks; msg must not change
// afterwards.
func (t *Transport) Broadcast(class Class, msg []byte) {
	for _, p := range t.members {
		if p != nil {
			p.queueMessage(class, msg)
		}
	}
	if class == Certificates {
		for _, p := range t.guests() {
			p.queueMessage(class, msg)
		}
	}
}

// Send queues a message for one peer by its number. It never blocks; msg must
// not change afterwards.
func (t *Transport) Send(to int, class Class, msg []byte) {
	if p := t.peerByID(to); p != nil {
		p.queueMessage(class, msg)
	}
}

// Forget drops what waits for the members in one class.
func (t *Transport) Forget(class Class) {
	for _, p := range t.members {
		if p != nil {
			p.queues[class].clear()
		}
	}
}

// Flood spreads transactions that this node has admitted; origin is the number
// of the peer that sent them, or -1. It never blocks; the bodies must not
// change afterwards.
func (t *Transport) Flood(origin int, bodies [][]byte) { t.flood.add(origin, bodies) }

// Pause stops reading a peer's transactions for a few seconds: what it sent
// could not have been admitted by an honest node.
func (t *Transport) Pause(id int) {
	if p := t.peerByID(id); p != nil {
		p.stats.violations.Add(1)
		p.pause(time.Now().Add(pauseFor))
	}
}

// maintain holds a connection to a member as long as ctx lasts.
func (t *Transport) maintain(ctx context.Context, p *peer) {
	wait := t.cfg.RedialMin
	var lastErr string
	for ctx.Err() == nil {
		l, changed := p.current()
		if l != nil {
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		began := time.Now()
		if left := p.banned(began); left > 0 {
			_ = sleep(ctx, left)
			continue
		}
		err := t.dialMember(ctx, p)
		if time.Since(began) > 2*t.cfg.RedialMax {
			wait = t.cfg.RedialMin // it stood for a while
		}
		if err != nil && ctx.Err() == nil && err.Error() != lastErr {
			lastErr = err.Error()
			level := slog.LevelInfo
			if errors.Is(err, ErrOtherGenesis) || errors.Is(err, ErrWrongPeer) {
				level = slog.LevelWarn // waiting does not help
			}
			t.cfg.Log.Log(ctx, level, "peer not reached", "peer", p.id, "err", err)
		}
		if l, _ := p.current(); l == nil {
			timer := time.NewTimer(wait/2 + mathrand.N(wait))
			select {
			case <-ctx.Done():
			case <-changed:
			case <-timer.C:
			}
			timer.Stop()
			wait = min(2*wait, t.cfg.RedialMax)
		}
	}
}

// dialMember dials a member at one address after the other and serves the
// connection until it ends.
func (t *Transport) dialMember(ctx context.Context, p *peer) error {
	err := errors.New("no address of this member is known")
	for _, address := range t.book.candidates(p.id, time.Now()) {
		var conn *quic.Conn
		if conn, err = t.dial(ctx, p, address); err == nil {
			return t.serve(ctx, conn, p, true)
		}
		t.Stats.DialFailures.Add(1)
		err = fmt.Errorf("%s: %w", address, err)
	}
	return err
}

// warnEvery keeps members from filling the log.
const warnEvery = 5 * time.Second

// warn logs what a member can cause, now and then.
func (t *Transport) warn(msg string, args ...any) {
	now, last := time.Now().UnixNano(), t.warned.Load()
	if now-last >= int64(warnEvery) && t.warned.CompareAndSwap(last, now) {
		t.cfg.Log.Warn(msg, args...)
	}
}

func (t *Transport) dial(ctx context.Context, p *peer, address string) (*quic.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.HandshakeTimeout)
	defer cancel()
	addr, err := resolve(ctx, address)
	if err != nil {
		return nil, err
	}
	config := t.tlsConfig(func(key chain.PeerKey) error {
		if key != p.key {
			return fmt.Errorf("%w: key %x, want %x", ErrWrongPeer, key[:4], p.key[:4])
		}
		return nil
	})
	conn, err := t.quic.Dial(ctx, addr, config, t.quicConfig())
	if err != nil {
		return nil, dialError(err)
	}
	return conn, nil
}

func resolve(ctx context.Context, address string) (*net.UDPAddr, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n, err := net.DefaultResolver.LookupPort(ctx, "udp", port)
	if err != nil {
		return nil, err
	}
	ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return nil, err
	}
	return &net.UDPAddr{IP: ips[0].IP, Zone: ips[0].Zone, Port: n}, nil
}

// admissible judges a key that calls us, before the handshake ends.
func (t *Transport) admissible(key chain.PeerKey) error {
	if key == t.selfKey {
		return ErrSelf
	}
	if t.memberOf(key) == nil && t.cfg.FullNodesMax == 0 {
		return ErrUnknownPeer
	}
	return nil
}

// ban ends the talk with a peer for a while. Of a full node the address that it did it
// from is shut out too: another key costs nothing.
func (t *Transport) ban(p *peer, from net.Addr) {
	now := time.Now()
	if p.member {
		p.ban(now.Add(t.cfg.BanFor))
		return
	}
	t.door.ban(p.key, from, now.Add(t.cfg.FullNodeBanFor), now)
}

// welcome serves an incoming connection.
func (t *Transport) welcome(ctx context.Context, conn *quic.Conn) {
	key, err := keyOf(conn.ConnectionState().TLS)
	if err != nil {
		_ = conn.CloseWithError(closeViolation, err.Error())
		return
	}
	p := t.memberOf(key)
	if p == nil {
		var why Refusal
		if p, why = t.admitGuest(key, conn.RemoteAddr(), time.Now()); p == nil {
			code, err := why.answer()
			t.refuse(why, conn.RemoteAddr(), err)
			_ = conn.CloseWithError(code, err.Error())
			return
		}
	}
	_ = t.serve(ctx, conn, p, false)
}
