package exec_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state"
)

// Members of the village, by their last byte: the first are ordinary, the next few are
// what a payment may stumble over.
const (
	villager = iota + 1
	vesting  = iota + 5 // has a lock
	whale               // has nearly all that 64 bits hold
	pauper              // has just a fee
	program             // has code
	stranger            // is not there, and the next are not either
)

func member(b byte) chain.Address { return chain.Address{0: 0xc0, 19: b} }

// village is a chain of such members. dear makes new accounts cost cells, and blocks small.
func village(t testing.TB, dear bool) *testChain {
	lock := rich(member(vesting))
	lock.Vesting = &genesis.Vesting{CliffBlocks: 3, DurationBlocks: 10}
	list := []genesis.Allocation{lock}
	for i := byte(villager); i < vesting; i++ {
		list = append(list, rich(member(i)))
	}
	c := newTestChain(t, testGenesis(t, []chain.Wei{50, 60}, list...))
	c.height = 5
	if dear {
		c.g.Params.State.LimitBytes = 2_048
		c.g.Params.CyclesTarget, c.g.Params.CyclesCap = 150_000, 200_000 // nine payments
	}
	set := func(b byte, balance chain.Wei, code chain.Hash) {
		a := state.NewAccount()
		a.Balance, a.CodeHash = balance, code
		c.state.Accounts[member(b)] = a
	}
	set(whale, math.MaxUint64-2_000_000, state.EmptyCodeHash)
	set(pauper, 70_000, state.EmptyCodeHash)
	set(program, 5, chain.Hash{1})
	return c
}

// villagePayments reads transfers of six bytes each: most are valid, and hardly anything that can
// be wrong with one is missing.
func villagePayments(c *testChain, data []byte) (txs []*chain.VerifiedTx) {
	nonces := map[chain.Address]uint64{}
	for addr, a := range c.state.Accounts {
		nonces[addr] = a.Nonce
	}
	for ; len(data) >= 6 && len(txs) < 200; data = data[6:] {
		from, to := member(data[0]%(stranger+4)), member(data[1]%(stranger+4))
		tx := c.transfer(from, to, chain.Wei(data[2])*chain.Wei(data[3])*40).Tx
		tx.Nonce, tx.CellsLimit = nonces[from], chain.Cells(data[4])*200
		tx.TipPerCell = chain.Wei(data[5] % 3)
		switch data[5] {
		case 0xff:
			tx.Nonce++
		case 0xfe:
			tx.Value = math.MaxUint64
		case 0xfd:
			tx.Payload = data[:2]
		case 0xfc:
			tx.CyclesLimit--
		case 0xfb:
			tx.CyclesLimit = 9_000_000
		case 0xfa:
			*tx.To = chain.AddrTreasury
		case 0xf9:
			tx.MaxFeePerCell = 0
		}
		v := verified(tx, from)
		if data[5] == 0xf8 {
			v.Lane = chain.LaneRunner
		}
		nonces[from]++
		txs = append(txs, v)
	}
	return txs
}

// sameAsByRule holds a block to the block without the short way, to the order of the first
// writes, until nothing is left that makes it invalid.
func sameAsByRule(t *testing.T, c *testChain, txs []*chain.VerifiedTx) {
	t.Helper()
	for {
		got, gotErr := exec.Apply(c.state, c.inputs(), txs)
		want, err := exec.ApplyByRule(c.state, c.inputs(), txs)
		if (err == nil) != (gotErr == nil) || err != nil && err.Error() != gotErr.Error() {
			t.Fatalf("Apply of %d = %v, by the rule %v", len(txs), gotErr, err)
		}
		sameResult(t, &got, &want)
		built(t, c, txs)
		var bad *exec.InvalidTx
		if !errors.As(err, &bad) {
			if err == nil {
				c.state = c.state.With(got.Delta)
			}
			return
		}
		txs = append(append([]*chain.VerifiedTx{}, txs[:bad.Index]...), txs[bad.Index+1:]...)
	}
}

func sameResult(t testing.TB, got, want *exec.Result) {
	t.Helper()
	if !reflect.DeepEqual(got.Receipts, want.Receipts) || got.Used != want.Used || got.Burned != want.Burned || got.Tips != want.Tips || got.Issued != want.Issued {
		t.Fatalf("not what the rule says: %+v, want %+v", got, want)
	}
	if (got.Delta == nil) != (want.Delta == nil) {
		t.Fatal("writes beside an error")
	}
	if got.Delta != nil && !reflect.DeepEqual(got.Delta.AppendChanges(nil), want.Delta.AppendChanges(nil)) {
		t.Fatalf("writes %+v, by the rule %+v", got.Delta.AppendChanges(nil), want.Delta.AppendChanges(nil))
	}
}

