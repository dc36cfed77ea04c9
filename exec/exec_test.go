package exec_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

var (
	alice = chain.Address{0: 0xa1}
	bob   = chain.Address{0: 0xb0}
	carol = chain.Address{0: 0xca}
)

const richAmount = 1_000 * chain.WeiPerCBY

// rich returns an account of the ecosystem's bucket.
func rich(addr chain.Address) genesis.Allocation {
	return genesis.Allocation{Name: "rich", Address: addr, Amount: richAmount}
}

// oneValidator returns a chain with one validator and a rich alice and bob.
func oneValidator(t testing.TB) *testChain {
	return newTestChain(t, testGenesis(t, []chain.Wei{50}, rich(alice), rich(bob)))
}

// issuedPerBlock is year 1: 10^18 · 8 % / 31,536,000.
const issuedPerBlock = 2_536_783_358

func TestTransfer(t *testing.T) { // whitepaper §2.3, §17.2
	c := oneValidator(t)
	tx := c.transfer(alice, carol, 500)
	proposer := c.state.Balance(rewardOf(0))
	r := c.block(tx)
	want := chain.Receipt{
		TxHash: tx.Hash, Lane: chain.LaneUser, Status: chain.StatusSucceeded,
		CyclesUsed: 21_000, Fee: 63_000, Tip: 42_000, // 21,000 · (1 + 2)
	}
	if !reflect.DeepEqual(r.Receipts, []chain.Receipt{want}) {
		t.Errorf("receipts %+v, want %+v", r.Receipts, want)
	}
	if r.Burned != 21_000 || r.Tips != 42_000 || r.Issued != issuedPerBlock {
		t.Errorf("burned %d, tips %d, issued %d", r.Burned, r.Tips, r.Issued)
	}
	if r.Used[chain.LaneUser] != (chain.Usage{Cycles: 21_000}) || r.Used[chain.LaneSystem] != (chain.Usage{}) {
		t.Errorf("used %+v", r.Used)
	}
	if got := c.state.Balance(alice); got != richAmount-500-63_000 {
		t.Errorf("sender has %d", got)
	}
	if got := c.state.Balance(carol); got != 500 {
		t.Errorf("new account has %d", got)
	}
	if got := c.state.Balance(rewardOf(0)) - proposer; got != 42_000+issuedPerBlock {
		t.Errorf("proposer got %d, want tips and issuance", got)
	}
	if got := c.state.Accounts[alice].Nonce; got != 1 {
		t.Errorf("sender's nonce is %d", got)
	}
}

