package rent

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// The verdicts of this package. After each of them the overlay is as it was.
var (
	ErrDormant      = errors.New("storage is evicted already")
	ErrNotDormant   = errors.New("storage is not evicted")
	ErrNoStorage    = errors.New("account has no storage")
	ErrUnsettled    = errors.New("storage was written in this block, its root is not known yet")
	ErrLongMeta     = errors.New("metadata leaves no room for the record of evicted storage")
	ErrRestoring    = errors.New("another restoration is under way")
	ErrNotRestoring = errors.New("no restoration by this address is under way")
	ErrLate         = errors.New("restoration is past its deadline")
	ErrDeadline     = errors.New("deadline of a restoration is not ahead, or too far")
	ErrChunk        = errors.New("chunk is empty, too large, or has an entry without key or value")
	ErrOrder        = errors.New("entries are not in ascending order of the hashes of their keys")
	ErrTooMuch      = errors.New("more data than was evicted")
	ErrIncomplete   = errors.New("less data than was evicted")
	ErrRootMismatch = errors.New("data does not have the root that was recorded")
)

// MaxBlocksAhead is how far ahead a deadline may be: until it nobody else may put
// data, so whoever has none must not be able to keep all others out for ever. The
// largest storage comes back in a tenth of it.
const MaxBlocksAhead = 7_200

// Bounds of a chunk: what a transaction may carry, with room to spare.
const (
	MaxChunkEntries = 4096
	MaxChunkBytes   = 128 << 10
)

// Evict drops the storage of an account and records its root and size in the
// account, whose code, balance and metadata stay. It returns what was dropped.
// The errors are ErrDormant, ErrUnsettled, ErrNoStorage and ErrLongMeta.
func Evict(o *state.Overlay, addr chain.Address) (state.StorageSize, error) {
	a, _, err := o.Account(addr)
	switch {
	case err != nil:
		return state.StorageSize{}, err
	case Dormant(&a):
		return state.StorageSize{}, ErrDormant
	case !o.StorageRooted(addr):
		return state.StorageSize{}, ErrUnsettled
	case !a.HasStorage():
		return state.StorageSize{}, ErrNoStorage
	case len(a.Meta) > MaxMetaBytes:
		return state.StorageSize{}, ErrLongMeta
	}
	rec := &Record{Root: a.StorageRoot, Size: a.StorageSize}
	a.Meta = withRecord(rec, a.Meta)
	if err := replaceStorage(o, addr, a); err != nil {
		return state.StorageSize{}, err
	}
	return rec.Size, nil
}

// replaceStorage drops the storage of an account and writes its fields.
func replaceStorage(o *state.Overlay, addr chain.Address, a state.Account) error {
	if err := o.ClearStorage(addr); err != nil {
		return err
	}
	o.SetAccount(addr, a)
	return nil
}

// Session names who restores what, and the height of the block under execution.
type Session struct {
	Actor, By chain.Address
	Height    chain.Height
}

// Begin starts to put the storage of s.Actor back: until deadline s.By alone may
// put data. An attempt whose deadline has passed is dropped with all that it
// put. The errors are ErrNotDormant, ErrRestoring and ErrDeadline.
func Begin(o *state.Overlay, s Session, deadline chain.Height) error {
	a, rec, hidden, err := dormant(o, s.Actor)
	if err != nil {
		return err
	}
	if deadline <= s.Height || deadline-s.Height > MaxBlocksAhead {
		return ErrDeadline
	}
	if p := rec.Restoring; p != nil && s.Height <= p.Deadline {
		return ErrRestoring
	}
	rec.Restoring = &Restoring{By: s.By, Deadline: deadline}
	a.Meta = withRecord(rec, hidden)
	return replaceStorage(o, s.Actor, a)
}

// Cost returns what a chunk adds to the storage, for the caller to charge before
// Put. The error is ErrChunk for one that Put refuses whatever the state: it is
// found before any entry is hashed.
func Cost(chunk []state.StorageChange) (size state.StorageSize, err error) {
	if len(chunk) == 0 || len(chunk) > MaxChunkEntries {
		return size, ErrChunk
	}
	for i := range chunk {
		if len(chunk[i].Key) == 0 || chunk[i].Value == nil {
			return state.StorageSize{}, ErrChunk
		}
		size = size.Add(state.SizeOf(chunk[i].Key, chunk[i].Value))
	}
	if size.Bytes > MaxChunkBytes {
		return state.StorageSize{}, ErrChunk
	}
	return size, nil
}

