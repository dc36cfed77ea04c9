// Package ring joins stages that run on goroutines of their own: a bounded queue
// without locks, [Ring], and the [Bell] that wakes its consumer.
//
// # Owner
//
// Nobody owns a ring. Any goroutine may Push and any may ring the bell; one goroutine at a
// time may Pop, Drain and ask Empty, and one at a time may Wait. Consumers that take turns,
// as the workers of lanes/sigverify do, hand over through a channel, which orders them.
//
// # Memory order
//
// All words are Go atomics, which are sequentially consistent. A producer has place i to
// itself from its compare-and-swap of the tail until it stores the lap there; the value is
// written in between, so a consumer that loads the lap sees the value. The consumer clears
// the place before it stores the head, and a producer comes to the same place again only
// after it has loaded a head that is past it: so it never writes over what is unread, nor
// beside a consumer that still clears. Head and tail lie in cache lines of their own.
//
// # Proof
//
// Full: Push loads the tail, the head, and the tail again. If the tail is the same, there
// was an instant, at the load of the head, when the ring held all its places: "full" is
// true of that instant. Laps: of place i, lap n+1 is published only after lap n was
// consumed, and counts 2^64 reservations, so no lap is taken for another. No ring of the
// bell is lost: a consumer says that it is parked before it looks once more, and a producer
// publishes before it looks whether anybody is parked; in a sequentially consistent order
// one of the two sees the other. The tests hold the ring against a slice, its histories
// against the order of a queue, and race rings with parking (ring_test.go). Why it is no
// channel: `make bench-lanes` races the two.
package ring

import (
	"context"
	"math/bits"
	"sync/atomic"
	"time"
)

// Ring is a bounded queue of many producers and one consumer. Nobody locks: a
// producer reserves a place with one compare-and-swap and then publishes it; a
// full ring is an answer, not a wait. What is popped comes in the order of the
// reservations.
//
// A place costs two atomic operations, whatever stands in it, so stages pass
// slices of up to a batch through it and not single transactions.
type Ring[T any] struct {
	places []place[T]
	mask   uint64
	bits   uint8 // of mask
	_      [64]byte
	tail   atomic.Uint64 // next place to be reserved
	_      [64]byte
	head   atomic.Uint64 // next place to be popped
	_      [64]byte
}

// place holds one value. Of the lap with which it was published, 0 is none.
type place[T any] struct {
	lap   atomic.Uint64
	value T
}

// New returns an empty ring with room for at least the given number of
// values.
func New[T any](room int) *Ring[T] {
	n := bits.Len64(uint64(max(room, 2) - 1))
	return &Ring[T]{places: make([]place[T], 1<<n), mask: 1<<n - 1, bits: uint8(n)}
}

// Room is how many values fit.
func (r *Ring[T]) Room() int { return len(r.places) }

// Push appends v, or reports that there is no room. Any goroutine may call it.
func (r *Ring[T]) Push(v T) bool {
	for {
		at := r.tail.Load()
		if at-r.head.Load() > r.mask {
			if r.tail.Load() == at {
				return false
			}
			continue
		}
		if r.tail.CompareAndSwap(at, at+1) {
			p := &r.places[at&r.mask]
			p.value = v
			p.lap.Store(at>>r.bits + 1)
			return true
		}
	}
}

// Pop takes the first value, if one is published. Only one goroutine at a time
// may call it.
func (r *Ring[T]) Pop() (v T, ok bool) {
	at := r.head.Load()
	p := &r.places[at&r.mask]
	if p.lap.Load() != at>>r.bits+1 {
		return v, false
	}
	var none T
	v, p.value = p.value, none
	r.head.Store(at + 1)
	return v, true
}

// Drain appends up to limit values to into and makes room for them at once: the
// cheap way to empty a busy ring. Only one goroutine at a time may call it.
func (r *Ring[T]) Drain(into []T, limit int) []T {
	var none T
	start := r.head.Load()
	at := start
	for ; at-start < uint64(limit); at++ {
		p := &r.places[at&r.mask]
		if p.lap.Load() != at>>r.bits+1 {
			break
		}
		into = append(into, p.value)
		p.value = none
	}
	if at != start {
		r.head.Store(at)
	}
	return into
}

// Empty reports whether nothing is published at the front. A producer between
// its reservation and its publication is not seen; it rings the bell later.
func (r *Ring[T]) Empty() bool {
	at := r.head.Load()
	return r.places[at&r.mask].lap.Load() != at>>r.bits+1
}

// Bell wakes one consumer that found nothing to do. It never loses a ring: who
// publishes and then rings wakes a consumer that parked before, and a consumer
// that parks looks once more after it said so. A consumer that is busy costs
// the one who rings a single load.
type Bell struct {
	parked atomic.Bool
	wake   chan struct{} // one token, only for a consumer that parked
}

// NewBell returns a bell that nobody waits at.
func NewBell() *Bell { return &Bell{wake: make(chan struct{}, 1)} }

// Ring wakes the consumer if it is parked. Call it after publishing.
func (b *Bell) Ring() {
	if b.parked.Load() && b.parked.CompareAndSwap(true, false) {
		b.wake <- struct{}{}
	}
}

// Wait parks until the bell rings, alarm fires or ctx ends, and reports whether
// the bell rang or idle turned false. idle is what the consumer found; it is
// asked again after parking is announced. alarm may be nil; one that was taken is
// reported, even if the bell rings at the same moment: it does not fire again.
// Only one goroutine at a time may wait.
func (b *Bell) Wait(ctx context.Context, alarm <-chan time.Time, idle func() bool) (rang bool) {
	b.parked.Store(true)
	rang = true
	if idle() {
		select {
		case <-b.wake:
			return true
		case <-alarm:
			rang = false
		case <-ctx.Done():
			rang = false
		}
	}
	if !b.parked.CompareAndSwap(true, false) {
		<-b.wake // somebody rang meanwhile and is about to leave a token
	}
	return rang
}
