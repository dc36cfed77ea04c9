package runners

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

var one = chain.Address{1}

// penal is a registry with one runner, whose stake it holds.
func penal(t *testing.T, p *params.Params, stake chain.Wei) *Book {
	t.Helper()
	b := &Book{State: state.NewOverlay(state.Empty{}), Params: p, Height: 1}
	o := &Offer{Capabilities: chain.Capabilities{MaxConcurrentJobs: 2, JobTypes: []chain.JobKind{chain.JobHTTP}}}
	if err := funds.Issue(b.State, chain.AddrRunnerRegistry, stake); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Register(one, stake, 0, o, unpaid); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *Book) read(t *testing.T) *Runner {
	t.Helper()
	r, err := Read(b.State, one)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSilences: five points each, and stake at the third in a row, which burns at once; a
// result that is shown breaks the row.
func TestSilences(t *testing.T) { // CIP-2 §6; resolutions 6.9, 12.35, 12.81
	p := params.Default()
	b := penal(t, &p, p.Runner.StakeFloor)
	b.Height = 1
	for i, want := range []struct {
		burned chain.Wei
		row    uint64
	}{{0, 1}, {0, 2}, {p.Runner.StakeFloor / 20, 0}, {0, 1}, {0, 2}} {
		burned, err := b.Silent(one)
		r := b.read(t)
		if err != nil || burned != want.burned || r.TimeoutsInRow != want.row || r.Silences != uint64(i+1) ||
			r.Standing.ReputationX1e9 != (45-5*uint64(i))*selection.Point {
			t.Fatalf("silence %d burns %d, %v: %+v", i+1, burned, err, *r)
		}
	}
	must(t, b.Revealed(one))
	if r := b.read(t); r.TimeoutsInRow != 0 {
		t.Errorf("a result leaves %d silences in a row", r.TimeoutsInRow)
	}
	left := p.Runner.StakeFloor * 19 / 20
	if r := b.read(t); r.Stake != left || b.Burned != p.Runner.StakeFloor/20 || r.Slashed != b.Burned || !r.Has(selection.Understaked) {
		t.Errorf("%+v, burned %d", *r, b.Burned)
	}
	if held, err := funds.Balance(b.State, chain.AddrRunnerRegistry); err != nil || held != left {
		t.Errorf("the registry holds %d, want %d (%v)", held, left, err)
	}
}

// TestScores holds each event to its points, and the fall below the minimum to the block
// of the event.
func TestScores(t *testing.T) { // resolutions 5.9, 12.5, 12.7, 12.35
	p := params.Default()
	for _, c := range []struct {
		name   string
		do     func(b *Book) error
		points uint64
		fell   chain.Height
	}{
		{"success", func(b *Book) error { return b.Succeeded(one, false) }, 51, 0},
		{"gathered", func(b *Book) error { return b.Succeeded(one, true) }, 51, 0},
		{"disagreement", func(b *Book) error { return b.Disagreed(one) }, 49, 7},
		{"retries", func(b *Book) error { return b.LostRetries(one) }, 47, 7},
	} {
		b := penal(t, &p, p.Runner.StakeFloor)
		b.Height = 7
		must(t, c.do(b))
		if r := b.read(t); r.Standing != (selection.Standing{ReputationX1e9: c.points * selection.Point, Height: 7}) || r.FellAt != c.fell {
			t.Errorf("%s: %+v", c.name, *r)
		}
	}
	b := penal(t, &p, p.Runner.StakeFloor)
	b.Height = 7
	must(t, b.Disagreed(one))
	b.Height = 9
	must(t, b.Disagreed(one)) // is below already
	if r := b.read(t); r.FellAt != 7 || r.Disagreements != 2 {
		t.Errorf("fell at %d, %d disagreements", r.FellAt, r.Disagreements)
	}
	must(t, b.Succeeded(one, false))
	must(t, b.Succeeded(one, false))
	b.Height = 11
	must(t, b.Disagreed(one)) // falls again
	if r := b.read(t); r.FellAt != 11 || r.Successes != 2 {
		t.Errorf("fell at %d, %d successes", r.FellAt, r.Successes)
	}
}

// TestSlashTakesWhatUnbonds: of stake and of what unbonds, from the newest back, and to the
// unit what a sum in wide numbers says.
func TestSlashTakesWhatUnbonds(t *testing.T) { // resolution 12.47
	r := &Runner{Stake: 100, Tranches: []Tranche{{50, 1}, {30, 2}, {20, 3}}}
	if got := r.slash(6_000); got != 120 || r.Stake != 0 || len(r.Tranches) != 2 || r.Tranches[1].Amount != 30 {
		t.Errorf("took %d: %+v", got, *r)
	}
	if got := r.slash(5_000); got != 40 || len(r.Tranches) != 1 || r.Tranches[0].Amount != 40 || r.Slashed != 160 {
		t.Errorf("took %d: %+v", got, *r)
	}
	if got := r.slash(10_000); got != 40 || len(r.Tranches) != 0 || r.slash(10_000) != 0 {
		t.Errorf("took %d: %+v", got, *r)
	}
	most := &Runner{Stake: math.MaxUint64 - 7, Tranches: []Tranche{{7, 1}}}
	if got := most.slash(9_999); got != math.MaxUint64/10_000*9_999+math.MaxUint64%10_000*9_999/10_000 {
		t.Errorf("took %d of all there can be", got)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1_000 {
		r := &Runner{Stake: chain.Wei(rng.Uint64N(1_000))}
		for range rng.IntN(MaxTranches + 1) {
			r.Tranches = append(r.Tranches, Tranche{chain.Wei(1 + rng.Uint64N(100)), 1})
		}
		before, share := r.AtRisk(), rng.Uint64N(10_001)
		if got := r.slash(share); got != before*chain.Wei(share)/10_000 || r.AtRisk() != before-got {
			t.Fatalf("%d basis points of %d: %d, and %d are left", share, before, got, r.AtRisk())
		}
	}
}

// TestSeatsOfARunner: work at hand, bonds within what is free, and seats beyond the room.
func TestSeatsOfARunner(t *testing.T) { // resolutions 5.7, 12.8, 12.11
	p := params.Default()
	p.Runner.StakeFloor, p.Runner.ProbationSuccesses = 100, 1
	b := penal(t, &p, 100)
	for i, want := range []struct {
		bond, bonded chain.Wei
		excess       bool
	}{{60, 60, false}, {math.MaxUint64, 40, true}, {1, 0, true}} {
		bonded, excess, err := b.Seated(one, want.bond)
		if err != nil || bonded != want.bonded || excess != want.excess {
			t.Errorf("seat %d: bonds %d, %v, %v", i, bonded, excess, err)
		}
	}
	must(t, b.Succeeded(one, false)) // the end of probation: two at a time
	must(t, b.Unseated(one))
	must(t, b.Unseated(one))
	if _, excess, err := b.Seated(one, 0); err != nil || excess {
		t.Errorf("the second seat is excess: %v, %v", excess, err)
	}
	if err := b.Unstake(one, 1); !errors.Is(err, ErrStake) {
		t.Errorf("unstake: %v", err)
	}
	must(t, b.Release(one, 100))
	for name, err := range map[string]error{"released twice": b.Release(one, 1), "no such runner": b.Unseated(chain.Address{2})} {
		if !errors.Is(err, ErrRecord) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, b.Unseated(one))
	must(t, b.Unseated(one))
	if err := b.Unseated(one); !errors.Is(err, ErrRecord) {
		t.Errorf("closed more often than seated: %v", err)
	}
	must(t, b.Deregister(one))
	if _, excess, err := b.Seated(one, 0); err != nil || !excess {
		t.Errorf("who has left has room: %v, %v", excess, err)
	}
}

// TestUnbondingIsWhatItWas: a vote moves nothing that is on its way already.
func TestUnbondingIsWhatItWas(t *testing.T) { // resolution 11.30
	p := params.Default()
	p.Runner.StakeFloor, p.Runner.UnbondingBlocks = 100, 10
	b := penal(t, &p, 200)
	must(t, b.Unstake(one, 30)) // free at 11
	p.Runner.UnbondingBlocks = 1_000
	b.Height = 2
	must(t, b.Unstake(one, 20)) // free at 1002
	p.Runner.UnbondingBlocks = 5
	b.Height = 4
	must(t, b.Unstake(one, 10)) // free at 9, before the older ones
	for _, step := range []struct {
		at   chain.Height
		want chain.Wei
	}{{8, 0}, {9, 10}, {10, 0}, {11, 30}, {1_001, 0}, {1_002, 20}} {
		b.Height = step.at
		free, err := b.Withdraw(one)
		if free != step.want || (step.want == 0) != errors.Is(err, ErrNothingFree) {
			t.Errorf("block %d frees %d, %v, want %d", step.at, free, err, step.want)
		}
	}
}

// TestConfigurations: a number for each change, however often it is asked for.
func TestConfigurations(t *testing.T) { // resolution 12.17
	p := params.Default()
	b := penal(t, &p, p.Runner.StakeFloor)
	var all []selection.Config
	for i, change := range []func(){
		func() {}, func() {}, func() { p.Runner.MinReputation = 40 }, func() {}, func() { p.Runner.StakeFloor++ }, func() { p.Runner.MinReputation = 50 },
	} {
		change()
		n, c, err := b.Configure()
		if want := []uint32{0, 0, 1, 1, 2, 3}[i]; err != nil || n != want {
			t.Fatalf("step %d: configuration %d, %v, want %d", i, n, err, want)
		}
		if int(n) == len(all) {
			all = append(all, *c)
		}
	}
	for n, want := range all {
		if got, err := ReadConfig(b.State, uint32(n)); err != nil || *got != want {
			t.Errorf("configuration %d reads as %+v, %v, want %+v", n, got, err, want)
		}
	}
	if _, err := ReadConfig(b.State, 9); !errors.Is(err, ErrRecord) {
		t.Errorf("no such configuration: %v", err)
	}
}

// TestRejections: a submitter that has nothing of a runner's work, time and again, counts once
// and pays each time; behind three of them the runner is paid nothing, until others confirm
// something of it (ADR 228).
func TestRejections(t *testing.T) {
	p := params.Default()
	b := penal(t, &p, p.Runner.StakeFloor)
	rejected := func(by byte, want bool) {
		t.Helper()
		if paid, err := b.Rejected(one, chain.Address{by}); err != nil || paid != want {
			t.Errorf("rejected by %d: paid %v, %v, want %v", by, paid, err, want)
		}
	}
	for _, by := range []byte{1, 1, 1, 2, 1, 2, 3} {
		rejected(by, true)
	}
	rejected(1, false)
	rejected(4, false)
	if r := b.read(t); len(r.RejectedBy) != MaxRejections || r.Standing.ReputationX1e9 != 50*selection.Point || r.Disagreements != 0 {
		t.Errorf("%+v", *r)
	}
	must(t, b.Succeeded(one, false)) // of a job that takes whatever comes
	rejected(4, false)
	must(t, b.Confirmed(one))
	rejected(4, true)
}