// built holds what a proposer makes of the transactions to the rule.
func built(t *testing.T, c *testChain, txs []*chain.VerifiedTx) {
	t.Helper()
	s, err := exec.Build(c.state, c.inputs(), &order.Selection{Txs: txs}, exec.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Kept)+len(s.Skipped) != len(txs) {
		t.Fatalf("%d kept and %d left out of %d", len(s.Kept), len(s.Skipped), len(txs))
	}
	want, err := exec.ApplyByRule(c.state, c.inputs(), s.Kept)
	if err != nil {
		t.Fatal(err)
	}
	sameResult(t, &s.Result, &want)
}

// FuzzPayments holds the short way of payments to the rule.
func FuzzPayments(f *testing.F) {
	f.Add(false, []byte{})
	f.Add(true, []byte{1, stranger, 9, 9, 255, 0, 1, stranger, 9, 9, 0, 0, stranger, 1, 0, 0, 0, 0})
	f.Add(false, []byte{1, whale, 255, 255, 0, 0, vesting, 1, 1, 1, 1, 1, pauper, pauper, 0, 0, 0, 0, 2, program, 3, 3, 3, 3})
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		f.Add(rng.IntN(2) == 0, randomPayments(rng))
	}
	villages := map[bool]*testChain{false: village(f, false), true: village(f, true)}
	f.Fuzz(func(t *testing.T, dear bool, data []byte) {
		c := *villages[dear]
		c.state = c.state.With(state.NewDelta())
		first := len(data) / 12 * 6
		for _, half := range [][]byte{data[:first], data[first:]} { // what the first founds, the second finds
			sameAsByRule(t, &c, villagePayments(&c, half))
			c.height++
		}
	})
}

func randomPayments(rng *rand.Rand) []byte {
	data := make([]byte, 6*rng.IntN(60))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return data
}

// TestPaymentsMeet: the hostile mixes that the fuzz target starts with meet what they are for.
func TestPaymentsMeet(t *testing.T) {
	met, rng := map[string]int{}, rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		c := village(t, i%2 == 0)
		s, err := exec.Build(c.state, c.inputs(), &order.Selection{Txs: villagePayments(c, randomPayments(rng))}, exec.Watch{})
		if err != nil {
			t.Fatal(err)
		}
		for j := range s.Receipts {
			met[chain.CodeName(s.Receipts[j].Code)]++
			if s.Receipts[j].CellsUsed > 0 {
				met["cells"]++
			}
		}
		for _, bad := range s.Skipped {
			if errors.Is(bad, exec.ErrLaneFull) {
				met["lane full"]++
			}
			met[reflect.TypeOf(errors.Unwrap(bad)).String()]++
		}
	}
	t.Log(met)
	for _, what := range []string{
		chain.CodeName(chain.CodeOK), chain.CodeName(chain.CodeBalanceOverflow), chain.CodeName(chain.CodeCellsExhausted), "cells", "lane full",
		"*fees.NonceError", "*fees.FundsError", "*fees.IntrinsicError",
	} {
		if met[what] == 0 {
			t.Errorf("no block met %q", what)
		}
	}
}

// BenchmarkPayments is what a payment takes the short way and by the rule.
func BenchmarkPayments(b *testing.B) {
	people := crowd(250)
	for i := range people {
		people[i].Vesting, people[i].Amount = nil, richAmount
	}
	c := newTestChain(b, testGenesis(b, []chain.Wei{50}, people...))
	c.g.Params.CyclesTarget, c.g.Params.CyclesCap = 1<<40, 1<<40
	txs := make([]*chain.VerifiedTx, 10_000)
	for i := range txs {
		from := people[i%len(people)].Address
		txs[i] = c.transfer(from, people[(i*7+1)%len(people)].Address, 1)
		c.nonces[from]++
	}
	in := c.inputs()
	for _, way := range []struct {
		name  string
		apply func(state.View, exec.Inputs, []*chain.VerifiedTx) (exec.Result, error)
	}{{"short", exec.Apply}, {"rule", exec.ApplyByRule}} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := way.apply(c.state, in, txs); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(txs)), "ns/tx")
		})
	}
}
