package ledger

import (
	"errors"
	"sync/atomic"
	"time"
)

// ErrMinBlock means that proposals would leave before their time on a chain whose issuance,
// rent and epochs count blocks as time, or sooner than a millisecond.
var ErrMinBlock = errors.New("a least block time is for development chains, and at least 1ms")

// early lets a proposal leave before the block time has passed, where the pool holds
// enough for a block: on development chains alone, since issuance, rent, unbonding, epochs
// and timers count blocks (ADR 194).
//
// Owner of what is written: the ledger's goroutine, by built. Whoever waits for the time of
// a proposal reads enough.
type early struct {
	millis uint64        // least time between a parent and its child; 0: never before the block time
	part   time.Duration // of it, in which a proposal takes transactions
	enough atomic.Int64  // transactions that fill a block; 0 until one has shown it

	waiting func() int64 // transactions that the next block could take, without a wait
}

// earlyTxsMin is how many transactions a proposal has to have for its time to say
// anything of more of them.
const earlyTxsMin = 64

// set says how early, with percent of that time for taking transactions.
func (y *early) set(least time.Duration, percent int, waiting func() int64) {
	y.millis, y.part = uint64(least.Milliseconds()), least*time.Duration(percent)/100
	y.waiting = waiting
}

// built takes in a proposal: a full block is one that takes its part of the least time, or
// has the bytes that the next may have, whichever is less.
func (y *early) built(txs, bytes, bytesMost int, took time.Duration) {
	if y.millis == 0 || txs < earlyTxsMin || took <= 0 || bytes <= 0 {
		return
	}
	byTime := int64(y.part) * int64(txs) / int64(took)
	byBytes := int64(bytesMost) * int64(txs) / int64(bytes)
	full := max(1, min(byTime, byBytes))
	if old := y.enough.Load(); old > 0 {
		full = (old + full + 1) / 2 // one proposal on a busy machine says little
	}
	y.enough.Store(full)
}

// ready reports whether a child of a parent may leave at a time, before it is due.
func (y *early) ready(parentMillis, nowMillis uint64) bool {
	enough := y.enough.Load()
	return enough > 0 && nowMillis >= parentMillis+y.millis && y.waiting() >= enough
}

// lookMillis is how often a wait looks whether something has changed.
func (y *early) lookMillis() uint64 {
	if y.millis == 0 {
		return clockLookMillis
	}
	return min(max(1, y.millis/4), 10)
}
