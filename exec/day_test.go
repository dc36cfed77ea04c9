package exec_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

var (
	dayBlocks = flag.Int("day-blocks", 250, "blocks of the simulated day; 86400 is a whole one")
	daySeed   = flag.Uint64("day-seed", 1, "seed of the simulated day")
	dayAudit  = flag.Int("day-audit", 1, "blocks between two audits of the simulated day")
)

// day is a chain of random blocks. What people and actors do is in
// day_people_test.go and day_beast_test.go; the books that every block is held
// to are in day_books_test.go, what became of messages and timers in
// day_once_test.go.
type day struct {
	t      *testing.T
	rng    *rand.Rand
	c      *testChain
	ground *statetest.Rooted
	force  governance.Force
	height chain.Height

	people []chain.Address
	herd   []chain.Address // actors
	tokens []chain.Hash
	salt   byte

	slots   slots              // what the blocks have written
	spoilt  map[*chain.Tx]bool // of the block under way: not to be in it
	once    once
	attic   attic   // storages that were evicted
	council council // what governance is about to change
	runtime *vm.Runtime
	twins   []*parallel.Executor
	quota   uint64 // the highest free one so far
	exempt  uint64 // likewise
	timers  uint64 // likewise the most that an actor may set

	did map[string]int // what happened how often, for the log
}

// TestDay runs random actors and people for a part of a day, or with -day-blocks
// for a whole one, and holds every block to the invariants of the state
// transition.
func TestDay(t *testing.T) {
	d := newDay(t)
	for i := range *dayBlocks {
		d.block()
		if i%*dayAudit == 0 || i == *dayBlocks-1 {
			d.audit()
		}
		if i%5_000 == 4_999 {
			t.Logf("block %d: %v", d.height, d.did)
		}
		if t.Failed() {
			t.Fatalf("seed %d, block %d of the day", *daySeed, i)
		}
	}
	d.checkCounters()
	d.checkRoot()
	t.Logf("seed %d, %d blocks, %d actors, %d tokens: %v", *daySeed, *dayBlocks, len(d.herd), len(d.tokens), d.did)
	for _, what := range []string{
		"delivered at once", "delivered later", "deferred", "timer fired", "evicted", "restored", "settled", "dropped", "in parallel",
	} {
		if d.did[what] == 0 {
			t.Errorf("seed %d: nothing of the day %s", *daySeed, what)
		}
	}
}

