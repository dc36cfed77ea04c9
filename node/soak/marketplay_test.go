package soak

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// How much the market does at a time. More jobs in a block would ask for more than half of
// the runner lane, and who is silent then is not penalised (ADR 222).
const (
	jobsOpen     = 160 // at most
	jobsPerBlock = 3   // asked for at most
	paymentsKept = 8   // transfers of a payer that are in no block
	beatBlocks   = 40  // between two heartbeats of a runner
	upkeepBlocks = 20  // between two looks at the registry
)

// marketPlay is everybody who sends: who asks for work, who does it, who pays somebody. One
// goroutine plays them, block after block, from what the API says of the chain.
type marketPlay struct {
	outbox
	total  int // jobs
	kinds  []*jobKind
	height uint64 // up to which blocks were read

	askers  []*sender
	payers  []*payer
	workers []*worker
	at      map[string]*worker // by address, as the API writes it
	actor   chain.Address

	asked  int
	open   []*task
	over   []*task
	faults []string
	shown  scoreboard
}

// scoreboard is what is read while the market is played.
type scoreboard struct {
	mu       sync.Mutex
	height   uint64
	asked    int
	open     int
	over     int
	txs      int
	outcomes map[string]int
	waits    string // what the oldest job waits for
}

// payer sends transfers to an account of its own.
type payer struct {
	*sender
	to  chain.Address
	got int // transfers in blocks
}

// task is a job from its submission to its end.
type task struct {
	kind    *jobKind
	number  int // what honest runners find follows from it
	by      *sender
	id      chain.Hash
	height  uint64 // of its submission; 0: in no block yet
	lookAt  uint64 // the next height at which there may be news
	pending int    // orders of its runners that are neither in a block nor given up
	stage   taskStage
	attempt uint8
	job     rpc.JobReply
	seats   []rpc.SeatReply // of all attempts
}

type taskStage int

const (
	taskAsked   taskStage = iota // nobody is drawn
	taskCommits                  // commitments are on their way
	taskLate                     // the aggregator is silent, the others wait for its window to end
	taskShows                    // results are on their way
)

// play goes from block to block until all jobs are over and all transactions are in blocks.
func (m *marketPlay) play(ctx context.Context) error {
	for {
		if err := m.follow(ctx); err != nil {
			return err
		}
		if err := m.look(ctx); err != nil {
			return err
		}
		busy := m.asked < m.total || len(m.open) > 0
		if busy {
			m.ask()
			if err := m.keepUp(ctx); err != nil {
				return err
			}
			m.pay()
		}
		if err := m.sendAll(ctx, m.height); err != nil {
			return err
		}
		m.show()
		if !busy && m.waiting() == 0 {
			return nil
		}
	}
}

// follow reads the next block, and the receipts of what it has of these senders.
func (m *marketPlay) follow(ctx context.Context) error {
	h := m.height + 1
	var block rpc.BlockReply
	if ok, err := m.board.ask(ctx, h, fmt.Sprintf("/block/%d", h), &block); err != nil || !ok {
		return fmt.Errorf("block %d: found %v, %w", h, ok, err)
	}
	type ours struct {
		order   *order
		nonce   uint64
		receipt rpc.ReceiptReply
	}
	var list []*ours
	for i := range block.Txs {
		hash, err := client.ParseHash(block.Txs[i].Hash)
		if err != nil {
			return fmt.Errorf("block %d: %w", h, err)
		}
		if o := m.byHash[hash]; o != nil {
			list = append(list, &ours{order: o, nonce: block.Txs[i].Nonce, receipt: rpc.ReceiptReply{TxHash: block.Txs[i].Hash}})
		}
	}
	if err := side(len(list), func(i int) error {
		path := "/transaction/" + list[i].receipt.TxHash + "/receipt"
		ok, err := m.board.ask(ctx, h, path, &list[i].receipt)
		if err == nil && !ok {
			err = fmt.Errorf("%s: no receipt, and block %d has it", path, h)
		}
		return err
	}); err != nil {
		return err
	}
	m.height = h
	for _, o := range list {
		m.included(o.order, o.nonce, &o.receipt)
	}
	return nil
}

// ask asks for as much work as there is room for.
func (m *marketPlay) ask() {
	for range jobsPerBlock {
		if m.asked == m.total || len(m.open) >= jobsOpen {
			return
		}
		t := &task{kind: kindOf(m.kinds, m.asked), number: m.asked, by: m.askers[m.asked%len(m.askers)]}
		o := &order{by: t.by, what: "job " + t.kind.name, tx: t.kind.request(m.actor, t.number), done: func(r *rpc.ReceiptReply) { m.submitted(t, r) }}
		m.give(o)
		m.asked++
		m.open = append(m.open, t)
	}
}

