package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/blocklog"
)

var (
	// ErrImporting means that the folder holds a state of which a part is still
	// missing. [OpenImport] goes on with it.
	ErrImporting = errors.New("data folder holds the beginning of an import: call the same import again, or take an empty folder")
	// ErrHasChain means that an import was asked for where a chain is already.
	ErrHasChain = errors.New("data folder holds a chain already")
	// ErrImportRoot means that an imported state is whole and yet not the one
	// announced.
	ErrImportRoot = errors.New("imported state has another root")
)

// Target is the state that an import is to end with: the one after a finalized
// block.
type Target struct {
	Genesis chain.Hash
	Height  chain.Height // above 0
	Digest  chain.Hash   // of the block
	Root    chain.Hash   // of the state
}

// encode says what is being imported, and how: rows of another format are
// thrown away like those of another target.
func (t *Target) encode() []byte {
	return slices.Concat([]byte{formatVersion}, t.Genesis[:], heightBytes(t.Height), t.Digest[:], t.Root[:])
}

// Import fills an empty store with a state that comes in pieces. What was put is
// durable up to some recent piece, together with what the caller said of it; a
// crash loses the rest of it, and never more. The store cannot be opened as a
// chain before Finish. One goroutine uses it.
type Import struct {
	store    *Store
	target   Target
	progress []byte
	version  *Version // once State has found it right
}

// OpenImport opens the folder for an import, or goes on with one for the same
// target. One for another target is thrown away.
func OpenImport(dir string, opts Options, to Target) (*Import, error) {
	if to.Height == 0 || to.Genesis == (chain.Hash{}) {
		return nil, errors.New("store: import without block or genesis")
	}
	s, err := open(dir, opts, true)
	if err != nil {
		return nil, err
	}
	i := &Import{store: s, target: to}
	if err := i.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("import into %s: %w", dir, err), s.Close())
	}
	return i, nil
}

func (i *Import) begin() error {
	if _, ok := i.store.Genesis(); ok {
		return ErrHasChain
	}
	token, err := getRow(i.store.db, []byte(keyImport))
	if err != nil {
		return err
	}
	if bytes.Equal(token, i.target.encode()) {
		i.progress, err = getRow(i.store.db, []byte(keyProgress))
		return err
	}
	b := i.store.db.NewBatch()
	defer func() { _ = b.Close() }()
	err = b.Delete([]byte(keyProgress), nil)
	for _, table := range []byte{tableAccounts, tableStorage, tableEras, tableCode, tableLists} {
		err = errors.Join(err, b.DeleteRange([]byte{table}, []byte{table + 1}, nil))
	}
	return errors.Join(err, b.Set([]byte(keyImport), i.target.encode(), nil), i.store.commit(b, pebble.Sync))
}

// Progress returns what the last durable Put was given, nil at the beginning.
func (i *Import) Progress() []byte { return i.progress }

// Piece is a part of a state: rows as [Export] gives them. Nothing in it is
// checked here, but for the root in the end.
type Piece struct {
	Accounts []AccountRow
	Slots    []SlotRow
	Codes    []state.CodeChange
	Lists    []ListRow
}

// AccountRow is an account under its key.
type AccountRow struct {
	Key     chain.Hash
	Account []byte // RLP
}

// SlotRow is a storage value of an account.
type SlotRow struct {
	Account chain.Hash // its key
	Key     state.StorageKey
	Value   []byte
}

// ListRow is an ordered list that is kept beside the state.
type ListRow struct {
	Name chain.Hash
	List []byte
}

// Put adds pieces, and what the caller wants to find in Progress if they are
// there after a crash.
func (i *Import) Put(progress []byte, pieces ...Piece) error {
	b := i.store.db.NewBatch()
	defer func() { _ = b.Close() }()
	var err error
	for p := range pieces {
		err = errors.Join(err, putPiece(b, &pieces[p]))
	}
	err = errors.Join(err, b.Set([]byte(keyProgress), progress, nil))
	if err == nil {
		err = i.store.commit(b, pebble.NoSync)
	}
	if err != nil {
		return fmt.Errorf("import: %w", named(err))
	}
	i.progress = bytes.Clone(progress)
	return nil
}

func putPiece(b *pebble.Batch, p *Piece) error {
	var key []byte
	var err error
	set := func(table byte, hash *chain.Hash, rest string, value []byte) {
		key = append(append(append(key[:0], table), hash[:]...), rest...)
		err = errors.Join(err, b.Set(key, value, nil))
	}
	for i := range p.Accounts {
		set(tableAccounts, &p.Accounts[i].Key, "", p.Accounts[i].Account)
	}
	for i := range p.Codes {
		set(tableCode, &p.Codes[i].Hash, "", p.Codes[i].Code)
	}
	for i := range p.Slots {
		slot := &p.Slots[i]
		key = append(append(key[:0], storagePrefix(slot.Account, 0)...), slot.Key...)
		err = errors.Join(err, b.Set(key, slot.Value, nil))
	}
	for i := range p.Lists {
		set(tableLists, &p.Lists[i].Name, "", p.Lists[i].List)
	}
	return err
}

// State computes the root of what was put and returns the state, for the caller
// to look at before Finish. It returns ErrImportRoot if the root is not the
// target's; the folder is then of no use but for another OpenImport. After it,
// only lists may be put.
func (i *Import) State() (*Version, error) {
	if i.version != nil {
		return i.version, nil
	}
	image, err := i.store.plant()
	if err != nil {
		return nil, fmt.Errorf("imported state: %w", err)
	}
	if image.Root != i.target.Root {
		return nil, fmt.Errorf("%w: %s, want %s", ErrImportRoot, image.Root, i.target.Root)
	}
	i.version = newVersion(i.store, i.store.generation, i.target.Height, image, &place{parent: i.store.Head()})
	return i.version, nil
}

// Finish makes the store one of a chain whose first kept block is rec, if State
// has no error. The store is left to the caller, who closes it; the import must
// not be used any more.
func (i *Import) Finish(rec BlockRecord) (*Store, error) {
	s := i.store
	if rec.Height != i.target.Height || rec.Digest != i.target.Digest {
		return nil, fmt.Errorf("finish import: block %d is not the target's", rec.Height)
	}
	v, err := i.State()
	if err != nil {
		return nil, err
	}
	err = s.write(v, rec.Digest, &rec, func(b *pebble.Batch, p blocklog.Place) error { return i.found(b, &rec, p) })
	if err != nil {
		return nil, fmt.Errorf("finish import: %w", err)
	}
	s.genesis.Store(&i.target.Genesis)
	s.base.Store(uint64(rec.Height))
	return s, nil
}

// found writes what makes a chain of the rows. The rows themselves were not
// synced; this batch comes after them in the log, and its sync covers them.
func (i *Import) found(b *pebble.Batch, rec *BlockRecord, at blocklog.Place) error {
	err := errors.Join(
		putBlock(b, rec, at),
		b.Set([]byte(keyFormat), []byte{formatVersion}, nil),
		b.Set([]byte(keyGenesis), i.target.Genesis[:], nil),
		b.Set([]byte(keyBase), heightBytes(rec.Height), nil),
		b.Set(hashKey(tableHeights, i.target.Genesis), heightBytes(0), nil),
		b.Delete([]byte(keyImport), nil),
		b.Delete([]byte(keyProgress), nil),
	)
	if i.store.opts.History {
		// What the block replaced is not known: the history starts behind it.
		err = errors.Join(err, b.Set([]byte(keyHistory), heightBytes(rec.Height+1), nil))
	}
	return err
}

// Close ends the import for now.
func (i *Import) Close() error { return i.store.Close() }
