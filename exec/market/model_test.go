package market_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/books"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

var markets = flag.Int("markets", 12, "random markets of TestDispatcherMatchesModel")

// The model is the dispatcher as the texts say it: runners and jobs in lists, a copy of all
// candidates for each job, everything looked at in every block. It shares weights,
// reputation and the draw from a list with the package, which has its own twins of them.

type mRunner struct {
	addr          chain.Address
	stake, bonded chain.Wei
	aside         []chain.Wei // oldest first
	standing      selection.Standing
	price         chain.Wei // of a request
	most          uint16
	active        int
	row           uint64 // silences in a row
	silences      uint64
	successes     uint64
	paused        bool
}

type mSeat struct {
	of                              *mRunner
	excess, silent, open, committed bool
	frozen, bonded                  chain.Wei
}

type mJob struct {
	id                 chain.Hash
	order              order
	submitted          chain.Height
	candidates         []chain.Candidate
	seed               chain.Hash
	attempt            int
	seats              [][]*mSeat
	assigned           bool
	deadline, commitBy chain.Height
	waits              chain.Height // since when for a draw; 0: it does not
	fresh, live        bool
	due                chain.Height
	event              jobs.Event
	phase              jobs.Phase
	outcome            jobs.Outcome
	held               chain.Wei
	over               bool // its rows are gone
}

type model struct {
	w       *world
	runners []*mRunner
	jobs    []*mJob
	burned  chain.Wei
	said    uint64 // events of a pass
}

func (m *model) config() selection.Config {
	p := &m.w.p.Runner
	return selection.Config{
		Version: selection.V2, StakeFloor: p.StakeFloor, MinReputation: p.MinReputation, HalfLifeBlocks: p.ReputationHalfLifeBlocks,
		Normalizer: selection.Normalizer,
	}
}

func (m *model) score(r *mRunner, e selection.Event, h chain.Height) {
	c, p := m.config(), &m.w.p.Runner
	r.standing = r.standing.After(e, h, &c, &selection.Points{
		PerResult: p.ReputationPerResult, PerTimeout: p.TimeoutReputationPenalty, PerDisagreement: p.DisagreementPenalty,
		PerFailure: p.SlashThreshold, Max: p.MaxReputation,
	})
}

func (r *mRunner) slash(basisPoints uint64) chain.Wei {
	all := r.stake
	for _, n := range r.aside {
		all += n
	}
	share := chain.Wei(uint64(all) * basisPoints / 10_000)
	left := share
	n := min(left, r.stake)
	r.stake, left = r.stake-n, left-n
	for k := len(r.aside) - 1; k >= 0; k-- {
		n = min(left, r.aside[k])
		r.aside[k], left = r.aside[k]-n, left-n
	}
	r.aside = slices.DeleteFunc(r.aside, func(n chain.Wei) bool { return n == 0 })
	return share
}

// room is how many jobs a runner may have.
func (m *model) room(r *mRunner) int {
	if r.successes < m.w.p.Runner.ProbationSuccesses {
		return 1
	}
	return int(r.most)
}

// take finds the candidates of a job at the end of a block.
func (m *model) take(j *mJob) {
	c := m.config()
	for _, r := range m.runners {
		reputation := r.standing.At(j.submitted, c.HalfLifeBlocks)
		free := r.stake - min(r.bonded, r.stake)
		switch cost := r.price * chain.Wei(1+j.order.retries); {
		case r.paused || r.stake < m.w.p.Runner.StakeFloor:
		case selection.Rounded(reputation) < c.MinReputation:
		case j.order.price > 0 && cost > j.order.price/chain.Wei(j.order.runners):
		case r.active >= m.room(r):
		case j.order.pool != nil && r.addr[0]%2 == 0:
		case j.order.bonded && free < 2*j.order.price:
		default:
			j.candidates = append(j.candidates, chain.Candidate{
				Runner: r.addr, EffectiveStake: r.stake, ReputationX1e9: reputation, BaseWeight: c.Weight(r.stake, reputation),
			})
		}
	}
	slices.SortFunc(j.candidates, func(a, b chain.Candidate) int { return bytes.Compare(a.Runner[:], b.Runner[:]) })
}

func (m *model) find(a chain.Address) *mRunner {
	return m.runners[slices.IndexFunc(m.runners, func(r *mRunner) bool { return r.addr == a })]
}

