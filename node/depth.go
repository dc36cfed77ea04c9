package node

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/ledger"
)

// How deep the pool is (docs/adr/0199). A block takes what waits, and what arrives while it
// is made, voted for and told to the pool waits beside what the block holds, so that a pool
// of less than two block times bounds the rate and not the machine.
const (
	// depthBlocks is for how many block times of the measured rate there is room.
	depthBlocks = 4
	// depthStep is by how many transactions the cap changes: small changes are not worth
	// stopping admission.
	depthStep = 16_384
	// riseMillis and fallMillis are the time constants of the measured rate: a rush is
	// believed within seconds, a lull within minutes.
	riseMillis, fallMillis = 5_000, 120_000
	// pauseMillis is the longest time between two blocks that says anything of the rate.
	pauseMillis = 600_000
	// senderPart of the user lane is the most of one sender, as by default.
	senderPart = 512
	// poolPart of the heap's limit is what the pool may grow to.
	poolPart = 4
)

// bound is why the pool is as deep as it is.
type bound uint32

const (
	boundFloor     bound = iota // never less than the default
	boundRate                   // the measured rate
	boundBudget                 // the bytes that it may take
	boundHeld                   // it holds more than it would be given now
	boundReturning              // what an earlier run kept comes back
	numBounds
)

func (b bound) String() string { return [...]string{"floor", "rate", "budget", "held", "returning"}[b] }

// poolDepth makes the pool as deep as the chain is fast, between the default and what a
// budget of bytes allows. Owner: the fan-out, which tells it of each final block. Anyone
// may read what is atomic.
type poolDepth struct {
	floor lanes.Depth
	most  int // transactions in the user lane, by the budget
	bytes uint64
	// resize sets the caps and returns those that hold.
	resize func(lanes.Depth) (lanes.Depth, error)
	// returning reports whether what an earlier run of this node kept is still on its way
	// into the pool. nil: nothing is.
	returning func() bool

	lastMillis uint64 // time of the last block, by its header; 0: none yet

	rate  atomic.Uint64 // final user transactions in a thousand seconds, smoothed
	user  atomic.Int64  // caps that hold now
	one   atomic.Int64
	bound atomic.Uint32
}

// newPoolDepth returns the depth of a pool that is configured as floor says and may take
// so many bytes; below what the floor takes, it stays at the floor.
func newPoolDepth(floor lanes.Depth, budget uint64, resize func(lanes.Depth) (lanes.Depth, error)) *poolDepth {
	const each = lanes.SmallTxBytes + sigverify.KnownTxBytes
	d := &poolDepth{floor: floor, bytes: budget, resize: resize}
	d.most = max(floor.UserTxs, int(min(budget/each, lanes.DepthMax)))
	d.user.Store(int64(floor.UserTxs))
	d.one.Store(int64(floor.SenderTxs))
	return d
}

// poolBudget is what the pool may take: what the operator says, else a part of the limit
// of the heap, which the node prints at its start. 0 where there is neither.
func poolBudget(set int) uint64 {
	if set > 0 {
		return uint64(set)
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return uint64(limit) / poolPart
	}
	return 0
}

// hear takes in a final block of so many user transactions, and resizes the pool where
// that is worth it.
func (d *poolDepth) hear(userTxs int, millis, blockMillis uint64) error {
	d.smoothRate(userTxs, millis)
	want, why := d.wanted(blockMillis)
	if int64(want) == d.user.Load() {
		d.bound.Store(uint32(why))
		return nil
	}
	return d.set(want, why)
}

// open makes the pool as deep as it may be, before the first block, if an earlier run kept
// anything: the pool of that run may have been so deep, and what a shallow one refuses now is
// kept no longer.
func (d *poolDepth) open(returning func() bool) error {
	d.returning = returning
	if !returning() {
		return nil
	}
	return d.set(d.most, boundReturning)
}

// set gives the user lane room for so many.
func (d *poolDepth) set(want int, why bound) error {
	now, err := d.resize(lanes.Depth{UserTxs: want, SenderTxs: max(d.floor.SenderTxs, want/senderPart)})
	if err != nil {
		return fmt.Errorf("depth of the pool: %w", err)
	}
	if now.UserTxs > want {
		why = boundHeld
	}
	d.user.Store(int64(now.UserTxs))
	d.one.Store(int64(now.SenderTxs))
	d.bound.Store(uint32(why))
	return nil
}

// smoothRate moves the rate towards that of a block, by the times of blocks: what a node
// executes while it catches up was no faster for it.
func (d *poolDepth) smoothRate(userTxs int, millis uint64) {
	last := d.lastMillis
	d.lastMillis = millis
	if last == 0 || millis <= last {
		return // the first, or time is no guide
	}
	took := int64(min(millis-last, pauseMillis))
	rate := int64(d.rate.Load())
	of := int64(userTxs) * 1_000_000 / took
	constant := int64(fallMillis)
	if of > rate {
		constant = riseMillis
	}
	d.rate.Store(uint64(rate + (of-rate)*took/(took+constant)))
}

// wanted is the cap of the user lane, in whole steps above the floor, and why.
func (d *poolDepth) wanted(blockMillis uint64) (txs int, why bound) {
	if d.returning != nil && d.returning() {
		return d.most, boundReturning // the rate is that of a node that has just begun
	}
	of := d.rate.Load() * min(blockMillis, pauseMillis) / 1_000_000 * depthBlocks
	steps := (min(of, lanes.DepthMax) + depthStep - 1) / depthStep
	switch txs = int(steps * depthStep); {
	case txs <= d.floor.UserTxs:
		return d.floor.UserTxs, boundFloor
	case txs > d.most:
		return d.most, boundBudget
	}
	return txs, boundRate
}

// deepen is the listener of final blocks that keeps the pool as deep as the chain is fast.
func (n *Node) deepen(_ context.Context, e ledger.Event) error {
	users := 0
	for _, tx := range e.Txs {
		if tx.Lane == chain.LaneUser {
			users++
		}
	}
	if err := n.depth.hear(users, e.Block.Header.TimestampMillis, e.Params.BlockTimeMillis); err != nil {
		n.log.Error("the pool stays as deep as it is", "err", err) // which is no reason to stop
	}
	return nil
}

// resizePool sets the caps of the lanes, and the sender cache to what they hold.
func (n *Node) resizePool(to lanes.Depth) (lanes.Depth, error) {
	now, err := n.lanes.Resize(to)
	if err == nil {
		n.sigverify.Resize(now.UserTxs)
	}
	return now, err
}

// depthMetrics say how deep the pool is and why.
func (n *Node) depthMetrics(gauge gaugeFunc) {
	d := n.depth
	gauge("pool_user_cap_transactions", "Transactions that may wait in the user lane now.", func() float64 { return float64(d.user.Load()) })
	gauge("pool_user_most_transactions", "The most that this may become, by the pool's budget of bytes.", func() float64 { return float64(d.most) })
	gauge("pool_sender_cap_transactions", "Transactions of one sender that may wait now.", func() float64 { return float64(d.one.Load()) })
	gauge("pool_rate_transactions_per_second", "Final user transactions a second, smoothed, from which the cap follows.", func() float64 { return float64(d.rate.Load()) / 1000 })
	gauge("pool_budget_bytes", "Bytes that the user lane may grow to, with small bodies; 0: it stays at its default.", func() float64 { return float64(d.bytes) })
	gauge("pool_cap_bound", "What sets the cap: 0 the least that it ever is, 1 the measured rate, 2 the budget of bytes, 3 what waits beyond what it would be given now, 4 what an earlier run kept and comes back.",
		func() float64 { return float64(d.bound.Load()) })
}