func TestTransferCases(t *testing.T) {
	t.Run("to oneself only the fee is lost", func(t *testing.T) {
		c := oneValidator(t)
		c.block(c.transfer(alice, alice, richAmount/2))
		if got := c.state.Balance(alice); got != richAmount-63_000 {
			t.Errorf("balance %d", got)
		}
	})
	t.Run("all that is left after the reservation", func(t *testing.T) {
		c := oneValidator(t)
		c.block(c.transfer(alice, carol, richAmount-210_000)) // the limit at the fee cap
		if got := c.state.Balance(alice); got != 210_000-63_000 {
			t.Errorf("refund is %d", got)
		}
	})
	t.Run("value zero makes no account", func(t *testing.T) {
		c := oneValidator(t)
		r := c.block(c.transfer(alice, carol, 0))
		if _, ok := c.state.Accounts[carol]; ok || r.Receipts[0].Status != chain.StatusSucceeded {
			t.Error("an empty account was left behind")
		}
	})
	t.Run("to the treasury", func(t *testing.T) { // resolution 4.4
		c := oneValidator(t)
		before := c.state.Balance(chain.AddrTreasury)
		c.block(c.transfer(alice, chain.AddrTreasury, 7))
		if got := c.state.Balance(chain.AddrTreasury); got != before+7 {
			t.Errorf("treasury has %d, want %d more than %d", got, 7, before)
		}
	})
	t.Run("money received in the block can be spent in it", func(t *testing.T) {
		c := oneValidator(t)
		first := c.transfer(alice, carol, 1_000_000)
		second := c.transfer(carol, bob, 500_000)
		c.block(first, second)
		if got := c.state.Balance(carol); got != 1_000_000-500_000-63_000 {
			t.Errorf("balance %d", got)
		}
	})
	t.Run("a payload costs cells", func(t *testing.T) { // resolution 2.10
		c := oneValidator(t)
		tx := c.transfer(alice, carol, 1)
		tx.Tx.Payload, tx.Tx.CellsLimit = []byte("memo"), 10
		r := c.block(verified(tx.Tx, alice))
		if got := r.Receipts[0]; got.CellsUsed != 4 || got.Fee != 63_000+4 {
			t.Errorf("cells %d, fee %d", got.CellsUsed, got.Fee)
		}
	})
	t.Run("unused limits are given back", func(t *testing.T) { // resolution 2.12
		c := oneValidator(t)
		tx := c.transfer(alice, carol, 1)
		tx.Tx.CyclesLimit, tx.Tx.CellsLimit = 1_000_000, 1_000
		r := c.block(verified(tx.Tx, alice))
		if got := c.state.Balance(alice); got != richAmount-1-63_000 || r.Used[chain.LaneUser].Cycles != 21_000 {
			t.Errorf("balance %d, used %+v", got, r.Used)
		}
	})
	t.Run("a balance that would overflow fails the transfer", func(t *testing.T) {
		c := oneValidator(t)
		whale := c.state.Accounts[bob]
		whale.Balance = math.MaxUint64 - 9
		c.state.Accounts[bob] = whale // no chain gets there; the rule holds all the same
		r, err := c.try(c.transfer(alice, bob, 10))
		if err != nil {
			t.Fatal(err)
		}
		got := r.Receipts[0]
		if got.Status != chain.StatusFailed || got.Code != chain.CodeBalanceOverflow || got.Fee != 63_000 {
			t.Errorf("receipt %+v", got)
		}
		next := c.state.With(r.Delta)
		if next.Balance(bob) != whale.Balance || next.Balance(alice) != richAmount-63_000 || next.Accounts[alice].Nonce != 1 {
			t.Errorf("recipient %d, sender %d", next.Balance(bob), next.Balance(alice))
		}
	})
}

func TestInvalidBlocks(t *testing.T) {
	c := oneValidator(t)
	good := c.transfer(alice, carol, 1)
	change := func(f func(*chain.Tx)) *chain.VerifiedTx {
		tx := *good.Tx
		f(&tx)
		return verified(&tx, alice)
	}
	second := change(func(tx *chain.Tx) { tx.Nonce = 1 })
	late := *good
	late.Lane = chain.LaneSystem
	tests := []struct {
		name  string
		txs   []*chain.VerifiedTx
		index int
		is    error // nil: any
		as    any
	}{
		{"nonce gap", []*chain.VerifiedTx{second}, 0, nil, new(*fees.NonceError)},
		{"same transaction twice", []*chain.VerifiedTx{good, good}, 1, nil, new(*fees.NonceError)},
		{"nonces out of order", []*chain.VerifiedTx{second, good}, 0, nil, new(*fees.NonceError)},
		{"another chain", []*chain.VerifiedTx{change(func(tx *chain.Tx) { tx.ChainID++ })}, 0, fees.ErrChainID, nil},
		{"cap below the base fee", []*chain.VerifiedTx{change(func(tx *chain.Tx) { tx.MaxFeePerCycle = 0 })}, 0, nil, new(*fees.BaseFeeError)},
		{"more than the balance", []*chain.VerifiedTx{change(func(tx *chain.Tx) { tx.Value = richAmount })}, 0, nil, new(*fees.FundsError)},
		{"below the intrinsic cost", []*chain.VerifiedTx{change(func(tx *chain.Tx) { tx.CyclesLimit-- })}, 0, nil, new(*fees.IntrinsicError)},
		{"limit above the maximum", []*chain.VerifiedTx{change(func(tx *chain.Tx) { tx.CyclesLimit = 10_000_001 })}, 0, nil, new(*fees.LimitError)},
		{"reserved target", []*chain.VerifiedTx{change(func(tx *chain.Tx) { tx.To = &chain.AddrStaking })}, 0, chain.ErrReservedAddress, nil},
		{"deployment", []*chain.VerifiedTx{change(func(tx *chain.Tx) { tx.To, tx.Payload, tx.CellsLimit = nil, []byte{0x84, 0x40, 0x40, 0xa0, 0xf6}, 100 })}, 0, nil, new(*fees.IntrinsicError)},
		{"lane not its own", []*chain.VerifiedTx{&late}, 0, fees.ErrLane, nil},
		{"earlier lane after a later one", []*chain.VerifiedTx{good, &late}, 1, exec.ErrLaneOrder, nil},
		{"lane that is none", []*chain.VerifiedTx{{Tx: good.Tx, Body: good.Body, Hash: good.Hash, Sender: alice, Lane: 200}}, 0, fees.ErrLane, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := c.try(tt.txs...)
			var invalid *exec.InvalidTx
			if !errors.As(err, &invalid) || invalid.Index != tt.index {
				t.Fatalf("Apply = %v, want an InvalidTx at %d", err, tt.index)
			}
			if tt.is != nil && !errors.Is(err, tt.is) || tt.as != nil && !errors.As(err, tt.as) {
				t.Errorf("Apply = %v", err)
			}
			if r.Delta != nil || r.Receipts != nil {
				t.Error("an invalid block has a result")
			}
		})
	}
	t.Run("message to an actor", func(t *testing.T) {
		actor := c.state.Accounts[bob]
		actor.CodeHash = chain.Hash{1}
		c.state.Accounts[bob] = actor
		tx := c.transfer(alice, bob, 1).Tx
		tx.Payload, tx.CellsLimit = []byte("memo"), 4
		if _, err := c.try(verified(tx, alice)); !errors.Is(err, chain.ErrPayload) { // whitepaper §2.2e
			t.Errorf("Apply = %v", err)
		}
	})
}

