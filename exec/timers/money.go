package timers

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
)

// Pay moves the money of a bill: fee and lock out of the balance of who pays, which leaves
// its reserve for rent alone, and the refund to the timer's actor, which may keep it
// (resolution 11.25). The verdict is [funds.ErrShort].
func Pay(p funds.Purse, payer chain.Address, b Bill) error {
	total, payable := b.Total()
	if !payable {
		return funds.ErrShort
	}
	if err := take(p, payer, total); err != nil {
		return err
	}
	p.PutAside(payer, b.Lock)
	if err := p.Credit(chain.AddrTimers, b.Lock); err != nil {
		return err
	}
	if err := p.Burn(b.Fee); err != nil {
		return err
	}
	if err := p.Debit(chain.AddrTimers, b.Refund); err != nil {
		return err
	}
	return p.GiveBack(b.Actor, b.Refund)
}

// take takes what a timer costs out of a balance.
func take(p funds.Purse, payer chain.Address, amount chain.Wei) error {
	held, err := p.Withheld(payer, amount)
	if err != nil {
		return err
	}
	if held {
		return fmt.Errorf("%w: the rest of it is held for rent", funds.ErrShort)
	}
	if err := p.Debit(payer, amount); err != nil {
		if errors.Is(err, funds.ErrShort) {
			err = fmt.Errorf("%w: a timer's deposit and fees are %d base units", err, amount)
		}
		return err
	}
	return nil
}

// Fill fills the escrow of a timer up to what so much use at such prices takes, out of
// its actor's balance; false where that is too small. The timer of an account has its escrow
// and no more: firings are funded before a block's transactions, and what leaves the balance
// of a sender there, and comes back behind them, would let its transactions be packed and
// refused again in every block (ADR 206).
func Fill(p funds.Purse, o *state.Overlay, c Clock, t *Timer, use chain.Usage, price chain.FeePair) (bool, error) {
	need, fits := Cost(use, price)
	switch {
	case !fits:
		return false, nil
	case t.Escrow >= need:
		return true, nil
	}
	payer, _, err := o.Account(t.Actor)
	if err != nil || !payer.HasCode() {
		return false, err
	}
	err = take(p, t.Actor, need-t.Escrow)
	if errors.Is(err, funds.ErrShort) {
		return false, nil
	}
	if err == nil {
		err = p.Credit(chain.AddrTimers, need-t.Escrow)
		TopUp(o, c, t, need-t.Escrow)
	}
	return err == nil, err
}

// refund gives an actor back what its timer holds and does not need.
func refund(p funds.Purse, to chain.Address, back chain.Wei) error {
	if err := p.Debit(chain.AddrTimers, back); err != nil {
		return err
	}
	return p.Credit(to, back)
}
