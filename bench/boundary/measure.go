package boundary

import (
	"fmt"
	"math"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
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

// Ready is a case that was set up: its block, and the state before it.
type Ready struct {
	Spent
	g      *Ground
	state  *store.Version
	height chain.Height
	txs    []*chain.VerifiedTx
	idle   time.Duration // of a block in which nothing happens
	fails  bool
}

// Ready sets a case up.
func (g *Ground) Ready(c *Case) (*Ready, error) {
	idle, err := g.idle(idleSamples)
	if err != nil {
		return nil, err
	}
	block, err := c.Setup(g)
	if err != nil {
		return nil, fmt.Errorf("%s: set up: %w", c.Name, err)
	}
	return &Ready{
		Spent: Spent{Name: c.Name, Group: c.Group, Time: math.MaxInt64},
		g:     g, state: g.State, height: g.Height, txs: block(), idle: idle, fails: c.Fails,
	}, nil
}

// idleSamples are taken of a block in which nothing happens.
const idleSamples = 3

// Sample executes the case once more; the least time counts.
func (r *Ready) Sample() error {
	in := r.g.inputs()
	in.Height, in.TimestampMillis = r.height+1, 1_000*uint64(r.height+1)
	began := bars.ProcessCPU()
	res, err := exec.Apply(r.state, in, r.txs)
	took := bars.ProcessCPU() - began
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	r.Time = min(r.Time, max(0, took-r.idle))
	r.Used, r.Code = spentOf(&res)
	if r.Kept, err = keptBy(r.state, &res, r.txs); err != nil {
		return err
	}
	if len(r.txs) > 0 && (r.Code != chain.CodeOK) != r.fails {
		return fmt.Errorf("%s: %s", r.Name, chain.CodeName(r.Code))
	}
	return nil
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

// spentOf adds up what was paid for in a block, and what its deliveries used of what was
// paid when they were sent.
func spentOf(r *exec.Result) (used chain.Usage, code uint16) {
	for lane := range r.Used {
		used.Cycles += r.Used[lane].Cycles
		used.Cells += r.Used[lane].Cells
	}
	for i := range r.Receipts {
		if paid := &r.Receipts[i]; paid.Fee == 0 {
			used.Cycles += paid.CyclesUsed
			used.Cells += paid.CellsUsed
		}
	}
	if len(r.Receipts) > 0 {
		code = r.Receipts[0].Code
	}
	return used, code
}

// keptBy counts what a block made every node keep.
func keptBy(parent state.View, r *exec.Result, txs []*chain.VerifiedTx) (Kept, error) {
	k := Kept{Txs: len(txs)}
	for _, tx := range txs {
		k.Bodies += len(tx.Body)
	}
	for i := range r.Receipts {
		k.Receipts += len(r.Receipts[i].Encode())
	}
	err := k.AddDelta(parent, r.Delta)
	return k, err
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
