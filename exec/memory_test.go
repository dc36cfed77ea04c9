package exec_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// testGenesis returns a devnet genesis whose validators have these stakes, in
// thousands of CBY, and the accounts in accounts.
func testGenesis(t testing.TB, stakes []chain.Wei, accounts ...genesis.Allocation) *genesis.Genesis {
	t.Helper()
	g := genesis.DevnetTemplate()
	g.Params.Machine = params.MachineTables{CostTable: chain.Hash{0: 1}, ExceptionTexts: chain.Hash{0: 2}}
	set := make([]chain.Validator, len(stakes))
	for i := range set {
		set[i] = chain.Validator{
			PeerKey: chain.PeerKey{0: byte(i + 1)}, ShareIndex: uint32(i),
			BLSKey: [96]byte{0: 0x80, 95: byte(i + 1)}, BLSPossession: [48]byte{0: 0x80}, PublicShare: [96]byte{0: 0x80},
			Stake: stakes[i] * 1_000 * chain.WeiPerCBY, RewardAddress: rewardOf(i),
		}
	}
	points := make([][96]byte, chain.Quorum(len(set)))
	for i := range points {
		points[i][0] = 0x80
	}
	if err := g.Complete(set, points[0], points, accounts, 1); err != nil {
		t.Fatal(err)
	}
	return g
}

func rewardOf(validator int) chain.Address { return chain.Address{0: 0xee, 19: byte(validator + 1)} }

// testChain executes blocks on a state in memory.
type testChain struct {
	engine   *pvm.Engine // nil: no programs
	t        testing.TB
	g        *genesis.Genesis
	state    *statetest.Maps
	broken   chain.Address // reading this account fails
	height   chain.Height
	base     chain.FeePair
	nonces   map[chain.Address]uint64
	included int // transactions of the last block of twice
}

func newTestChain(t testing.TB, g *genesis.Genesis) *testChain {
	t.Helper()
	d, err := exec.GenesisDelta(g)
	if err != nil {
		t.Fatal(err)
	}
	return &testChain{t: t, g: g, state: statetest.NewMaps(d), base: chain.FeePair{PerCycle: 1, PerCell: 1}, nonces: map[chain.Address]uint64{}}
}

func (c *testChain) inputs() exec.Inputs {
	in := exec.Inputs{
		Params: &c.g.Params, ChainID: c.g.ChainID, Height: c.height + 1,
		Proposer: rewardOf(0), Validators: c.g.Validators, Engine: c.engine,
	}
	for lane := range in.BaseFees {
		in.BaseFees[lane] = c.base
	}
	return in
}

// try executes a block without keeping it, and holds it to the block without the short way
// of payments.
func (c *testChain) try(txs ...*chain.VerifiedTx) (exec.Result, error) {
	c.t.Helper()
	var view state.View = c.state
	if c.broken != (chain.Address{}) {
		view = statetest.Broken{View: c.state, At: c.broken}
	}
	r, err := apply(view, c.inputs(), txs)
	if slices.ContainsFunc(txs, exec.IsPayment) {
		want, errByRule := exec.ApplyByRule(view, c.inputs(), txs)
		if (err == nil) != (errByRule == nil) || err != nil && err.Error() != errByRule.Error() {
			c.t.Fatalf("block %d: %v, by the rule %v", c.height+1, err, errByRule)
		}
		sameResult(c.t, &r, &want)
	}
	return r, err
}

// block executes a block that must be valid, holds it to conservation of
// money and to the meter of the state, and keeps it.
func (c *testChain) block(txs ...*chain.VerifiedTx) exec.Result {
	c.t.Helper()
	before := c.state.Money()
	r, err := c.try(txs...)
	if err != nil {
		c.t.Fatalf("block %d: %v", c.height+1, err)
	}
	next := c.state.With(r.Delta)
	if after := next.Money(); after != before+r.Issued-r.Burned {
		c.t.Fatalf("block %d: balances add up to %d, want %d + %d issued - %d burned", c.height+1, after, before, r.Issued, r.Burned)
	}
	if supply, err := staking.ReadSupply(next); err != nil || supply.Total != next.Money() {
		c.t.Fatalf("block %d: supply record %d, %v, balances add up to %d", c.height+1, supply.Total, err, next.Money())
	}
	if err := errors.Join(sameGrowth(c.state, next), withinCaps(&c.g.Params, &r)); err != nil {
		c.t.Fatalf("block %d: %v", c.height+1, err)
	}
	c.state = next
	c.height++
	for _, tx := range txs {
		c.nonces[tx.Sender] = tx.Tx.Nonce + 1
	}
	return r
}

// errCaps says that a block used more than it has.
var errCaps = errors.New("a block used more than its caps")

// withinCaps holds what ran in a block to its caps, and what timers and their agents used
// to their lane.
func withinCaps(p *params.Params, r *exec.Result) error {
	all, lane := chain.Usage{}, fees.LaneTarget(p, chain.LaneTimer)
	for i := range r.Receipts {
		all.Cycles += r.Receipts[i].CyclesUsed
		all.Cells += r.Receipts[i].CellsUsed
	}
	if timers := r.Used[chain.LaneTimer]; timers.Cycles > lane.Cycles || timers.Cells > lane.Cells {
		return fmt.Errorf("%w: timers %+v of %+v", errCaps, timers, lane)
	}
	if all.Cycles > p.CyclesCap || all.Cells > p.CellsCap {
		return fmt.Errorf("%w: %+v of %d and %d", errCaps, all, p.CyclesCap, p.CellsCap)
	}
	return nil
}

// transfer returns the sender's next transfer at exactly its intrinsic cost.
func (c *testChain) transfer(from, to chain.Address, value chain.Wei) *chain.VerifiedTx {
	tx := &chain.Tx{
		ChainID: c.g.ChainID, Nonce: c.nonces[from], To: &to, Value: value,
		CyclesLimit: 21_000, MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: 2,
	}
	return verified(tx, from)
}

func verified(tx *chain.Tx, from chain.Address) *chain.VerifiedTx {
	tx.Signature = &chain.TxSignature{R: [32]byte{1}, S: [32]byte{1}}
	body := tx.Encode()
	v := &chain.VerifiedTx{Tx: tx, Body: body, Hash: chain.TxHash(body), Sender: from, Lane: chain.LaneUser}
	if ins, err := tx.Classify(); err == nil {
		v.Lane = ins.Lane
	}
	return v
}
