package results_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// The plain model of a job's life: what a runner did stands in lists of heights and texts,
// money in numbers without a bound, and every rule is written from the resolutions, with no
// line of the package that it is held against.

// plan is what a runner will try in an attempt; 0 is never.
type plan struct {
	commitAt, revealAt chain.Height
	shares             bool // its result with the aggregator
	gatherAt           chain.Height
	value              string // "ok:" and the data, or the name of a failure
	done               uint32 // of 10
}

// deed is what came of it.
type deed struct {
	plan
	who                 int
	committed, revealed chain.Height
	gathered            bool
	encoded             []byte
	withheld, wasSilent bool
	cost                *big.Int
}

// plainJob is the model of one job.
type plainJob struct {
	runners, threshold int
	price, tip         int64
	attempts           [][]*deed
	assigned, deadline chain.Height
	outcome            string // "" until it is known
	value              string // that was agreed
	verdictAt          chain.Height
	stakes             []*big.Int
	frozen             *big.Int
	silent, disagreed  []int
}

func (p *plainJob) now() []*deed { return p.attempts[len(p.attempts)-1] }

func (p *plainJob) commitBy() chain.Height {
	if p.runners == 1 {
		return p.deadline
	}
	return p.assigned + (p.deadline-p.assigned)*6/10
}

// end looks for an outcome when a block has ended.
func (p *plainJob) end(h chain.Height) {
	if p.outcome != "" || p.assigned == 0 {
		return
	}
	votes := map[string]int{}
	all, shown := true, 0
	committed := 0
	for _, d := range p.now() {
		if d.committed > 0 || d.revealed > 0 {
			committed++
		}
		if d.revealed > 0 {
			votes[d.value]++
			shown++
		} else if d.committed > 0 || h < p.commitBy() {
			all = false
		}
	}
	if p.runners > 1 && committed < p.threshold {
		return
	}
	for value, n := range votes {
		if n >= p.threshold { // more than half: there is one at most
			p.value, p.verdictAt = value, h
			p.outcome, _, _ = strings.Cut(value, ":")
		}
	}
	if p.outcome == "" && all && shown > 0 {
		p.outcome, p.verdictAt = "no_agreement", h
	}
	if p.outcome == "ok" {
		for _, d := range p.now() {
			if d.revealed > 0 && d.value != p.value {
				p.disagreed[d.who]++
			}
		}
	}
}

// late says of a result behind the outcome what it costs.
func (p *plainJob) late(d *deed) {
	if p.outcome == "ok" && d.value != p.value {
		p.disagreed[d.who]++
	}
}

// begin does what falls due at the beginning of a block, and reports whether the attempt has
// failed.
func (p *plainJob) begin(h chain.Height) (failed bool) {
	if p.assigned == 0 {
		return false
	}
	if p.runners > 1 && h == p.commitBy()+1 && p.outcome == "" {
		committed := 0
		for _, d := range p.now() {
			if d.committed > 0 {
				committed++
				continue
			}
			d.wasSilent = true
			p.silent[d.who]++
		}
		if committed < p.threshold {
			return true
		}
	}
	if h != p.comesToDeadline() {
		return false
	}
	for _, d := range p.now() {
		switch {
		case d.committed > 0 && d.revealed == 0:
			d.withheld = true
			fifth := new(big.Int).Div(p.stakes[d.who], big.NewInt(5))
			p.stakes[d.who].Sub(p.stakes[d.who], fifth)
			p.frozen.Add(p.frozen, fifth)
		case p.runners == 1 && d.revealed == 0:
			d.wasSilent = true
			p.silent[d.who]++
		}
	}
	return p.outcome == ""
}

// comesToDeadline is the block that finds an attempt over. Results that came before the last
// height are looked at once more, which takes a block.
func (p *plainJob) comesToDeadline() chain.Height {
	shown, last := false, false
	for _, d := range p.now() {
		shown, last = shown || d.revealed > 0, last || d.revealed == p.deadline
	}
	if p.outcome == "" && shown && !last {
		return p.deadline + 2
	}
	return p.deadline + 1
}

