package bench

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// fate is how far a transfer has come on the sending side.
type fate = uint32

const (
	fateUnsent     fate = iota
	fateInFlight        // written, not answered
	fateAccepted        // the node took responsibility for it
	fateRejected        // refused, and not sent again
	fateUnanswered      // the connection failed: it may or may not have arrived
)

// tally accounts for every transfer of a run. Senders and the watcher write to
// it at once; anyone may read the counters.
type tally struct {
	start time.Time
	plan  *plan

	due       []atomic.Int64  // when each transfer was due, after the start; set when sent
	fates     []atomic.Uint32 // written by the transfer's sender only
	finalized []atomic.Bool   // written by the watcher only
	heads     []atomic.Uint64 // newest final block that was known when each was sent

	head atomic.Uint64 // newest final block; written by the watcher only

	scheduled  atomic.Int64 // transfers that the schedule asked for so far
	skipped    atomic.Int64 // not sent because too many were unanswered
	sent       atomic.Int64 // written to the node, repeats included
	late       atomic.Int64 // of those, later than LateAfter
	accepted   atomic.Int64
	rejections atomic.Int64 // answers that refused, repeats included
	unanswered atomic.Int64 // sends whose answer never came, repeats included
	inFlight   atomic.Int64 // handed to senders and not answered
	finals     atomic.Int64

	mu      sync.Mutex
	reasons map[string]int64 // guarded by mu
}

func newTally(pl *plan) *tally {
	n := len(pl.txs)
	return &tally{
		plan: pl, due: make([]atomic.Int64, n), fates: make([]atomic.Uint32, n),
		finalized: make([]atomic.Bool, n), heads: make([]atomic.Uint64, n), reasons: map[string]int64{},
	}
}

// reject counts one refusal under its reason.
func (t *tally) reject(reason string) {
	t.rejections.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reasons[reason]++
}

// finalize notes that a block holds the transaction with this hash. It returns
// which it is, and false for one that is not of this run or was seen before.
func (t *tally) finalize(hash chain.Hash) (int32, bool) {
	i, ours := t.plan.index[hash]
	if !ours || t.finalized[i].Swap(true) {
		return 0, false
	}
	t.finals.Add(1)
	return i, true
}

// open reports whether a transaction is accepted and not final yet.
func (t *tally) open(i int) bool {
	return t.fates[i].Load() == fateAccepted && !t.finalized[i].Load()
}

// waiting counts open transactions of kinds that may not wait for ever.
func (t *tally) waiting() (n int) {
	for i := range t.fates {
		if t.open(i) && !t.plan.kinds[t.plan.kind(int32(i))].MayWait {
			n++
		}
	}
	return n
}

// reason is the class of a refusal: its code and its message without the
// numbers, which differ from one transaction to the next.
func reason(code rpc.Code, message string) string {
	var b strings.Builder
	digits, hex := false, false
	for i, r := range message {
		switch {
		case hex && strings.ContainsRune("0123456789abcdefx", r):
		case r >= '0' && r <= '9':
			if !digits {
				b.WriteByte('#')
			}
			hex = strings.HasPrefix(message[i:], "0x")
			digits = true
		default:
			digits, hex = false, false
			b.WriteRune(r)
		}
	}
	text := b.String()
	if len(text) > reasonBytesMax {
		text = text[:reasonBytesMax]
	}
	return fmt.Sprintf("%d %s", code, text)
}

const reasonBytesMax = 120

// response says what a sender does about a refusal.
type response int

const (
	giveUp    response = iota // wrong for good: the account's later nonces are useless too
	sendAgain                 // too much or too early: the same transfer goes into a later slot
	arrived                   // the node has it already, from a send whose answer was lost
)

func respond(code rpc.Code) response {
	switch code {
	case rpc.CodeTxKnown, rpc.CodeNonceTooLow:
		return arrived
	case rpc.CodeRateLimited, rpc.CodeOwed, rpc.CodeBusy, rpc.CodeNotReady, rpc.CodeDeadline,
		rpc.CodeNonceTooHigh, rpc.CodeSenderLimit, rpc.CodeTxRejected, rpc.CodeInternal:
		return sendAgain
	default:
		return giveUp
	}
}

// newHistogram takes microseconds up to ten minutes with three digits.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, latencyMax.Microseconds(), 3)
}

const latencyMax = 10 * time.Minute

// record adds a latency; what is beyond the range counts as its end.
func record(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(max(1, min(d, latencyMax).Microseconds())) // in range by construction
}
