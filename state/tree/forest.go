package tree

import (
	"fmt"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// Forest keeps the tries of many versions of the state in memory: the trie of
// accounts and every storage trie, in records without Go pointers. Versions
// share the records that they have in common: an [Image] owns those that its
// block made and knows those of its parent that it no longer needs.
//
// Apply, Load, Retire and Release may be called by any goroutine and wait for
// one another. Reads go on meanwhile; whoever reads or builds on an image makes
// sure that neither it nor what it is built on is taken back before the end.
//
// Owner: package state/store, which knows who reads which version and alone calls Retire and Release. Memory order: everything that writes
// holds mu; readers hold nothing, see pool. An image is immutable from when Apply returns
// it, but for its rows and its list of retired records, which belong to the store.
//
// Versions are a persistent data structure by path copying (Driscoll, Sarnak, Sleator and
// Tarjan, "Making Data Structures Persistent", 1989): a block of n writes copies at most
// 64 branches for each, in practice log16 of the accounts.
type Forest struct {
	pools [pools]pool
	yard  yard

	mu      sync.Mutex // held by whoever changes the pools or the fields below
	crew    []*worker  // one for each goroutine of a batch
	epoch   uint32     // of the newest image
	scratch batch      // memory for the next batch
	felled  []ref40    // roots of what is to be freed with all that is below

	round  uint32 // of moving records
	moving bool   // the round is not over
	slack  int64  // bytes that may be free without a round

	// Memory of images that have no use for it any more.
	spareRows    [][pools]rowList
	spareRetired [][pools][]retired
}

// NewForest returns an empty forest whose batches use up to workers goroutines,
// the caller's included. Results do not depend on their number. Memory comes from take,
// which returns as many bytes as it is asked for, all zero, and leaves them where
// they are as long as the forest can be reached; nil stands for Go's own.
func NewForest(workers int, take func(bytes int) []byte) *Forest {
	if take == nil {
		take = func(bytes int) []byte { return make([]byte, bytes) }
	}
	f := &Forest{slack: moveSlack, yard: yard{take: take}, crew: make([]*worker, min(max(workers, 1), pools))}
	f.scratch.Forest = f
	for i := range f.crew {
		f.crew[i] = &worker{batch: &f.scratch}
	}
	for i := range f.pools {
		f.pools[i].init(i, &f.yard)
	}
	return f
}

// Image is one version of the state. It never changes.
type Image struct {
	Root chain.Hash

	top     ref40
	epoch   uint32
	rows    [pools]rowList
	retired [pools][]retired

	round uint32 // of moving records, that moved is of
	moved progress
}

// retired is a record that an image does not share with its parent: one that the parent
// has and the image replaced or dropped. It is freed when neither the parent and what is before
// it nor another image built on those is read any more ([Forest.Retire]).
type retired struct {
	ref   ref40
	units uint32 // or wholeTrie
}

// wholeTrie stands for the size of a record with all that is below it.
const wholeTrie = ^uint32(0)

// Row is what a block leaves of one account for the flat state: a log of the batch, from
// which the store writes keys and values without a look at the tries. It is applied
// in the order Cleared, account, Storage.
type Row struct {
	Key     chain.Hash // AccountKey of the address
	Cleared bool       // all storage values before the block go
	Storage []state.StorageChange

	from, to int // the account in the list's bytes; empty if it is gone
}

// rowList holds the rows of one shard, ascending by key.
type rowList struct {
	rows  []Row
	bytes []byte
}

// EachRow calls do for each account that the block wrote, in ascending order of
// key, with its encoding, nil if it does not exist any more.
func (im *Image) EachRow(do func(row *Row, account []byte) error) error {
	for shard := range im.rows {
		list := &im.rows[shard]
		for i := range list.rows {
			row := &list.rows[i]
			var account []byte
			if row.to != row.from {
				account = list.bytes[row.from:row.to]
			}
			if err := do(row, account); err != nil {
				return err
			}
		}
	}
	return nil
}

// ForgetRows takes back the memory of an image's rows, once they are stored.
func (f *Forest) ForgetRows(im *Image) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forgetRows(im)
}

