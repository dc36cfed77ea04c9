package rent

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// ErrNotAllowed means that a restoration names a payer who has not agreed to it, or not
// to so much, or not any more.
var ErrNotAllowed = verdict.New(verdict.Forbidden, "the payer has not allowed it")

// Allowance is what a sponsor pays at most for the restoration of an actor by somebody
// else, once (resolution 14.6).
type Allowance struct {
	Most  chain.Wei
	Until chain.Height // last height
}

func allowanceKey(payer, by, a chain.Address) state.StorageKey {
	return key([]byte("s/"), payer[:], by[:], a[:])
}

// AllowanceBytes is how much of the state an allowance keeps, at the most.
const AllowanceBytes = 1 + 2 + 3*20 + 1 + 2*9

// AllowanceOf returns what a sponsor allows; zero for nothing.
func AllowanceOf(v state.View, payer, by, a chain.Address) (Allowance, error) {
	var f [2]uint64
	_, err := read(v, allowanceKey(payer, by, a), f[:])
	return Allowance{chain.Wei(f[0]), chain.Height(f[1])}, err
}

// Allow sets what payer pays at most if by restores an actor until a height; nothing
// takes it back.
func (b *Block) Allow(payer, by, a chain.Address, most chain.Wei, until chain.Height) error {
	k := allowanceKey(payer, by, a)
	switch {
	case most == 0:
		b.State.SetStorage(chain.AddrRent, k, nil)
	case until <= b.Height:
		return stored.ErrDeadline
	default:
		write(b.State, k, uint64(most), uint64(until))
	}
	return nil
}

// TakeAllowance uses up what payer has allowed by for an actor, if that is enough. Who
// pays for their own restoration needs none.
func (b *Block) TakeAllowance(payer, by, a chain.Address, cost chain.Wei) error {
	if payer == by {
		return nil
	}
	al, err := AllowanceOf(b.State, payer, by, a)
	if err != nil {
		return err
	}
	if al.Most < cost || al.Until < b.Height {
		return ErrNotAllowed
	}
	b.State.SetStorage(chain.AddrRent, allowanceKey(payer, by, a), nil)
	return nil
}