// silents are the seats of a job that let a deadline pass.
func (j *mJob) silents() (out []*mSeat) {
	for _, seats := range j.seats {
		for _, s := range seats {
			if s.silent {
				out = append(out, s)
			}
		}
	}
	return out
}

func (m *model) draw(j *mJob, h chain.Height) {
	m.said++
	if m.w.gone[j.order.by] {
		m.conclude(j, jobs.Cancelled, h)
		return
	}
	var list []chain.Candidate
	for _, c := range j.candidates {
		if !slices.ContainsFunc(j.silents(), func(s *mSeat) bool { return s.of.addr == c.Runner }) {
			list = append(list, c)
		}
	}
	if len(list) < int(j.order.agree) && m.w.p.Job.FailUnfillable {
		m.conclude(j, []jobs.Outcome{jobs.NoCandidates, jobs.Timeout, jobs.Timeout}[j.attempt], h)
		return
	}
	seed := j.seed
	if j.attempt > 0 {
		seed = keccak.Sum256(binary.LittleEndian.AppendUint32(append(j.seed[:], "retry:"...), uint32(j.attempt)))
	}
	j.deadline = h + chain.Height(j.order.timeout)
	if j.attempt == 0 {
		j.deadline = j.submitted + chain.Height(j.order.timeout)
	}
	short := uint64(j.deadline-h) < m.w.p.Job.MinWindowBlocks || j.order.timeout < 2 // one for the draw, one for the result
	var seats []*mSeat
	for _, step := range selection.Take(list).DrawV2(&selection.Round{First: seed, Runners: int(j.order.runners)}, true) {
		r := m.find(list[step.Candidate].Runner)
		s := &mSeat{of: r, excess: r.active >= m.room(r) || short, open: true}
		if j.order.bonded {
			s.bonded = min(2*j.order.price, r.stake-min(r.bonded, r.stake))
			r.bonded += s.bonded
		}
		r.active++
		seats = append(seats, s)
	}
	j.seats = append(j.seats, seats)
	j.fresh, j.assigned, j.phase = false, true, jobs.Assigned
	j.commitBy, j.due, j.event = j.deadline, j.deadline, jobs.AtDeadline
	if j.order.runners > 1 {
		j.commitBy = h + chain.Height(uint64(j.deadline-h)*6/10)
		j.due, j.event = j.commitBy, jobs.AtCommitDeadline
	}
}

func (m *model) close(s *mSeat) {
	if s.open {
		s.open = false
		s.of.active--
	}
}

func (m *model) silence(s *mSeat, h chain.Height) {
	s.silent = true
	m.close(s)
	if s.excess {
		return
	}
	s.of.silences++
	s.of.row++
	m.score(s.of, selection.Silent, h)
	if s.of.row >= m.w.p.Runner.SlashThreshold {
		s.of.row = 0
		burned := s.of.slash(m.w.p.Runner.SlashTimeoutBasisPoints)
		m.burned += burned
		if burned > 0 {
			m.said++
		}
	}
}

func (m *model) release(s *mSeat) {
	m.close(s)
	s.of.bonded -= s.bonded
	s.bonded = 0
}

func (m *model) lapse(j *mJob, h chain.Height) {
	m.said++
	for _, s := range j.seats[j.attempt] {
		m.release(s)
	}
	j.due = 0
	if j.attempt == 2 {
		m.conclude(j, jobs.Timeout, h)
		return
	}
	j.attempt++
	j.waits, j.deadline, j.commitBy = h, 0, 0
}

func (m *model) conclude(j *mJob, o jobs.Outcome, h chain.Height) {
	if o == jobs.Timeout {
		for _, s := range j.silents() {
			if !s.excess {
				m.score(s.of, selection.Abandoned, h)
			}
		}
	}
	var frozen chain.Wei
	for _, seats := range j.seats {
		for _, s := range seats {
			frozen += s.frozen
		}
	}
	j.fresh, j.live, j.outcome = false, false, o
	if frozen == 0 {
		m.end(j, h)
		return
	}
	window := j.order.window
	if window == 0 {
		window = m.w.p.Job.ChallengeWindowBlocks
	}
	j.phase, j.due, j.event = jobs.Closing, h+chain.Height(window), jobs.AtWindowEnd
}

func (m *model) end(j *mJob, h chain.Height) {
	j.phase, j.held, j.live, j.due, j.event = jobs.Ended, 0, false, h+chain.Height(m.w.p.Job.KeepBlocks), jobs.AtPrune
}

