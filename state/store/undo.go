package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// An undo record says what the rows of the flat state were before a block. It is
// the row u ‖ height, the head marker before the block, and rows u ‖ height ‖ key
// with the old values of a stretch of keys that ends with key: small enough that
// one of them is read for one value, large enough that their own keys weigh
// little. Entries within a stretch, ascending by key:
//
//	uvarint: bytes shared with the key before ‖ uvarint: further bytes ‖ these ‖
//	uvarint: 0 if there was no value, else its length + 1 ‖ the value
//
// Accounts stand there without what most of them have in common; see
// appendSlim.
const (
	undoStretch = 4 << 10 // bytes from which on a stretch ends
	undoKeyLen  = 1 + 8
)

// undo notes old values while a block is written, and from which height on they
// are kept.
type undo struct {
	first chain.Height // whose record is kept; 0 for none

	batch   *pebble.Batch
	row     []byte // u ‖ height
	stretch []byte
	last    []byte // key of the last entry in stretch
	key     []byte
	value   []byte
}

// putUndo notes what the rows of v replace and drops records that leave the
// window. It returns the first height whose record is then kept.
func (s *Store) putUndo(b *pebble.Batch, v *Version) (first chain.Height, err error) {
	head, window := s.head.Load(), chain.Height(s.opts.UndoBlocks)
	if v.height != head.version.height+1 || s.genesis.Load() == nil {
		return 0, nil // the genesis, or an imported state: nothing was before
	}
	if first = s.undo.first; first == 0 && window > 0 {
		first = v.height
	}
	if window > 0 {
		marker := slices.Concat(heightBytes(head.version.height), head.digest[:], head.version.root[:])
		err = errors.Join(b.Set(heightKey(tableUndo, v.height), marker, nil), s.noteUndo(b, v, head.version.image))
	}
	// Records go in steps: a deletion is a row of its own, which each read over
	// the records has to look at.
	if oldest := v.height + 1 - min(window, v.height+1); first != 0 && oldest >= first+max(1, window/16) {
		err = errors.Join(err, b.DeleteRange(heightKey(tableUndo, first), heightKey(tableUndo, oldest), nil))
		if first = oldest; window == 0 {
			first = 0
		}
	}
	if first != s.undo.first && first == 0 {
		err = errors.Join(err, b.Delete([]byte(keyUndo), nil))
	} else if first != s.undo.first {
		err = errors.Join(err, b.Set([]byte(keyUndo), heightBytes(first), nil))
	}
	return first, err
}

// noteUndo writes the old values of all rows of v, which are those of the image
// before.
func (s *Store) noteUndo(b *pebble.Batch, v *Version, before *tree.Image) error {
	u := &s.undo
	u.batch, u.row = b, binary.BigEndian.AppendUint64(append(u.row[:0], tableUndo), uint64(v.height))
	u.stretch, u.last = u.stretch[:0], u.last[:0]
	err := v.image.EachRow(func(row *tree.Row, _ []byte) error {
		a, ok := s.forest.Account(before, row.Key)
		if u.value = u.value[:0]; ok {
			u.value = appendSlim(u.value, &a)
		}
		u.key = append(append(u.key[:0], tableAccounts), row.Key[:]...)
		return u.add(ok)
	})
	if err == nil {
		err = v.image.EachRow(func(row *tree.Row, _ []byte) error { return s.noteStorage(row, v, before) })
	}
	if err == nil {
		err = u.flush()
	}
	u.batch = nil
	return err
}

// noteStorage notes the old storage values of one account. Of an era that begins
// there are none, and the rows of the one before stay what they are.
func (s *Store) noteStorage(row *tree.Row, v *Version, before *tree.Image) error {
	u := &s.undo
	era, begins := s.eras.eraOf(row, v)
	if len(row.Storage) == 0 || begins {
		return nil
	}
	slots := s.forest.Slots(before, row.Key)
	sortStorage(row)
	for i := range row.Storage {
		key, present := row.Storage[i].Key, false
		if u.value = u.value[:0]; !slots.Empty() {
			u.value, present = slots.Append(u.value, tree.SlotKey(key))
		}
		u.setStorageKey(row.Key, era, key)
		if err := u.add(present); err != nil {
			return err
		}
	}
	return nil
}

