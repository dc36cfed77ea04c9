package boundary

import (
	"fmt"
	"math"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state"
)

// Groups of cases.
const (
	GroupCall        = "call"        // of the host, by a program
	GroupInstruction = "instruction" // of a system account
	GroupDelivery    = "delivery"    // of a message, a firing, a hook
	GroupAttack      = "attack"      // that was found by hand
)

// Case is one thing to be paid for.
type Case struct {
	Name, Group string
	// Setup keeps the blocks that the case needs before it and returns its block,
	// which may have no transactions: what is due then is the case.
	Setup func(g *Ground) (func() []*chain.VerifiedTx, error)
	// Fails says that the first transaction fails, as it should.
	Fails bool
}

// Kept is what a block made every node keep, in bytes.
type Kept struct {
	Bodies   int
	Receipts int // of transactions, deliveries and firings
	Grown    int // keys and values of entries, and accounts, that the state has more
	Entries  int // that are new
	Codes    int // sources that are new
	Written  int // keys and values of all writes
	Txs      int
}

// Smallest is what the smallest transfer makes every node keep, besides the state of
// its receiver; it pays no cells.
const Smallest = 280

// Beyond is what was kept beyond as many of the smallest transfers.
func (k *Kept) Beyond() int {
	return max(0, k.Bodies+k.Receipts+k.Grown+k.Codes-Smallest*max(1, k.Txs))
}

// Spent is what a case paid and took.
type Spent struct {
	Name, Group string
	Code        uint16 // of the first transaction
	Used        chain.Usage
	Time        time.Duration // of one processor, least of the samples, an empty block's taken off
	Kept        Kept
}

// PerCycle is how many nanoseconds a cycle took.
func (s *Spent) PerCycle() float64 { return float64(s.Time) / math.Max(1, float64(s.Used.Cycles)) }

// PerCell is how many bytes a cell kept.
func (s *Spent) PerCell() float64 {
	return float64(s.Kept.Beyond()) / math.Max(1, float64(s.Used.Cells))
}

// Measure executes a case as often as samples says.
func (g *Ground) Measure(c *Case, samples int) (Spent, error) {
	s := Spent{Name: c.Name, Group: c.Group, Time: math.MaxInt64}
	empty, err := g.idle(samples)
	if err != nil {
		return s, err
	}
	block, err := c.Setup(g)
	if err != nil {
		return s, fmt.Errorf("%s: set up: %w", c.Name, err)
	}
	txs := block()
	for range samples {
		began := bars.ProcessCPU()
		r, err := g.Try(txs...)
		took := bars.ProcessCPU() - began
		if err != nil {
			return s, fmt.Errorf("%s: %w", c.Name, err)
		}
		s.Time = min(s.Time, took)
		if s.Used, s.Code, err = spentOf(&r); err != nil {
			return s, err
		}
		if s.Kept, err = g.kept(&r, txs); err != nil {
			return s, err
		}
	}
	s.Time = max(0, s.Time-empty)
	if len(txs) > 0 && (s.Code != chain.CodeOK) != c.Fails {
		return s, fmt.Errorf("%s: %s", c.Name, chain.CodeName(s.Code))
	}
	return s, nil
}

// idle is the least time of a block in which nothing happens.
func (g *Ground) idle(samples int) (time.Duration, error) {
	least := time.Duration(math.MaxInt64)
	for range samples {
		began := bars.ProcessCPU()
		if _, err := g.Try(); err != nil {
			return 0, err
		}
		least = min(least, bars.ProcessCPU()-began)
	}
	return least, nil
}

// spentOf adds up what the receipts of a block paid.
func spentOf(r *exec.Result) (used chain.Usage, code uint16, err error) {
	for lane := range r.Used {
		used.Cycles += r.Used[lane].Cycles
		used.Cells += r.Used[lane].Cells
	}
	if len(r.Receipts) > 0 {
		code = r.Receipts[0].Code
	}
	return used, code, nil
}

// kept counts what a block made every node keep.
func (g *Ground) kept(r *exec.Result, txs []*chain.VerifiedTx) (Kept, error) {
	k := Kept{Txs: len(txs)}
	for _, tx := range txs {
		k.Bodies += len(tx.Body)
	}
	for i := range r.Receipts {
		k.Receipts += len(r.Receipts[i].Encode())
	}
	return k, k.AddDelta(g.State, r.Delta)
}

// accountBytes is about what an account takes besides its metadata.
const accountBytes = 100

// AddDelta counts the writes of a block on its parent's state.
func (k *Kept) AddDelta(parent state.View, d *state.Delta) error {
	for _, c := range d.Codes() {
		if _, err := parent.Code(c.Hash); err != nil {
			k.Codes += len(c.Code)
			k.Written += len(c.Code)
		}
	}
	for _, c := range d.Accounts() {
		_, had, err := parent.Account(c.Address)
		if err != nil {
			return err
		}
		if !had {
			k.Grown, k.Entries = k.Grown+accountBytes, k.Entries+1
		}
		for _, w := range c.Storage {
			old, err := parent.Storage(c.Address, w.Key)
			if err != nil {
				return err
			}
			k.Written += len(w.Key) + len(w.Value)
			switch {
			case old == nil && w.Value != nil:
				k.Grown, k.Entries = k.Grown+len(w.Key)+len(w.Value), k.Entries+1
			case old != nil && w.Value == nil:
				k.Grown, k.Entries = k.Grown-len(w.Key)-len(old), k.Entries-1
			default:
				k.Grown += len(w.Value) - len(old)
			}
		}
	}
	return nil
}
