package state

import (
	"errors"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Unrooted is a [View] with writes whose roots are not computed yet, as an
// [Overlay] is: what an overlay on top of it has to ask beyond a View.
type Unrooted interface {
	View
	// StorageSize returns how much addr keeps in its storage, with all writes
	// so far.
	StorageSize(addr chain.Address) (StorageSize, error)
	// StorageRooted is [Overlay.StorageRooted].
	StorageRooted(addr chain.Address) bool
	// CodeAndMeta is [Overlay.CodeAndMeta].
	CodeAndMeta(addr chain.Address) (Account, error)
	// Exists is [Overlay.Exists].
	Exists(addr chain.Address) (bool, error)
}

// ErrCreditOverflow means credits that were recorded as deltas and do not fit: what
// was executed with them has to be executed again, reading the balance.
var ErrCreditOverflow = errors.New("credits exceed 64 bits")

// deltaCredits keeps what an overlay has to know of credits that it records without
// looking at the balance.
type deltaCredits struct {
	peaks []Credit // the most that each account was ahead, undone credits included
}

// Credit is an amount for an account.
type Credit struct {
	Address chain.Address
	Amount  chain.Wei
}

// NewDeltaOverlay returns an overlay that records credits as commutative deltas without
// reading the balance, so that parallel credits to one account do not conflict. Before its
// writes are merged, check that balance + peak fits into 64 bits for each of
// [Overlay.Peaks]; otherwise a credit was recorded that a plain overlay would have
// refused.
func NewDeltaOverlay(parent View) *Overlay {
	o := NewOverlay(parent)
	o.credits = &deltaCredits{}
	return o
}

// Peaks returns for each account whose credits are deltas the most that it was ahead of
// its balance in the parent, with credits that were taken back since.
func (o *Overlay) Peaks() []Credit {
	if o.credits == nil {
		return nil
	}
	return o.credits.peaks
}

// CodeAndMeta returns of an account what a credit does not change: its code and its
// metadata. All other fields are zero, and an address without account has none.
func (o *Overlay) CodeAndMeta(addr chain.Address) (Account, error) {
	w := o.delta.accounts[addr]
	switch {
	case w != nil && w.account != nil:
		return codeAndMetaOf(w.account), nil
	case w != nil && w.cleared:
		return NewAccount(), nil
	}
	if below, ok := o.parent.(Unrooted); ok {
		return below.CodeAndMeta(addr)
	}
	a, _, err := o.parent.Account(addr)
	return codeAndMetaOf(&a), err
}

func codeAndMetaOf(a *Account) Account {
	return normal(Account{CodeHash: a.CodeHash, Meta: a.Meta})
}

// AddBalance adds to a balance and reports whether the sum fits into 64 bits; if
// not, nothing is written. An amount of 0 writes nothing either, so that it
// leaves no empty account behind.
func (o *Overlay) AddBalance(addr chain.Address, amount chain.Wei) (fits bool, err error) {
	if amount == 0 {
		return true, nil
	}
	if o.credits != nil {
		if w := o.delta.accounts[addr]; w == nil || w.account == nil && !w.cleared {
			return o.deferCredit(addr, w, amount), nil
		}
	}
	a, _, err := o.Account(addr)
	if err != nil {
		return false, err
	}
	if a.Balance, fits = sum(a.Balance, amount); fits {
		o.SetAccount(addr, a)
	}
	return fits, nil
}

// deferCredit records a credit for an account of which nothing is known.
func (o *Overlay) deferCredit(addr chain.Address, w *writes, amount chain.Wei) bool {
	var before chain.Wei
	if w != nil {
		before = w.credit
	}
	after, fits := sum(before, amount)
	if !fits {
		return false // whatever the balance is
	}
	if w == nil {
		o.undo = append(o.undo, undo{place: placeAddress, addr: addr})
		w = o.delta.at(addr)
	} else {
		o.undo = append(o.undo, undo{place: placeAccount, addr: addr, credit: before})
	}
	w.credit = after
	for i := range o.credits.peaks {
		if p := &o.credits.peaks[i]; p.Address == addr {
			p.Amount = max(p.Amount, after)
			return true
		}
	}
	o.credits.peaks = append(o.credits.peaks, Credit{addr, after})
	return true
}

// credited is an account with the credits that were recorded for it.
func credited(a Account, existed bool, credit chain.Wei) (Account, bool, error) {
	if credit == 0 {
		return a, existed, nil
	}
	var fits bool
	if a.Balance, fits = sum(a.Balance, credit); !fits {
		return a, existed, ErrCreditOverflow
	}
	return a, true, nil
}

func sum(a, b chain.Wei) (chain.Wei, bool) {
	total, carry := bits.Add64(uint64(a), uint64(b), 0)
	if carry != 0 {
		return a, false
	}
	return chain.Wei(total), true
}