func sortStorage(row *tree.Row) {
	slices.SortFunc(row.Storage, func(x, y state.StorageChange) int { return cmp.Compare(x.Key, y.Key) })
}

func (u *undo) setStorageKey(owner chain.Hash, era chain.Height, key state.StorageKey) {
	u.key = append(append(u.key[:0], tableStorage), owner[:]...)
	u.key = append(appendEra(u.key, era), key...)
}

// add notes one old value, in u.key and u.value.
func (u *undo) add(present bool) error {
	shared := 0
	for shared < min(len(u.last), len(u.key)) && u.last[shared] == u.key[shared] {
		shared++
	}
	u.stretch = binary.AppendUvarint(u.stretch, uint64(shared))
	u.stretch = binary.AppendUvarint(u.stretch, uint64(len(u.key)-shared))
	u.stretch = append(u.stretch, u.key[shared:]...)
	if present {
		u.stretch = binary.AppendUvarint(u.stretch, uint64(len(u.value))+1)
		u.stretch = append(u.stretch, u.value...)
	} else {
		u.stretch = append(u.stretch, 0)
	}
	u.last = append(u.last[:0], u.key...)
	if len(u.stretch) >= undoStretch {
		return u.flush()
	}
	return nil
}

// flush ends the stretch.
func (u *undo) flush() error {
	if len(u.stretch) == 0 {
		return nil
	}
	u.row = append(u.row[:undoKeyLen], u.last...)
	err := u.batch.Set(u.row, u.stretch, nil)
	u.stretch, u.last = u.stretch[:0], u.last[:0]
	return err
}

// readStretch calls f with each old value, nil for none, until f returns false.
// Key and value are valid during the call only.
func readStretch(b []byte, f func(key, value []byte) bool) error {
	var key []byte
	for len(b) > 0 {
		shared, n := binary.Uvarint(b)
		rest, m := uint64(0), 0
		if n > 0 {
			rest, m = binary.Uvarint(b[n:])
		}
		if n <= 0 || m <= 0 || shared > uint64(len(key)) || rest > uint64(len(b)-n-m) {
			return damaged("undo record: a key")
		}
		b = b[n+m:]
		key = append(key[:shared], b[:rest]...)
		b = b[rest:]
		length, n := binary.Uvarint(b)
		if n <= 0 || length > uint64(len(b)-n)+1 {
			return damaged("undo record: the value of %x", key)
		}
		b = b[n:]
		var value []byte
		if length > 0 {
			value, b = b[:length-1:length-1], b[length-1:]
		}
		if !f(key, value) {
			return nil
		}
	}
	return nil
}

// undoneAtOnce is how many undo records are read before the reader is asked again whether
// the value is still wanted.
const undoneAtOnce = 64

