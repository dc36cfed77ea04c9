package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/blocklog"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Store is the chain on disk. One goroutine at a time may call Init, Commit,
// Rebuild and Close; everything else may be called by any number of goroutines, also
// meanwhile.
type Store struct {
	opts    Options
	dir     string
	db      *pebble.DB
	lock    *folderLock
	blocks  *blocklog.Log
	stop    *stop // why nothing more can be written
	head    atomic.Pointer[head]
	genesis atomic.Pointer[chain.Hash] // nil before Init
	base    atomic.Uint64              // height of the first block that is kept
	damage  atomic.Pointer[error]      // first damage that pebble met; nil for none

	// Whoever uses db is among the users, whom Close waits for. It refuses new ones
	// at once, those who are users already included: were they to wait for it, it
	// would wait for them.
	life   sync.RWMutex // guards closed, and that users grow before it alone
	closed bool
	users  sync.WaitGroup

	moving chan struct{} // has one place: see beginMove

	// Owned by the caller of Init, Commit, Rebuild and Close.
	*generation // of the head
	mark        *watermark
	hasHistory  bool         // the block of the head noted old values
	historyFrom chain.Height // if so: first whose old values are kept
	undo        undo
	eras        eras
	afterPlant  func(*tree.Image) // set by tests, to damage what was planted
	recent      []*kept           // the last commits, oldest first
	parts       partsRoom         // of the block that is being committed

	removals removals // has its own lock
}

// head is the finalized head.
type head struct {
	version *Version
	digest  chain.Hash
}

// GenesisRecord is the start of a chain.
type GenesisRecord struct {
	Hash  chain.Hash   // identity of the chain, and digest of height 0
	Delta *state.Delta // writes that make the first state out of an empty one
}

// Open opens the store in dir, or makes an empty one. A store that was not
// closed is brought to its last durable block. The folder is locked until
// Close.
func Open(dir string, opts Options) (*Store, error) { return open(dir, opts, false) }

// open opens a store, or one whose state is being imported.
func open(dir string, opts Options, importing bool) (*Store, error) {
	if err := opts.Check(); err != nil {
		return nil, err
	}
	if opts.FS == nil {
		opts.FS = vfs.Default
	}
	if err := makeFolder(opts.FS, dir); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	lock, err := lockFolder(opts.FS, dir)
	if err != nil {
		return nil, lockFault(dir, err)
	}
	s := &Store{opts: opts, dir: dir, lock: lock, stop: newStop(), generation: newGeneration(&opts), moving: make(chan struct{}, 1)}
	there := list(opts.FS, dir)
	err = s.stop.wait(func() (err error) {
		s.db, err = pebble.Open(dir, s.pebble())
		s.stop.opening.Store(false)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", dir, there.culprit(damageOnOpen(err))), lock.release())
	}
	if err := s.load(dir, importing); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", dir, there.culprit(named(err))), s.Close())
	}
	return s, nil
}

// lockFault tells a folder in use from one that cannot be locked at all. Pebble
// names the lock of the same process only by text.
func lockFault(dir string, err error) error {
	if errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process") {
		return fmt.Errorf("%w: %s", ErrInUse, dir)
	}
	return fmt.Errorf("lock data folder %s: %w", dir, err)
}

