package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// market plays the runners of a load: it learns from final blocks which jobs were asked for,
// asks the node who was drawn for them, and sends what a runner sends. One goroutine runs
// it; the watcher hands it blocks.
type market struct {
	cfg     *LoadConfig
	kind    *Kind
	terms   *prices
	node    *nodeClient
	workers []*worker
	of      map[chain.Address]*worker

	// open counts jobs in blocks whose outcome is not known, heartbeats on their way, and
	// blocks that are being handed over.
	open atomic.Int64
	// draining is set when the schedule is over: no heartbeats begin any more.
	draining atomic.Bool
	mu       sync.Mutex
	news     []marketNews  // guarded by mu
	wake     chan struct{} // has one place

	// What follows belongs to the goroutine of run, and to the report when that has ended.
	head    uint64
	jobs    []*job // open ones
	pending map[chain.Hash]*instruction
	report  MarketReport
	steps   []kindTally
}

// marketNews is what a final block holds of the market.
type marketNews struct {
	height uint64
	at     time.Time
	asked  []chain.Hash // transactions that submit jobs
	others []chain.Hash // transactions that are none of the load's own
}

// worker is a runner of the load.
type worker struct {
	account
	heard  uint64         // height of its last heartbeat of this run, 0: none
	beats  bool           // one is on its way
	unsent []*instruction // in order
}

// Steps of a runner.
const (
	stepCommit = iota
	stepShow
	stepBeat
	numSteps
)

// instruction is a transaction of a runner.
type instruction struct {
	by     *worker
	job    *job // nil for a heartbeat
	step   int
	tx     chain.Tx
	signed signed
	head   uint64 // newest final block that was known when it was sent first
	at     time.Time
}

// job is one whose submission stands in a block.
type job struct {
	tx          chain.Hash
	id          chain.Hash
	submittedAt uint64
	stage       jobStage
	attempt     uint8
	sent        int // answers of the stage that are not in a block, and were not refused
	took        int // that are
}

type jobStage int

const (
	jobAsked   jobStage = iota // nobody is drawn yet
	jobCommits                 // commitments are on their way
	jobShows                   // results are
)

// newMarket returns nil for a mix without jobs. The accounts are registered.
func newMarket(cfg *LoadConfig, terms *prices, accounts []account, head uint64) *market {
	if len(accounts) == 0 {
		return nil
	}
	m := &market{
		cfg: cfg, kind: cfg.Mix.jobs(), terms: terms, node: newNodeClient(cfg.RPC, cfg.RequestTimeout),
		of: map[chain.Address]*worker{}, wake: make(chan struct{}, 1), head: head, pending: map[chain.Hash]*instruction{},
		report: MarketReport{Runners: len(accounts), Outcomes: map[string]int64{}, Refused: map[string]int64{}},
		steps:  newKindTallies(numSteps),
	}
	for _, a := range accounts {
		w := &worker{account: a} // it is heard at once: that it is healthy does not say for how long
		m.workers = append(m.workers, w)
		m.of[a.address] = w
	}
	return m
}

// holdDrain keeps a drain from ending while a block is handed over; note ends that.
func (m *market) holdDrain() {
	if m != nil {
		m.open.Add(1)
	}
}

// note takes in a final block. The watcher calls it, and does not wait.
func (m *market) note(n marketNews) {
	if m == nil {
		return
	}
	m.open.Add(int64(len(n.asked)) - 1)
	m.mu.Lock()
	m.news = append(m.news, n)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default: // it is awake
	}
}

// unsettled reports whether jobs have no outcome yet, or heartbeats are on their way.
func (m *market) unsettled() bool { return m != nil && m.open.Load() > 0 }

// beginDrain lets no heartbeats begin from now on: one could not come into a block before
// the end.
func (m *market) beginDrain() {
	if m != nil {
		m.draining.Store(true)
	}
}

// run answers jobs until ctx ends. An error is one of the node, which is asked again with
// the next block; the last one is in the report.
func (m *market) run(ctx context.Context) {
	defer m.node.close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		}
		m.mu.Lock()
		news := m.news
		m.news = nil
		m.mu.Unlock()
		for i := range news {
			m.see(&news[i])
		}
		if err := m.attendAll(ctx); err != nil && ctx.Err() == nil {
			m.report.LastError = err.Error()
		}
	}
}

