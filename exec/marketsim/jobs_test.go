package marketsim

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math/big"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// phase is where a job is in its life (market design §8), and outcome how it ends.
type (
	phase   string
	outcome string
)

const (
	fresh    phase = "fresh"
	assigned phase = "assigned"
	closing  phase = "closing"
	ended    phase = "ended"

	open         outcome = "open"
	agreed       outcome = "ok"
	impossible   outcome = "impossible"
	actorFault   outcome = "actor fault"
	external     outcome = "external"
	noAgreement  outcome = "no agreement"
	timedOut     outcome = "timeout"
	noCandidates outcome = "no candidates"
	cancelled    outcome = "cancelled"
)

// job is a job of the Job Dispatcher.
type job struct {
	id        chain.Hash
	by        chain.Address
	submitted uint64
	millis    uint64
	spec      chain.JobSpec
	terms     chain.JobTerms
	held      *big.Int
	phase     phase
	outcome   outcome

	candidates []candidate // at the end of its block
	snapshot   bool        // these are known
	seed       chain.Hash
	attempts   [][]*seat // the last is the present one
	waits      uint64    // since when another committee is wanted; 0: none is
	begun      uint64    // when the attempt was drawn
	deadline   uint64
	commitBy   uint64
	gatherTo   uint64
	due        event
	most       int    // attempts, as voted at its submission
	treasury   uint64 // parts of what runners earn, as voted then
	gathers    uint64
	promised   *share // of the lane; nil: nothing more can be shown
	crowds     uint64 // blocks too crowded for it, before the time that is looked at next
	large      bool   // a result takes more than half of the lane
	spared     bool   // nobody is blamed in the attempt

	verdict   uint64
	over      uint64 // when it ended
	window    uint64
	canonical int
	data      []byte // the result
	kept      bool   // its answer has no room for the result
	key       string // what a late result must be equal to
}

// event is what falls due for a job behind a height.
type event struct {
	behind uint64
	what   string // "": nothing
}

type candidate struct {
	runner chain.Address
	stake  *big.Int
	rep    *big.Int
	weight *big.Int
}

// seat is a runner's in an attempt.
type seat struct {
	runner      chain.Address
	card        chain.RateCard
	expected    *big.Int
	excess      bool
	rep         *big.Int
	commitment  *chain.Hash
	committedAt uint64
	shown       *shown
	cost        *big.Int
	frozen      *big.Int
	bonded      *big.Int
	silent      bool
	mark        string // "", "agrees", "differs", "void"
	millis      uint64
	open        bool // its runner has something to do
}

// shown is a result that was revealed.
type shown struct {
	at       uint64
	result   *chain.RunnerResult
	raw      []byte
	gathered bool
}

func (j *job) attempt() int { return len(j.attempts) - 1 }

// seats are those of the present attempt.
func (j *job) seats() []*seat {
	if len(j.attempts) == 0 {
		return nil
	}
	return j.attempts[j.attempt()]
}

func (j *job) runners() int   { return int(j.spec.Verification.Runners) }
func (j *job) threshold() int { return int(j.spec.Verification.Threshold) }

func (j *job) share() *big.Int { return over(wei(j.spec.MaxPrice), wei(max(j.runners(), 1))) }

func (j *job) committed() (n int) {
	for _, s := range j.seats() {
		if s.commitment != nil {
			n++
		}
	}
	return n
}

// jobID is resolution 5.18.
func jobID(tx chain.Hash, height uint64) chain.Hash {
	return sha256.Sum256(binary.BigEndian.AppendUint64(tx[:], height))
}

// submit takes a job in (market design §7).
func (m *market) submit(by chain.Address, value *big.Int, tx chain.Hash, q *chain.JobSubmit) uint16 {
	escrow := plus(wei(q.Spec.MaxPrice), wei(q.Spec.Tip))
	s := &q.Spec
	filledIn := s.JobID != chain.Hash{} || s.Submitter != chain.Address{} && s.Submitter != by || s.SubmittedAt != 0 // what the chain says
	switch {
	case filledIn || value.Cmp(escrow) != 0 || !m.takes(&q.Spec, &q.Terms):
		return chain.CodeBadArgument
	case !m.givesTime(&q.Spec, &q.Terms):
		return chain.CodeLimitReached
	}
	m.takeIn(jobID(tx, m.height), by, q.Spec, q.Terms)
	return chain.CodeOK
}

// takeIn takes in a job that holds.
func (m *market) takeIn(id chain.Hash, by chain.Address, spec chain.JobSpec, terms chain.JobTerms) {
	j := &job{
		id: id, by: by, submitted: m.height, millis: m.millis, spec: spec, terms: terms, held: plus(wei(spec.MaxPrice), wei(spec.Tip)),
		phase: fresh, outcome: open, most: int(m.p.Job.MaxRetries),
		treasury: m.p.Job.TreasuryBasisPoints, gathers: m.p.Job.AggregatorBonusBasisPoints,
	}
	j.spec.JobID, j.spec.Submitter, j.spec.SubmittedAt = id, by, chain.Height(m.height)
	m.jobs[id] = j
	m.money.move(by, chain.AddrJobDispatcher, j.held)
}

