package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Commit makes v, a child of the head, the new head, durably and with all that
// belongs to its block. When it returns nil, the block survives a power cut.
// After an error, but for ErrNotNext and ErrClosed, the process has to stop.
func (s *Store) Commit(v *Version, rec BlockRecord) error {
	if _, ok := s.Genesis(); !ok {
		return ErrNoGenesis
	}
	if err := s.checkNext(v, rec.Height); err != nil {
		return err
	}
	return s.write(v, rec.Digest, func(b *pebble.Batch) error { return putBlock(b, &rec) })
}

func (s *Store) checkNext(v *Version, h chain.Height) error {
	current := s.Head()
	p := v.place.Load()
	switch {
	case v.store != s:
		return fmt.Errorf("%w: it is of another store", ErrNotNext)
	case p.kept != nil:
		return fmt.Errorf("%w: height %d is committed already", ErrNotNext, v.height)
	case p.parent != current:
		return fmt.Errorf("%w: height %d on a block that is not the head at %d", ErrNotNext, v.height, current.height)
	case h != v.height:
		return fmt.Errorf("%w: block of height %d with the state of height %d", ErrNotNext, h, v.height)
	}
	return nil
}

// write commits a pending version together with what add puts into the batch.
func (s *Store) write(v *Version, digest chain.Hash, add func(*pebble.Batch) error) error {
	done, err := s.use()
	if err != nil {
		return err
	}
	defer done()
	if s.failed != nil {
		return fmt.Errorf("%w: %w", ErrFailed, s.failed)
	}
	if err := s.Damage(); err != nil {
		return fmt.Errorf("write block %d: %w", v.height, err)
	}
	b := s.db.NewBatch()
	defer func() { _ = b.Close() }() // a batch without effect once committed
	marker := slices.Concat(heightBytes(v.height), digest[:], v.root[:])
	err = errors.Join(putState(b, v), s.putHistory(b, v), add(b), b.Set([]byte(keyHead), marker, nil))
	if err == nil {
		err = b.Commit(pebble.Sync)
	}
	if err != nil {
		s.failed = damage(err)
		return fmt.Errorf("write block %d: %w", v.height, s.failed)
	}
	s.hasHistory = s.opts.History
	s.forest.ForgetRows(v.image)
	s.takeVersion(v, digest)
	if err := s.mark.set(v.height, digest); err != nil {
		s.failed = err
		return fmt.Errorf("block %d is durable: %w", v.height, err)
	}
	return nil
}

// putState writes the rows of a version in ascending order, which pebble takes
// about 1.4 times faster than random order.
func putState(b *pebble.Batch, v *Version) error {
	var key []byte
	err := v.image.EachRow(func(row *tree.Row, account []byte) error {
		key = append(append(key[:0], tableAccounts), row.Key[:]...)
		if account == nil {
			return b.Delete(key, nil)
		}
		return b.Set(key, account, nil)
	})
	codes := v.place.Load().codes
	for _, hash := range slices.SortedFunc(maps.Keys(codes), func(x, y chain.Hash) int { return bytes.Compare(x[:], y[:]) }) {
		err = errors.Join(err, b.Set(codeKey(hash), codes[hash], nil))
	}
	return errors.Join(err, v.image.EachRow(func(row *tree.Row, _ []byte) error { return putStorage(b, row) }))
}

// putStorage writes the storage rows of one account.
func putStorage(b *pebble.Batch, row *tree.Row) error {
	if row.Cleared {
		prefix := hashKey(tableStorage, row.Key)
		if err := b.DeleteRange(prefix, after(prefix), nil); err != nil {
			return err
		}
	}
	slices.SortFunc(row.Storage, func(x, y state.StorageChange) int { return cmp.Compare(x.Key, y.Key) })
	for _, c := range row.Storage {
		key := storageKey(row.Key, c.Key)
		var err error
		if c.Value == nil {
			err = b.Delete(key, nil)
		} else {
			err = b.Set(key, c.Value, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