// see learns from a block.
func (m *market) see(n *marketNews) {
	m.head = n.height
	for _, tx := range n.asked {
		m.report.Jobs++
		m.jobs = append(m.jobs, &job{tx: tx, id: chain.JobID(tx, chain.Height(n.height)), submittedAt: n.height})
	}
	for _, hash := range n.others {
		a := m.pending[hash]
		if a == nil {
			continue
		}
		delete(m.pending, hash)
		m.steps[a.step].record(n.at.Sub(a.at), n.height-a.head)
		m.report.step(a.step).Final++
		if a.step == stepBeat {
			a.by.heard = n.height
			m.endBeat(a.by)
			continue
		}
		a.job.sent--
		a.job.took++
	}
}

// attendAll goes through the open jobs, sees to heartbeats, and sends what there is to send.
func (m *market) attendAll(ctx context.Context) error {
	var last error
	open := m.jobs[:0]
	for _, j := range m.jobs {
		outcome, err := m.attend(ctx, j)
		if err != nil {
			last = err
		}
		if outcome == "" {
			open = append(open, j)
			continue
		}
		m.report.Outcomes[outcome]++
		m.open.Add(-1)
	}
	m.jobs = open
	m.beat()
	if err := m.sendAnswers(ctx); err != nil {
		last = err
	}
	return last
}

// attend sees to one job and returns its outcome, once there is one.
func (m *market) attend(ctx context.Context, j *job) (outcome string, err error) {
	if j.sent > 0 || m.head == j.submittedAt {
		return "", nil
	}
	var reply rpc.JobRunnersReply
	err = m.node.get(ctx, fmt.Sprintf("/job/%s/runners", j.id), &reply)
	if notFound(err) {
		return m.refusedJob(ctx, j)
	}
	if err != nil {
		return "", fmt.Errorf("runners of job %s: %w", j.id, err)
	}
	var seats []rpc.SeatReply
	for _, s := range reply.Runners {
		if s.Attempt == reply.Attempt {
			seats = append(seats, s)
		}
	}
	if j.stage != jobAsked && reply.Attempt == j.attempt {
		return m.goOn(ctx, j, seats)
	}
	if len(seats) == 0 {
		return m.outcome(ctx, j)
	}
	j.attempt, j.stage = reply.Attempt, jobAsked
	return m.begin(j, seats), nil
}

// begin lets a committee work. One runner shows its result at once.
func (m *market) begin(j *job, seats []rpc.SeatReply) (outcome string) {
	for i := range seats {
		if m.worker(&seats[i]) == nil {
			return OutcomeForeign
		}
	}
	result := resultOf(m.kind, j.attempt)
	if m.kind.Committee == 1 {
		m.queueResults(j, m.worker(&seats[0]), []chain.Reveal{m.reveal(j, m.worker(&seats[0]), result)})
		return ""
	}
	j.stage, j.took = jobCommits, 0
	for i := range seats {
		w := m.worker(&seats[i])
		sig := w.vouch(m.terms.chainID, j.id, result)
		m.queue(&instruction{by: w, job: j, step: stepCommit, tx: m.terms.bindResult(j.id, chain.ResultCommitment(result, sig))})
	}
	return ""
}

// goOn looks at what became of the answers of a stage. When all have committed the
// aggregator shows the results of all.
func (m *market) goOn(ctx context.Context, j *job, seats []rpc.SeatReply) (outcome string, err error) {
	agree, committed, shown := 0, 0, 0
	for i := range seats {
		if seats[i].Commitment != nil {
			committed++
		}
		if seats[i].RevealedAt > 0 {
			shown++
		}
		if seats[i].Mark == "agrees" {
			agree++
		}
	}
	if j.stage == jobCommits {
		m.report.Commitments.Applied += int64(committed)
		if committed < len(seats) {
			j.stage, j.took = jobShows, 0 // a later attempt may do better
			return "", nil
		}
		by := aggregator(seats)
		result := resultOf(m.kind, j.attempt)
		var reveals []chain.Reveal
		for i := range seats {
			reveals = append(reveals, m.reveal(j, m.worker(&seats[i]), result))
		}
		m.queueResults(j, m.worker(by), reveals)
		return "", nil
	}
	if j.took > 0 && shown == len(seats) {
		m.report.Results.Applied++
		j.took = 0
	}
	if 2*agree > m.kind.Committee {
		return "ok", nil
	}
	return m.outcome(ctx, j)
}