// settled is where the money is when all is over: by runner, and of the Treasury and the
// submitter.
func (p *plainJob) settled() (paid map[int]*big.Int, treasuryGets, refund *big.Int) {
	paid, treasuryGets, refund = map[int]*big.Int{}, new(big.Int), big.NewInt(p.price)
	if p.outcome == "timeout" {
		return paid, treasuryGets, refund.Add(refund, big.NewInt(p.tip))
	}
	var agreed []*deed
	byThemselves, gathered, aggregator := 0, 0, -1
	for n, d := range p.now() {
		if d.committed > 0 && (aggregator < 0) { // reputations fall by the seat
			aggregator = n
		}
		if d.revealed == 0 || !p.isPaid(d) {
			continue
		}
		agreed = append(agreed, d)
		if d.revealed <= p.verdictAt && d.gathered {
			gathered++
		} else if d.revealed <= p.verdictAt {
			byThemselves++
		}
	}
	bonus := gathered > 0 && byThemselves < p.threshold && p.now()[aggregator].revealed > 0 && p.isPaid(p.now()[aggregator])
	share := big.NewInt(p.price / int64(p.runners))
	bonuses := new(big.Int)
	part := func(g *big.Int, bp int64) *big.Int {
		return new(big.Int).Div(new(big.Int).Mul(g, big.NewInt(bp)), big.NewInt(10_000))
	}
	for _, d := range agreed {
		g := p.earned(d)
		if g.Cmp(share) > 0 {
			g.Set(share)
		}
		if p.outcome == "no_agreement" {
			g = part(g, 5_000)
		}
		refund.Sub(refund, g)
		t, b := part(g, 100), new(big.Int)
		if bonus {
			b = part(g, 150)
		}
		treasuryGets.Add(treasuryGets, t)
		bonuses.Add(bonuses, b)
		paid[d.who] = new(big.Int).Sub(new(big.Int).Sub(g, t), b)
	}
	if p.outcome == "ok" {
		n := int64(len(agreed))
		for i, d := range agreed {
			paid[d.who].Add(paid[d.who], big.NewInt(p.tip/n))
			if i == 0 {
				paid[d.who].Add(paid[d.who], big.NewInt(p.tip%n))
			}
		}
	} else {
		refund.Add(refund, big.NewInt(p.tip))
	}
	if bonus {
		who := p.now()[aggregator].who
		paid[who].Add(paid[who], bonuses)
	}
	return paid, treasuryGets, refund
}

// isPaid says whether a result that was shown is one of those that are paid: it says what was
// agreed, or it is one of enough that differ (ADR 228), and no more than half of these say the
// same, or it says that too (ADR 234).
func (p *plainJob) isPaid(d *deed) bool {
	if p.outcome != "no_agreement" {
		return d.value == p.value
	}
	good, says, most := 0, map[string]int{}, ""
	for _, other := range p.now() {
		if other.revealed > 0 && strings.HasPrefix(other.value, "ok:") {
			good++
			says[other.value]++
		}
	}
	for value, n := range says {
		if 2*n > good {
			most = value
		}
	}
	return good >= p.threshold && strings.HasPrefix(d.value, "ok:") && (most == "" || d.value == most)
}

// earned is what a result costs before its share bounds it.
func (p *plainJob) earned(d *deed) *big.Int {
	switch p.outcome {
	case "ok", "no_agreement":
		return new(big.Int).Set(d.cost)
	case "actor_fault":
		return big.NewInt(50_000)
	}
	return big.NewInt(int64(d.done) * 5_000 / 10)
}

var failures = map[string]chain.Outcome{"impossible": chain.OutcomeImpossible, "actor_fault": chain.OutcomeActorFault, "external": chain.OutcomeExternalFault}

var outcomesByName = map[string]jobs.Outcome{
	"ok": jobs.OK, "impossible": jobs.Impossible, "actor_fault": jobs.ActorFault, "external": jobs.External,
	"no_agreement": jobs.NoAgreement, "timeout": jobs.Timeout,
}

// life is one job in the world and in the model.
type life struct {
	*world
	rng  *rand.Rand
	id   chain.Hash
	pool []*runner
	plainJob
	mood int // how many of ten runners are honest
}

func newLife(t testing.TB, seed uint64) *life {
	l := &life{world: newWorld(t), rng: rand.New(rand.NewPCG(seed, 17)), id: chain.Hash{byte(seed), byte(seed >> 8), 1}}
	sizes := [][2]int{{1, 1}, {3, 2}, {4, 3}, {5, 3}, {5, 4}}
	size := sizes[l.rng.IntN(len(sizes))]
	l.runners, l.threshold, l.mood = size[0], size[1], l.rng.IntN(11)
	l.price, l.tip, l.frozen = l.rng.Int64N(40_000), l.rng.Int64N(100), new(big.Int)
	for n := range 14 {
		l.pool = append(l.pool, newRunner(t, n))
		l.register(n)
	}
	l.silent, l.disagreed = make([]int, len(l.pool)), make([]int, len(l.pool))
	l.height = 2 + chain.Height(l.rng.IntN(50))
	l.next = func(_ chain.Hash, j *jobs.Job) []*jobs.Seat {
		return l.draw(l.height, l.height+chain.Height(j.TimeoutBlocks))
	}
	return l
}

