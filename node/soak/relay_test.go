package soak

import (
	"container/heap"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// impairment is what a relay does to packets, in both directions.
type impairment struct {
	delay, jitter time.Duration // each packet waits delay plus up to jitter: more jitter than distance between packets reorders them
	loss          float64       // share of packets that vanish
	cut           bool          // all of them
}

// relay stands before one UDP address and impairs what passes. Each caller
// gets a socket of its own towards the target, so that answers find back.
type relay struct {
	front  *net.UDPConn
	target *net.UDPAddr

	mu      sync.Mutex
	imp     impairment
	rng     *rand.Rand
	backs   map[string]*net.UDPConn
	waiting packets
	closed  bool
	wake    chan struct{}
	done    sync.WaitGroup
}

type packet struct {
	due  time.Time
	send func()
}

type packets []packet

func (p packets) Len() int           { return len(p) }
func (p packets) Less(i, j int) bool { return p[i].due.Before(p[j].due) }
func (p packets) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *packets) Push(x any)        { *p = append(*p, x.(packet)) }
func (p *packets) Pop() any {
	old := *p
	last := old[len(old)-1]
	*p = old[:len(old)-1]
	return last
}

// newRelay listens on a free port. It closes with the test.
func newRelay(t *testing.T, target string, seed uint64) *relay {
	t.Helper()
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	to, err := net.ResolveUDPAddr("udp", target)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{
		front: front, target: to, rng: rand.New(rand.NewPCG(seed, 1)),
		backs: map[string]*net.UDPConn{}, wake: make(chan struct{}, 1),
	}
	r.done.Go(r.forward)
	r.done.Go(r.sender)
	t.Cleanup(r.close)
	return r
}

func (r *relay) addr() string { return r.front.LocalAddr().String() }

// set changes the impairment from now on.
func (r *relay) set(imp impairment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.imp = imp
}

func (r *relay) close() {
	r.mu.Lock()
	r.closed = true
	r.front.Close()
	for _, b := range r.backs {
		b.Close()
	}
	r.mu.Unlock()
	r.nudge()
	r.done.Wait()
}

func (r *relay) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// forward carries packets of callers to the target.
func (r *relay) forward() {
	buf := make([]byte, 64<<10)
	for {
		n, from, err := r.front.ReadFromUDP(buf)
		if err != nil {
			return
		}
		back := r.back(from)
		if back == nil {
			return
		}
		msg := append([]byte(nil), buf[:n]...)
		r.pass(func() { _, _ = back.Write(msg) })
	}
}

// back returns the socket of a caller, made at its first packet.
func (r *relay) back(from *net.UDPAddr) *net.UDPConn {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.backs[from.String()]; b != nil || r.closed {
		return b
	}
	b, err := net.DialUDP("udp", nil, r.target)
	if err != nil {
		return nil
	}
	r.backs[from.String()] = b
	r.done.Go(func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := b.Read(buf)
			if r.isClosed() {
				return
			}
			if err != nil {
				time.Sleep(time.Millisecond) // the target is not up: it refused
				continue
			}
			msg := append([]byte(nil), buf[:n]...)
			r.pass(func() { _, _ = r.front.WriteToUDP(msg, from) })
		}
	})
	return b
}

func (r *relay) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// pass loses the packet, or lets it wait for its time.
func (r *relay) pass(send func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.imp.cut || r.rng.Float64() < r.imp.loss {
		return
	}
	wait := r.imp.delay
	if r.imp.jitter > 0 {
		wait += time.Duration(r.rng.Int64N(int64(r.imp.jitter)))
	}
	heap.Push(&r.waiting, packet{time.Now().Add(wait), send})
	r.nudge()
}

// sender sends each packet at its time.
func (r *relay) sender() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		r.mu.Lock()
		now := time.Now()
		for len(r.waiting) > 0 && !r.waiting[0].due.After(now) {
			heap.Pop(&r.waiting).(packet).send()
		}
		next := time.Hour
		if len(r.waiting) > 0 {
			next = r.waiting[0].due.Sub(now)
		}
		closed := r.closed
		r.mu.Unlock()
		if closed {
			return
		}
		timer.Reset(next)
		select {
		case <-r.wake:
		case <-timer.C:
		}
	}
}
