package marketsim

import (
	"bytes"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// seatOf is the latest seat that a runner had in a job, and its attempt.
func (j *job) seatOf(a chain.Address) (s *seat, attempt int) {
	for n, seats := range j.attempts {
		for _, seat := range seats {
			if seat.runner == a {
				s, attempt = seat, n
			}
		}
	}
	return s, attempt
}

// mayShow is the present seat of who sends something to a job; nil where none is open. Who
// never had one may not send at all.
func (m *market) mayShow(j *job, a chain.Address, late bool) *seat {
	s, attempt := j.seatOf(a)
	if attempt != j.attempt() || j.phase != assigned && (j.phase != closing || !late) {
		return nil
	}
	return s
}

func (m *market) commit(a chain.Address, q *chain.ResultCommit) uint16 {
	j := m.jobs[q.JobID]
	s := m.mayShow(j, a, false)
	switch {
	case s == nil || m.height > j.commitBy:
		return chain.CodeWrongState
	case s.commitment != nil || s.shown != nil:
		return chain.CodeExists
	}
	s.commitment, s.committedAt, s.millis = &q.Commitment, m.height, m.millis
	return chain.CodeOK
}

// aggregator is who gathers: of those that committed the best of the snapshot, the lowest
// address among equals (resolution 12.29).
func (j *job) aggregator() (best *seat) {
	for _, s := range j.seats() {
		if s.commitment == nil {
			continue
		}
		if best == nil || s.rep.Cmp(best.rep) > 0 || s.rep.Cmp(best.rep) == 0 && bytes.Compare(s.runner[:], best.runner[:]) < 0 {
			best = s
		}
	}
	return best
}

// opens says whether a sender may show results now (resolutions 11.27, 12.24).
func (m *market) opens(j *job, a chain.Address) bool {
	if m.mayShow(j, a, true) == nil || m.height > j.deadline {
		return false
	}
	if j.runners() == 1 {
		return true
	}
	n := j.committed()
	if n < j.threshold() || n < len(j.seats()) && m.height <= j.commitBy {
		return false
	}
	return m.height > j.gatherTo || j.aggregator().runner == a
}

// signed is a result under a signature, whoever made that.
type signed struct {
	chain.Reveal
	signer chain.Address
}

func (m *market) reveal(a chain.Address, id chain.Hash, q signed) uint16 {
	j := m.jobs[id]
	if !m.opens(j, a) {
		return chain.CodeWrongState
	}
	code, keep := m.show(j, a, q)
	if code == chain.CodeOK {
		keep()
	}
	return code
}

// showAll takes in results of several runners: all of them, or none (resolution 12.30).
func (m *market) showAll(a chain.Address, id chain.Hash, all []signed) uint16 {
	j := m.jobs[id]
	if !m.opens(j, a) {
		return chain.CodeWrongState
	}
	if len(all) > j.runners() {
		return chain.CodeBadArgument
	}
	var keep []func()
	last := -1
	for _, q := range all {
		n := -1
		for k, s := range j.seats() {
			if s.runner == q.Runner {
				n = k
			}
		}
		if n <= last { // no seat, or not in their order
			return chain.CodeBadArgument
		}
		last = n
		code, one := m.show(j, a, q)
		if code != chain.CodeOK {
			return code
		}
		keep = append(keep, one)
	}
	for _, one := range keep {
		one()
	}
	return chain.CodeOK
}

// show judges a result by its form, and returns what keeps it.
func (m *market) show(j *job, by chain.Address, q signed) (uint16, func()) {
	var s *seat
	for _, seat := range j.seats() {
		if seat.runner == q.Runner {
			s = seat
		}
	}
	switch {
	case s.shown != nil:
		return chain.CodeExists, nil
	case s.commitment == nil && j.runners() > 1:
		return chain.CodeWrongState, nil
	}
	r, err := chain.DecodeRunnerResult(q.Result)
	if err != nil || !j.bounds(r) {
		return chain.CodeBadArgument, nil
	}
	if s.commitment != nil && chain.Hash(keccak.Sum256(q.Result, q.RunnerSig[:])) != *s.commitment || q.signer != q.Runner {
		return chain.CodeBadProof, nil
	}
	gathered := q.Runner != by && m.height <= j.gatherTo && j.aggregator() != nil && j.aggregator().runner == by // in its own time: ADR 221
	return chain.CodeOK, func() {
		s.shown = &shown{m.height, r, q.Result, gathered}
		if s.commitment == nil {
			s.millis = m.millis
		}
		m.touched[j.id] = true
		runner := m.runners[s.runner]
		runner.inRow = 0
		m.judgeStake(runner)
		m.leave(s)
	}
}

// bounds holds a result to the job (resolutions 12.31-12.33).
func (j *job) bounds(r *chain.RunnerResult) bool {
	u, b := &r.Usage, &j.spec.Bounds
	return int(r.Attempt) == j.attempt() && len(r.Data) <= int(j.terms.ResultSchema.MaxReturnBytes) && r.Embedding == nil && (r.TEE == nil || j.spec.Verification.TEERequired) &&
		u.InputTokens <= b.MaxInputTokens && u.OutputTokens <= b.MaxOutputTokens &&
		uint64(u.WallMillis) <= 1_000*uint64(b.MaxWallTimeSeconds) && u.MemoryMB <= b.MaxMemoryMB && u.Requests <= 1+b.MaxRetries
}

// allIn says that nothing more can come (resolution 12.34).
func (m *market) allIn(j *job) bool {
	waits := false
	for _, s := range j.seats() {
		switch {
		case s.shown != nil:
		case s.commitment != nil && s.mark == "":
			return false
		case s.commitment == nil:
			waits = true
		}
	}
	return !waits || m.height >= j.commitBy
}

// waiting is a job that waits to be judged since a block.
type waiting struct {
	job   chain.Hash
	since uint64
}

// judgeAll judges the jobs that wait for it, in their order, then those with new results by
// their ids, each once; what finds no room waits (ADR 221).
func (m *market) judgeAll() {
	m.room = true
	seen := map[chain.Hash]bool{}
	for len(m.waiting) > 0 && m.room {
		first := m.waiting[0]
		m.waiting = m.waiting[1:]
		if !seen[first.job] {
			seen[first.job] = true
			m.judge(m.jobs[first.job])
		}
	}
	for _, j := range m.byID(func(j *job) bool { return m.touched[j.id] && !seen[j.id] }) {
		if !m.room {
			m.waiting = append(m.waiting, waiting{j.id, m.height})
			continue
		}
		m.judge(j)
	}
	m.met["wait to be judged"] += len(m.waiting)
	clear(m.touched)
}

// takeRoom notes that a job is judged: of the games that give a block a single step for that,
// it is the only one.
func (m *market) takeRoom() { m.room = m.p.Job.JudgeStepsPerBlock > 1 }

// judge looks for the outcome of a job with new results, or says of late ones whether they
// agree.
func (m *market) judge(j *job) {
	switch {
	case j == nil:
	case j.phase == assigned:
		m.judgeAttempt(j)
	case j.phase == closing:
		m.judgeLate(j)
	}
}

// mayDecide says whether what was shown can come to an outcome before all are in.
func (j *job) mayDecide(all []*seat) bool {
	good := 0
	for _, s := range all {
		if s.shown.result.Outcome == chain.OutcomeOK {
			good++
		}
	}
	return j.early() && good >= j.threshold() || j.failsBy(all)
}

// failsBy says whether a threshold of results report one failure.
func (j *job) failsBy(all []*seat) bool {
	n := map[chain.Outcome]int{}
	for _, s := range all {
		n[s.shown.result.Outcome]++
	}
	t := j.threshold()
	return n[chain.OutcomeImpossible] >= t || n[chain.OutcomeActorFault] >= t || n[chain.OutcomeExternalFault] >= t
}

func (m *market) judgeAttempt(j *job) {
	lapses := j.runners() > 1 && j.committed() < j.threshold()
	in := !lapses && m.allIn(j)
	final := in || m.height >= j.deadline
	var all []*seat
	for _, s := range j.seats() {
		if s.shown != nil {
			all = append(all, s)
		}
	}
	if len(all) == 0 || !final && (lapses || !j.mayDecide(all)) {
		return
	}
	m.takeRoom()
	v := j.verdictOf(all, final)
	switch {
	case v.outcome == agreed || v.outcome == impossible || v.outcome == actorFault || v.outcome == external || v.rejected:
		j.outcome, j.key = v.outcome, v.key
		if v.outcome == agreed {
			j.canonical, j.data = j.number(v.canonical), v.data
			m.latest[requester{j.by, j.spec.JobType.Kind()}] = usedLast{v.agree[0].runner, m.height}
		}
		m.grade(j, all, v)
		m.close(j)
	case !final:
	case in:
		j.outcome = noAgreement
		m.grade(j, all, v)
		m.close(j)
	default: // somebody has withheld what it promised
		m.freezeFaults(j, v.faults)
		void(all)
		if j.due.what == "" {
			j.due = event{m.height, "deadline"}
		}
	}
}

func (j *job) number(s *seat) int {
	for n, seat := range j.seats() {
		if seat == s {
			return n
		}
	}
	return -1
}

func void(all []*seat) {
	for _, s := range all {
		s.mark = "void"
	}
}

// grade marks results that were judged.
func (m *market) grade(j *job, all []*seat, v verdict) {
	m.freezeFaults(j, v.faults)
	for _, s := range all {
		agrees := false
		for _, a := range v.agree {
			agrees = agrees || a == s
		}
		switch {
		case agrees:
			s.mark, s.cost = "agrees", j.earned(m, s)
		case j.outcome == agreed: // resolution 12.7
			s.mark = "differs"
			m.disagreed(s.runner)
		default: // resolution 12.52: reports of failures move no reputation
			s.mark = "void"
		}
	}
}

// freezeFaults slashes what breaks what the job declares, until it is settled (resolutions
// 12.44, 12.81). Each costs a point of reputation, once.
func (m *market) freezeFaults(j *job, faulty []*seat) {
	for _, s := range faulty {
		m.freeze(s, m.p.Runner.SlashGarbageBasisPoints)
		if j.outcome != agreed {
			m.disagreed(s.runner)
		}
	}
}

// freeze slashes the runner of a seat, once: faults of one result do not add up.
func (m *market) freeze(s *seat, basisPoints uint64) {
	if s.frozen.Sign() == 0 {
		m.met["frozen"]++
		s.frozen = m.slash(m.runners[s.runner], basisPoints)
	}
}

// close opens the window of a job whose outcome is known (resolution 12.48).
func (m *market) close(j *job) {
	if m.height > j.commitBy {
		for _, s := range j.seats() {
			if !s.silent && s.commitment == nil && s.shown == nil {
				m.silence(s)
			}
		}
	}
	j.phase, j.verdict, j.window = closing, m.height, m.height+m.windowOf(j)
	m.awaitEnd(j)
	m.answer(j)
}

// awaitEnd: as long as results may come, the deadline is next, then the end of the window.
func (m *market) awaitEnd(j *job) {
	if !m.allIn(j) {
		j.due = event{max(j.deadline, m.height), "deadline"}
		return
	}
	m.takeBack(j)
	j.due = event{max(j.window, m.height), "window"}
}

func (m *market) judgeLate(j *job) {
	var all []*seat
	for _, s := range j.seats() {
		if s.shown != nil && s.mark == "" {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return
	}
	m.takeRoom()
	v := j.lateVerdict(all)
	m.met["late results that agree"] += len(v.agree)
	m.grade(j, all, v)
	m.awaitEnd(j)
}

// deadline is the end of an attempt, or of the time in which results are paid (resolutions
// 11.28, 12.25).
func (m *market) deadline(j *job) {
	for _, s := range j.seats() {
		if s.shown != nil && s.mark == "" { // judged once more, at the end of the block
			m.touched[j.id] = true
			return
		}
	}
	for _, s := range j.seats() { // committed and never shown
		if s.commitment == nil || s.shown != nil || s.mark != "" {
			continue
		}
		if !j.spared {
			m.freeze(s, m.p.Runner.SlashNonDeliveryBasisPoints)
		}
		s.mark = "void"
		m.leave(s)
	}
	if j.phase == closing {
		if j.window < m.height {
			m.settle(j)
			return
		}
		m.awaitEnd(j)
		return
	}
	if j.runners() == 1 {
		for _, s := range j.seats() {
			if !s.silent && s.commitment == nil && s.shown == nil {
				m.silence(s)
			}
		}
	}
	m.lapse(j)
}
