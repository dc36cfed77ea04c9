package rent

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// TestAllowances: nobody pays for a restoration unasked, nor more, later, twice or for
// another than they have agreed to.
func TestAllowances(t *testing.T) { // resolution 14.6
	w, h, entries := evictedWorld(t, 0)
	sponsor, other := chain.Address{0xcc}, chain.Address{0xcd}
	cost, err := (&Block{State: state.NewOverlay(w), Params: &w.params, Height: h + 1}).RestoreCost(herd)
	w.must(err)
	w.block(h+1, func(b *Block) {
		w.must(funds.Credit(b.State, sponsor, 10*cost))
		w.must(funds.Credit(b.State, payer, 1))
		if err := b.Allow(sponsor, payer, herd, cost, h+1); !errors.Is(err, stored.ErrDeadline) {
			t.Errorf("until now: %v", err)
		}
	})
	for _, tt := range []struct {
		rule    string
		most    chain.Wei
		by, of  chain.Address
		at      chain.Height // all are until h+20
		allowed bool
	}{
		{"as agreed", cost, payer, herd, h + 20, true},
		{"a unit too little", cost - 1, payer, herd, h + 2, false},
		{"taken back", 0, payer, herd, h + 2, false},
		{"too late", cost, payer, herd, h + 21, false},
		{"another restorer", cost, other, herd, h + 2, false},
		{"another actor", cost, payer, other, h + 2, false},
	} {
		b := &Block{State: state.NewOverlay(w), Params: &w.params, Height: h + 1, Timers: noTimers}
		w.must(b.Allow(sponsor, payer, herd, 2*cost, h+20))
		w.must(b.Allow(sponsor, payer, herd, tt.most, h+20))
		b.Height = tt.at
		err := b.TakeAllowance(sponsor, tt.by, tt.of, cost)
		if tt.allowed != (err == nil) || err != nil && !errors.Is(err, ErrNotAllowed) {
			t.Errorf("%s: %v", tt.rule, err)
		}
		if err == nil && !errors.Is(b.TakeAllowance(sponsor, tt.by, tt.of, cost), ErrNotAllowed) {
			t.Errorf("%s: twice", tt.rule)
		}
	}
	w.block(h+2, func(b *Block) {
		if _, err := b.RestoreAll(herd, payer, sponsor, entries); !errors.Is(err, ErrNotAllowed) {
			t.Errorf("unasked: %v", err)
		}
		w.must(b.Allow(sponsor, payer, herd, cost, h+9))
		w.spent(b.RestoreAll(herd, payer, sponsor, entries))
	})
	w.block(h+3, nil)
	if w.balance(sponsor) != 9*cost || w.balance(payer) != 1 || w.status(h+3, herd).State == Dormant {
		t.Errorf("the sponsor has %d of %d left, the restorer %d", w.balance(sponsor), 10*cost, w.balance(payer))
	}
	if al, err := AllowanceOf(w, sponsor, payer, herd); err != nil || al != (Allowance{}) {
		t.Errorf("%+v is left, %v", al, err)
	}
}