// takes says whether a job of an account can be taken in.
func (m *market) takes(s *chain.JobSpec, t *chain.JobTerms) bool {
	p, v := &m.p.Job, &s.Verification
	several := v.Runners > 1
	switch {
	case s.Bounds.MaxWallTimeSeconds == 0 || s.Bounds.MaxMemoryMB == 0,
		s.MaxPrice == 0 && p.RequirePrice,
		s.TimeoutBlocks > p.MaxTimeoutBlocks,
		s.TimeoutBlocks <= p.MinWindowBlocks, // the draw takes a block of them
		several && s.TimeoutBlocks < p.MinCommitteeTimeoutBlocks,
		v.DisputeWindowBlocks > m.p.Runner.UnbondingBlocks,
		uint64(v.Runners) > p.MaxRunners:
		return false
	}
	switch v.Mode { // CIP-2 §9; resolution 12.14
	case chain.VerifyNone, chain.VerifyEconomicBond:
		return v.Runners == 1 && v.Threshold == 1
	case chain.VerifyMajorityVote:
		return v.Runners >= 3 && v.Threshold <= v.Runners && 2*int(v.Threshold) > int(v.Runners)
	case chain.VerifyStructured:
		fewest := uint8(2)
		if t.Snapshot != nil && t.Snapshot.Mode == chain.SnapshotMedian {
			fewest = 3
		}
		return v.Runners >= fewest && v.Threshold <= v.Runners && 2*int(v.Threshold) > int(v.Runners)
	}
	return false
}

// cancel takes a job back as long as nobody is assigned (resolution 12.22).
func (m *market) cancel(by chain.Address, id chain.Hash) uint16 {
	j := m.jobs[id]
	switch {
	case j == nil:
		return chain.CodeNotFound
	case j.by != by:
		return chain.CodeForbidden
	case j.phase != fresh:
		return chain.CodeWrongState
	}
	m.end(j, cancelled)
	return chain.CodeOK
}

// end closes a job for which nobody is paid.
func (m *market) end(j *job, o outcome) {
	m.money.move(chain.AddrJobDispatcher, j.by, j.held)
	j.held, j.phase, j.outcome, j.over = new(big.Int), ended, o, m.height
	if j.verdict == 0 {
		j.verdict = m.height
	}
	j.due = event{m.height + m.p.Job.KeepBlocks, "prune"}
}

// begin is what the market does before the transactions of a block (market design §4).
func (m *market) begin() {
	m.burned = new(big.Int)
	m.floor()
	m.announced = 0
	for done := uint64(0); done < m.p.Job.DuePerBlock && m.announced < m.p.Job.DuePerBlock; done++ {
		j := m.nextDue()
		if j == nil {
			break
		}
		what := j.due.what
		j.due = event{}
		done += j.weighs(what)
		switch what {
		case "commit deadline":
			m.commitDeadline(j)
		case "deadline":
			m.spare(j)
			m.deadline(j)
		case "window":
			m.settle(j)
		case "prune":
			m.gone(j)
			delete(m.jobs, j.id)
		}
	}
	if m.nextDue() != nil {
		m.met["wait for what is due"]++
	}
	m.assign(m.height - 1) // under parent-block none is left, but behind a vote
	m.retry()
}

// weighs is how many events more something counts as that falls due for a job: one for four
// seats, or for eight rows that go. So the implementation bounds its work; the texts say how
// many events a block comes to.
func (j *job) weighs(what string) uint64 {
	if what != "prune" {
		seats := uint64(j.runners()) / 4
		if what == "window" {
			return seats
		}
		return seats + j.papers()/(8<<10) // read for who waits for the job
	}
	rows := uint64(4)
	for _, seats := range j.attempts {
		rows += 3 * uint64(len(seats))
	}
	return rows / 8
}

// papers is how many bytes a job's specification and terms have.
func (j *job) papers() uint64 { return uint64(len(j.spec.Encode()) + len(j.terms.Encode())) }

// nextDue is the job whose turn it is, in the order of heights and ids.
func (m *market) nextDue() (first *job) {
	for _, j := range m.jobs {
		if j.due.what == "" || j.due.behind >= m.height {
			continue
		}
		if first == nil || j.due.behind < first.due.behind ||
			j.due.behind == first.due.behind && bytes.Compare(j.id[:], first.id[:]) < 0 {
			first = j
		}
	}
	return first
}

// byID are the jobs that hold, ascending.
func (m *market) byID(holds func(*job) bool) (list []*job) {
	for _, id := range slices.SortedFunc(maps.Keys(m.jobs), func(a, b chain.Hash) int { return bytes.Compare(a[:], b[:]) }) {
		if holds(m.jobs[id]) {
			list = append(list, m.jobs[id])
		}
	}
	return list
}