// TestLaneBudget fills the user lane: limits decide whether a transaction may
// start, what it used is what the next one misses (resolution 11.14).
func TestLaneBudget(t *testing.T) {
	c := oneValidator(t)
	var txs []*chain.VerifiedTx
	for i := range uint64(3) {
		tx := c.transfer(alice, bob, 1)
		tx.Tx.Nonce, tx.Tx.CyclesLimit, tx.Tx.MaxFeePerCycle = i, 10_000_000, 3
		txs = append(txs, verified(tx.Tx, alice))
	}
	c.block(txs...) // three limits add up to 30M, but each start finds 20M less 21,000s left

	c = oneValidator(t)
	txs = nil
	for i := range uint64(953) { // 952 transfers of 21,000 cycles fill 20M
		tx := c.transfer(alice, bob, 1)
		tx.Tx.Nonce = i
		txs = append(txs, verified(tx.Tx, alice))
	}
	var invalid *exec.InvalidTx
	if _, err := c.try(txs...); !errors.As(err, &invalid) || invalid.Index != 952 || !errors.Is(err, exec.ErrLaneFull) {
		t.Fatalf("Apply = %v, want ErrLaneFull at 952", err)
	}
	r := c.block(txs[:952]...)
	if got := r.Used[chain.LaneUser].Cycles; got != 19_992_000 {
		t.Errorf("used %d cycles", got)
	}
}

// TestLaneBytes: a lane has its share of a block's bytes, too, and a transaction takes
// those of its body, whatever it uses (docs/adr/0069).
func TestLaneBytes(t *testing.T) {
	const fitting = 40
	c := oneValidator(t)
	var txs []*chain.VerifiedTx
	for i := range uint64(fitting + 1) {
		tx := c.transfer(alice, bob, 1)
		tx.Tx.Nonce = i
		txs = append(txs, verified(tx.Tx, alice))
	}
	room := uint64(0)
	for _, tx := range txs[:fitting] {
		room += uint64(len(tx.Body)) + chain.BodyFrameBytes
	}
	c.g.Params.MaxBlockBytes = chain.MaxHeaderBytes + room
	var invalid *exec.InvalidTx
	if _, err := c.try(txs...); !errors.As(err, &invalid) || invalid.Index != fitting || !errors.Is(err, exec.ErrLaneFull) {
		t.Fatalf("Apply = %v, want ErrLaneFull at %d", err, fitting)
	}
	c.block(txs[:fitting]...)
}

