package simtest

import (
	"container/heap"
	"math/rand/v2"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// network is the world of one run: a clock, what will happen, and who is there.
type network struct {
	cfg        Config
	rng        *rand.Rand
	now        time.Duration
	agenda     agenda
	scheduled  uint64
	validators []*validator
	side       []int // partition of each validator; messages cross only within one
	quiet      bool  // the faults have ended
	audit      *keccak.Hasher
	ledger     *auditor
	report     Report
	err        error // first breach; ends the run
}

// happening is something to do at a time.
type happening struct {
	at    time.Duration
	order uint64 // of scheduling, so that equal times have one order
	do    func()
}

type agenda []happening

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(happening)) }
func (a *agenda) Pop() any {
	old := *a
	x := old[len(old)-1]
	old[len(old)-1] = happening{}
	*a = old[:len(old)-1]
	return x
}

// after schedules f.
func (n *network) after(d time.Duration, f func()) {
	n.scheduled++
	heap.Push(&n.agenda, happening{at: n.now + d, order: n.scheduled, do: f})
}

// runUntil lets happen what is due before end.
func (n *network) runUntil(end time.Duration) {
	for len(n.agenda) > 0 && n.agenda[0].at < end && n.err == nil {
		h := heap.Pop(&n.agenda).(happening)
		n.now = h.at
		h.do()
		n.report.Steps++
	}
	n.now = end
}

// between draws a duration in [lo, hi).
func (n *network) between(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(n.rng.Int64N(int64(max(1, hi-lo))))
}

func (n *network) chance(p float64) bool { return p > 0 && n.rng.Float64() < p }

// message is what validators send each other; exactly one of vote, certificate
// and request is set. A block travels beside its leader's vote or its
// certificate.
type message struct {
	vote        *simplex.Vote
	certificate *simplex.Certificate
	request     chain.View
	block       []byte
}

func (m message) encode() []byte {
	var b []byte
	switch {
	case m.vote != nil:
		b = simplex.AppendVote(b, *m.vote)
	case m.certificate != nil:
		b = simplex.AppendCertificate(b, *m.certificate)
	default:
		b = beacon.Round{View: m.request}.Append([]byte{'r'})
	}
	return append(b, m.block...)
}

// send puts a message on the link from one validator to another, or on the
// floor.
func (n *network) send(from, to beacon.Participant, m message) {
	n.report.Messages++
	if n.side[from] != n.side[to] {
		n.report.Cut++
		return
	}
	copies := 1
	if !n.quiet {
		if n.chance(n.cfg.Loss) {
			n.report.Lost++
			return
		}
		if n.chance(n.cfg.Repeat) {
			n.report.Repeated++
			copies = 2
		}
	}
	for range copies {
		d := n.cfg.Latency
		if n.quiet {
			d = min(d, 50*time.Millisecond)
		} else {
			d += n.between(0, n.cfg.Jitter)
		}
		n.after(d, func() { n.arrive(from, to, m) })
	}
}

func (n *network) arrive(from, to beacon.Participant, m message) {
	v := n.validators[to]
	if !v.up {
		return
	}
	n.record(byte(to), m.encode())
	v.receive(from, m)
}

// record takes something into the audit hash.
func (n *network) record(who byte, what []byte) {
	var head [9]byte
	head[0] = who
	for i := range 8 {
		head[1+i] = byte(uint64(n.now) >> (8 * i))
	}
	_, _ = n.audit.Write(head[:])
	_, _ = n.audit.Write(what)
}

// split draws a new partition of the network, or joins it again.
func (n *network) split() {
	if n.quiet {
		return
	}
	joined := true
	for i := range n.side {
		n.side[i] = n.rng.IntN(2)
		joined = joined && n.side[i] == n.side[0]
	}
	if !joined {
		n.report.Partitions++
	}
	n.after(n.between(n.cfg.SplitEvery/4, n.cfg.SplitEvery), n.heal)
}

func (n *network) heal() {
	clear(n.side)
	if !n.quiet {
		n.after(n.between(n.cfg.SplitEvery/2, 2*n.cfg.SplitEvery), n.split)
	}
}