func (m *model) happen(j *mJob, h chain.Height) {
	j.due = 0
	switch j.event {
	case jobs.AtCommitDeadline:
		committed := 0
		for _, s := range j.seats[j.attempt] {
			if s.committed {
				committed++
			} else {
				m.silence(s, h)
			}
		}
		if committed < int(j.order.agree) && m.w.p.Job.EarlyRetry {
			m.lapse(j, h)
			return
		}
		j.due, j.event = j.deadline, jobs.AtDeadline
	case jobs.AtDeadline:
		for _, s := range j.seats[j.attempt] {
			switch {
			case s.committed:
				s.frozen = s.of.slash(m.w.p.Runner.SlashNonDeliveryBasisPoints)
			case j.order.runners == 1:
				m.silence(s, h)
			}
		}
		m.lapse(j, h)
	case jobs.AtWindowEnd:
		for _, seats := range j.seats {
			for _, s := range seats {
				m.burned += s.frozen
				s.frozen = 0
				m.release(s)
			}
		}
		m.end(j, h)
	case jobs.AtPrune:
		j.over = true
	}
}

// first returns the job that comes first of those that pass.
func (m *model) first(at func(j *mJob) chain.Height) *mJob {
	var found *mJob
	for _, j := range m.jobs {
		h := at(j)
		if h == 0 || j.over {
			continue
		}
		if found == nil || cmp.Or(cmp.Compare(h, at(found)), bytes.Compare(j.id[:], found.id[:])) < 0 {
			found = j
		}
	}
	return found
}

func (m *model) begin(h chain.Height, seed chain.Hash) {
	m.said = 0
	most := m.w.p.Job.DuePerBlock
	for done := uint64(0); done < most && m.said < most; done++ {
		j := m.first(func(j *mJob) chain.Height { return j.due })
		if j == nil || j.due >= h {
			break
		}
		seats := 0
		for _, s := range j.seats {
			seats += len(s)
		}
		if pruned := j.event == jobs.AtPrune; pruned {
			done += uint64(3*seats+4) / 8
		} else {
			done += uint64(j.order.runners) / 4
		}
		m.happen(j, h)
	}
	for {
		j := m.first(func(j *mJob) chain.Height {
			if j.fresh {
				return j.submitted
			}
			return 0
		})
		if j == nil {
			break
		}
		j.seed = chain.SelectionSeedV2(seed, j.id, j.submitted)
		m.draw(j, h)
	}
	for _, j := range m.retries() {
		j.waits = 0
		m.draw(j, h)
	}
}

// retries are the jobs that are drawn for again: of each submitter a quarter of what a block
// draws, then others, out of eight times as many that have waited longest.
func (m *model) retries() (drawn []*mJob) {
	most := int(m.w.p.Job.RetriesPerBlock)
	var queue, rest []*mJob
	for _, j := range m.jobs {
		if j.waits > 0 && !j.over {
			queue = append(queue, j)
		}
	}
	slices.SortFunc(queue, func(a, b *mJob) int {
		return cmp.Or(cmp.Compare(a.waits, b.waits), bytes.Compare(a.id[:], b.id[:]))
	})
	got := map[chain.Address]int{}
	for _, j := range queue[:min(len(queue), 8*most)] {
		if got[j.order.by]++; got[j.order.by] <= max(1, most/4) {
			drawn = append(drawn, j)
		} else {
			rest = append(rest, j)
		}
	}
	drawn = append(drawn, rest...)
	return drawn[:min(most, len(drawn))]
}

// act lets one thing happen, on both sides.
func (m *model) act(rng *rand.Rand, d *jobs.Dispatch) {
	switch rng.IntN(7) {
	case 0:
		if len(m.runners) < 70 {
			m.join(rng, d)
		}
	case 1, 2:
		m.submit(rng, d)
	case 3, 4:
		m.commit(rng, d)
	case 5:
		m.change(rng, d)
	case 6:
		m.verify(rng, d)
	}
}

func (m *model) join(rng *rand.Rand, d *jobs.Dispatch) {
	floor := m.w.p.Runner.StakeFloor
	r := &mRunner{
		stake: floor + chain.Wei(rng.Uint64N(uint64(9*floor))), price: chain.Wei(1 + rng.IntN(20)), most: uint16(1 + rng.IntN(3)),
		standing: selection.Standing{ReputationX1e9: m.w.p.Runner.InitialReputation * selection.Point, Height: d.Book.Height},
	}
	for i := range r.addr {
		r.addr[i] = byte(rng.Uint32())
	}
	enlist(m.w.t, d, r.addr, r.stake, chain.RateCard{HTTPRequestBase: r.price}, r.most)
	m.runners = append(m.runners, r)
}

