package simtest

import (
	"flag"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

var (
	committeeSize  = flag.Int("committee", 7, "validators of TestCommitteeWithRealKeys")
	committeeViews = flag.Uint64("views", 5, "views that it plays")
)

// timed measures a validator's scheme in processor time of one goroutine.
type timed struct {
	scheme
	spent *spent
}

type spent struct {
	sign, combine, individuals, bad time.Duration
	signed, combined                int
}

func (s timed) Sign(k simplex.Kind, p simplex.Proposal) simplex.Vote {
	defer s.add(&s.spent.sign, time.Now())
	s.spent.signed++
	return s.scheme.Sign(k, p)
}

func (s timed) Combine(q simplex.Quorum) (simplex.Certificate, bool) {
	defer s.add(&s.spent.combine, time.Now())
	s.spent.combined++
	return s.scheme.Combine(q)
}

func (s timed) BadIndividuals(votes []simplex.Vote) []int {
	defer s.add(&s.spent.individuals, time.Now())
	return s.scheme.BadIndividuals(votes)
}

func (s timed) BadVotes(votes []simplex.Vote) []int {
	defer s.add(&s.spent.bad, time.Now())
	return s.scheme.BadVotes(votes)
}

func (s timed) add(to *time.Duration, since time.Time) { *to += time.Since(since) }

// A committee with real keys in one process: every view is finalized, and the
// report tells what a view costs one validator. -committee=32 -views=20 is the
// size that docs/performance/consensus.md reports. Time is measured, not asserted.
func TestCommitteeWithRealKeys(t *testing.T) {
	n, err := newNetwork(Config{Seed: 32, Validators: *committeeSize, RealKeys: true, Latency: 20 * time.Millisecond, BlockTime: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var s spent
	for _, v := range n.validators {
		v.scheme = timed{v.scheme, &s}
	}
	w := &world{t, n}
	w.startAll()
	began := cpuTime()
	w.until("all views", time.Hour, func() bool { return w.viewsNow()[0] > chain.View(*committeeViews) })
	cpu := cpuTime() - began
	w.ledger.inspect()
	w.sound()
	w.clean()
	if got := len(w.ledger.chain); got+2 < int(*committeeViews) {
		t.Errorf("%d blocks in %d views", got, *committeeViews)
	}
	if s.combined == 0 || s.bad > 0 {
		t.Fatalf("%d quorums combined, %v spent on bad votes", s.combined, s.bad)
	}
	per := func(d time.Duration, n int) time.Duration { return (d / time.Duration(n)).Round(time.Microsecond) }
	sign, quorum := per(s.sign, s.signed), per(s.combine+s.individuals, s.combined)
	views := int(w.viewsNow()[0]-1) * *committeeSize
	t.Logf("%d validators, %d views: a vote %v, a quorum %v (of it individual signatures %v); own cryptography of a validator and view %v; on the way to finality %v beside the network; whole process %v per view, with the auditor's checks",
		*committeeSize, views / *committeeSize, sign, quorum, per(s.individuals, s.combined),
		per(s.sign+s.combine+s.individuals, views), 2*(sign+quorum), per(cpu, views / *committeeSize))
}
