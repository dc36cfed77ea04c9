package store

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// behindAll is above every storage key: these begin with a namespace, of which there are few.
const behindAll state.StorageKey = "\xff"

// StorageFrom is [Export.Storage] from a storage key on, which it includes, as long as ctx
// lasts. As a scan does, it goes over rows that the database has yet to remove once.
func (x *Export) StorageFrom(ctx context.Context, account chain.Hash, from state.StorageKey, f func(key state.StorageKey, value []byte) error) (err error) {
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
	w := scan{it: it, removals: &x.store.removals, height: x.version.height, owner: account, prefix: prefix, at: from}
	for w.next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if err := f(w.key, value); err != nil {
			return err
		}
	}
	if it.Error() == nil {
		w.passed(behindAll)
	}
	return nil
}
