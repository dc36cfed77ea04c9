package p2p

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/cowboy-foundation/cowboy/chain"
)

const (
	floodFrameBytesMax = 256 << 10        // one transaction of the largest size, or a thousand small ones
	floodFrameTxsMax   = 2048             // in one frame
	floodPendingBytes  = 32 << 20         // gathered and not yet framed
	seenGeneration     = 1 << 17          // hashes in one of two generations
	seenFor            = 20 * time.Second // and its longest life: what was refused may come again
	pauseFor           = 5 * time.Second  // without transactions from a peer that sends bad ones
)

// flood spreads transactions. Each is sent on once: to every member that the
// one it came from is not connected to.
type flood struct {
	name  namer
	ready chan struct{}
	stats *Stats

	mu      sync.Mutex
	seen    [2]map[name]struct{} // the newer and the older generation
	turned  time.Time            // when the newer one was begun
	pending []batch
	bytes   int
}

// batch is transactions of one origin.
type batch struct {
	origin int // number of the peer, or -1
	bodies [][]byte
}

func newFlood(stats *Stats) *flood {
	f := &flood{name: newNamer(), stats: stats, ready: make(chan struct{}, 1), turned: time.Now()}
	f.seen[0] = make(map[name]struct{})
	return f
}

// mark reports whether the body was not seen lately, and remembers it. f.mu is
// held.
func (f *flood) mark(n name) bool {
	_, newer := f.seen[0][n]
	_, older := f.seen[1][n]
	if newer || older {
		return false
	}
	f.seen[0][n] = struct{}{}
	return true
}

// turn begins a new generation when the present one is full or old. f.mu is
// held.
func (f *flood) turn(now time.Time) {
	if len(f.seen[0]) >= seenGeneration || now.Sub(f.turned) > seenFor {
		f.seen[1], f.seen[0], f.turned = f.seen[0], make(map[name]struct{}), now
	}
}

// name is what a body is remembered by.
//
// XXH64 alone would not do: there are pairs of bodies that it gives one sum
// under half of all seeds, so that whoever sees a transaction can hide it behind
// a worthless twin from peers whose seed nobody told him. So a name also holds a
// sum under the process's own keyed hash, and a body is left out only if both
// agree. For two given bodies that happens by chance once in about 2^64 at the
// least, and nobody outside knows either key. What it would cost is one
// transaction that this node does not send on for seenFor; others do. Neither hash
// is part of the protocol.
type name struct{ sum, check uint64 }

// namer holds the keys of names, drawn for this process.
type namer struct {
	seed  uint64
	check maphash.Seed
}

func newNamer() namer {
	return namer{seed: maphash.Bytes(maphash.MakeSeed(), nil), check: maphash.MakeSeed()}
}

// namesOf returns the names of the bodies, in their order.
func (n namer) namesOf(bodies [][]byte) []name {
	names := make([]name, len(bodies))
	digest := xxhash.NewWithSeed(n.seed)
	for i, body := range bodies {
		digest.ResetWithSeed(n.seed)
		_, _ = digest.Write(body) // never fails
		names[i] = name{digest.Sum64(), maphash.Bytes(n.check, body)}
	}
	return names
}

// fresh cuts a frame into transactions and leaves out those seen lately.
func (f *flood) fresh(frame []byte) ([][]byte, error) {
	bodies, err := chain.DecodeWireTxs(frame, floodFrameTxsMax)
	if err != nil {
		return nil, ErrWireBatch
	}
	names := f.name.namesOf(bodies)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn(time.Now())
	kept := bodies[:0]
	for i, body := range bodies {
		if f.mark(names[i]) {
			kept = append(kept, body)
		} else {
			f.stats.TxsRepeated.Add(1)
		}
	}
	return kept, nil
}

// forget takes back that bodies were seen: they went nowhere.
func (f *flood) forget(bodies [][]byte) {
	names := f.name.namesOf(bodies)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range names {
		delete(f.seen[0], n)
		delete(f.seen[1], n)
	}
}

// add takes transactions to be spread; origin is the peer they came from, or
// -1. The bodies must not change.
func (f *flood) add(origin int, bodies [][]byte) {
	var names []name
	if origin < 0 {
		names = f.name.namesOf(bodies)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn(time.Now())
	for _, n := range names {
		f.mark(n) // so that it is not taken in again when it comes back
	}
	size := 0
	for _, body := range bodies {
		size += len(body)
	}
	if f.bytes+size > floodPendingBytes {
		f.stats.TxsNotSpread.Add(uint64(len(bodies)))
		return
	}
	f.bytes += size
	f.pending = append(f.pending, batch{origin, bodies})
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// run gathers transactions for a moment and sends them in large frames.
func (f *flood) run(ctx context.Context, t *Transport) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.ready:
		}
		if err := sleep(ctx, t.cfg.FloodWait); err != nil {
			return err
		}
		began := time.Now()
		f.mu.Lock()
		pending := f.pending
		f.pending, f.bytes = nil, 0
		f.mu.Unlock()
		for len(pending) > 0 {
			origin := pending[0].origin
			n := 0
			var bodies [][]byte
			for n < len(pending) && pending[n].origin == origin {
				bodies = append(bodies, pending[n].bodies...)
				n++
			}
			pending = pending[n:]
			frames := frameTxs(bodies)
			for _, p := range t.spread(origin) {
				for _, frame := range frames {
					p.queueMessage(Transactions, frame)
				}
			}
		}
		f.stats.SpreadNanos.Add(uint64(time.Since(began)))
	}
}

// frameTxs puts bodies into as few payloads as fit the limits.
func frameTxs(bodies [][]byte) [][]byte {
	var frames [][]byte
	var frame []byte
	n := 0
	for _, body := range bodies {
		if n == floodFrameTxsMax || n > 0 && len(frame)+frameHeaderBytes+len(body) > floodFrameBytesMax {
			frames, frame, n = append(frames, frame), nil, 0
		}
		frame = append(binary.BigEndian.AppendUint32(frame, uint32(len(body))), body...)
		n++
	}
	if n > 0 {
		frames = append(frames, frame)
	}
	return frames
}

// spread returns the members to which transactions of an origin go on. A
// member tells its own to all it is connected to; the others are our task. Whom it is
// connected to, both of the two must say: a liar that claims to know all would keep
// from the others what it told us alone.
func (t *Transport) spread(origin int) []*peer {
	var out []*peer
	var from *peer
	if origin >= 0 && origin < len(t.members) {
		from = t.members[origin]
	}
	for _, p := range t.members {
		if p == nil || p == from || from != nil && from.knows(p.id) && p.knows(from.id) {
			continue
		}
		if l, _ := p.current(); l != nil {
			out = append(out, p)
		}
	}
	return out
}
