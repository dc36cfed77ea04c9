package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/state"
)

// GenesisDelta returns the state that a chain starts from, as writes on the
// empty state: the allocations with their vesting schedules, the stakes at
// [chain.AddrStaking], and the records of supply and state. The error is that of
// [genesis.Genesis.Check].
func GenesisDelta(g *genesis.Genesis) (*state.Delta, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	d := state.NewDelta()
	for i := range g.Allocations {
		d.SetAccount(g.Allocations[i].Address, allocated(&g.Allocations[i]))
	}
	stakes := state.NewAccount()
	// Bounded: by the genesis, once a chain.
	for i := range g.Validators {
		stakes.Balance += g.Validators[i].Stake // within the supply, as checked
	}
	d.SetAccount(chain.AddrStaking, stakes)
	staking.Genesis(d, g.Supply)
	return d, measureGenesis(d)
}

// measureGenesis writes the meter of the state that a chain starts from.
func measureGenesis(d *state.Delta) error {
	o := state.NewOverlay(state.Empty{})
	// Bounded: by the genesis, once a chain.
	for _, c := range d.Accounts() {
		if c.Account != nil {
			o.SetAccount(c.Address, *c.Account)
		}
		// Bounded: by the genesis, once a chain.
		for _, slot := range c.Storage {
			o.SetStorage(c.Address, slot.Key, slot.Value)
		}
	}
	var m Meter
	if err := m.addWrites(o); err != nil {
		return err
	}
	d.SetStorage(chain.AddrTreasury, meterKey(), m.encode())
	return nil
}

func allocated(a *genesis.Allocation) state.Account {
	account := state.NewAccount()
	account.Balance = a.Amount
	if a.Vesting != nil {
		lock := genesis.Lock{Amount: a.Amount, Vesting: *a.Vesting}
		account.Meta = lock.AppendMeta(nil)
	}
	return account
}