func newDay(t *testing.T) *day {
	d := &day{
		t: t, rng: rand.New(rand.NewPCG(*daySeed, 0)), people: []chain.Address{alice, bob, carol, {0: 0xda}, {0: 0xe7}},
		ground: statetest.NewRooted(), spoilt: map[*chain.Tx]bool{}, once: newOnce(), attic: attic{}, did: map[string]int{},
	}
	var allocations []genesis.Allocation
	for i, p := range d.people {
		a := rich(p)
		a.Name, a.Amount = fmt.Sprint("rich-", i), 1_000_000*chain.WeiPerCBY
		allocations = append(allocations, a)
	}
	d.people = append(d.people, rewardOf(0), rewardOf(1)) // fees come around
	g := testGenesis(t, []chain.Wei{50, 70}, allocations...)
	hasten(&g.Params)
	if err := g.Params.Check(); err != nil {
		t.Fatal(err)
	}
	var err error
	if d.runtime, err = pvm.NewRuntime([2]uint64{1, 2}); err != nil {
		t.Fatal(err)
	}
	genesis := g.Params
	d.force = governance.Genesis(&genesis)
	d.c = &testChain{t: t, g: g, base: chain.FeePair{PerCycle: 1, PerCell: 1}, nonces: map[chain.Address]uint64{}, engine: d.fresh()}
	d.slots = d.ground.Storages
	first, err := exec.GenesisDelta(g)
	if err == nil {
		err = d.ground.Write(first)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []parallel.Mode{parallel.Planned, parallel.Optimistic, parallel.Auto} {
		x, err := parallel.New(parallel.Config{Mode: mode, Workers: 2}, []*pvm.Engine{d.fresh(), d.fresh()})
		if err != nil {
			t.Fatal(err)
		}
		d.twins = append(d.twins, x)
	}
	for range 4 {
		d.run([]*chain.VerifiedTx{verified(d.deploy(alice), alice), verified(d.deploy(bob), bob)})
	}
	return d
}

// hasten brings near what takes days or crowds: a day of rent has 20 blocks, the
// tiers of the timers are short, mailboxes small.
func hasten(p *params.Params) {
	p.EpochBlocks = 5
	r := &p.Rent
	r.ChargeBlocks, r.GraceEpochs, r.WarningEpochs, r.ExemptBytes = 20, 4, 2, 1_500
	r.PricePerByteYear, r.ReserveBasisPoints, r.TargetStateBytes, r.Alpha = 8*chain.WeiPerCBY, 0, 300_000, 1_000 // a rate that a day does not carry off
	a := &p.Actor
	a.StorageQuotaBytes, a.StorageQuotaBondBytes = 8_000, 20_000
	a.CallDepth, a.MailboxItems, a.MailboxBlockItems, a.MailboxBlockReceivers = 6, 5, 6, 3
	a.BlockCycles, a.BlockCyclesBurst, a.MessageReserveCells = 400_000, 800_000, 2_000
	t := &p.Timer
	t.RingBlocks, t.QueueEpochs, t.MaxPerActor, t.BaseDeposit = 16, 3, 10, chain.WeiPerCBY
	t.MaxUnfundedDeferrals, t.RebidDeferrals, t.QueueTarget, t.MovesPerBlock, t.DepositStepTimers = 30, 3, 40, 6, 4
	gov := &p.Governance
	gov.Members, gov.Threshold, gov.Seats = []chain.Address{alice, bob, carol}, 2, 3
	gov.TimelockBlocks, gov.EmergencyTimelockBlocks = 6, 2
}

// block makes a few random transactions and executes them.
func (d *day) block() {
	var txs []*chain.VerifiedTx
	for range d.rng.IntN(6) {
		txs = append(txs, d.transaction())
	}
	txs = append(txs, d.govern()...)
	txs = append(txs, d.restore()...)
	d.run(d.number(txs))
}

// number puts transactions in the order of their lanes and gives them their
// senders' nonces.
func (d *day) number(txs []*chain.VerifiedTx) []*chain.VerifiedTx {
	slices.SortStableFunc(txs, func(a, b *chain.VerifiedTx) int { return int(a.Lane) - int(b.Lane) })
	ahead := map[chain.Address]uint64{}
	clear(d.spoilt)
	for i, tx := range txs {
		tx.Tx.Nonce = d.c.nonces[tx.Sender] + ahead[tx.Sender]
		ahead[tx.Sender]++
		d.spoilt[tx.Tx] = d.spoil(tx.Tx)
		txs[i] = verified(tx.Tx, tx.Sender)
	}
	return txs
}

// run executes one block, in other ways too where it is its turn, and books it.
func (d *day) run(txs []*chain.VerifiedTx) {
	d.t.Helper()
	d.c.height = d.height
	in := d.c.inputs()
	before := d.ground.Money()
	r, txs := d.apply(in, txs)
	if n := chain.Height(max(16, *dayAudit)); d.height%n == n-1 {
		d.compare(&r, in, txs)
	}
	d.once.block(d, &r, txs)
	d.attic.keep(d, &r)
	d.checkCharges(&r)
	if err := d.ground.Write(r.Delta); err != nil {
		d.t.Fatal(err)
	}
	d.height++
	for _, tx := range txs {
		d.c.nonces[tx.Sender] = tx.Tx.Nonce + 1
	}
	if after := d.ground.Money(); after != before+r.Issued-r.Burned {
		d.errorf("balances add up to %d, want %d + %d issued - %d burned", after, before, r.Issued, r.Burned)
	}
	if supply, err := staking.ReadSupply(d.ground); err != nil || supply.Total != d.ground.Money() {
		d.errorf("supply record %d, %v", supply.Total, err)
	}
	d.checkCaps(&r)
	d.follow(&r, txs)
}

// apply executes a block without the transactions that may not stand in it.
func (d *day) apply(in exec.Inputs, txs []*chain.VerifiedTx) (exec.Result, []*chain.VerifiedTx) {
	d.t.Helper()
	for range 50 {
		r, err := apply(d.ground, in, txs)
		var bad *exec.InvalidTx
		switch {
		case err == nil:
			for _, tx := range txs {
				if d.spoilt[tx.Tx] {
					d.errorf("a transaction that is not valid stands in the block: %+v", tx.Tx)
				}
			}
			return r, txs
		case !errors.As(err, &bad):
			d.t.Fatalf("seed %d, height %d: %v", *daySeed, in.Height, err)
		}
		d.did["dropped"]++
		txs = dropped(txs, bad.Index)
	}
	d.t.Fatalf("seed %d, height %d: no block", *daySeed, in.Height)
	return exec.Result{}, nil
}

// dropped returns txs without the one at index and the later ones of its sender.
func dropped(txs []*chain.VerifiedTx, index int) (kept []*chain.VerifiedTx) {
	for i, tx := range txs {
		if tx.Sender != txs[index].Sender || i < index {
			kept = append(kept, tx)
		}
	}
	return kept
}

// fresh returns an engine that has compiled nothing yet.
func (d *day) fresh() *pvm.Engine {
	return pvm.NewEngine(d.runtime, pvm.NewLRU(1<<20), pvm.DefaultLimits())
}

// compare executes the block again, by a fresh engine and in parallel.
func (d *day) compare(r *exec.Result, in exec.Inputs, txs []*chain.VerifiedTx) {
	in.Engine = d.fresh()
	again, err := exec.Apply(d.ground, in, txs)
	d.same("a second execution", r, &again, err)
	for _, x := range d.twins {
		again, err := x.Apply(d.ground, in, txs)
		d.same("parallel execution", r, &again, err)
		d.did["in parallel"]++
	}
}

func (d *day) same(what string, r, again *exec.Result, err error) {
	if err != nil || !reflect.DeepEqual(again.Receipts, r.Receipts) || writes(again.Delta) != writes(r.Delta) ||
		again.Used != r.Used || again.Burned != r.Burned || again.Issued != r.Issued || again.Tips != r.Tips {
		d.errorf("%s differs: %v", what, err)
	}
}

// writes writes out what a delta says.
func writes(delta *state.Delta) string {
	var b strings.Builder
	for _, c := range delta.Accounts() {
		fmt.Fprintln(&b, c.Address, c.Cleared, c.Account)
		for _, w := range c.Storage {
			fmt.Fprintf(&b, "  %q %v %x\n", w.Key, w.Value == nil, w.Value)
		}
	}
	for _, c := range delta.Codes() {
		fmt.Fprintln(&b, c.Hash, len(c.Code))
	}
	return b.String()
}

// checkCaps holds what a block used to the caps, and its receipts to themselves.
func (d *day) checkCaps(r *exec.Result) {
	if err := withinCaps(&d.c.g.Params, r); err != nil {
		d.errorf("%v", err)
	}
	for i := range r.Receipts {
		if rec := &r.Receipts[i]; rec.Fee < rec.Tip || (rec.Status == chain.StatusSucceeded) != (rec.Code == chain.CodeOK) {
			d.errorf("receipt %d: %+v", i, rec)
		}
	}
}

// follow draws from a block what the next ones need.
func (d *day) follow(r *exec.Result, txs []*chain.VerifiedTx) {
	var err error
	if d.force, err = d.force.At(d.ground); err != nil {
		d.t.Fatal(err)
	}
	d.c.g.Params = *d.force.Params
	d.council.follow(d, r, txs)
	d.attic.follow(d, r, txs)
	for _, c := range r.Delta.Accounts() {
		if c.Account != nil && c.Account.HasCode() && !slices.Contains(d.herd, c.Address) {
			d.herd = append(d.herd, c.Address)
		}
	}
}

func (d *day) errorf(format string, args ...any) {
	d.t.Helper()
	d.t.Errorf("seed %d, height %d: %s", *daySeed, d.height, fmt.Sprintf(format, args...))
}

// chance is true once in n times.
func (d *day) chance(n int) bool { return d.rng.IntN(n) == 0 }

func (d *day) someone() chain.Address { return d.people[d.rng.IntN(len(d.people))] }

func (d *day) beast() chain.Address {
	if len(d.herd) == 0 {
		return alice
	}
	return d.herd[d.rng.IntN(len(d.herd))]
}

func (d *day) anybody() chain.Address {
	if d.chance(2) {
		return d.someone()
	}
	return d.beast()
}

// token is the id of a token, or of none.
func (d *day) token() chain.Hash {
	if n := len(d.tokens); n > 0 {
		return d.tokens[d.rng.IntN(n)]
	}
	return chain.Hash{1}
}