// assign draws for the jobs of a block.
func (m *market) assign(submitted uint64) {
	for _, j := range m.byID(func(j *job) bool { return j.phase == fresh && j.submitted == submitted }) {
		le := binary.LittleEndian.AppendUint64(nil, submitted)
		j.seed = keccak.Sum256(m.drawn[:], []byte("cowboy-runner-select-v2:"), j.id[:], le)
		j.attempts = [][]*seat{nil}
		m.committee(j)
	}
}

// retry draws for those that wait for another committee, the longest waiting first. Where
// more wait than a block draws for, a submitter gets a quarter of the draws as long as others
// wait.
func (m *market) retry() {
	waiting := m.byID(func(j *job) bool { return j.waits > 0 })
	slices.SortStableFunc(waiting, func(a, b *job) int { return cmp.Compare(a.waits, b.waits) })
	most := int(m.p.Job.RetriesPerBlock)
	waiting = waiting[:min(len(waiting), 8*most)] // no more are looked at
	var drawn, rest []*job
	got := map[chain.Address]int{}
	for _, j := range waiting {
		if got[j.by]++; got[j.by] > max(1, most/4) {
			rest = append(rest, j)
			continue
		}
		drawn = append(drawn, j)
	}
	drawn = append(drawn, rest...)
	m.met["wait for a committee"] += len(drawn) - min(most, len(drawn))
	papers := uint64(0)
	for n, j := range drawn[:min(most, len(drawn))] {
		if papers += j.papers(); papers > 1<<20 && n > 0 { // what these ask for is read
			break
		}
		j.waits = 0
		m.committee(j)
	}
}

// finish is what the market does behind the transactions.
func (m *market) finish() {
	m.countLane()
	m.judgeAll()
	for _, j := range m.byID(func(j *job) bool { return j.phase == fresh && j.submitted == m.height }) {
		j.candidates, j.snapshot = m.candidatesOf(j), true
	}
	if m.p.Job.SelectionSeed == params.SelectionSeedParent {
		m.assign(m.height)
	}
}

// commitDeadline: no more commitments can come. Who has made none is silent; with fewer than
// the threshold the attempt is over (resolution 12.25).
func (m *market) commitDeadline(j *job) {
	if j.phase != assigned {
		return
	}
	excused := m.excuses(j, j.commitBy-min(j.begun, j.commitBy))
	j.crowds = m.crowds(j)
	for _, s := range j.seats() {
		s.excess = s.excess || excused && s.commitment == nil
		if s.commitment == nil && m.silence(s) {
			m.announced++
		}
	}
	if j.committed() < j.threshold() && m.p.Job.EarlyRetry {
		m.lapse(j)
		return
	}
	j.due = event{j.deadline, "deadline"}
}

// silence notes that a seat's runner has let its time pass; one without room for the seat
// is not blamed (resolution 12.11).
func (m *market) silence(s *seat) (slashed bool) {
	s.silent = true
	m.leave(s)
	return !s.excess && m.silent(s.runner)
}

// leave notes that a runner has nothing left to do for a seat.
func (m *market) leave(s *seat) {
	if s.open {
		s.open = false
		r := m.runners[s.runner]
		r.active--
		m.judgeStake(r)
	}
}

// unbind gives the bond of a seat free (resolution 12.8).
func (m *market) unbind(s *seat) {
	if s.bonded.Sign() > 0 {
		r := m.runners[s.runner]
		r.bonded = minus(r.bonded, s.bonded)
		s.bonded = new(big.Int)
		m.judgeStake(r)
	}
}

// lapse ends an attempt without a verdict: three there are (resolution 12.80).
func (m *market) lapse(j *job) {
	for _, s := range j.seats() {
		m.leave(s)
		m.unbind(s)
	}
	j.due = event{}
	m.takeBack(j)
	if len(j.attempts) >= j.most {
		m.conclude(j, timedOut)
		return
	}
	j.attempts = append(j.attempts, nil)
	j.begun, j.deadline, j.commitBy, j.gatherTo = 0, 0, 0, 0
	j.waits = m.height
	m.announced++
}

// conclude ends a job without a result. Of one that fails for silence, all that were silent
// lose again (resolution 12.35). What is frozen waits for the window, and the job with it.
func (m *market) conclude(j *job, o outcome) {
	m.announced++
	frozen := false
	for _, seats := range j.attempts {
		for _, s := range seats {
			if s.silent && !s.excess && o == timedOut {
				r := m.runners[s.runner]
				m.lose(r, m.p.Runner.SlashThreshold)
				m.judgeStake(r)
			}
			frozen = frozen || s.frozen.Sign() > 0
		}
	}
	if !frozen {
		m.end(j, o)
		m.answer(j)
		return
	}
	j.phase, j.outcome, j.verdict = closing, o, m.height
	j.window = m.height + m.windowOf(j)
	j.due = event{j.window, "window"}
	m.answer(j)
}

func (m *market) windowOf(j *job) uint64 {
	if n := j.spec.Verification.DisputeWindowBlocks; n > 0 {
		return n
	}
	return m.p.Job.ChallengeWindowBlocks
}