func (l *life) register(n int) {
	l.world.stakes(l.pool[n], 100_000_000)
	l.plainJob.stakes = append(l.plainJob.stakes, big.NewInt(100_000_000))
}

// draw makes a committee of who was never silent, and their plans.
func (l *life) draw(assigned, deadline chain.Height) []*jobs.Seat {
	var free []int
	for n := range l.pool {
		if l.silent[n] == 0 {
			free = append(free, n)
		}
	}
	l.rng.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	free = free[:min(len(free), l.runners)]
	if len(free) < l.threshold {
		return nil
	}
	l.assigned, l.deadline = assigned, deadline
	var deeds []*deed
	var committee []*runner
	for _, n := range free {
		d := &deed{who: n, plan: l.plan(n)}
		deeds = append(deeds, d)
		committee = append(committee, l.pool[n])
	}
	l.attempts = append(l.attempts, deeds)
	attempt := uint8(len(l.attempts) - 1)
	for _, d := range deeds {
		l.encode(d, attempt)
	}
	return l.seatsOf(committee...)
}

// plan is what a runner will try: what all do, or lies, silence and lateness.
func (l *life) plan(n int) plan {
	span := l.deadline - l.assigned
	at := func(from, to chain.Height) chain.Height {
		return from + chain.Height(l.rng.IntN(int(max(1, to-from+1))))
	}
	p := plan{
		commitAt: at(l.assigned+1, l.commitBy()), revealAt: at(l.deadline-span*2/10+1, l.deadline),
		gatherAt: at(l.commitBy()+1, l.deadline), shares: l.rng.IntN(3) > 0, value: "ok:42", done: uint32(l.rng.IntN(11)),
	}
	if l.rng.IntN(4) == 0 {
		p.gatherAt = 0
	}
	if l.runners == 1 {
		p.revealAt = at(p.commitAt, l.deadline)
		if l.rng.IntN(2) == 0 {
			p.commitAt = 0
		}
	}
	if l.rng.IntN(10) < l.mood {
		return p
	}
	switch l.rng.IntN(7) {
	case 0:
		p.value = fmt.Sprint("ok:lie ", n)
	case 1:
		p.value = "ok:the same lie"
	case 2:
		p.commitAt, p.revealAt, p.gatherAt, p.shares = 0, 0, 0, false // silent
	case 3:
		p.revealAt, p.gatherAt, p.shares = 0, 0, false // withholds
	case 4:
		p.revealAt, p.gatherAt, p.shares = l.deadline, 0, false // as late as may be
	case 5:
		p.value = []string{"impossible", "actor_fault", "external"}[l.rng.IntN(3)]
	case 6:
		p.value = "impossible"
	}
	return p
}

func (l *life) encode(d *deed, attempt uint8) {
	wall := uint32(l.rng.IntN(10_001))
	d.cost = big.NewInt(1_000 + 300*int64(wall)/1_000)
	use := func(r *chain.RunnerResult) { r.Usage.WallMillis = wall }
	if data, ok := strings.CutPrefix(d.value, "ok:"); ok {
		d.encoded = resultOf(attempt, data, use)
		return
	}
	d.encoded = resultOf(attempt, "", use, fails(failures[d.value], d.done, 10))
}

// act does what is planned for a height, and notes what was let through.
func (l *life) act() {
	h := l.height
	deeds := l.now()
	for _, d := range deeds {
		if d.commitAt == h && l.commit(l.id, l.pool[d.who], d.encoded) == nil {
			d.committed = h
		}
	}
	for i, d := range deeds {
		if d.gatherAt == h && d.committed > 0 && l.runners > 1 {
			l.gather(i)
		}
		if d.revealAt == h && d.revealed == 0 && (d.committed > 0 || l.runners == 1) && l.reveal(l.id, l.pool[d.who], d.encoded) == nil {
			l.showed(d, false)
		}
	}
}

func (l *life) showed(d *deed, gathered bool) {
	d.revealed, d.gathered = l.height, gathered
	if l.outcome != "" {
		l.late(d)
	}
}

