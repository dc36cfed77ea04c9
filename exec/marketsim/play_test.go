package marketsim

import (
	"bytes"
	"encoding/binary"
	"flag"
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

var (
	seeds = flag.Uint64("seeds", 15, "markets that TestMarkets plays")
	first = flag.Uint64("first", 1, "seed of the first")
)

// TestMarkets: the chain has what the model has, after every block of every market.
func TestMarkets(t *testing.T) {
	met, executors, engine, far := map[string]int{}, another(t), newEngine(t), showing(t)
	for seed := *first; seed < *first+*seeds; seed++ {
		g := newGame(t, seed, 5+int(seed%9))
		if g.another = executors; seed%4 == 0 {
			g.beside = g.another()
		}
		if seed%3 == 0 {
			g.engine = engine
		}
		g.play(60)
		for what, n := range g.stats {
			met[what] += n
		}
		far("%d of %d markets played", seed-*first+1, *seeds)
	}
	for _, what := range slices.Sorted(maps.Keys(met)) {
		t.Logf("%7d %s", met[what], what)
	}
}

// showing returns what says how far a long test is, from time to time.
func showing(t testing.TB) func(format string, args ...any) {
	last := time.Now()
	return func(format string, args ...any) {
		t.Helper()
		if time.Since(last) >= 5*time.Second {
			last = time.Now()
			t.Logf(format, args...)
		}
	}
}

// another makes executors with the same engines, one at a time.
func another(t testing.TB) func() *parallel.Executor {
	t.Helper()
	engines := make([]*pvm.Engine, 3)
	for i := range engines {
		engines[i] = newEngine(t)
	}
	return func() *parallel.Executor {
		x, err := parallel.New(parallel.Config{Mode: parallel.Planned, Workers: len(engines)}, engines)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// play plays a market of so many blocks in which jobs are submitted, and on until all are
// over and gone.
func (g *game) play(blocks uint64) {
	g.t.Helper()
	for g.height = 1; g.height <= blocks || len(g.m.jobs) > 0; g.height++ {
		if g.rng.IntN(restartsEach) == 0 {
			g.restart()
		}
		if g.rng.IntN(votesEach) == 0 {
			g.vote()
		}
		g.block(g.plan(g.height <= blocks))
		if g.height > 2_000 {
			g.fatalf("%d jobs are left", len(g.m.jobs))
		}
	}
	g.nothingIsLeft()
}

// nothingIsLeft holds the dispatcher's tables to be empty, and what the verifier has counted
// to what the model has, when all jobs are gone.
func (g *game) nothingIsLeft() {
	g.t.Helper()
	for _, table := range []string{
		jobs.TableFresh, jobs.TableLive, jobs.TableDue, jobs.TableReady, jobs.TableHeavy, jobs.TableAsking, jobs.TableRetry, jobs.TableTouched, jobs.TableOpen, jobs.TableJob,
		jobs.TableSeat, "spec/", "terms/", "elig/", "who/", "body/", "found/", jobs.TableKept,
	} {
		if rows := g.rowsOf(table); len(rows) > 0 {
			g.fatalf("%d rows are left in %s", len(rows), table)
		}
	}
	for of, want := range g.m.prices {
		p, err := jobs.ReadPrices(g.state, of.kind, of.model)
		if err != nil || wei(p.Count).Cmp(want[0]) != 0 || bigOf(p.Sum[:]).Cmp(want[1]) != 0 || bigOf(p.Squares[:]).Cmp(want[2]) != 0 {
			g.fatalf("payments for %+v: %+v, %v, want %s", of, p, err, want)
		}
	}
	for who, want := range g.m.latest {
		row, err := g.state.Storage(chain.AddrJobDispatcher, jobs.LatestKey(who.by, who.kind))
		if err != nil || !bytes.Equal(row, binary.BigEndian.AppendUint64(want.runner[:], want.at)) {
			g.fatalf("who worked last for %s: %x, %v, want %+v", who.by, row, err, want)
		}
	}
	for a, want := range g.m.answers {
		if got, err := jobs.ReadCalls(g.state, a); err != nil || got != (jobs.Calls{Sent: want.sent, Failed: want.failed}) {
			g.fatalf("answers to %s: %+v, %v, want %+v", a, got, err, want)
		}
	}
	for _, r := range g.m.runners {
		if r.active != 0 || r.bonded.Sign() != 0 {
			g.fatalf("a runner has %d seats open and %s bonded, and all jobs are gone", r.active, r.bonded)
		}
	}
}

// bigOf is a number of several words, the highest first.
func bigOf(w []uint64) *big.Int {
	n := new(big.Int)
	for _, word := range w {
		n = plus(n.Lsh(n, 64), wei(word))
	}
	return n
}

// plan is what people send for the next block.
func (g *game) plan(asking bool) (acts []*act) {
	r := g.rng
	g.m.height = g.height
	for _, p := range g.players {
		known := g.m.registered(p.addr)
		if known != nil && (r.IntN(2) == 0 || p.plays == careful) {
			acts = append(acts, g.heartbeat(p.addr))
		}
		if known != nil && known.fellAt != 0 && r.IntN(5) == 0 {
			acts = append(acts, g.toRegistry("return", p.addr, new(big.Int), &chain.RunnerReturn{}, func(chain.Hash) uint16 { return g.m.comeBack(p.addr) }))
			continue
		}
		if known != nil && known.under && r.IntN(5) == 0 {
			acts = append(acts, g.topUp(p.addr, plus(g.m.required(known.largest), wei(r.Uint64N(5_000)))))
			continue
		}
		if g.height <= 2 && known == nil || r.IntN(18) == 0 {
			if a := g.ofRunner(p); a != nil {
				acts = append(acts, a)
			}
		}
	}
	if g.engine != nil {
		switch {
		case g.height == 1:
			acts = append(acts, g.deploys())
			g.m.needs[g.actor] = true
		case asking && r.IntN(6) == 0:
			acts = append(acts, g.actorAsks())
		}
	}
	for _, by := range g.askers {
		if asking && (r.IntN(5) == 0 || g.tight && g.height%6 == 0) {
			acts = append(acts, g.asks(by)...)
		}
		if a := g.regrets(by); a != nil && r.IntN(15) == 0 {
			acts = append(acts, a)
		}
	}
	for _, j := range g.m.byID(func(j *job) bool { return j.phase == assigned || j.phase == closing }) {
		acts = append(acts, g.work(j)...)
	}
	return acts
}

// work is what the runners of a job send.
func (g *game) work(j *job) (acts []*act) {
	r := g.rng
	for _, s := range j.seats() {
		p := g.playerOf(s.runner)
		if p.plays == lazy || s.shown != nil {
			continue
		}
		mine := g.promise(p, j)
		switch {
		case s.commitment == nil && g.height <= j.commitBy && j.phase == assigned && (j.runners() > 1 || r.IntN(3) == 0):
			if g.dawdles() {
				continue
			}
			c := mine.commitment()
			if other := j.seats()[r.IntN(len(j.seats()))]; p.plays == forger && other.commitment != nil {
				c = *other.commitment
			}
			acts = append(acts, g.commits(p.addr, j.id, c))
		case p.plays == withholding && (g.prompt || r.IntN(10) > 0):
		case g.dawdles(), !g.m.opens(j, p.addr) && r.IntN(20) > 0:
		case p.plays == forger && r.IntN(2) == 0:
			acts = append(acts, g.forges(p, j))
		case j.aggregator() == s && r.IntN(4) > 0:
			if all := g.gathered(j); len(all) > 0 {
				acts = append(acts, g.gathers(p.addr, j.id, all))
			}
		default:
			acts = append(acts, g.reveals(p.addr, j.id, *mine))
		}
	}
	return acts
}

// dawdles says that a runner lets a block pass.
func (g *game) dawdles() bool { return !g.prompt && g.rng.IntN(3) == 0 }

func (g *game) playerOf(a chain.Address) *player {
	for _, p := range g.players {
		if p.addr == a {
			return p
		}
	}
	panic("a stranger was drawn")
}

// gathered are the results of a job that its aggregator has by now.
func (g *game) gathered(j *job) (all []signed) {
	room := 100_000 // of a transaction: it may send several (resolution 12.30)
	for _, s := range j.seats() {
		mine := g.promises[promised{j.id, j.attempt(), s.runner}]
		if mine == nil || s.shown != nil || s.commitment == nil || g.playerOf(s.runner).plays == withholding || g.rng.IntN(6) < g.scatters {
			continue
		}
		if room -= len(mine.Result); room < 0 {
			break
		}
		all = append(all, *mine)
	}
	return all
}

// forges is a reveal that does not hold: of what was not committed to, or of what another
// has signed.
func (g *game) forges(p *player, j *job) *act {
	other := g.playerOf(j.seats()[g.rng.IntN(len(j.seats()))].runner)
	if g.rng.IntN(2) == 0 {
		return g.reveals(p.addr, j.id, *g.sign(other, j.id, g.answer(p, j).Encode()))
	}
	return g.reveals(p.addr, j.id, *g.sign(p, j.id, g.answer(p, j).Encode()))
}
