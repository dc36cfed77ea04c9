package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// ErrNoHistory means that the store does not know the state at a height: it is
// below the first that Options.History covers and outside of the last
// Options.UndoBlocks, or above the head.
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
	after  *Version    // the block's
	row    []byte
}

func (h *history) put(key, old []byte, present bool) error {
	key = binary.BigEndian.AppendUint64(key, uint64(h.after.height))
	if h.row = append(h.row[:0], wasAbsent); present {
		h.row[0] = wasPresent
		h.row = append(h.row, old...)
	}
	return h.batch.Set(key, h.row, nil)
}

// putAccount notes what one account and its written slots were.
func (h *history) putAccount(row *tree.Row) error {
	forest := h.store.Head().made.forest
	a, ok := forest.Account(h.before, row.Key)
	var old []byte
	if ok {
		old = a.Encode()
	}
	if err := h.put(hashKey(tableAccountsWere, row.Key), old, ok); err != nil {
		return err
	}
	era, begins := h.store.eras.eraOf(row, h.after)
	if begins {
		return nil // the values of the era before stay where they are
	}
	for _, c := range row.Storage {
		slot := tree.SlotKey(c.Key)
		value, ok := forest.Storage(h.before, row.Key, slot)
		if err := h.put(slotWasKey(row.Key, era, slot), value, ok); err != nil {
			return err
		}
	}
	return nil
}

func slotWasKey(owner chain.Hash, era chain.Height, slot chain.Hash) []byte {
	key := make([]byte, 0, 1+2*hashLen+1+2*8)
	key = append(key, tableStorageWas)
	key = append(key, owner[:]...)
	return append(appendEra(key, era), slot[:]...)
}

// takeHistory notes that the block at height h is committed, with or without
// its old values.
func (s *Store) takeHistory(h chain.Height) {
	if s.opts.History && !s.hasHistory {
		s.historyFrom = h
	}
	s.hasHistory = s.opts.History
}

// putHistory notes what the rows of v replace, and from which height on the
// history is complete. A block written without history, by
// Options.EndHistory, ends it.
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
	h := &history{batch: b, store: s, before: s.Head().image, after: v}
	return v.image.EachRow(func(row *tree.Row, _ []byte) error { return h.putAccount(row) })
}

// AccountAt returns the account that addr had after the block at height h, as
// [Version.Account] does: at any height that the history covers, and of the last
// Options.UndoBlocks without it. The code of an account of any height is read
// from the head: code is never removed.
//
// Where there is no history, it looks at the undo record of each block above h, until it
// finds the account or ctx ends. pay is told before how many they are at most, and its
// error ends the search; where there is a history it is not called.
func (s *Store) AccountAt(ctx context.Context, h chain.Height, addr chain.Address, pay func(blocks int) error) (state.Account, bool, error) {
	key := tree.AccountKey(addr)
	row, slim, err := s.valueAt(ctx, h, pay, func(pebble.Reader) (was, is []byte, err error) {
		return hashKey(tableAccountsWere, key), hashKey(tableAccounts, key), nil
	})
	if err != nil {
		return state.Account{}, false, fmt.Errorf("account %s at %d: %w", addr, h, err)
	}
	if row == nil {
		return state.NewAccount(), false, nil
	}
	decode := state.DecodeAccount
	if slim {
		decode = readSlim
	}
	a, err := decode(row)
	if err != nil {
		return state.Account{}, false, damaged("account %s at %d: %v", addr, h, err)
	}
	return a, true, nil
}

// StorageAt returns the storage value that addr had under key after the block
// at height h, nil if none, wherever [Store.AccountAt] answers, and as that does.
func (s *Store) StorageAt(ctx context.Context, h chain.Height, addr chain.Address, key state.StorageKey, pay func(blocks int) error) ([]byte, error) {
	owner := tree.AccountKey(addr)
	value, _, err := s.valueAt(ctx, h, pay, func(r pebble.Reader) (was, is []byte, err error) {
		era, err := eraAt(r, owner, h)
		return slotWasKey(owner, era, tree.SlotKey(key)), storageKey(owner, era, key), err
	})
	if err != nil {
		return nil, fmt.Errorf("storage of %s at %d: %w", addr, h, err)
	}
	return value, nil
}

// valueAt returns the value of a row at a height, from its history, the undo
// records, or if it has not been written since, from the row itself. It is slim
// if it is of an undo record. names says under which keys they are.
func (s *Store) valueAt(ctx context.Context, h chain.Height, pay func(blocks int) error, names func(pebble.Reader) (was, is []byte, err error)) (value []byte, slim bool, err error) {
	done, err := s.use()
	if err != nil {
		return nil, false, err
	}
	defer done()
	snapshot := s.db.NewSnapshot() // all rows of one block
	defer func() { err = damage(errors.Join(err, snapshot.Close())) }()
	head, from, err := past(snapshot, h)
	if err != nil {
		return nil, false, err
	}
	was, is, err := names(snapshot)
	if err != nil {
		return nil, false, err
	}
	var written bool
	switch from {
	case fromHistory:
		value, written, err = before(snapshot, h, was)
	case fromUndo:
		value, written, err = undone(ctx, snapshot, h, head, is, pay)
	case fromHead:
	}
	if err == nil && !written {
		value, err = getRow(snapshot, is)
		return value, false, err
	}
	return value, from == fromUndo, err
}

// before returns the value that a row had at height h, out of its history, and
// whether it was written since.
func before(r pebble.Reader, h chain.Height, was []byte) (value []byte, found bool, err error) {
	it, err := r.NewIter(&pebble.IterOptions{
		LowerBound: binary.BigEndian.AppendUint64(bytes.Clone(was), uint64(h)+1),
		UpperBound: after(was),
	})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, it.Error(), it.Close()) }()
	if !it.First() {
		return nil, false, it.Error()
	}
	row, err := it.ValueAndErr()
	switch {
	case err != nil:
		return nil, false, err
	case len(row) == 1 && row[0] == wasAbsent:
		return nil, true, nil
	case len(row) == 0 || row[0] != wasPresent:
		return nil, false, damaged("row of the history under %x", it.Key())
	}
	return append([]byte{}, row[1:]...), true, nil
}

// What answers at a height.
const (
	fromHead = iota
	fromHistory
	fromUndo
)

// past says what knows the state at height h, and where the head is.
func past(r pebble.Reader, h chain.Height) (head chain.Height, from int, err error) {
	marker, err := getRow(r, []byte(keyHead))
	if err != nil {
		return 0, 0, err
	}
	if len(marker) != headLen {
		return 0, 0, ErrNoHistory
	}
	head, _, _ = readHead(marker)
	if h >= head {
		if h > head {
			err = ErrNoHistory
		}
		return head, fromHead, err
	}
	for _, source := range []struct {
		key  string
		from int
	}{{keyHistory, fromHistory}, {keyUndo, fromUndo}} {
		row, err := getRow(r, []byte(source.key))
		if err != nil {
			return 0, 0, err
		}
		if row == nil {
			continue
		}
		if len(row) != 8 {
			return 0, 0, damaged("marker %s takes %d bytes", source.key, len(row))
		}
		// Blocks from this height on are noted; the state before the first of
		// them is known as well.
		if h+1 >= chain.Height(binary.BigEndian.Uint64(row)) {
			return head, source.from, nil
		}
	}
	return 0, 0, ErrNoHistory
}