// Put adds a chunk: entries in ascending order of the hashes of their keys, all
// behind those of earlier chunks, so that none comes twice. The errors are
// ErrChunk, ErrNotDormant, ErrNotRestoring, ErrLate, ErrOrder and ErrTooMuch.
func Put(o *state.Overlay, s Session, chunk []state.StorageChange) error {
	size, err := Cost(chunk)
	if err != nil {
		return err
	}
	a, rec, hidden, err := session(o, s)
	if err != nil {
		return err
	}
	staged, err := o.StorageSize(s.Actor)
	if err != nil {
		return err
	}
	if !staged.Add(size).Within(rec.Size) {
		return ErrTooMuch
	}
	last, err := ascending(chunk, rec.Restoring.Cursor, staged.Entries == 0)
	if err != nil {
		return err
	}
	for i := range chunk {
		o.SetStorage(s.Actor, chunk[i].Key, chunk[i].Value)
	}
	rec.Restoring.Cursor = last
	a.Meta = withRecord(rec, hidden)
	o.SetAccount(s.Actor, a)
	return nil
}

// ascending checks the order of a chunk behind the cursor, which is not looked
// at for the first chunk, and returns the hash of the last key.
func ascending(chunk []state.StorageChange, cursor chain.Hash, first bool) (chain.Hash, error) {
	msgs := make([][]byte, len(chunk))
	for i := range chunk {
		msgs[i] = []byte(chunk[i].Key)
	}
	sums := make([][32]byte, len(chunk))
	keccak.SumMany(msgs, sums)
	for i := range sums {
		if (i > 0 || !first) && bytes.Compare(sums[i][:], cursor[:]) <= 0 {
			return chain.Hash{}, fmt.Errorf("entry %d: %w", i, ErrOrder)
		}
		cursor = sums[i]
	}
	return cursor, nil
}

// session returns a dormant account whose restoration is in the hands of s.By.
func session(o *state.Overlay, s Session) (a state.Account, rec *Record, hidden []byte, err error) {
	a, rec, hidden, err = dormant(o, s.Actor)
	switch {
	case err != nil:
		return a, nil, nil, err
	case rec.Restoring == nil || rec.Restoring.By != s.By:
		return a, nil, nil, ErrNotRestoring
	case s.Height > rec.Restoring.Deadline:
		return a, nil, nil, ErrLate
	}
	return a, rec, hidden, nil
}

// Commit ends a restoration: the actor has its storage back and may run. The
// errors are ErrNotDormant, ErrNotRestoring, ErrLate, ErrUnsettled, ErrIncomplete
// if data is missing, and ErrRootMismatch if all of it is there but some is
// wrong, whereupon anyone may call Abort.
func Commit(o *state.Overlay, s Session) error {
	a, rec, hidden, err := session(o, s)
	switch {
	case err != nil:
		return err
	case !o.StorageRooted(s.Actor):
		return ErrUnsettled
	case a.StorageSize != rec.Size:
		return ErrIncomplete
	case a.StorageRoot != rec.Root:
		return ErrRootMismatch
	}
	a.Meta = hidden
	o.SetAccount(s.Actor, a)
	return nil
}

// Drop ends whatever restoration is under way, and drops what it put: the caller has
// judged that it may. The error is ErrNotDormant or ErrNotRestoring.
func Drop(o *state.Overlay, addr chain.Address) error {
	a, rec, hidden, err := dormant(o, addr)
	if err != nil {
		return err
	}
	if rec.Restoring == nil {
		return ErrNotRestoring
	}
	rec.Restoring = nil
	a.Meta = withRecord(rec, hidden)
	return replaceStorage(o, addr, a)
}

// Abort ends a restoration and drops what it put, in one step. The one who
// restores may do so always, anyone once the deadline has passed or all data is
// there and proves to be wrong. The errors are ErrNotDormant and
// ErrNotRestoring.
func Abort(o *state.Overlay, s Session) error {
	a, rec, _, err := dormant(o, s.Actor)
	if err != nil {
		return err
	}
	p := rec.Restoring
	if p == nil {
		return ErrNotRestoring
	}
	wrong := o.StorageRooted(s.Actor) && a.StorageSize == rec.Size && a.StorageRoot != rec.Root
	if p.By != s.By && s.Height <= p.Deadline && !wrong {
		return ErrNotRestoring
	}
	return Drop(o, s.Actor)
}
