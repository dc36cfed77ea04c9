package simnode

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"
)

// Weather is what the network does to packets.
type Weather struct {
	Delay, Jitter time.Duration // a packet takes Delay and up to Jitter more, in order
	Loss          float64       // share of packets that are lost
	Repeat        float64       // of those that come twice
	Late          float64       // of those that others overtake, by up to LateBy
	LateBy        time.Duration
}

// Fair is the weather after the faults.
var Fair = Weather{Delay: 5 * time.Millisecond, Jitter: time.Millisecond}

// network carries packets between the ports of machines.
type network struct {
	trace *trace

	mu      sync.Mutex
	rng     *rand.Rand
	weather Weather
	ports   map[string]*port
	cut     map[[2]int]bool      // by sender and receiver
	last    map[[2]int]time.Time // when the newest packet of a link arrives
	Counts  packetCounts
	// guests meters what each machine sends to guests; over is told of the first packet
	// beyond the budget.
	guests     map[int]*egress
	guestBytes int // that one machine may send to all, in a second
	over       func(machine int, e *egress)
}

type packetCounts struct{ Sent, Lost, Cut, Repeated, Late, Nobody, Full int }

func newNetwork(rng *rand.Rand, tr *trace) *network {
	return &network{trace: tr, rng: rng, weather: Fair, ports: map[string]*port{}, cut: map[[2]int]bool{}, last: map[[2]int]time.Time{}, guests: map[int]*egress{}}
}

// portPackets is how many packets a machine takes in before it drops some, like
// the buffer of a socket.
const portPackets = 2048

type packet struct {
	data []byte
	from net.Addr
}

// port is a [net.PacketConn] of one life of a machine.
type port struct {
	net     *network
	machine int
	addr    *net.UDPAddr
	in      chan packet
	closed  chan struct{}
	once    sync.Once

	mu       sync.Mutex
	deadline time.Time
	changed  chan struct{} // closed and replaced with the deadline
}

// listen takes an address for a machine.
func (n *network) listen(machine int, address string) (*port, error) {
	addr, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ports[addr.String()] != nil {
		return nil, fmt.Errorf("address %s is in use", address)
	}
	p := &port{
		net: n, machine: machine, addr: addr, in: make(chan packet, portPackets),
		closed: make(chan struct{}), changed: make(chan struct{}),
	}
	n.ports[addr.String()] = p
	return p, nil
}

// unplug takes a port off the network: nothing comes or leaves any more, while
// its owner goes on without knowing.
func (n *network) unplug(p *port) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ports[p.addr.String()] == p {
		delete(n.ports, p.addr.String())
	}
}

// set changes the weather.
func (n *network) set(w Weather) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.weather = w
}

// sever cuts a direction off, or joins it again.
func (n *network) sever(from, to int, off bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[[2]int{from, to}] = off
}

// join ends all cuts.
func (n *network) join() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cut)
}

// send is what a machine puts on the wire.
func (n *network) send(p *port, to string, data []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Counts.Sent++
	target := n.ports[to]
	if n.ports[p.addr.String()] != p || target == nil {
		n.Counts.Nobody++
		return
	}
	link := [2]int{p.machine, target.machine}
	if target.machine >= guestPlaces {
		n.meter(p.machine, len(data))
	}
	if n.cut[link] {
		n.Counts.Cut++
		n.trace.packet("cut", link, len(data))
		return
	}
	w := &n.weather
	if w.Loss > 0 && n.rng.Float64() < w.Loss {
		n.Counts.Lost++
		n.trace.packet("lost", link, len(data))
		return
	}
	msg := packet{append([]byte(nil), data...), p.addr}
	now := time.Now()
	at := now.Add(w.Delay)
	if w.Jitter > 0 {
		at = at.Add(time.Duration(n.rng.Int64N(int64(w.Jitter))))
	}
	if w.Late > 0 && n.rng.Float64() < w.Late {
		n.Counts.Late++
		n.carry(link, target, msg, at.Add(time.Duration(n.rng.Int64N(int64(w.LateBy)))).Sub(now))
		return
	}
	if last := n.last[link]; at.Before(last) {
		at = last
	}
	n.last[link] = at
	n.carry(link, target, msg, at.Sub(now))
	if w.Repeat > 0 && n.rng.Float64() < w.Repeat {
		n.Counts.Repeated++
		n.carry(link, target, msg, at.Sub(now)+w.Delay)
	}
}

