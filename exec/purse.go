package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
)

// purse moves money for the block itself: [funds.Purse]. What an actor then holds is not
// for the run that it is in to judge: there is none.
type purse struct{ *block }

// Debit implements [funds.Purse].
func (p purse) Debit(from chain.Address, amount chain.Wei) error {
	return funds.Debit(p.state, from, amount, p.in.Height)
}

// Withheld implements [funds.Purse].
func (p purse) Withheld(of chain.Address, amount chain.Wei) (bool, error) {
	return p.rentBlock().Withholds(of, amount)
}

// Credit implements [funds.Purse].
func (p purse) Credit(to chain.Address, amount chain.Wei) error {
	return funds.Credit(p.state, to, amount)
}

// PutAside implements [funds.Purse].
func (purse) PutAside(chain.Address, chain.Wei) {}

// GiveBack implements [funds.Purse].
func (p purse) GiveBack(to chain.Address, amount chain.Wei) error { return p.Credit(to, amount) }

// Burn implements [funds.Purse].
func (p purse) Burn(amount chain.Wei) error {
	if !funds.Add(&p.result.Burned, amount) {
		return funds.ErrMoney
	}
	return nil
}