// submitted learns the id of a job.
func (m *marketPlay) submitted(t *task, r *rpc.ReceiptReply) {
	if r.Status != "success" {
		m.faults = append(m.faults, fmt.Sprintf("job %d (%s) is refused in block %d: %d %s", t.number, t.kind.name, r.BlockHeight, r.Code, r.RevertReason))
		m.open = slices.DeleteFunc(m.open, func(o *task) bool { return o == t })
		return
	}
	var err error
	if t.kind.byActor {
		t.id, err = idOf(r.Output)
	} else {
		var tx chain.Hash
		tx, err = client.ParseHash(r.TxHash)
		t.id = chain.JobID(tx, chain.Height(r.BlockHeight))
	}
	if err != nil {
		m.faults = append(m.faults, fmt.Sprintf("job %d: answer %s: %v", t.number, r.Output, err))
	}
	t.height, t.lookAt = r.BlockHeight, r.BlockHeight+1
}

// look asks for the jobs of which there may be news, and goes on with them.
func (m *marketPlay) look(ctx context.Context) error {
	var due []*task
	for _, t := range m.open {
		if t.height > 0 && t.pending == 0 && m.height >= t.lookAt {
			due = append(due, t)
		}
	}
	if err := side(len(due), func(i int) error { return m.read(ctx, due[i]) }); err != nil {
		return err
	}
	for _, t := range due {
		if t.job.Phase == "ended" {
			m.end(t)
		} else {
			m.goOn(t)
		}
	}
	m.open = slices.DeleteFunc(m.open, func(t *task) bool { return t.job.Phase == "ended" })
	return nil
}

// read asks for a job and its seats: the seats first, so that they are never of a later
// attempt than the job.
func (m *marketPlay) read(ctx context.Context, t *task) error {
	var seats rpc.JobRunnersReply
	for _, q := range []struct {
		path string
		into any
	}{{"/job/" + t.id.String() + "/runners", &seats}, {"/job/" + t.id.String(), &t.job}} {
		ok, err := m.board.ask(ctx, m.height, q.path, q.into)
		if err == nil && !ok {
			err = fmt.Errorf("job %d of block %d is not there at height %d", t.number, t.height, m.height)
		}
		if err != nil {
			return err
		}
	}
	t.seats = seats.Runners
	if seats.Attempt != t.job.Attempt || t.job.AssignedAt > 0 && len(t.seated()) == 0 && t.job.Phase != "ended" {
		t.job.AssignedAt = 0 // a block came between: the next look sees both
	}
	return nil
}

// seated are the seats of the attempt that is under way.
func (t *task) seated() (list []*rpc.SeatReply) {
	for i := range t.seats {
		if t.seats[i].Attempt == t.job.Attempt {
			list = append(list, &t.seats[i])
		}
	}
	return list
}

// end holds a job that is over to what must be so.
func (m *marketPlay) end(t *task) {
	m.over = append(m.over, t)
	fault := func(format string, args ...any) {
		m.faults = append(m.faults, fmt.Sprintf("job %d (%s, %s): ", t.number, t.kind.name, t.id)+fmt.Sprintf(format, args...))
	}
	if t.job.Held != 0 || t.job.Outcome == "open" {
		fault("it is over with the outcome %s and holds %d", t.job.Outcome, t.job.Held)
	}
	for i := range t.seats {
		if t.seats[i].Frozen != 0 {
			fault("it is over and %d of %s are frozen", t.seats[i].Frozen, t.seats[i].Runner)
		}
	}
	truth := chain.Hash(keccak.Sum256([]byte(t.kind.truth(t.number, 0))))
	if t.job.Outcome == "ok" && t.kind.judged && t.job.DataHash != truth.String() {
		fault("a lie is its result: %+v", t.job)
	}
}

// pay keeps transfers on their way.
func (m *marketPlay) pay() {
	for _, p := range m.payers {
		for len(p.queue) < paymentsKept {
			m.give(&order{
				by: p.sender, what: "transfer", tx: chain.Tx{To: &p.to, Value: 1, CyclesLimit: 21_000},
				done: func(*rpc.ReceiptReply) { p.got++ },
			})
		}
	}
}

// show tells how far the market is.
func (m *marketPlay) show() {
	s := &m.shown
	s.mu.Lock()
	defer s.mu.Unlock()
	s.height, s.asked, s.open, s.over, s.txs, s.outcomes = m.height, m.asked, len(m.open), len(m.over), m.final, map[string]int{}
	for _, t := range m.over {
		s.outcomes[t.job.Outcome]++
	}
	s.waits = "nothing"
	if len(m.open) > 0 {
		t := m.open[0]
		s.waits = fmt.Sprintf("job %d (%s) of block %d: stage %d, phase %q, attempt %d, looked at from %d, %d orders pending", t.number, t.kind.name, t.height, t.stage, t.job.Phase, t.attempt, t.lookAt, t.pending)
	}
}

func (s *scoreboard) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("height %d: %d jobs asked for, %d open, %d over %v, %d transactions", s.height, s.asked, s.open, s.over, s.outcomes, s.txs)
}
