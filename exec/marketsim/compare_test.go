package marketsim

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/market/books"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/state"
)

// compare holds all of the market that is in the state to the model.
func (g *game) compare(r *exec.Result) {
	g.t.Helper()
	g.compareMoney()
	for _, a := range g.m.joined {
		want := g.m.runners[a]
		got, err := runners.Read(g.state, a)
		if err != nil || got == nil {
			g.fatalf("runner %s: %v, %v", a, got, err)
		}
		if have, want := spellRunner(got), g.m.spell(want); have != want {
			g.fatalf("runner %s:\n%s\nwant\n%s", a, have, want)
		}
	}
	rows := g.rowsOf(jobs.TableJob)
	if len(rows) != len(g.m.jobs) {
		g.fatalf("%d jobs, want %d", len(rows), len(g.m.jobs))
	}
	for _, j := range g.m.byID(func(*job) bool { return true }) {
		g.compareJob(j.id, j)
	}
	seats, opened := 0, 0
	for _, j := range g.m.jobs {
		for _, of := range j.attempts {
			seats += len(of)
			for _, s := range of {
				if s.open {
					opened++
				}
			}
		}
	}
	if got := len(g.rowsOf(jobs.TableSeat)); got != seats {
		g.fatalf("%d seats, want %d", got, seats)
	}
	if got := len(g.rowsOf(jobs.TableOpen)); got != opened {
		g.fatalf("%d seats are open, want %d", got, opened)
	}
	b, err := books.Read(g.state)
	if err == nil {
		err = b.Check(g.state)
	}
	if err != nil {
		g.fatalf("%v", err)
	}
}

// compareMoney holds every balance and the supply to the model's.
func (g *game) compareMoney() {
	g.t.Helper()
	all := map[chain.Address]bool{}
	for a := range g.state.Accounts {
		all[a] = true
	}
	for a := range g.m.money {
		all[a] = true
	}
	for a := range all {
		if got, want := g.state.Accounts[a].Balance, g.m.money.of(a); want.Cmp(wei(got)) != 0 {
			g.fatalf("account %s has %d, want %s", a, got, want)
		}
	}
	supply, err := staking.ReadSupply(g.state)
	if sum := g.m.money.total(); err != nil || wei(supply.Total).Cmp(g.supply) != 0 || sum.Cmp(g.supply) != 0 {
		g.fatalf("a supply of %d, %v; want %s; balances add up to %s", supply.Total, err, g.supply, sum)
	}
}

// rowsOf are the keys of a table of the dispatcher.
func (g *game) rowsOf(table string) []state.Entry {
	rows, err := g.state.Scan(chain.AddrJobDispatcher, state.Span{Prefix: jobs.TablePrefix(table), Entries: 1 << 20, Bytes: 1 << 30})
	if err != nil {
		g.fatalf("%v", err)
	}
	return rows
}

func (g *game) compareJob(id chain.Hash, want *job) {
	g.t.Helper()
	got, err := jobs.Read(g.state, id)
	if err != nil || got == nil {
		g.fatalf("job %s: %v, %v", id, got, err)
	}
	if have, want := spellJob(got), want.spell(); have != want {
		g.fatalf("job %s:\n%s\nwant\n%s", id, have, want)
	}
	if want.snapshot && got.CandidatesRoot != want.root() {
		g.fatalf("job %s: the root of its candidates is %s, want %s", id, got.CandidatesRoot, want.root())
	}
	kept, err := jobs.ReadKept(g.state, id)
	if err != nil || (kept != nil) != want.kept {
		g.fatalf("job %s: kept %v, %v, want %t", id, kept, err, want.kept)
	}
	if kept != nil && (kept.To != want.spec.Callback.Actor || kept.Format != want.terms.ResultSchema.DataFormat || !bytes.Equal(kept.Data, want.data)) {
		g.fatalf("job %s: kept for %s as %s: %.40q, want %.40q", id, kept.To, kept.Format, kept.Data, want.data)
	}
	for attempt, seats := range want.attempts {
		have, err := jobs.ReadSeats(g.state, id, uint8(attempt))
		if err != nil || len(have) != len(seats) {
			g.fatalf("job %s, attempt %d: %d seats, %v, want %d", id, attempt, len(have), err, len(seats))
		}
		for n := range seats {
			if have, want := spellSeat(have[n]), seats[n].spell(); have != want {
				g.fatalf("job %s, attempt %d, seat %d:\n%s\nwant\n%s", id, attempt, n, have, want)
			}
		}
	}
}

// What follows spells rows and what the model has in the same words.

func spellRunner(r *runners.Runner) string {
	var tranches []string
	for _, t := range r.Tranches {
		tranches = append(tranches, fmt.Sprint(t.Amount, "@", t.Free))
	}
	return fmt.Sprintf("%d stake %d bonded %d largest %d %s healthy %t paused %t gone %t under %t, since %d offer %d, %d@%d fell %d, active %d, %d good %d bad %d silent %d in a row, slashed %d, rejected by %s",
		r.Index, r.Stake, r.Bonded, r.MaxJobValue, strings.Join(tranches, " "),
		r.Has(selection.Healthy), r.Has(selection.Paused), r.Has(selection.Deregistered), r.Has(selection.Understaked), r.Registered, r.OfferChanged,
		r.Standing.ReputationX1e9, r.Standing.Height, r.FellAt, r.Active, r.Successes, r.Disagreements, r.Silences, r.TimeoutsInRow, r.Slashed, r.RejectedBy)
}

