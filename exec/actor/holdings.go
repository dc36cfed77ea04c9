package actor

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
)

// holdings is what a run has to know to tell who ends it with more money than it
// began with (resolution 11.25).
type holdings struct {
	began []sum  // balances at the beginning of the run of those that changed
	gifts []sum  // credits to accounts without code, which may become actors yet
	aside []move // deposits and escrows
}

// sum is an amount of an account's.
type sum struct {
	addr   chain.Address
	amount chain.Wei
}

// move is money that an actor has put aside for a timer or for its quota, or that
// came back to it.
type move struct {
	sum
	back bool
}

// holdingsMark is the place to which what is undone takes holdings back. The
// balances stay: they are of the beginning.
type holdingsMark struct{ gifts, aside int }

func (h *holdings) mark() holdingsMark { return holdingsMark{len(h.gifts), len(h.aside)} }

func (h *holdings) undo(m holdingsMark) { h.gifts, h.aside = h.gifts[:m.gifts], h.aside[:m.aside] }

// noted reports whether the balance of an account was noted.
func (h *holdings) noted(addr chain.Address) bool {
	// Paid: by the call or transfer that each account needed: 10^7 cycles of a transaction have some thousands, a nanosecond or two each.
	for i := range h.began {
		if h.began[i].addr == addr {
			return true
		}
	}
	return false
}

// returned is how much more came back to an actor in the run than it has put aside
// in it: what goes to and fro is none. The difference never exceeds what there is
// of money, on either side.
func (h *holdings) returned(addr chain.Address) chain.Wei {
	var back, out chain.Wei
	// Paid: by the timer or bond that each move is of, a thousand cycles or more, once for each account that gained.
	for i := range h.aside {
		switch m := &h.aside[i]; {
		case m.addr != addr:
		case m.back:
			paired := min(out, m.amount)
			out, back = out-paired, back+m.amount-paired
		default:
			paired := min(back, m.amount)
			back, out = back-paired, out+m.amount-paired
		}
	}
	return back
}

// watch touches an account that is about to gain, if it may not. Of others the
// balance is not even read: credits to one account do not concern each other.
func (r *Run) watch(addr chain.Address, amount chain.Wei) error {
	if !r.block.Params.Actor.EnforceHoldBalance || amount == 0 {
		return nil
	}
	a, err := r.state.CodeAndMeta(addr)
	if err != nil {
		return err
	}
	if !a.HasCode() {
		r.held.gifts = append(r.held.gifts, sum{addr, amount})
		return nil
	}
	may, err := MayHold(r.state, addr)
	if err != nil || may {
		return err
	}
	return r.touch(addr)
}

// touch notes the balance of an account before the run changes it.
func (r *Run) touch(addr chain.Address) error {
	if r.held.noted(addr) {
		return nil
	}
	before, err := funds.Balance(r.state, addr)
	if err == nil {
		r.held.began = append(r.held.began, sum{addr, before})
	}
	return err
}

// adopt notes the balance of an account that becomes an actor: what the run has
// given to it before is not of the beginning.
func (r *Run) adopt(addr chain.Address) error {
	if !r.block.Params.Actor.EnforceHoldBalance || r.held.noted(addr) {
		return nil
	}
	before, err := funds.Balance(r.state, addr)
	if err != nil {
		return err
	}
	// Paid: by the spawn that asks, 100,000 cycles: a transaction has some thousands of gifts.
	for _, g := range r.held.gifts {
		if g.addr == addr {
			before -= min(g.amount, before) // all of it is there: only code could have spent it
		}
	}
	r.held.began = append(r.held.began, sum{addr, before})
	return nil
}

// credit and debit are those of package funds, watched for resolution 11.25.
func (r *Run) credit(addr chain.Address, amount chain.Wei) error {
	if err := r.watch(addr, amount); err != nil {
		return err
	}
	return funds.Credit(r.state, addr, amount)
}

func (r *Run) debit(addr chain.Address, amount chain.Wei) error {
	if err := r.touch(addr); err != nil {
		return err
	}
	return funds.Debit(r.state, addr, amount, r.block.Height)
}

// putAside notes that an actor has paid a deposit or an escrow.
func (r *Run) putAside(addr chain.Address, amount chain.Wei) {
	if amount > 0 {
		r.held.aside = append(r.held.aside, move{sum{addr, amount}, false})
	}
}

// giveBack credits a deposit or an escrow, which an actor may keep.
func (r *Run) giveBack(addr chain.Address, amount chain.Wei) error {
	if amount == 0 {
		return nil
	}
	if err := r.credit(addr, amount); err != nil {
		return err
	}
	r.held.aside = append(r.held.aside, move{sum{addr, amount}, true})
	return nil
}

// checkHoldings enforces resolution 11.25: an actor without econ.hold_balance
// does not end the run with more than it began with.
func (r *Run) checkHoldings() (uint16, error) {
	if !r.block.Params.Actor.EnforceHoldBalance {
		return chain.CodeOK, nil
	}
	// Paid: by the call or transfer that each account needed, once a run.
	for _, b := range r.held.began {
		now, err := funds.Balance(r.state, b.addr)
		if err != nil {
			return 0, err
		}
		if now <= b.amount || now <= b.amount+r.held.returned(b.addr) { // no sum of money exceeds 64 bits
			continue
		}
		may, err := MayHold(r.state, b.addr)
		if err != nil {
			return 0, err
		}
		if !may {
			return chain.CodeBalanceHeld, nil
		}
	}
	return chain.CodeOK, nil
}
