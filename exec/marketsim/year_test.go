package marketsim

import (
	"flag"
	"math/big"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

var days = flag.Int("days", 4, "days of market life that TestYear plays")

const dayBlocks = 86_400

// TestYear: days of market life at a block a second, of which those blocks are executed in
// which somebody acts or something falls due. All that have lied have lost stake or
// reputation by the end, and those that worked are paid.
func TestYear(t *testing.T) {
	g, far := newYear(t, 1), showing(t)
	for day := range *days {
		g.day(uint64(day)*dayBlocks, day+30 < *days)
		far("%d of %d days, %d blocks", day+1, *days, g.stats["block"])
	}
	for len(g.m.jobs) > 0 {
		g.height = g.nextInterest()
		g.block(nil)
	}
	g.nothingIsLeft()
	for _, p := range g.players {
		r := g.m.runners[p.addr]
		t.Logf("part %d: %s earned, %s slashed, reputation %s, %d good, %d bad, %d silent", p.plays, g.m.earned.of(p.addr), r.slashed, r.standing.now(g.height, g.p.Runner.ReputationHalfLifeBlocks), r.successes, r.disagreements, r.silences)
		now := r.standing.now(g.height, g.p.Runner.ReputationHalfLifeBlocks)
		switch p.plays {
		case honest, careful:
			if g.m.earned.of(p.addr).Sign() == 0 || r.slashed.Sign() > 0 {
				t.Errorf("an honest runner has earned %s and lost %s", g.m.earned.of(p.addr), r.slashed)
			}
		default:
			if r.slashed.Sign() == 0 && now.Cmp(centre) >= 0 {
				t.Errorf("a runner that plays %d has lost nothing, and has a reputation of %s", p.plays, now)
			}
		}
	}
	t.Logf("%d blocks executed up to %d, a supply of %s: %v", g.stats["block"], g.height, g.supply, g.stats)
}

// newYear is a game by the rules of the genesis, but for heartbeats, which are daily.
func newYear(t testing.TB, seed uint64) *game {
	t.Helper()
	g := bareGame(t, seed)
	g.p = roomy()
	g.p.Runner.HeartbeatTimeoutBlocks = 100_000
	g.parts = []character{honest, honest, honest, honest, careful, careful, careful, careful, lazy, withholding, liar, liar}
	g.next, g.prompt = g.labour, true
	g.open()
	return g
}

// day is a day of market life: runners are heard in its first block, and a few jobs come in
// the course of it. Who has lost its reputation may come back.
func (g *game) day(from uint64, returns bool) {
	g.t.Helper()
	asked := map[uint64]int{}
	for range 3 + g.rng.IntN(4) {
		asked[from+2+g.rng.Uint64N(dayBlocks-3)]++
	}
	for g.height = from + 1; g.height < from+dayBlocks; g.height = g.soonest(asked) {
		if g.height == from+1 && g.rng.IntN(8) == 0 {
			g.restart()
		}
		acts := g.labour()
		if g.height == from+1 {
			acts = append(acts, g.morning(returns)...)
		}
		for range asked[g.height] {
			acts = append(acts, g.submits(g.askers[g.rng.IntN(len(g.askers))], g.safeOrder()))
		}
		g.block(acts)
		g.stats["block"]++
	}
}

// morning is what runners send once a day.
func (g *game) morning(returns bool) (acts []*act) {
	none := new(big.Int)
	for _, p := range g.players {
		r, a := g.m.registered(p.addr), p.addr
		if r == nil {
			stake, o := wei(20_000*chain.WeiPerCBY), g.steady()
			q := &chain.RunnerRegister{RateCard: o.card, Capabilities: o.can}
			acts = append(acts, g.toRegistry("register", a, stake, q, func(chain.Hash) uint16 { return g.m.register(a, stake, none, o) }))
			continue
		}
		acts = append(acts, g.heartbeat(a))
		if returns && r.fellAt != 0 && g.height-r.fellAt >= g.p.Runner.ReturnBlocks {
			acts = append(acts, g.toRegistry("return", a, none, &chain.RunnerReturn{}, func(chain.Hash) uint16 { return g.m.comeBack(a) }))
		}
		if need := minus(g.m.required(r.largest), r.stake); r.under && need.Sign() > 0 {
			acts = append(acts, g.topUp(a, need))
		}
	}
	return acts
}

// steady are the terms of all runners of a year.
func (g *game) steady() offer {
	return offer{
		card: chain.RateCard{LLMInputToken: 1_000, LLMOutputToken: 3_000, HTTPRequestBase: 200_000, ComputeSecond: 100_000, MemoryMB: 10_000},
		can:  chain.Capabilities{JobTypes: []chain.JobKind{chain.JobLLM, chain.JobHTTP, chain.JobCustom}, HTTPDomains: []string{"*"}, MaxConcurrentJobs: 3},
	}
}

// safeOrder is a job in which a lie shows: several runners must agree, or what is garbage
// costs stake.
func (g *game) safeOrder() *chain.JobSubmit {
	for {
		q := g.order()
		v := &q.Spec.Verification
		q.Terms.ObjectiveChecks = nil
		switch {
		case v.Mode == chain.VerifyNone, q.Terms.Snapshot != nil && q.Terms.Snapshot.Mode == chain.SnapshotLatest:
			continue
		case v.Mode == chain.VerifyEconomicBond:
			q.Terms.ObjectiveChecks = []chain.ObjectiveCheck{&chain.MinLengthObjective{Bytes: 5}}
		case q.Terms.Snapshot != nil && q.Terms.Snapshot.Mode == chain.SnapshotMedian:
			q.Terms.Snapshot.OutlierE6 = 500_000
		}
		q.Spec.MaxPrice, q.Spec.TimeoutBlocks = chain.WeiPerCBY, 40+g.rng.Uint64N(60)
		q.Terms.FreshnessReference, v.DisputeWindowBlocks = nil, 0
		return q
	}
}

// labour is what runners send for their jobs, in the blocks in which they look.
func (g *game) labour() (acts []*act) {
	g.m.height = g.height
	for _, j := range g.m.byID(func(j *job) bool { return j.phase == assigned || j.phase == closing }) {
		acts = append(acts, g.work(j)...)
	}
	return acts
}

// soonest is the next height at which a job is submitted or something is of interest.
func (g *game) soonest(asked map[uint64]int) uint64 {
	next := g.nextInterest()
	for h := range asked {
		if h > g.height {
			next = min(next, h)
		}
	}
	return next
}

// watches are how many blocks long runners look for something to do, from where something
// may have begun.
const watches = 5

// nextInterest is the next height at which something falls due or a runner looks: in the
// blocks between, nothing happens.
func (g *game) nextInterest() uint64 {
	next := ^uint64(0)
	from := func(h, blocks uint64) { // any of these
		if h+blocks > g.height+1 {
			next = min(next, max(h, g.height+1))
		}
	}
	for _, j := range g.m.jobs {
		if j.due.what != "" {
			from(j.due.behind+1, 1)
		}
		switch j.phase {
		case fresh:
			from(j.submitted+1, 1)
		case assigned, closing:
			from(j.begun, watches)
			from(j.commitBy+1, watches)
			from(j.gatherTo+1, watches)
		}
	}
	for _, r := range g.m.runners {
		if r.healthy {
			from(r.seen+g.p.Runner.HeartbeatTimeoutBlocks+1, 1)
		}
	}
	return next
}
