package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// GenesisDelta returns the state that a chain starts from, as writes on the
// empty state: the allocations with their vesting schedules, the stakes at
// [chain.AddrStaking], and the records of supply and state. The error is that of
// [chain.Genesis.Check].
func GenesisDelta(g *chain.Genesis) (*state.Delta, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	d := state.NewDelta()
	for i := range g.Allocations {
		d.SetAccount(g.Allocations[i].Address, allocated(&g.Allocations[i]))
	}
	staking := state.NewAccount()
	// Bounded: by the genesis, once a chain.
	for i := range g.Validators {
		staking.Balance += g.Validators[i].Stake // within the supply, as checked
	}
	d.SetAccount(chain.AddrStaking, staking)
	supply := SupplyRecord{Total: g.Supply, YearStart: g.Supply}
	d.SetStorage(chain.AddrTreasury, supplyKey(), supply.encode())
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
	if err := m.count(o); err != nil {
		return err
	}
	d.SetStorage(chain.AddrTreasury, meterKey(), m.encode())
	return nil
}

func allocated(a *chain.Allocation) state.Account {
	account := state.NewAccount()
	account.Balance = a.Amount
	if a.Vesting != nil {
		lock := chain.Lock{Amount: a.Amount, Vesting: *a.Vesting}
		account.Meta = lock.AppendMeta(nil)
	}
	return account
}
