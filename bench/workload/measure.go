package workload

import (
	"context"
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/solo"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// Measure is what blocks of one workload took, from the bodies of transactions to
// the disk.
type Measure struct {
	Workload string
	Blocks   int
	Txs      int           // included
	Refused  int           // before they were admitted
	Wall     time.Duration // one stage after the other, signing left out
	CPU      time.Duration // user and system time of the process meanwhile
	Split    solo.Split
}

// PerSecond is how many transactions got through in a second of wall time.
func (m *Measure) PerSecond() float64 { return float64(m.Txs) / m.Wall.Seconds() }

// PerCore is how many would in a second of one processor's time.
func (m *Measure) PerCore() float64 { return float64(m.Txs) / max(m.CPU.Seconds(), 1e-9) }

// On makes the town's next blocks those of another opening of its chain.
func (t *Town) On(c *solo.Chain) { t.chain = c }

// Measure makes blocks of a workload, after one that is not counted, and after
// those that it takes until no timer of another workload waits for its turn.
func (t *Town) Measure(ctx context.Context, w *Workload, txs, blocks int) (Measure, error) {
	m := Measure{Workload: w.Name, Blocks: blocks}
	txs = w.Most(txs)
	if err := t.runUntilIdle(ctx); err != nil {
		return m, err
	}
	var warm Measure
	if err := t.measureBlock(ctx, w, txs, &warm); err != nil {
		return m, err
	}
	for range blocks {
		if err := t.measureBlock(ctx, w, txs, &m); err != nil {
			return m, err
		}
	}
	return m, nil
}

// runUntilIdle makes blocks until no timer is due.
func (t *Town) runUntilIdle(ctx context.Context) error {
	for {
		head := t.chain.Head()
		clock := timers.Clock{Params: head.Force.Params, Height: head.Height() + 1}
		due, err := timers.AnyDue(head.State, clock)
		if err != nil || !due {
			return err
		}
		if _, err := t.chain.Block(ctx); err != nil {
			return err
		}
	}
}

func (t *Town) measureBlock(ctx context.Context, w *Workload, txs int, m *Measure) error {
	bodies, err := t.Block(w, txs)
	if err != nil {
		return err
	}
	began, cpu := time.Now(), bars.ProcessCPU()
	verdicts, err := t.chain.Submit(ctx, bodies)
	if err != nil {
		return err
	}
	b, err := t.chain.Block(ctx)
	if err != nil {
		return err
	}
	m.Wall += time.Since(began)
	m.CPU += bars.ProcessCPU() - cpu
	m.Split.Add(&b.Split)
	m.Txs += len(b.Txs)
	refused := 0
	for i := range verdicts {
		if verdicts[i].Err == nil {
			continue
		}
		if refused++; w.Spoiled == 0 {
			return &RefusedError{w.Name, verdicts[i].Err.Error()}
		}
	}
	m.Refused += refused
	if wanted := (txs*w.Spoiled + 99) / 100; refused != wanted || len(b.Txs) != txs-refused {
		return &RefusedError{w.Name, fmt.Sprintf("%d of %d transactions refused, want %d, and %d in the block", refused, txs, wanted, len(b.Txs))}
	}
	return succeeded(w.Name, &b)
}