func (f *Forest) forgetRows(im *Image) {
	for i := range im.rows {
		clear(im.rows[i].rows)
		im.rows[i].rows, im.rows[i].bytes = im.rows[i].rows[:0], im.rows[i].bytes[:0]
	}
	if len(f.spareRows) < spareMax {
		f.spareRows = append(f.spareRows, im.rows)
	}
	im.rows = [pools]rowList{}
}

// spareMax is for how many images memory is kept ready.
const spareMax = 4

// Work is what batches have done since a forest was made. It follows from the writes alone,
// not from the number of workers.
type Work struct {
	Hashes uint64 // messages hashed: addresses, storage keys and nodes
	Nodes  uint64 // leaves and branches made
}

// Work returns what the batches so far have done.
func (f *Forest) Work() (sum Work) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.crew {
		sum.Hashes += w.work.Hashes
		sum.Nodes += w.work.Nodes
	}
	return sum
}

// EmptyImage returns the image of the empty state.
func (f *Forest) EmptyImage() *Image { return &Image{Root: state.EmptyRoot} }

// Apply returns the image after the writes of delta to base. The error is
// state.ErrMetaLength for an account with too much metadata, or [ErrArenaFull].
func (f *Forest) Apply(base *Image, delta *state.Delta) (*Image, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &f.scratch
	b.changes, b.sheaves = delta.AppendChanges(b.changes[:0]), b.sheaves[:0]
	if err := b.hashAddresses(); err != nil {
		return nil, err
	}
	return f.apply(base)
}

// Loaded is an account as the flat state has it, with all or some of its
// storage. What it says of its storage root is not used.
type Loaded struct {
	Key     chain.Hash
	Account state.Account
	Storage []state.StorageChange
	Sheaf   *Sheaf // all of the storage, which Storage has nothing of; nil if it has
}

// Load returns base with accounts added, for building an image from the flat
// state; base must not be used any more. Keys of one call must differ, but
// later calls may add to an account.
func (f *Forest) Load(base *Image, accounts []Loaded) (*Image, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &f.scratch
	b.changes, b.keys, b.sheaves = b.changes[:0], b.keys[:0], b.sheaves[:0]
	for i := range accounts {
		a := &accounts[i]
		b.changes = append(b.changes, state.AccountChange{Account: &a.Account, Storage: a.Storage})
		b.keys, b.sheaves = append(b.keys, a.Key), append(b.sheaves, a.Sheaf)
	}
	im, err := f.apply(base)
	if err == nil {
		f.retire(im)
		f.forgetRows(im)
	}
	return im, err
}

// apply runs the batch in f.scratch.
func (f *Forest) apply(base *Image) (im *Image, err error) {
	for i := range f.scratch.changes {
		if a := f.scratch.changes[i].Account; a != nil && len(a.Meta) > state.MaxMetaBytes {
			return nil, fmt.Errorf("account %s: %w", f.scratch.changes[i].Address, state.ErrMetaLength)
		}
	}
	if len(f.scratch.changes) == 0 {
		f.epoch++
		return &Image{Root: base.Root, top: base.top, epoch: f.epoch, round: base.round, moved: base.moved}, nil
	}
	f.epoch++
	b := &f.scratch
	loads := len(b.sheaves) > 0
	if !loads && !f.moving {
		f.choose()
	}
	made := f.made()
	b.epoch = f.epoch
	b.image = &Image{epoch: f.epoch}
	b.reserve()
	defer b.releaseValues()
	if err := b.storage(base); err != nil {
		return nil, err
	}
	b.sortAccounts()
	l, top, err := b.plant(base.top, b.entries, &b.spans, nil, 0)
	if err != nil {
		return nil, err
	}
	b.image.top, b.image.Root = top, base.Root
	if top == 0 {
		b.image.Root = state.EmptyRoot
	} else if top != base.top {
		b.image.Root = l.hash()
	}
	b.image.round, b.image.moved = base.round, base.moved
	if f.moving && !loads {
		if err := b.move(f.made() - made); err != nil {
			return nil, err
		}
	}
	return b.image, nil
}
