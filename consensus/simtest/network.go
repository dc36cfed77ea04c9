package simtest

import (
	"container/heap"
	"math/rand/v2"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/wire"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
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
	side       []int            // partition of each node; messages cross only within one
	links      map[[2]int]*Link // from one node to another, where not as configured
	passes     func(from, to *validator, m message) bool
	rejects    func(p simplex.Proposal) bool // certify says no, on every node
	// fate is asked, with the number of messages, where a sync is due: the step
	// before which v crashes, or -1.
	fate   func(v *validator, messages int) int
	quiet  bool // the faults have ended
	audit  *keccak.Hasher
	ledger *auditor
	report Report
	err    error // first breach; ends the run
}

// Link is the way from one node to another.
type Link struct {
	Cut             bool
	Latency, Jitter time.Duration
	Loss            float64
}

// link returns the way from one node to another, to be altered.
func (n *network) link(from, to int) *Link {
	l := n.links[[2]int{from, to}]
	if l == nil {
		l = &Link{Latency: n.cfg.Latency, Jitter: n.cfg.Jitter, Loss: n.cfg.Loss}
		n.links[[2]int{from, to}] = l
	}
	return l
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

// honest reports whether everybody with this place in the set is.
func (n *network) honest(p beacon.Participant) bool {
	for _, v := range n.validators {
		if v.id == p && v.player != nil {
			return false
		}
	}
	return true
}

func (n *network) chance(p float64) bool { return p > 0 && n.rng.Float64() < p }

// message is what validators send each other; exactly one of vote, certificate,
// relay, preview and request is set. A block travels beside its leader's vote or its
// certificate, a shard beside the leader's vote or a relay.
type message struct {
	vote        *simplex.Vote
	certificate *simplex.Certificate
	relay       *simplex.Proposal
	preview     *preview
	request     chain.View
	block       []byte
	parcel      *shards.Parcel
}

func (m message) encode() []byte {
	var b []byte
	switch {
	case m.vote != nil:
		b = simplex.AppendVote(b, *m.vote)
	case m.certificate != nil:
		b = simplex.AppendCertificate(b, *m.certificate)
	case m.relay != nil:
		b = m.relay.Append([]byte{wire.TagShardRelay})
	case m.preview != nil:
		b = m.preview.append(b)
	default:
		b = beacon.Round{View: m.request}.Append([]byte{wire.TagRequest})
	}
	if m.parcel != nil {
		b = m.parcel.Append(b)
	}
	return append(b, m.block...)
}

// send puts a message on the link from one node to another, or on the floor.
func (n *network) send(from, to *validator, m message) {
	n.report.Messages++
	l := n.links[[2]int{from.node, to.node}]
	if n.side[from.node] != n.side[to.node] || l != nil && l.Cut || n.passes != nil && !n.passes(from, to, m) {
		n.report.Cut++
		return
	}
	if l == nil {
		l = &Link{Latency: n.cfg.Latency, Jitter: n.cfg.Jitter, Loss: n.cfg.Loss}
	}
	copies := 1
	if !n.quiet {
		if n.chance(l.Loss) {
			n.report.Lost++
			return
		}
		if n.chance(n.cfg.Repeat) {
			n.report.Repeated++
			copies = 2
		}
	}
	for range copies {
		d := l.Latency
		if n.quiet {
			d = min(d, 50*time.Millisecond)
		} else {
			d += n.between(0, l.Jitter)
		}
		n.after(d, func() { n.arrive(from, to, m) })
	}
}

func (n *network) arrive(from, to *validator, m message) {
	if !to.up {
		return
	}
	n.hashIn(byte(to.node), m.encode())
	if !to.waits(from, m) {
		to.receive(from, m)
		to.turn()
	}
}

// hashIn takes something into the audit hash.
func (n *network) hashIn(who byte, what []byte) {
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
