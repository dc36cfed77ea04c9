package rent

import (
	"bytes"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// End closes a block: it counts how the storages that the block has written grew,
// and lists the actors that are above the exempt size now. parent is the state
// before the block.
func (b *Block) End(parent state.View) error {
	var grown []chain.Address
	_ = b.State.Each(func(c *state.Change) error {
		if (len(c.Storage) > 0 || c.Cleared) && !c.Address.IsSystem() {
			grown = append(grown, c.Address)
		}
		return nil
	})
	if len(grown) == 0 {
		return nil
	}
	// Paid: by the writes of each account, once a block.
	slices.SortFunc(grown, func(x, y chain.Address) int { return bytes.Compare(x[:], y[:]) })
	t, err := ReadTotals(b.State)
	if err != nil {
		return err
	}
	// Paid: by the writes of each account, once a block.
	for _, a := range grown {
		before, _, err := parent.Account(a)
		if err != nil {
			return err
		}
		now, err := b.State.StorageSize(a)
		if err != nil {
			return err
		}
		t.Bytes += now.Bytes - before.StorageSize.Bytes // a decrease wraps around
		if err := b.notice(a, now.Bytes); err != nil {
			return err
		}
	}
	t.store(b.State)
	return nil
}

// notice lists an actor that has grown above the exempt size.
func (b *Block) notice(a chain.Address, used uint64) error {
	if used <= b.Params.Rent.ExemptBytes {
		return nil
	}
	acct, _, dormant, err := b.readAccount(a)
	if err != nil || dormant || acct.Listed != 0 {
		return err
	}
	if err := b.enlist(a, &acct); err != nil {
		return err
	}
	acct.store(b.State, a)
	return nil
}