// undone returns the value that a row had at height h, out of the undo records
// up to the head, and whether it was written since. It looks at one record after the other,
// and tells pay how many they may be before the first.
func undone(ctx context.Context, r pebble.Reader, h, head chain.Height, row []byte, pay func(blocks int) error) (value []byte, found bool, err error) {
	if err := pay(int(head - h)); err != nil { // at most Options.UndoBlocks
		return nil, false, err
	}
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: heightKey(tableUndo, h+1), UpperBound: heightKey(tableUndo, head+1)})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, it.Error(), it.Close()) }()
	var seek []byte
	for at := h + 1; at <= head && !found; at++ {
		if (at-h)%undoneAtOnce == 1 {
			if err := ctx.Err(); err != nil {
				return nil, false, err
			}
		}
		seek = append(binary.BigEndian.AppendUint64(append(seek[:0], tableUndo), uint64(at)), row...)
		if !it.SeekGE(seek) || !bytes.HasPrefix(it.Key(), seek[:undoKeyLen]) {
			if err := it.Error(); err != nil {
				return nil, false, err
			}
			continue
		}
		stretch, err := it.ValueAndErr()
		if err != nil {
			return nil, false, err
		}
		err = readStretch(stretch, func(key, old []byte) bool {
			if found = bytes.Equal(key, row); found && old != nil {
				value = append([]byte{}, old...)
			}
			return !found
		})
		if err != nil {
			return nil, false, fmt.Errorf("undo record of block %d: %w", at, err)
		}
	}
	return value, found, nil
}

// loadUndo reads from which height on undo records are kept.
func (s *Store) loadUndo() error {
	row, err := getRow(s.db, []byte(keyUndo))
	if err != nil || row == nil {
		return err
	}
	if len(row) != 8 {
		return damaged("start of the undo records takes %d bytes", len(row))
	}
	s.undo.first = chain.Height(binary.BigEndian.Uint64(row))
	return nil
}

// UndoBytes returns about what the undo records take on disk.
func (s *Store) UndoBytes() uint64 {
	done, err := s.use()
	if err != nil {
		return 0
	}
	defer done()
	n, err := s.db.EstimateDiskUsage([]byte{tableUndo}, []byte{tableUndo + 1})
	if err != nil {
		return 0
	}
	return n
}

// Flags of a slim account.
const (
	slimStorage = 1 << iota // the storage root and size follow
	slimCode                // the code hash follows
)

// appendSlim appends flags, nonce and balance as uvarints, storage root and code
// hash where there are any, and the metadata: some 10 bytes for most accounts,
// whose RLP takes over 70.
func appendSlim(dst []byte, a *state.Account) []byte {
	var flags byte
	if a.HasStorage() {
		flags |= slimStorage
	}
	if a.HasCode() {
		flags |= slimCode
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, a.Nonce)
	dst = binary.AppendUvarint(dst, uint64(a.Balance))
	if flags&slimStorage != 0 {
		dst = append(dst, a.StorageRoot[:]...)
		dst = binary.AppendUvarint(dst, a.StorageSize.Bytes)
		dst = binary.AppendUvarint(dst, a.StorageSize.Entries)
	}
	if flags&slimCode != 0 {
		dst = append(dst, a.CodeHash[:]...)
	}
	return append(dst, a.Meta...)
}

func readSlim(b []byte) (state.Account, error) {
	bad := damaged("account of %d bytes in an undo record", len(b))
	if len(b) == 0 || b[0] > slimStorage|slimCode {
		return state.Account{}, bad
	}
	a, flags := state.NewAccount(), b[0]
	b = b[1:]
	ok := true
	number := func(to *uint64) {
		v, n := binary.Uvarint(b)
		if ok = ok && n > 0; ok {
			*to, b = v, b[n:]
		}
	}
	hash := func(to *chain.Hash) {
		if ok = ok && len(b) >= hashLen; ok {
			*to, b = chain.Hash(b), b[hashLen:]
		}
	}
	number(&a.Nonce)
	number((*uint64)(&a.Balance))
	if flags&slimStorage != 0 {
		hash(&a.StorageRoot)
		number(&a.StorageSize.Bytes)
		number(&a.StorageSize.Entries)
	}
	if flags&slimCode != 0 {
		hash(&a.CodeHash)
	}
	if !ok || flags&slimStorage != 0 != a.HasStorage() || flags&slimCode != 0 != a.HasCode() {
		return state.Account{}, bad
	}
	if len(b) > state.MaxMetaBytes {
		return state.Account{}, bad
	}
	if len(b) > 0 {
		a.Meta = bytes.Clone(b)
	}
	return a, nil
}