func (m *model) submit(rng *rand.Rand, d *jobs.Dispatch) {
	j := &mJob{id: seedOf(rng), submitted: d.Book.Height, fresh: true, live: true}
	j.order = order{
		by: chain.Address{0: 9, 19: byte(1 + rng.IntN(3))}, runners: 1, agree: 1, timeout: 1 + rng.Uint64N(30), price: chain.Wei(rng.IntN(300)),
		window: rng.Uint64N(8), retries: uint32(rng.IntN(4)),
	}
	switch rng.IntN(4) {
	case 0:
		j.order.bonded = true
	case 1:
		j.order.pool = []byte("odd")
		fallthrough
	default:
		j.order.runners = uint8(2 + rng.IntN(4))
		j.order.agree, j.order.timeout = j.order.runners/2+1, 20+rng.Uint64N(20)
	}
	j.held = j.order.price
	submit(m.w.t, d, j.id, j.order)
	m.jobs = append(m.jobs, j)
}

// commit makes some runners of a job keep their word.
func (m *model) commit(rng *rand.Rand, d *jobs.Dispatch) {
	if len(m.jobs) == 0 {
		return
	}
	j := m.jobs[rng.IntN(len(m.jobs))]
	if j.phase != jobs.Assigned || j.waits > 0 || d.Book.Height > j.commitBy || j.over {
		return
	}
	for n, s := range j.seats[j.attempt] {
		if s.committed || rng.IntN(3) == 0 {
			continue
		}
		s.committed = true
		row, err := jobs.ReadSeat(d.Book.State, j.id, uint8(j.attempt), uint8(n))
		if err != nil || row == nil {
			m.w.t.Fatal(row, err)
		}
		row.Commitment, row.CommittedAt = new(chain.Hash{1}), d.Book.Height
		d.Book.PutSeat(j.id, uint8(j.attempt), uint8(n), row)
	}
}

// change moves a runner's stake or standing.
func (m *model) change(rng *rand.Rand, d *jobs.Dispatch) {
	if len(m.runners) == 0 {
		return
	}
	r := m.runners[rng.IntN(len(m.runners))]
	var err error
	switch rng.IntN(5) {
	case 0:
		r.paused = !r.paused
		err = d.Runners.SetPaused(r.addr, r.paused)
	case 1:
		err = d.Runners.Succeeded(r.addr, rng.IntN(2) == 0)
		r.successes++
		m.score(r, selection.Verified, d.Book.Height)
	case 2:
		err = d.Runners.Disagreed(r.addr)
		m.score(r, selection.Disagreed, d.Book.Height)
	case 3:
		err = d.Runners.Revealed(r.addr)
		r.row = 0
	case 4:
		if n := chain.Wei(1 + rng.Uint64N(1_000)); r.stake >= m.w.p.Runner.StakeFloor+n && r.stake-n >= r.bonded && len(r.aside) < 8 {
			m.w.p.Runner.UnbondingBlocks++ // so that no two of them are one
			err = d.Runners.Unstake(r.addr, n)
			r.stake -= n
			r.aside = append(r.aside, n)
		}
	}
	if err != nil {
		m.w.t.Fatalf("block %d: %v", d.Book.Height, err)
	}
}

// verify gives a job its verdict.
func (m *model) verify(rng *rand.Rand, d *jobs.Dispatch) {
	if len(m.jobs) == 0 {
		return
	}
	j := m.jobs[rng.IntN(len(m.jobs))]
	if j.phase != jobs.Assigned || j.waits > 0 || j.over || d.Book.Height > j.deadline {
		return
	}
	row, err := jobs.Read(d.Book.State, j.id)
	if err != nil {
		m.w.t.Fatal(err)
	}
	row.Phase, row.Outcome, row.VerdictAt, row.WindowEnd = jobs.Closing, jobs.OK, d.Book.Height, d.Book.Height+5
	d.Book.NoMoreDraws(j.id, row)
	d.Book.Schedule(j.id, row, row.WindowEnd, jobs.AtWindowEnd)
	j.phase, j.outcome, j.live, j.due, j.event = jobs.Closing, jobs.OK, false, row.WindowEnd, jobs.AtWindowEnd
}