// gather shows the results of those that share theirs, as the aggregator.
func (l *life) gather(by int) {
	first := slices.IndexFunc(l.now(), func(d *deed) bool { return d.committed > 0 })
	if first != by {
		return
	}
	var q chain.ResultSubmit
	q.JobID = l.id
	var whose []*deed
	for i, d := range l.now() {
		if d.committed > 0 && d.revealed == 0 && (d.shares || i == by) {
			q.Reveals = append(q.Reveals, shown(l.id, l.pool[d.who], d.encoded))
			whose = append(whose, d)
		}
	}
	if len(whose) > 0 && l.do(l.pool[l.now()[by].who], &q) == nil {
		alone := l.height <= l.deadline-(l.deadline-l.assigned)*2/10 // resolution 12.24: behind it everybody shows its own
		for _, d := range whose {
			l.showed(d, alone && d != l.now()[by])
		}
	}
}

// live runs the job to its end and holds each block's books, and in the end the money.
func (l *life) live() {
	spec, terms := asks(uint8(l.runners), uint8(l.threshold), chain.Wei(l.price), chain.Wei(l.tip))
	l.assign(l.id, spec, terms, l.draw(l.height, l.height+chain.Height(spec.TimeoutBlocks)-1))
	limit := l.height + 3*chain.Height(spec.TimeoutBlocks+2) + 45
	for l.job(l.id).Phase != jobs.Ended {
		if l.height > limit {
			l.Fatalf("the job lives at %d: %+v", l.height, l.job(l.id))
		}
		attempt := len(l.attempts)
		failed := l.plainJob.begin(l.height + 1)
		l.block(l.act)
		if failed && len(l.attempts) == attempt && l.outcome == "" {
			l.outcome, l.assigned = "timeout", 0
		}
		l.plainJob.end(l.height)
		l.books(l.id)
	}
	l.compare()
}

func (l *life) compare() {
	j := l.job(l.id)
	if want := outcomesByName[l.outcome]; j.Outcome != want {
		l.Fatalf("outcome %d, want %d (%s)", j.Outcome, want, l.outcome)
	}
	paid, treasuryGets, refund := l.settled()
	same := func(what string, got chain.Wei, want *big.Int) {
		l.Helper()
		if want == nil {
			want = new(big.Int)
		}
		if new(big.Int).SetUint64(uint64(got)).Cmp(want) != 0 {
			l.Errorf("%s: %d, want %s (%s)", what, got, want, l.outcome)
		}
	}
	for n, r := range l.pool {
		same(fmt.Sprint("runner ", n), l.balance(r.addr), paid[n])
		same(fmt.Sprint("stake ", n), l.registry.stake[r.addr], l.plainJob.stakes[n])
		said := l.registry.said[r.addr]
		if said["silent"] != l.silent[n] || said["disagreed"] != l.disagreed[n] {
			l.Errorf("runner %d: %v, want %d silences and %d disagreements", n, said, l.silent[n], l.disagreed[n])
		}
		if got := said["succeeded"] > 0; l.outcome == "ok" && got != (paid[n] != nil) {
			l.Errorf("runner %d: succeeded %v, paid %s", n, got, paid[n])
		}
		if l.registry.active[r.addr] != 0 {
			l.Errorf("runner %d has %d seats in the end", n, l.registry.active[r.addr])
		}
	}
	same("the Treasury", l.balance(chain.AddrTreasury), treasuryGets)
	same("the submitter", l.balance(chain.Address{submitter}), refund)
	same("burned", l.registry.burned, l.frozen)
	same("the dispatcher", l.balance(chain.AddrJobDispatcher), nil)
	if len(l.callbacks) != 1 {
		l.Errorf("%d answers", len(l.callbacks))
	}
}

// TestLives: jobs among honest, lying, silent, withholding and late runners end as the
// plain model says, with every unit where it says, and balanced books in each block.
func TestLives(t *testing.T) { // resolutions 11.28, 12.13, 12.25-12.35, 12.47, 12.52, 12.81
	seeds := uint64(150)
	if testing.Short() {
		seeds = 40
	}
	ends := map[string]int{}
	for seed := range seeds {
		l := newLife(t, seed)
		l.live()
		if ends[l.outcome]++; t.Failed() {
			t.Fatalf("seed %d: %d of %d", seed, l.threshold, l.runners)
		}
	}
	for name := range outcomesByName {
		if ends[name] == 0 && !testing.Short() {
			t.Errorf("no job ended as %s: %v", name, ends)
		}
	}
}

// FuzzLives is TestLives from any seed.
func FuzzLives(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { newLife(t, seed).live() })
}