func TestFaults(t *testing.T) {
	f := func(name string, want error, change func(*testChain), txs ...*chain.VerifiedTx) {
		t.Helper()
		c := oneValidator(t)
		change(c)
		_, err := c.try(txs...)
		if !errors.As(err, new(*exec.Fault)) || !errors.Is(err, want) || errors.As(err, new(*exec.InvalidTx)) {
			t.Errorf("%s: Apply = %v, want a Fault with %v", name, err, want)
		}
	}
	c := oneValidator(t)
	tx := c.transfer(alice, carol, 1)
	f("sender unreadable", statetest.ErrDisk, func(c *testChain) { c.broken = alice }, tx)
	f("recipient unreadable", statetest.ErrDisk, func(c *testChain) { c.broken = carol }, tx)
	f("proposer unreadable", statetest.ErrDisk, func(c *testChain) { c.broken = rewardOf(0) })
	f("no supply record", staking.ErrNoSupply, func(c *testChain) { clear(c.state.Storages) })
	f("broken supply record", staking.ErrSupplyRecord, func(c *testChain) {
		for key := range c.state.Storages[chain.AddrTreasury] {
			c.state.Storages[chain.AddrTreasury][key] = []byte{0x85, 1}
		}
	})
	f("broken metadata", genesis.ErrMetadata, func(c *testChain) {
		a := c.state.Accounts[alice]
		a.Meta = []byte{0x85}
		c.state.Accounts[alice] = a
	}, tx)
	f("proposer's balance beyond the supply", funds.ErrMoney, func(c *testChain) {
		c.state.Accounts[rewardOf(0)] = state.Account{Balance: math.MaxUint64}
	})

	in := c.inputs()
	in.Height = 0
	if _, err := exec.Apply(c.state, in, nil); !errors.Is(err, exec.ErrHeight) {
		t.Errorf("height 0: %v", err)
	}
}

func TestVesting(t *testing.T) { // whitepaper §8.3
	locked := rich(alice)
	locked.Vesting = &genesis.Vesting{CliffBlocks: 3, DurationBlocks: 10}
	c := newTestChain(t, testGenesis(t, []chain.Wei{50}, locked, rich(bob)))
	refused := func(tx *chain.VerifiedTx) {
		t.Helper()
		if _, err := c.try(tx); !errors.As(err, new(*fees.FundsError)) {
			t.Errorf("block %d: Apply = %v, want a FundsError", c.height+1, err)
		}
	}
	refused(c.transfer(alice, carol, 1)) // block 1: nothing is free, not even a fee
	c.block(c.transfer(bob, alice, 1_000_000))
	refused(c.transfer(alice, carol, 1_000_000-210_000+1)) // block 2: what was received is
	c.block(c.transfer(alice, carol, 1_000_000-210_000))
	left := c.state.Balance(alice) // 10^12 locked and what the fee left of the reservation
	if left != richAmount+147_000 {
		t.Fatalf("balance %d", left)
	}
	free := left - richAmount + richAmount*3/10 // block 3 passes the cliff
	refused(c.transfer(alice, carol, free-210_000+1))
	c.block(c.transfer(alice, carol, free-210_000))
	for c.height < 9 {
		c.block()
	}
	c.block(c.transfer(alice, carol, c.state.Balance(alice)-210_000)) // block 10: everything
	if got := c.state.Balance(alice); got != 147_000 {
		t.Errorf("balance %d", got)
	}
	if len(c.state.Accounts[alice].Meta) == 0 {
		t.Error("the schedule was lost")
	}
}

func TestIssuanceIsSplitByStake(t *testing.T) { // whitepaper §8.2, "Staking and Rewards"
	c := newTestChain(t, testGenesis(t, []chain.Wei{50, 100, 150, 200}))
	r := c.block()
	if r.Issued != issuedPerBlock || r.Burned != 0 || r.Tips != 0 || len(r.Receipts) != 0 {
		t.Fatalf("empty block: %+v", r)
	}
	want := []chain.Wei{ // tenths of the stake, rounded down
		253_678_335, 507_356_671, 761_035_007, 1_014_713_343,
	}
	want[0] += issuedPerBlock - want[0] - want[1] - want[2] - want[3] // the proposer's: what rounding left
	for i, w := range want {
		if got := c.state.Balance(rewardOf(i)); got != w {
			t.Errorf("validator %d got %d, want %d", i, got, w)
		}
	}
}

