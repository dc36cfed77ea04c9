package exec_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/exec"
)

// crowd returns n accounts, every fourth of them vesting.
func crowd(n int) []genesis.Allocation {
	accounts := make([]genesis.Allocation, n)
	for i := range accounts {
		accounts[i] = genesis.Allocation{Name: "crowd", Address: chain.Address{0: 0xc0, 19: byte(i)}, Amount: chain.Wei(i+1) * 10_000_000}
		if i%4 == 3 {
			accounts[i].Vesting = &genesis.Vesting{CliffBlocks: uint64(i) % 7, DurationBlocks: 20}
		}
	}
	return accounts
}

// randomTransfer returns a transfer between members of the crowd and strangers,
// most of them payable.
func randomTransfer(rng *rand.Rand, c *testChain, people []genesis.Allocation) *chain.VerifiedTx {
	from := people[rng.IntN(len(people))].Address
	to := people[rng.IntN(len(people))].Address
	switch rng.IntN(10) {
	case 0:
		to = chain.AddrTreasury
	case 1:
		to = chain.Address{0: 0xf0, 19: byte(rng.Uint32())}
	case 2:
		to = rewardOf(rng.IntN(4))
	}
	tx := c.transfer(from, to, chain.Wei(rng.Uint64N(2_000_000)))
	tx.Tx.CyclesLimit += chain.Cycles(rng.Uint64N(3) * 50_000)
	tx.Tx.MaxFeePerCycle = c.base.PerCycle + chain.Wei(rng.Uint64N(5))
	tx.Tx.MaxFeePerCell = c.base.PerCell + chain.Wei(rng.Uint64N(5))
	tx.Tx.TipPerCycle, tx.Tx.TipPerCell = chain.Wei(rng.Uint64N(4)), chain.Wei(rng.Uint64N(4))
	if rng.IntN(3) == 0 {
		tx.Tx.Payload = make([]byte, rng.IntN(200))
		tx.Tx.CellsLimit = 300
	}
	return verified(tx.Tx, from)
}

// TestConservation runs chains of random blocks and holds every block to
// conservation (in testChain.block), its sums to its receipts, and the whole
// chain to a second execution from genesis. Rerun one case with
// -run 'TestConservation/seed=17'.
func TestConservation(t *testing.T) { // whitepaper §8
	for seed := range uint64(40) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			people := crowd(2 + rng.IntN(20))
			stakes := [][]chain.Wei{{50}, {50, 50}, {50, 77, 1_000, 91}}[rng.IntN(3)]
			g := testGenesis(t, stakes, people...)
			g.Params.BlocksPerYear = 3
			c := newTestChain(t, g)
			var history [][]*chain.VerifiedTx
			var bases []chain.FeePair
			for range 25 {
				txs := randomBlock(rng, c, people)
				history, bases = append(history, txs), append(bases, c.base)
				r := c.block(txs...)
				checkSums(t, r)
				c.base = nextBase(c, r)
			}
			again := newTestChain(t, g)
			for i, txs := range history {
				again.base = bases[i]
				again.block(txs...)
			}
			if !reflect.DeepEqual(again.state, c.state) {
				t.Error("a second execution from genesis ends in another state")
			}
		})
	}
}

// randomBlock returns transfers that are valid together.
func randomBlock(rng *rand.Rand, c *testChain, people []genesis.Allocation) []*chain.VerifiedTx {
	var txs []*chain.VerifiedTx
	for range rng.IntN(30) {
		tx := randomTransfer(rng, c, people)
		if _, err := c.try(append(txs, tx)...); err != nil {
			continue // cannot pay, or no room
		}
		txs = append(txs, tx)
		c.nonces[tx.Sender]++
	}
	return txs
}

func nextBase(c *testChain, r exec.Result) chain.FeePair {
	h := &chain.Header{Used: r.Used}
	for lane := range h.BaseFees {
		h.BaseFees[lane] = c.base
	}
	h.Used[chain.LaneUser].Cycles *= 40 // as if the blocks were larger, so that fees move
	return fees.NextBaseFees(&c.g.Params, h)[chain.LaneUser]
}