// aggregator is the seat that shows the results of all at first: of the best reputation, the
// lowest address among equals (resolution 12.29). All have committed.
func aggregator(seats []rpc.SeatReply) *rpc.SeatReply {
	best := &seats[0]
	for i := range seats {
		s := &seats[i]
		if s.Reputation > best.Reputation || s.Reputation == best.Reputation && s.Runner < best.Runner {
			best = s
		}
	}
	return best
}

// outcome asks for the outcome of a job; "" while it is open.
func (m *market) outcome(ctx context.Context, j *job) (string, error) {
	var reply rpc.JobStatusReply
	if err := m.node.get(ctx, fmt.Sprintf("/job/%s/status", j.id), &reply); err != nil {
		return "", fmt.Errorf("status of job %s: %w", j.id, err)
	}
	if reply.Outcome == OutcomeOpen {
		return "", nil
	}
	return reply.Outcome, nil
}

// refusedJob finds out why there is no job that a transaction in a block has asked for.
func (m *market) refusedJob(ctx context.Context, j *job) (outcome string, err error) {
	var r rpc.ReceiptReply
	if err := m.node.get(ctx, fmt.Sprintf("/transaction/%s/receipt", j.tx), &r); err != nil {
		return "", fmt.Errorf("receipt of job %s: %w", j.id, err)
	}
	if r.Status == "success" {
		return "", nil // the node's head is behind its blocks
	}
	m.report.Refused[reason(rpc.Code(r.Code), "job: "+r.RevertReason)]++
	return OutcomeRefused, nil
}

func notFound(err error) bool {
	var r *refusal
	return errors.As(err, &r) && r.Status == http.StatusNotFound
}

// worker is the load's runner in a seat, or nil.
func (m *market) worker(s *rpc.SeatReply) *worker {
	var a chain.Address
	if a.UnmarshalText([]byte(s.Runner)) != nil {
		return nil
	}
	return m.of[a]
}

// vouch is the runner's signature of a result (resolution 11.1).
func (w *worker) vouch(chainID uint64, job chain.Hash, result []byte) (sig [65]byte) {
	s := w.key.Sign(chain.ResultDigest(chainID, job, result))
	copy(sig[:32], s.R[:])
	copy(sig[32:64], s.S[:])
	sig[64] = s.YParity
	return sig
}

func (m *market) reveal(j *job, w *worker, result []byte) chain.Reveal {
	return chain.Reveal{Runner: w.address, Result: result, RunnerSig: w.vouch(m.terms.chainID, j.id, result)}
}

func (m *market) queueResults(j *job, by *worker, reveals []chain.Reveal) {
	j.stage, j.took = jobShows, 0
	m.queue(&instruction{by: by, job: j, step: stepShow, tx: m.terms.showResults(j.id, m.kind.Committee, reveals)})
}

// queue puts an answer behind what its runner has to send.
func (m *market) queue(a *instruction) {
	if a.job != nil {
		a.job.sent++
	}
	a.by.unsent = append(a.by.unsent, a)
}

// beat keeps the runners healthy: each is heard twice in the time after which it would
// count as silent.
func (m *market) beat() {
	// Counted before draining is read, as a drain sets it before it reads the count: either
	// the drain waits, or nothing begins.
	m.open.Add(1)
	defer m.open.Add(-1)
	if m.draining.Load() {
		return
	}
	every := max(1, m.terms.all.Runner.HeartbeatTimeoutBlocks/2)
	for _, w := range m.workers {
		if !w.beats && m.head >= w.heard+every {
			w.beats = true
			m.open.Add(1)
			m.queue(&instruction{by: w, step: stepBeat, tx: m.terms.beat(false)})
		}
	}
}

// endBeat notes that a runner's heartbeat is in a block, or was refused.
func (m *market) endBeat(w *worker) {
	w.beats = false
	m.open.Add(-1)
}

// closeReport returns the report when nothing runs any more; nil without jobs.
func (m *market) closeReport() *MarketReport {
	if m == nil {
		return nil
	}
	r := &m.report
	if len(m.jobs) > 0 {
		r.Outcomes[OutcomeOpen] += int64(len(m.jobs))
	}
	for i := range m.steps {
		s := r.step(i)
		s.Blocks, s.Latency = blocksOf(m.steps[i].blocks), latencyOf(m.steps[i].latency)
	}
	return r
}

// heartbeats are the last ones of the runners that stand in blocks.
func (m *market) heartbeats() (list []heard) {
	if m == nil {
		return nil
	}
	for _, w := range m.workers {
		if w.heard > 0 {
			list = append(list, heard{w.address, w.heard})
		}
	}
	return list
}