// TestDispatcherMatchesModel runs random markets beside the model, block by block: the
// same committees, phases, windows, penalties and money. Each block is executed twice,
// once with all that is remembered of earlier blocks and of a fork, once from the rows
// alone.
func TestDispatcherMatchesModel(t *testing.T) {
	seeds := *markets
	if testing.Short() {
		seeds = 6
	}
	seen := map[jobs.Outcome]int{}
	for seed := range uint64(seeds) {
		playMarket(t, seed, seen)
	}
	for _, o := range []jobs.Outcome{jobs.OK, jobs.Timeout, jobs.NoCandidates, jobs.Cancelled} {
		if seen[o] == 0 {
			t.Errorf("no job ended with outcome %d: %v", o, seen)
		}
	}
}

func playMarket(t *testing.T, seed uint64, seen map[jobs.Outcome]int) {
	rng := rand.New(rand.NewPCG(seed, 19))
	w := newWorld(t)
	w.books = &books.Books{}
	r, j := &w.p.Runner, &w.p.Job
	w.p.CyclesTarget, w.p.CellsTarget, w.p.MaxBlockBytes = 8_000_000_000, 400_000_000, 16<<20 // the lane has a test of its own
	r.StakeFloor, r.ProbationSuccesses, r.MaxRegistered = 1_000, rng.Uint64N(3), 100
	r.MinReputation = 40
	r.ReputationHalfLifeBlocks, r.SlashThreshold = 5+rng.Uint64N(40), 1+rng.Uint64N(3)
	j.DuePerBlock, j.RetriesPerBlock, j.KeepBlocks = 1+rng.Uint64N(9), 1+rng.Uint64N(3), rng.Uint64N(30)
	j.ChallengeWindowBlocks, j.MinWindowBlocks = 7, rng.Uint64N(10)
	j.EarlyRetry, j.FailUnfillable = rng.IntN(4) > 0, rng.IntN(4) > 0
	m := &model{w: w}
	for n := byte(1); n <= 3; n++ {
		w.fund(chain.Address{0: 9, 19: n}, 1_000_000)
	}
	for range 120 {
		if rng.IntN(30) == 0 { // a vote
			r.MinReputation, r.ProbationSuccesses, r.ReputationHalfLifeBlocks = 30+rng.Uint64N(20), rng.Uint64N(4), 5+rng.Uint64N(40)
			j.DuePerBlock = 1 + rng.Uint64N(9)
		}
		w.gone[chain.Address{0: 9, 19: 3}] = rng.IntN(6) == 0
		m.block(rng)
		m.compare(seed)
	}
	for _, job := range m.jobs {
		if job.phase == jobs.Ended {
			seen[job.outcome]++
		}
	}
}

func (m *model) block(rng *rand.Rand) {
	w := m.w
	seed := seedOf(rng)
	// A fork: another child of the same parent, which leaves nothing but memories.
	w.run(seedOf(rng), w.memo, func(d *jobs.Dispatch) {
		submit(w.t, d, seedOf(rng), order{by: chain.Address{0: 9, 19: 1}, runners: 1, agree: 1, timeout: 9})
	})
	m.begin(w.height+1, seed)
	var txs []state.AccountChange
	o, events, burned := w.run(seed, w.memo, func(d *jobs.Dispatch) {
		before := written(d.Book.State.Delta())
		for range rng.IntN(8) {
			m.act(rng, d)
		}
		txs = between(before, written(d.Book.State.Delta()))
	})
	alone, _, _ := w.run(seed, jobs.NewMemo(), func(d *jobs.Dispatch) { replay(d.Book.State, txs) })
	if !reflect.DeepEqual(written(o.Delta()), written(alone.Delta())) {
		w.t.Fatalf("block %d: what is remembered changes what is written", w.height+1)
	}
	w.keep(o, events, burned)
	for _, j := range m.jobs {
		if j.fresh && j.submitted == w.height {
			m.take(j)
		}
	}
}

// written are the writes of a delta by their places.
type place struct {
	addr chain.Address
	key  state.StorageKey // "": the account
}

func written(d *state.Delta) map[place]any {
	out := map[place]any{}
	for _, c := range d.Accounts() {
		if c.Account != nil {
			out[place{c.Address, ""}] = *c.Account
		}
		for _, slot := range c.Storage {
			out[place{c.Address, slot.Key}] = slot.Value
		}
	}
	return out
}

