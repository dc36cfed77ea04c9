package store

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// StorageFrom is [Export.Storage] from a storage key on, which it includes.
func (x *Export) StorageFrom(account chain.Hash, from state.StorageKey, f func(key state.StorageKey, value []byte) error) (err error) {
	era, err := eraAt(x.snapshot, account, x.version.height)
	if err != nil {
		return err
	}
	prefix := storagePrefix(account, era)
	it, err := x.snapshot.NewIter(&pebble.IterOptions{LowerBound: storageKey(account, era, from), UpperBound: after(prefix)})
	if err != nil {
		return damage(err)
	}
	defer func() { err = damage(errors.Join(err, it.Error(), it.Close())) }()
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if err := f(state.StorageKey(it.Key()[len(prefix):]), value); err != nil {
			return err
		}
	}
	return nil
}
