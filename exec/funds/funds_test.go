package funds_test

import (
	"errors"
	"math"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestMove: a move is whole or not at all, and never of what is locked.
func TestMove(t *testing.T) { // whitepaper §8.3
	from, to := chain.Address{0: 1}, chain.Address{0: 2}
	lock := genesis.Lock{Amount: 60, Vesting: genesis.Vesting{CliffBlocks: 10, DurationBlocks: 100}}
	for _, tt := range []struct {
		rule   string
		amount chain.Wei
		has    chain.Wei // the receiver
		want   error
	}{
		{"all that is free", 40, 7, nil},
		{"one unit of what is locked", 41, 7, funds.ErrShort},
		{"up to the top", 40, math.MaxUint64 - 40, nil},
		{"one unit past it", 40, math.MaxUint64 - 39, funds.ErrOverflow},
		{"nothing", 0, 7, nil},
	} {
		o := state.NewOverlay(state.Empty{})
		sender, receiver := state.NewAccount(), state.NewAccount()
		sender.Balance, sender.Meta, receiver.Balance = 100, lock.AppendMeta(nil), tt.has
		o.SetAccount(from, sender)
		o.SetAccount(to, receiver)
		err := funds.Move(o, from, to, tt.amount, 9)
		if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", tt.rule, err, tt.want)
		}
		moved := tt.amount
		if tt.want != nil {
			moved = 0
		}
		for addr, want := range map[chain.Address]chain.Wei{from: 100 - moved, to: tt.has + moved} {
			if got, err := funds.Balance(o, addr); got != want || err != nil {
				t.Errorf("%s: %s has %d, %v, want %d", tt.rule, addr, got, err, want)
			}
		}
	}
}

// TestNothingLeavesNoTrace: an amount of 0 writes nothing, not even where the account
// cannot be judged.
func TestNothingLeavesNoTrace(t *testing.T) {
	o := state.NewOverlay(state.Empty{})
	broken := state.NewAccount()
	broken.Meta = []byte{0xff}
	o.SetAccount(chain.Address{0: 3}, broken)
	before := len(o.Delta().Accounts())
	if err := funds.Move(o, chain.Address{0: 3}, chain.Address{0: 4}, 0, 1); err != nil || len(o.Delta().Accounts()) != before {
		t.Errorf("%v, %d accounts written after %d", err, len(o.Delta().Accounts()), before)
	}
	if err := funds.Debit(o, chain.Address{0: 3}, 1, 1); err == nil || errors.Is(err, funds.ErrShort) {
		t.Errorf("broken metadata: %v", err)
	}
}