func (m *market) spell(r *runner) string {
	var tranches []string
	for _, t := range r.tranches {
		tranches = append(tranches, fmt.Sprint(t.amount, "@", t.free))
	}
	return fmt.Sprintf("%d stake %d bonded %d largest %d %s healthy %t paused %t gone %t under %t, since %d offer %d, %d@%d fell %d, active %d, %d good %d bad %d silent %d in a row, slashed %d, rejected by %s",
		r.index, r.stake, r.bonded, r.largest, strings.Join(tranches, " "), r.healthy, r.paused, r.gone, r.under, r.registered, r.offerChanged,
		r.standing.value, r.standing.at, r.fellAt, r.active, r.successes, r.disagreements, r.silences, r.inRow, r.slashed, r.rejectedBy)
}

// phases and outcomes of rows in the words of the model.
var (
	phases   = map[jobs.Phase]phase{jobs.Fresh: fresh, jobs.Assigned: assigned, jobs.Closing: closing, jobs.Ended: ended}
	outcomes = map[jobs.Outcome]outcome{
		jobs.Open: open, jobs.OK: agreed, jobs.Impossible: impossible, jobs.ActorFault: actorFault, jobs.External: external,
		jobs.NoAgreement: noAgreement, jobs.Timeout: timedOut, jobs.NoCandidates: noCandidates, jobs.Cancelled: cancelled,
	}
	marks = map[jobs.Mark]string{jobs.Unjudged: "", jobs.Agrees: "agrees", jobs.Differs: "differs", jobs.Void: "void"}
)

func spellJob(j *jobs.Job) string {
	return fmt.Sprintf("by %s at %d, %s %s, attempt %d, held %d, seed %s, from %d to %d, commit by %d, gather until %d, verdict %d, window %d, seat %d, data %s, next %d",
		j.Submitter, j.SubmittedAt, phases[j.Phase], outcomes[j.Outcome], j.Attempt, j.Held, j.Seed, j.AssignedAt, j.Deadline, j.CommitBy, j.GatherUntil,
		j.VerdictAt, j.WindowEnd, j.CanonicalSeat, j.DataHash, j.DueAt)
}

func (j *job) spell() string {
	var data chain.Hash
	if j.outcome == agreed {
		data = keccak.Sum256(j.data)
	}
	return fmt.Sprintf("by %s at %d, %s %s, attempt %d, held %d, seed %s, from %d to %d, commit by %d, gather until %d, verdict %d, window %d, seat %d, data %s, next %d",
		j.by, j.submitted, j.phase, j.outcome, max(j.attempt(), 0), j.held, j.seed, j.begun, j.deadline, j.commitBy, j.gatherTo,
		j.verdict, j.window, j.canonical, data, j.due.behind)
}

func spellSeat(s *jobs.Seat) string {
	shown := "nothing"
	if s.Reveal != nil {
		shown = fmt.Sprintf("%s at %d gathered %t", s.Reveal.Result, s.Reveal.At, s.Reveal.Gathered)
	}
	commitment := "nothing"
	if s.Commitment != nil {
		commitment = s.Commitment.String()
	}
	return fmt.Sprintf("%s expects %d excess %t, rep %d, committed %s at %d, shown %s, cost %d, frozen %d, bonded %d, silent %t, %q, %d",
		s.Runner, s.ExpectedPrice, s.Excess, s.ReputationX1e9, commitment, s.CommittedAt, shown, s.Cost, s.Frozen, s.Bonded, s.Silent, marks[s.Mark], s.Millis)
}

func (s *seat) spell() string {
	shown := "nothing"
	if s.shown != nil {
		shown = fmt.Sprintf("%s at %d gathered %t", chain.Hash(keccak.Sum256(s.shown.raw)), s.shown.at, s.shown.gathered)
	}
	commitment := "nothing"
	if s.commitment != nil {
		commitment = s.commitment.String()
	}
	most := new(big.Int).Sub(two64, big.NewInt(1)) // what a row has room for
	return fmt.Sprintf("%s expects %d excess %t, rep %d, committed %s at %d, shown %s, cost %d, frozen %d, bonded %d, silent %t, %q, %d",
		s.runner, least(s.expected, most), s.excess, s.rep, commitment, s.committedAt, shown, s.cost, s.frozen, s.bonded, s.silent, s.mark, s.millis)
}

// root is that of CIP-2's tree over the candidates, by the digests of package chain.
func (j *job) root() chain.Hash {
	list := make([]chain.Candidate, len(j.candidates))
	for i, c := range j.candidates {
		list[i] = chain.Candidate{
			Runner: c.runner, EffectiveStake: chain.Wei(c.stake.Uint64()), ReputationX1e9: c.rep.Uint64(), BaseWeight: c.weight.Uint64(),
		}
	}
	return chain.CandidatesRoot(list)
}