// damageOnOpen marks what keeps a database from opening as damage, unless it is
// the operating system's refusal. A missing file is damage as well: what names
// it was written after it was durable.
func damageOnOpen(err error) error {
	var refusal syscall.Errno
	if errors.As(err, &refusal) && !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrCorrupt) {
		return named(err)
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// load checks the format and takes up the stored head.
func (s *Store) load(dir string, importing bool) (err error) {
	if s.mark, err = openWatermark(s.opts.FS, dir); err != nil {
		return err
	}
	format, err := getRow(s.db, []byte(keyFormat))
	if err != nil {
		return err
	}
	if format == nil {
		if _, err := s.mark.compare(0, chain.Hash{}); err != nil {
			return err // it only seems to be empty
		}
		return s.loadEmpty(importing)
	}
	if len(format) != 1 || format[0] != formatVersion {
		return &FormatError{Found: format}
	}
	genesis, err := getRow(s.db, []byte(keyGenesis))
	if err != nil {
		return err
	}
	marker, err := getRow(s.db, []byte(keyHead))
	if err != nil {
		return err
	}
	if len(genesis) != hashLen || len(marker) != headLen {
		return damaged("markers of %d and %d bytes", len(genesis), len(marker))
	}
	start, err := getRow(s.db, []byte(keyHistory))
	if err != nil {
		return err
	}
	if s.hasHistory = start != nil; s.hasHistory {
		if len(start) != 8 {
			return damaged("start of the history takes %d bytes", len(start))
		}
		s.historyFrom = chain.Height(binary.BigEndian.Uint64(start))
	}
	if s.hasHistory && !s.opts.EndHistory {
		s.opts.History = true // a gap could never be filled
	}
	hash := chain.Hash(genesis)
	s.genesis.Store(&hash)
	h, digest, root := readHead(marker)
	knows, err := s.mark.compare(h, digest)
	if err == nil && !knows {
		err = s.renewWatermark(h, digest)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(s.loadBase(), s.openBlocks(h), s.loadUndo(), s.loadEras()); err != nil {
		return err
	}
	image, err := s.rebuildTries(h, root)
	if err != nil {
		return err
	}
	s.removals.moveTo(h, image)
	return s.takeVersion(newVersion(s, s.generation, h, image, nil), digest)
}

// loadEmpty starts with the empty state, if the database is empty indeed.
func (s *Store) loadEmpty(importing bool) error {
	token, err := getRow(s.db, []byte(keyImport))
	switch {
	case err != nil:
		return err
	case token != nil && !importing:
		return ErrImporting
	case token != nil:
		if err := s.openBlocks(0); err != nil {
			return err
		}
		return s.takeVersion(newVersion(s, s.generation, 0, s.forest.EmptyImage(), nil), chain.Hash{})
	}
	it, err := s.db.NewIter(nil)
	if err != nil {
		return damage(err)
	}
	some := it.First()
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return damage(err)
	}
	if some {
		return fmt.Errorf("%w: it has rows but no format", ErrFormat)
	}
	if err := s.openBlocks(0); err != nil {
		return err
	}
	return s.takeVersion(newVersion(s, s.generation, 0, s.forest.EmptyImage(), nil), chain.Hash{})
}

func readHead(marker []byte) (h chain.Height, digest, root chain.Hash) {
	h = chain.Height(binary.BigEndian.Uint64(marker))
	return h, chain.Hash(marker[8 : 8+hashLen]), chain.Hash(marker[8+hashLen:])
}

// takeVersion makes v, which the database holds now, the head.
func (s *Store) takeVersion(v *Version, digest chain.Hash) error {
	k, err := s.retainHead(v.image)
	if err != nil {
		return err
	}
	s.pending.remove(v.image)
	v.place.Store(&place{kept: k})
	s.head.Store(&head{version: v, digest: digest})
	s.recent = append(s.recent, k)
	if excess := len(s.recent) - s.opts.KeepVersions; excess > 0 {
		n := 0
		for n < excess && s.expire(s.recent[n], s.recent[n+1]) {
			n++
		}
		s.recent = slices.Delete(s.recent, 0, n)
	}
	return nil
}

// Init makes the first state, or checks that the store holds the chain of this
// genesis. It must come before the first Commit.
func (s *Store) Init(g GenesisRecord) error {
	if stored, ok := s.Genesis(); ok {
		if stored != g.Hash {
			return &OtherGenesisError{Stored: stored, Given: g.Hash}
		}
		return nil
	}
	if g.Hash == (chain.Hash{}) {
		return errors.New("store: genesis without hash")
	}
	v, err := s.Head().Apply(g.Delta)
	if err != nil {
		return fmt.Errorf("genesis: %w", err)
	}
	v.height = 0
	err = s.write(v, g.Hash, nil, func(b *pebble.Batch, _ blocklog.Place) error {
		return errors.Join(
			b.Set([]byte(keyFormat), []byte{formatVersion}, nil),
			b.Set([]byte(keyGenesis), g.Hash[:], nil),
			b.Set(hashKey(tableHeights, g.Hash), heightBytes(0), nil),
		)
	})
	if err != nil {
		return fmt.Errorf("write genesis: %w", err)
	}
	s.genesis.Store(&g.Hash)
	return nil
}

// Genesis returns the hash of the chain's genesis, false before Init.
func (s *Store) Genesis() (chain.Hash, bool) {
	if hash := s.genesis.Load(); hash != nil {
		return *hash, true
	}
	return chain.Hash{}, false
}

// Head returns the version of the finalized head; before Init, the empty state.
func (s *Store) Head() *Version { return s.head.Load().version }

// KeepsHistory reports whether commits note old values for ever: by
// Options.History now, or at an earlier Open.
func (s *Store) KeepsHistory() bool { return s.opts.History }

// HeadInfo returns height and digest of the finalized head. At height 0 the
// digest is the genesis hash.
func (s *Store) HeadInfo() (chain.Height, chain.Hash) {
	h := s.head.Load()
	return h.version.height, h.digest
}

// noteDamage remembers the first damage.
func (s *Store) noteDamage(err error) { s.damage.CompareAndSwap(nil, &err) }

// Damage returns the first damage to a file that was met since Open, also by
// work in the background, or nil. From then on Commit refuses to build on it.
func (s *Store) Damage() error {
	if err := s.damage.Load(); err != nil {
		return *err
	}
	return nil
}

// DiskBytes returns the size of the store on disk, blocks included.
func (s *Store) DiskBytes() uint64 {
	done, err := s.use()
	if err != nil {
		return 0
	}
	defer done()
	return s.db.Metrics().DiskSpaceUsage() + uint64(s.blocks.Bytes())
}

// BlockBytesOnDisk returns the size of the files of blocks.
func (s *Store) BlockBytesOnDisk() uint64 {
	done, err := s.use()
	if err != nil {
		return 0
	}
	defer done()
	return uint64(s.blocks.Bytes())
}

// LogBytes returns what has been written to the database's log since Open. Each
// commit writes there, and syncs, what belongs to its block.
func (s *Store) LogBytes() uint64 {
	done, err := s.use()
	if err != nil {
		return 0
	}
	defer done()
	return s.db.Metrics().WAL.BytesWritten
}

// use keeps the database open until done is called.
func (s *Store) use() (done func(), err error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.stop.killed() {
		return nil, fmt.Errorf("%w: %w", ErrFailed, s.stop.why())
	}
	s.users.Add(1)
	return s.users.Done, nil
}

// end refuses further use; false if that was done before.
func (s *Store) end() bool {
	s.life.Lock()
	defer s.life.Unlock()
	first := !s.closed
	s.closed = true
	return first
}

// Close waits for readers, closes the database and unlocks the folder. Every
// later call returns ErrClosed. A database whose disk failed cannot be closed:
// it will not write again, and its memory is left to the end of the process.
func (s *Store) Close() error {
	if s.stop.killed() {
		return s.abandon()
	}
	if !s.end() {
		return nil
	}
	s.users.Wait()
	for _, k := range s.recent {
		k.giveUp(ErrClosed)
	}
	s.dropRows(s.recent...)
	s.pending.clear()
	var err error
	if s.mark != nil {
		err = s.mark.file.Close()
	}
	if s.blocks != nil {
		err = errors.Join(err, s.blocks.Close())
	}
	if errDB := s.stop.wait(s.db.Close); s.stop.killed() {
		return errors.Join(err, errDB, s.abandon())
	} else {
		return errors.Join(err, errDB, s.lock.release())
	}
}

// abandon gives the folder back without the database, which may hold its locks,
// and those of readers, for ever.
func (s *Store) abandon() error {
	s.stop.drain()
	return s.lock.release()
}