// meter counts what a machine sends to guests. n.mu is held.
func (n *network) meter(machine, size int) {
	e := n.guests[machine]
	if e == nil {
		e = &egress{at: time.Now()}
		n.guests[machine] = e
	}
	if !e.meter(size, n.guestBytes, time.Now()) && n.over != nil {
		n.over(machine, e)
	}
}

// carry brings a packet after a while.
func (n *network) carry(link [2]int, to *port, msg packet, after time.Duration) {
	time.AfterFunc(after, func() {
		select {
		case to.in <- msg:
			n.trace.packet("arrives", link, len(msg.data))
		default:
			n.mu.Lock()
			n.Counts.Full++
			n.mu.Unlock()
		}
	})
}

// ReadFrom implements [net.PacketConn].
func (p *port) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		p.mu.Lock()
		deadline, changed := p.deadline, p.changed
		p.mu.Unlock()
		var expired <-chan time.Time
		if !deadline.IsZero() {
			wait := time.Until(deadline)
			if wait <= 0 {
				return 0, nil, os.ErrDeadlineExceeded
			}
			timer := time.NewTimer(wait)
			defer timer.Stop()
			expired = timer.C
		}
		select {
		case msg := <-p.in:
			return copy(b, msg.data), msg.from, nil
		case <-p.closed:
			return 0, nil, net.ErrClosed
		case <-expired:
			return 0, nil, os.ErrDeadlineExceeded
		case <-changed:
		}
	}
}

// WriteTo implements [net.PacketConn].
func (p *port) WriteTo(b []byte, to net.Addr) (int, error) {
	select {
	case <-p.closed:
		return 0, net.ErrClosed
	default:
	}
	p.net.send(p, to.String(), b)
	return len(b), nil
}

// Close implements [net.PacketConn].
func (p *port) Close() error {
	p.once.Do(func() {
		p.net.unplug(p)
		close(p.closed)
	})
	return nil
}

// LocalAddr implements [net.PacketConn].
func (p *port) LocalAddr() net.Addr { return p.addr }

// SetReadDeadline implements [net.PacketConn].
func (p *port) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	close(p.changed)
	p.changed = make(chan struct{})
	return nil
}

// SetWriteDeadline implements [net.PacketConn]: nothing is waited for.
func (p *port) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline implements [net.PacketConn].
func (p *port) SetDeadline(t time.Time) error { return p.SetReadDeadline(t) }

// doors is a [net.Listener] at which nobody calls, unless the test dials.
type doors struct {
	calls  chan net.Conn
	closed chan struct{}
	once   sync.Once
	addr   net.Addr
}

func newDoors(address string) *doors {
	return &doors{calls: make(chan net.Conn), closed: make(chan struct{}), addr: named(address)}
}

type named string

func (named) Network() string  { return "tcp" }
func (a named) String() string { return string(a) }

// dial connects to whoever accepts.
func (d *doors) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case d.calls <- caller{theirs}:
		return ours, nil
	case <-d.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// caller is a connection of a program on the machine itself.
type caller struct{ net.Conn }

func (caller) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 50_000} }

func (d *doors) Accept() (net.Conn, error) {
	select {
	case c := <-d.calls:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

func (d *doors) Close() error {
	d.once.Do(func() { close(d.closed) })
	return nil
}

func (d *doors) Addr() net.Addr { return d.addr }

func (c *packetCounts) add(o packetCounts) {
	c.Sent += o.Sent
	c.Lost += o.Lost
	c.Cut += o.Cut
	c.Repeated += o.Repeated
	c.Late += o.Late
	c.Nobody += o.Nobody
	c.Full += o.Full
}
