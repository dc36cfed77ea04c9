package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// ErrNoHistory means that the store does not know the state at a height: it is
// below the first that Options.History covers, or above the head.
var ErrNoHistory = errors.New("state at this height is not kept")

// The history of a store with Options.History is, for each key, the values that
// it had before the blocks that wrote it. The value at height h is that of the
// first row above h, or the one of today if there is none. A row is one byte,
// 1 if there was a value, and the value.
const (
	wasAbsent  = 0
	wasPresent = 1
)

// history notes old values while a block is written.
type history struct {
	batch  *pebble.Batch
	store  *Store
	before *tree.Image // of the head that the block is on
	height chain.Height
	row    []byte
}

func (h *history) put(key, old []byte, present bool) error {
	key = binary.BigEndian.AppendUint64(key, uint64(h.height))
	if h.row = append(h.row[:0], wasAbsent); present {
		h.row[0] = wasPresent
		h.row = append(h.row, old...)
	}
	return h.batch.Set(key, h.row, nil)
}

// account notes what one account and its written slots were.
func (h *history) account(row *tree.Row) error {
	forest := h.store.forest
	a, ok := forest.Account(h.before, row.Key)
	var old []byte
	if ok {
		old = a.Encode()
	}
	if err := h.put(hashKey(tableAccountsWere, row.Key), old, ok); err != nil {
		return err
	}
	if row.Cleared {
		if err := h.cleared(row.Key); err != nil {
			return err
		}
	}
	for _, c := range row.Storage {
		slot := tree.SlotKey(c.Key)
		value, ok := forest.Storage(h.before, row.Key, slot)
		if err := h.put(slotWasKey(row.Key, slot), value, ok); err != nil {
			return err
		}
	}
	return nil
}

// cleared notes all storage values of an account that loses them.
func (h *history) cleared(owner chain.Hash) (err error) {
	prefix := hashKey(tableStorage, owner)
	it, err := h.store.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return damage(err)
	}
	defer func() { err = damage(errors.Join(err, it.Error(), it.Close())) }()
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		slot := tree.SlotKey(state.StorageKey(it.Key()[len(prefix):]))
		if err := h.put(slotWasKey(owner, slot), value, true); err != nil {
			return err
		}
	}
	return nil
}

func slotWasKey(owner, slot chain.Hash) []byte {
	key := make([]byte, 0, 1+2*hashLen+8)
	key = append(key, tableStorageWas)
	key = append(key, owner[:]...)
	return append(key, slot[:]...)
}

// putHistory notes what the rows of v replace, and from which height on the
// history is complete. A block written without history ends it.
func (s *Store) putHistory(b *pebble.Batch, v *Version) error {
	switch {
	case !s.opts.History && s.hasHistory:
		return b.Delete([]byte(keyHistory), nil)
	case !s.opts.History:
		return nil
	case !s.hasHistory:
		if err := b.Set([]byte(keyHistory), heightBytes(v.height), nil); err != nil {
			return err
		}
	}
	if v.height == 0 {
		return nil // nothing was before the genesis
	}
	return s.noteOld(b, v)
}

func (s *Store) noteOld(b *pebble.Batch, v *Version) error {
	h := &history{batch: b, store: s, before: s.Head().image, height: v.height}
	return v.image.EachRow(func(row *tree.Row, _ []byte) error { return h.account(row) })
}

// AccountAt returns the account that addr had after the block at height h, as
// [Version.Account] does. The code of an account of any height is read from the
// head: code is never removed.
func (s *Store) AccountAt(h chain.Height, addr chain.Address) (state.Account, bool, error) {
	key := tree.AccountKey(addr)
	row, err := s.valueAt(h, hashKey(tableAccountsWere, key), hashKey(tableAccounts, key))
	if err != nil {
		return state.Account{}, false, fmt.Errorf("account %s at %d: %w", addr, h, err)
	}
	if row == nil {
		return state.NewAccount(), false, nil
	}
	a, err := state.DecodeAccount(row)
	if err != nil {
		return state.Account{}, false, damaged("account %s at %d: %v", addr, h, err)
	}
	return a, true, nil
}

// StorageAt returns the storage value that addr had under key after the block
// at height h, nil if none.
func (s *Store) StorageAt(h chain.Height, addr chain.Address, key state.StorageKey) ([]byte, error) {
	owner := tree.AccountKey(addr)
	value, err := s.valueAt(h, slotWasKey(owner, tree.SlotKey(key)), storageKey(owner, key))
	if err != nil {
		return nil, fmt.Errorf("storage of %s at %d: %w", addr, h, err)
	}
	return value, nil
}

// valueAt returns the value of a row at a height, from its history or, if it
// has not been written since, from the row itself.
func (s *Store) valueAt(h chain.Height, was, is []byte) (value []byte, err error) {
	done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	snapshot := s.db.NewSnapshot() // history and row of one block
	defer func() { err = damage(errors.Join(err, snapshot.Close())) }()
	if err := checkHistory(snapshot, h); err != nil {
		return nil, err
	}
	it, err := snapshot.NewIter(&pebble.IterOptions{
		LowerBound: binary.BigEndian.AppendUint64(bytes.Clone(was), uint64(h)+1),
		UpperBound: after(was),
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Error(), it.Close()) }()
	if !it.First() {
		if err := it.Error(); err != nil {
			return nil, err
		}
		return getRow(snapshot, is)
	}
	row, err := it.ValueAndErr()
	switch {
	case err != nil:
		return nil, err
	case len(row) == 1 && row[0] == wasAbsent:
		return nil, nil
	case len(row) == 0 || row[0] != wasPresent:
		return nil, damaged("row of the history under %x", it.Key())
	}
	return append([]byte{}, row[1:]...), nil
}

// checkHistory refuses heights that the history does not cover.
func checkHistory(r pebble.Reader, h chain.Height) error {
	from, err := getRow(r, []byte(keyHistory))
	if err != nil {
		return err
	}
	marker, err := getRow(r, []byte(keyHead))
	if err != nil {
		return err
	}
	if from == nil || len(marker) != headLen {
		return ErrNoHistory
	}
	if len(from) != 8 {
		return damaged("start of the history takes %d bytes", len(from))
	}
	head, _, _ := readHead(marker)
	// Blocks from height from on are noted; the state before the first of them
	// is known as well.
	if start := binary.BigEndian.Uint64(from); uint64(h)+1 < start || h > head {
		return ErrNoHistory
	}
	return nil
}
