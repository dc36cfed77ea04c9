package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Run funds, signs, sends, waits and reports. Progress goes to log, one line a
// second. An error means that the load could not be put on at all; what the
// node made of it, lost transfers included, stands in the report.
func Run(ctx context.Context, cfg LoadConfig, root string, log io.Writer) (*LoadReport, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	node := newNodeClient(cfg.RPC, cfg.RequestTimeout)
	defer node.close()
	due := schedule(&cfg)
	params, terms, err := quote(ctx, node, &cfg)
	if err != nil {
		return nil, err
	}
	pl, workers, err := prepare(ctx, node, &cfg, len(due), terms, log)
	if err != nil {
		return nil, err
	}
	clocks, err := startClocks(ctx, &cfg, node, terms, log)
	if err != nil {
		return nil, fmt.Errorf("start timers: %w", err)
	}
	head, err := node.height(ctx)
	if err != nil {
		return nil, fmt.Errorf("height: %w", err)
	}
	l := newLoad(&cfg, pl, newMarket(&cfg, terms, workers, head), due, head)
	l.report = &LoadReport{
		Kind: KindLoad, Config: reportedConfig(&cfg), Environment: bars.Observe(root),
		Ceiling: ceilingOf(params, pl.txs),
	}
	if err := l.run(ctx, log); err != nil {
		return nil, err
	}
	if l.report.Unheard, err = unheard(ctx, node, l.heartbeats()); err != nil {
		return nil, err
	}
	l.fill()
	if l.report.Timers, err = clocks.report(ctx, &cfg, l.watcher.last); err != nil {
		return nil, err
	}
	if err := clocks.messageAll(ctx, "stop", cbor.AppendNull(nil)); err != nil {
		return nil, fmt.Errorf("stop timers: %w", err)
	}
	return l.report, nil
}

// prepare makes the accounts, funds them, registers those that are to be runners, and signs
// what they will send. It returns the accounts that do the jobs apart.
func prepare(ctx context.Context, node *nodeClient, cfg *LoadConfig, requests int, terms *prices, log io.Writer) (pl *plan, workers []account, err error) {
	accounts, err := accountsOf(cfg)
	if err != nil {
		return nil, nil, err
	}
	if workers, err = workersOf(cfg); err != nil {
		return nil, nil, err
	}
	if cfg.Mix.jobs() != nil {
		if terms.registered, err = node.countRunners(ctx); err != nil {
			return nil, nil, err
		}
		terms.registered += uint64(len(workers) + len(accounts)) // most of all
	}
	if pl, err = newPlan(accounts, requests, cfg, terms); err != nil {
		return nil, nil, err
	}
	if err := pl.provide(workers, cfg, terms); err != nil {
		return nil, nil, err
	}
	if err := makeRunners(ctx, node, cfg, accounts, workers, terms, log); err != nil {
		return nil, nil, err
	}
	signing := time.Now()
	if err := pl.sign(terms); err != nil {
		return nil, nil, fmt.Errorf("sign transactions: %w", err)
	}
	fmt.Fprintf(log, "signed %d transactions in %v\n", len(pl.txs), time.Since(signing).Round(time.Millisecond))
	return pl, workers, nil
}

// makeRunners funds the accounts, and registers those that send heartbeats or do jobs.
func makeRunners(ctx context.Context, node *nodeClient, cfg *LoadConfig, accounts, workers []account, terms *prices, log io.Writer) error {
	var beating, working []*account
	for i := range accounts {
		if cfg.Mix.Kinds[accounts[i].kind].Kind == KindHeartbeat {
			beating = append(beating, &accounts[i])
		}
	}
	for i := range workers {
		working = append(working, &workers[i])
	}
	list, err := enlistments(ctx, node, beating, false, terms)
	if err != nil {
		return err
	}
	more, err := enlistments(ctx, node, working, true, terms)
	if err != nil {
		return err
	}
	for _, some := range [][]account{accounts, workers} {
		if err := fund(ctx, cfg, node, some, terms, log); err != nil {
			return err
		}
	}
	return enlist(ctx, node, append(list, more...), log)
}

// quote asks the node for its parameters and today's fees.
func quote(ctx context.Context, node *nodeClient, c *LoadConfig) (*rpc.ParamsReply, *prices, error) {
	var fees rpc.BaseFeeReply
	if err := node.get(ctx, "/basefee", &fees); err != nil {
		return nil, nil, fmt.Errorf("base fee: %w", err)
	}
	reply, err := node.params(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("parameters: %w", err)
	}
	p := &prices{chainID: fees.ChainID, intrinsic: params.Default().Intrinsic, all: params.Default(), tipPerCycle: 1}
	if err := p.readParams(ctx, node, &c.Mix); err != nil {
		return nil, nil, err
	}
	if reply != nil && reply.IntrinsicCosts != (params.IntrinsicCosts{}) {
		p.intrinsic = reply.IntrinsicCosts
	}
	cycle, cell := fees.Cycle, fees.Cell
	for _, lane := range fees.Lanes {
		cycle, cell = max(cycle, lane.Cycle), max(cell, lane.Cell)
	}
	if max(cycle, cell) > math.MaxUint32 {
		return nil, nil, fmt.Errorf("base fees of %d and %d are too high to leave headroom above them", cycle, cell)
	}
	p.maxFeePerCycle = cycle*chain.Wei(c.FeeHeadroom) + p.tipPerCycle
	p.maxFeePerCell = cell * chain.Wei(c.FeeHeadroom)
	return reply, p, nil
}