// between returns what was written between two times.
func between(before, after map[place]any) (out []state.AccountChange) {
	for at, v := range after {
		if was, ok := before[at]; ok && reflect.DeepEqual(was, v) {
			continue
		}
		c := state.AccountChange{Address: at.addr}
		switch v := v.(type) {
		case state.Account:
			c.Account = &v
		case []byte:
			c.Storage = append(c.Storage, state.StorageChange{Key: at.key, Value: v})
		}
		out = append(out, c)
	}
	return out
}

func replay(o *state.Overlay, writes []state.AccountChange) {
	for _, c := range writes {
		if c.Account != nil {
			o.SetAccount(c.Address, *c.Account)
		}
		for _, slot := range c.Storage {
			o.SetStorage(c.Address, slot.Key, slot.Value)
		}
	}
}

func (m *model) compare(seed uint64) {
	t, w := m.w.t, m.w
	t.Helper()
	fail := func(what string, got, want any) {
		t.Helper()
		t.Fatalf("seed %d, block %d: %s: %v, want %v", seed, w.height, what, got, want)
	}
	var risk, frozen, held chain.Wei
	for _, r := range m.runners {
		got := w.runner(r.addr)
		aside := []chain.Wei{}
		for _, n := range got.Tranches {
			aside = append(aside, n.Amount)
		}
		if got.Stake != r.stake || got.Bonded != r.bonded || int(got.Active) != r.active || got.Standing != r.standing ||
			got.Silences != r.silences || got.TimeoutsInRow != r.row || got.Successes != r.successes || !slices.Equal(aside, r.aside) {
			fail("runner", *got, *r)
		}
		risk += got.AtRisk()
	}
	live, due, waits := false, 0, 0
	for _, j := range m.jobs {
		if j.over {
			if row, err := jobs.Read(w.maps, j.id); row != nil || err != nil {
				fail("job that is over", row, err)
			}
			continue
		}
		live = live || j.live
		if j.due > 0 {
			due++
		}
		if j.waits > 0 {
			waits++
		}
		held += j.held
		frozen += m.compareJob(j, fail)
	}
	if got := w.rows(chain.AddrJobDispatcher, jobs.TableDue); got != due {
		fail("rows due", got, due)
	}
	if got := w.rows(chain.AddrJobDispatcher, jobs.TableRetry); got != waits {
		fail("rows that wait", got, waits)
	}
	if got := w.maps.Balance(chain.AddrRunnerRegistry); got != risk+frozen {
		fail("registry", got, risk+frozen)
	}
	if got := w.maps.Balance(chain.AddrJobDispatcher); got != held {
		fail("escrow", got, held)
	}
	if sums, err := books.Read(w.maps); err != nil || sums != *w.books {
		fail("books followed", *w.books, sums)
	}
	if err := w.books.Check(w.maps); err != nil {
		fail("books", err, nil)
	}
	if w.burned != m.burned {
		fail("burned", w.burned, m.burned)
	}
	if kept, queued := w.rows(chain.AddrRunnerRegistry, "was/"), w.rows(chain.AddrRunnerRegistry, "wasq/"); kept != queued || !live && kept > 0 {
		fail("pages kept", kept, queued)
	}
}

func (m *model) compareJob(j *mJob, fail func(string, any, any)) (frozen chain.Wei) {
	w := m.w
	got := w.job(j.id)
	if got.Phase != j.phase || got.Outcome != j.outcome && j.phase >= jobs.Closing || int(got.Attempt) != j.attempt || got.Held != j.held || got.DueAt != j.due ||
		got.Phase == jobs.Assigned && (got.Deadline != j.deadline || got.CommitBy != j.commitBy) {
		fail("job", *got, *j)
	}
	for attempt, seats := range j.seats {
		rows := w.seats(j.id, uint8(attempt))
		if len(rows) != len(seats) {
			fail("seats", len(rows), len(seats))
		}
		for n, s := range seats {
			frozen += s.frozen
			row := rows[n]
			if row.Runner != s.of.addr || row.Excess != s.excess || row.Silent != s.silent || row.Frozen != s.frozen || row.Bonded != s.bonded {
				fail("seat", *row, *s)
			}
		}
	}
	s, ok, err := jobs.Candidates(w.maps, j.id, got)
	if err != nil || ok != j.live {
		fail("candidates", err, j.live)
	}
	if ok && len(j.candidates) > 0 && !reflect.DeepEqual(s.Candidates(), j.candidates) {
		fail("candidates", s.Candidates(), j.candidates)
	}
	return frozen
}