func TestValidatorWithoutStakeGetsNothing(t *testing.T) {
	c := newTestChain(t, testGenesis(t, []chain.Wei{50, 100}))
	for _, tt := range []struct {
		stakes [2]chain.Wei
		want   [2]chain.Wei // the first proposes
	}{
		{[2]chain.Wei{0, 7}, [2]chain.Wei{0, issuedPerBlock}},
		{[2]chain.Wei{7, 0}, [2]chain.Wei{issuedPerBlock, 0}},
		{[2]chain.Wei{0, 0}, [2]chain.Wei{issuedPerBlock, 0}},
	} {
		in := c.inputs()
		in.Validators = slices.Clone(in.Validators)
		in.Validators[0].Stake, in.Validators[1].Stake = tt.stakes[0], tt.stakes[1]
		r, err := exec.Apply(c.state, in, nil)
		if err != nil {
			t.Fatal(err)
		}
		next := c.state.With(r.Delta)
		for i, want := range tt.want {
			if got := next.Balance(rewardOf(i)) - c.state.Balance(rewardOf(i)); got != want {
				t.Errorf("stakes %d: validator %d got %d, want %d", tt.stakes, i, got, want)
			}
		}
	}
}

func TestIssuanceByYear(t *testing.T) { // resolutions 9.3, 9.4
	g := testGenesis(t, []chain.Wei{50})
	g.Params.BlocksPerYear = 2
	c := newTestChain(t, g)
	rates := []uint64{800, 800, 500, 500, 300, 300, 200, 200, 200, 200, 100, 100, 100} // year 10: 2 %
	supply := chain.Wei(genesis.InitialSupply)
	for year, rate := range rates {
		perBlock := supply / 20_000 * chain.Wei(rate) // supply · rate / 10,000 / 2
		perBlock += supply % 20_000 * chain.Wei(rate) / 20_000
		for range 2 {
			if r := c.block(); r.Issued != perBlock {
				t.Fatalf("year %d: issued %d, want %d", year+1, r.Issued, perBlock)
			}
		}
		supply += 2 * perBlock
	}
	s, err := staking.ReadSupply(c.state)
	if err != nil || s.Total != supply || s.Issued != supply-genesis.InitialSupply || s.Year != 13 {
		t.Errorf("supply record %+v, %v, want total %d in year 13", s, err, supply)
	}
}

// TestIssuanceStopsAtTheTop runs a rate of 100 % a block until 64 bits are
// full: issuance ends there instead of wrapping.
func TestIssuanceStopsAtTheTop(t *testing.T) {
	g := testGenesis(t, []chain.Wei{50})
	g.Params.BlocksPerYear = 1
	g.Params.InflationBasisPoints = []params.InflationStep{{BasisPoints: params.BasisPoints}}
	c := newTestChain(t, g)
	for range 6 {
		c.block()
	}
	if got := c.state.Money(); got != math.MaxUint64 {
		t.Errorf("supply %d, want the top", got)
	}
	if r := c.block(); r.Issued != 0 {
		t.Errorf("issued %d beyond the top", r.Issued)
	}
}

func TestApplyLeavesItsArguments(t *testing.T) {
	c := oneValidator(t)
	before := c.state.With(state.NewDelta())
	tx := c.transfer(alice, carol, 500)
	body := string(tx.Tx.Encode())
	first, err := c.try(tx)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c.state.Accounts, before.Accounts) || !reflect.DeepEqual(c.state.Storages, before.Storages) || string(tx.Tx.Encode()) != body {
		t.Error("Apply changed what it was given")
	}
	second, err := c.try(tx)
	if err != nil || !reflect.DeepEqual(first.Receipts, second.Receipts) || !reflect.DeepEqual(first.Delta.Accounts(), second.Delta.Accounts()) {
		t.Error("a second execution differs")
	}
}

func TestGenesisDelta(t *testing.T) {
	g := testGenesis(t, []chain.Wei{50, 60, 70, 80}, rich(alice))
	c := newTestChain(t, g)
	if got := c.state.Money(); got != genesis.InitialSupply {
		t.Errorf("balances add up to %d", got)
	}
	if got := c.state.Balance(chain.AddrStaking); got != 260_000*chain.WeiPerCBY {
		t.Errorf("stakes in escrow: %d", got)
	}
	s, err := staking.ReadSupply(c.state)
	if want := (staking.Supply{Total: genesis.InitialSupply, YearStart: genesis.InitialSupply}); err != nil || s != want {
		t.Errorf("supply record %+v, %v", s, err)
	}
	for _, a := range g.Allocations {
		got := c.state.Accounts[a.Address]
		if got.Balance != a.Amount || (len(got.Meta) > 0) != (a.Vesting != nil) {
			t.Errorf("%s: %+v", a.Name, got)
		}
	}
	g.Supply--
	if _, err := exec.GenesisDelta(g); err == nil {
		t.Error("a genesis that does not check was accepted")
	}
}