// readParams asks for all parameters where transactions of runners or jobs depend on them.
func (p *prices) readParams(ctx context.Context, node *nodeClient, m *Mix) error {
	if m.jobs() == nil && !slices.ContainsFunc(m.Kinds, func(k Kind) bool { return k.Kind == KindHeartbeat }) {
		return nil
	}
	var reply rpc.GovernanceReply
	if err := node.get(ctx, "/governance", &reply); err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	if err := json.Unmarshal(reply.Params, &p.all); err != nil {
		return fmt.Errorf("parameters of the chain: %w", err)
	}
	return nil
}

// load is a run in progress.
type load struct {
	cfg     *LoadConfig
	due     []time.Duration
	tally   *tally
	senders []*sender
	watcher *watcher
	market  *market // nil: the mix has no jobs

	lateness *hdrhistogram.Histogram // of the pacer: slot handed out after it was due
	sendTime time.Duration           // from the start to the last answer
	fullTime time.Duration           // to the end of the drain
	report   *LoadReport
}

func newLoad(cfg *LoadConfig, pl *plan, m *market, due []time.Duration, head uint64) *load {
	l := &load{cfg: cfg, due: due, market: m, tally: newTally(pl), lateness: newHistogram()}
	l.tally.head.Store(head)
	for _, stream := range pl.streams {
		l.senders = append(l.senders, newSender(cfg, l.tally, stream))
	}
	l.watcher = newWatcher(cfg, l.tally, m, head)
	return l
}

// heartbeats are the last ones of each runner that stand in blocks.
func (l *load) heartbeats() (list []heard) {
	for sender, height := range l.watcher.beats {
		list = append(list, heard{l.tally.plan.accounts[sender].address, height})
	}
	return append(list, l.market.heartbeats()...)
}

// run starts every goroutine of the load and waits for them.
func (l *load) run(ctx context.Context, log io.Writer) error {
	background, stop := context.WithCancel(ctx)
	defer stop()
	events, err := l.watcher.open(background)
	if err != nil {
		return err
	}
	runtime.GC() // what signing left behind must not be collected during the run
	l.tally.start = time.Now().Add(startDelay)
	var watching, sending sync.WaitGroup
	watching.Go(func() { l.watcher.run(background, events) })
	watching.Go(func() { l.progress(background, log) })
	if l.market != nil {
		watching.Go(func() { l.market.run(background) })
	}
	for _, s := range l.senders {
		sending.Go(func() { s.run(ctx) })
	}
	err = l.pace(ctx)
	for _, s := range l.senders {
		close(s.slots)
	}
	sending.Wait()
	l.sendTime = time.Since(l.tally.start)
	if err == nil {
		err = l.drain(ctx)
	}
	stop()
	watching.Wait()
	if err != nil {
		return err
	}
	return l.settleRest(ctx, log)
}

// startDelay lets all senders be ready before the first slot is due.
const startDelay = 20 * time.Millisecond

// pace hands each slot of the schedule to its connection when it is due. It
// never waits for a sender: when too many transfers are unanswered, the slot is
// skipped and counted.
func (l *load) pace(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := pacer{start: l.tally.start, spin: l.cfg.SpinWindow}
	batch := int64(l.cfg.Batch)
	for i, due := range l.due {
		if err := p.until(ctx, due); err != nil {
			return err
		}
		record(l.lateness, time.Since(p.start)-due)
		l.tally.scheduled.Add(batch)
		if l.tally.inFlight.Add(batch) > int64(l.cfg.MaxInFlight) {
			l.tally.inFlight.Add(-batch)
			l.tally.skipped.Add(batch)
			continue
		}
		l.senders[i%len(l.senders)].slots <- due
	}
	return nil
}

// drain waits until every accepted transfer is final and every job has its outcome, at most
// for the drain time.
func (l *load) drain(ctx context.Context) error {
	l.market.beginDrain()
	for end := time.Now().Add(l.cfg.Drain); (l.tally.waiting() > 0 || l.market.unsettled()) && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	l.fullTime = time.Since(l.tally.start)
	return nil
}

// settleRest runs when the watcher has ended. When transfers are still open it
// asks for the blocks up to the head itself: a stream that fell silent is no
// reason to call a transfer lost.
func (l *load) settleRest(ctx context.Context, log io.Writer) error {
	if l.tally.waiting() == 0 {
		return nil
	}
	head, err := l.watcher.node.height(ctx)
	if err != nil {
		return fmt.Errorf("height after the drain: %w", err)
	}
	if err := l.watcher.catchUp(ctx, head); err != nil {
		return fmt.Errorf("blocks after the drain: %w", err)
	}
	fmt.Fprintf(log, "%d accepted transfers are not final %v after the last answer\n", l.tally.waiting(), l.cfg.Drain)
	return nil
}

// progress prints one line a second.
func (l *load) progress(ctx context.Context, log io.Writer) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var sent, finals int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		t := l.tally
		s, f := t.sent.Load(), t.finals.Load()
		fmt.Fprintf(log, "%4.0fs sent %d (%d/s) accepted %d rejected %d skipped %d unanswered %d finalized %d (%d/s)\n",
			time.Since(t.start).Seconds(), s, s-sent, t.accepted.Load(), t.rejections.Load(), t.skipped.Load(), t.inFlight.Load(), f, f-finals)
		sent, finals = s, f
	}
}