// checkSums holds the block's totals to its receipts.
func checkSums(t *testing.T, r exec.Result) {
	t.Helper()
	var fee, tip chain.Wei
	var used [chain.NumLanes]chain.Usage
	for _, receipt := range r.Receipts {
		fee += receipt.Fee
		tip += receipt.Tip
		used[receipt.Lane].Cycles += receipt.CyclesUsed
		used[receipt.Lane].Cells += receipt.CellsUsed
	}
	if fee != r.Burned+r.Tips || tip != r.Tips || used != r.Used {
		t.Errorf("receipts add up to fee %d, tip %d, %+v; the block says burned %d, tips %d, %+v", fee, tip, used, r.Burned, r.Tips, r.Used)
	}
}

// FuzzApply builds a block from bytes: any numbers, few accounts. Execution
// must never fault on a sound state, conserve money when it accepts, and name
// the transaction when it does not.
func FuzzApply(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 1, 2, 0, 1, 0x88, 0x13, 8, 8, 1, 1})
	f.Add([]byte{0, 1, 2, 0xff, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0})
	rng := rand.New(rand.NewPCG(1, 2))
	for range 16 {
		seed := make([]byte, 11*rng.IntN(20))
		for i := range seed {
			seed[i] = byte(rng.Uint32())
		}
		f.Add(seed)
	}
	people := crowd(6)
	g := testGenesis(f, []chain.Wei{50, 60}, people...)
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newTestChain(t, g)
		c.height = 5
		txs := blockFromBytes(c, people, data)
		r, err := c.try(txs...)
		var invalid *exec.InvalidTx
		switch {
		case errors.As(err, &invalid):
			if invalid.Index < 0 || invalid.Index >= len(txs) {
				t.Fatalf("index %d of %d transactions", invalid.Index, len(txs))
			}
			// What stands before the bad transaction is a valid block.
			if _, err := c.try(txs[:invalid.Index]...); err != nil {
				t.Fatalf("the transactions before the invalid one: %v", err)
			}
		case err != nil:
			t.Fatalf("Apply = %v", err)
		default:
			if len(r.Receipts) != len(txs) {
				t.Fatalf("%d receipts for %d transactions", len(r.Receipts), len(txs))
			}
			checkSums(t, r)
			if got, want := c.state.With(r.Delta).Money(), c.state.Money()+r.Issued-r.Burned; got != want {
				t.Fatalf("balances add up to %d, want %d", got, want)
			}
		}
	})
}

// blockFromBytes reads transactions of 11 bytes each.
func blockFromBytes(c *testChain, people []genesis.Allocation, data []byte) []*chain.VerifiedTx {
	var txs []*chain.VerifiedTx
	wide := func(b byte) uint64 { // few small numbers, and the edges
		switch {
		case b < 200:
			return uint64(b)
		case b < 250:
			return 1 << (b - 190)
		default:
			return math.MaxUint64 - uint64(255-b)
		}
	}
	for ; len(data) >= 11 && len(txs) < 40; data = data[11:] {
		from := people[int(data[0])%len(people)].Address
		to := people[int(data[1])%len(people)].Address
		if data[1] >= 200 {
			to = chain.SystemAddress(uint16(data[1]) - 195)
		}
		tx := c.transfer(from, to, chain.Wei(binary.LittleEndian.Uint16(data[5:])))
		tx.Tx.Nonce += wide(data[3]) / 100
		tx.Tx.Payload = make([]byte, data[2]%32)
		tx.Tx.CellsLimit = chain.Cells(wide(data[4]))
		tx.Tx.CyclesLimit = 20_995 + chain.Cycles(wide(data[9]))
		tx.Tx.MaxFeePerCycle, tx.Tx.MaxFeePerCell = chain.Wei(wide(data[7])), chain.Wei(wide(data[8]))
		tx.Tx.TipPerCycle, tx.Tx.TipPerCell = chain.Wei(wide(data[10])), chain.Wei(wide(data[10]))
		if data[6] == 0xff {
			tx.Tx.Value = math.MaxUint64
		}
		c.nonces[from]++
		txs = append(txs, verified(tx.Tx, from))
	}
	return txs
}

func BenchmarkApply(b *testing.B) {
	people := crowd(250)
	for i := range people {
		people[i].Vesting = nil
		people[i].Amount = richAmount
	}
	c := newTestChain(b, testGenesis(b, []chain.Wei{50}, people...))
	txs := make([]*chain.VerifiedTx, 900)
	for i := range txs {
		from := people[i%len(people)].Address
		txs[i] = c.transfer(from, people[(i*7+1)%len(people)].Address, 1)
		c.nonces[from]++
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.try(txs...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(txs))*float64(b.N)/b.Elapsed().Seconds(), "txs/s")
}
