package simnode

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/state/journal"
	"github.com/cowboy-foundation/cowboy/state/journal/disktest"
)

// disk is what one life of a machine has for files: the vote journal, the memory
// of the guard, and the store. A power cut makes the disk of the next life of it.
type disk struct {
	machine int
	trace   *trace
	store   *vfs.MemFS

	mu    sync.Mutex
	rng   *rand.Rand
	votes *disktest.Disk
	guard *disktest.Disk
	slow  time.Duration // a sync takes up to this long
	syncs int
	done  bool // the life is over: what it still writes is not seen
}

func newDisk(machine int, rng *rand.Rand, tr *trace) *disk {
	return &disk{machine: machine, trace: tr, rng: rng, store: vfs.NewCrashableMem(), votes: disktest.New(), guard: disktest.New()}
}

// cut returns the disk after a power cut, of which a share of what was not synced
// is kept, or, with 100, after the death of the process.
func (d *disk) cut(keep int) *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = true
	rng := rand.New(rand.NewPCG(d.rng.Uint64(), 1))
	store := d.store.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: keep, RNG: rng})
	return &disk{
		machine: d.machine, trace: d.trace, rng: d.rng, slow: d.slow, store: store,
		votes: tails(d.votes, keep, d.rng), guard: places(d.guard, keep, d.rng),
	}
}

// places cuts a disk of files that are written in place.
func places(d *disktest.Disk, keep int, rng *rand.Rand) *disktest.Disk {
	if keep == 100 {
		return d.Clone()
	}
	return d.Cut(keep, rng)
}

// clone is the disk as an image of the running machine has it.
func (d *disk) clone() *disk {
	out := d.cut(100)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = false
	return out
}

// tails cuts a disk of files that only grow. Everything kept is the death of the
// process: what it did not sync is there, and is not durable yet.
func tails(d *disktest.Disk, keep int, rng *rand.Rand) *disktest.Disk {
	if keep == 100 {
		return d.Clone()
	}
	return d.CutTails(keep, rng)
}

// repair ends the failure of a disk whose process has ended.
func (d *disk) repair() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.votes.Kill()
	d.guard.Kill()
}

// failAfter lets the disk of one of the two files end after some operations.
func (d *disk) failAfter(ofGuard bool, in int, landed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	on := d.votes
	if ofGuard {
		on = d.guard
	}
	on.FailIn, on.Landed = in, landed
}

func (d *disk) slowness(s time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slow = s
}

// linger takes as long as a sync does.
func (d *disk) linger() {
	d.mu.Lock()
	d.syncs++
	wait := time.Duration(0)
	if d.slow > 0 {
		wait = time.Duration(d.rng.Int64N(int64(d.slow)))
	}
	d.mu.Unlock()
	if wait > 0 {
		time.Sleep(wait)
	}
}

// do carries an operation out, and writes it down.
func (d *disk) do(what, name string, size int, f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := f()
	if !d.done {
		if err != nil {
			d.trace.note("disk %d %s %s %d: %v", d.machine, what, name, size, err)
		} else {
			d.trace.note("disk %d %s %s %d", d.machine, what, name, size)
		}
	}
	return err
}

// folder is one of the two folders of a disk.
type folder struct {
	disk *disk
	on   *disktest.Disk
}

func (f folder) open(name string) (*file, error) {
	var inner *disktest.File
	err := f.disk.do("open", name, 0, func() (err error) { inner, err = f.on.Open(name); return err })
	return f.file(name, inner, err)
}

func (f folder) create(name string) (*file, error) {
	var inner *disktest.File
	err := f.disk.do("create", name, 0, func() (err error) { inner, err = f.on.Create(name); return err })
	return f.file(name, inner, err)
}

func (f folder) file(name string, inner *disktest.File, err error) (*file, error) {
	if err != nil {
		return nil, err
	}
	return &file{f.disk, name, inner}, nil
}

func (f folder) Rename(from, to string) error {
	return f.disk.do("rename", from+" "+to, 0, func() error { return f.on.Rename(from, to) })
}

func (f folder) Remove(name string) error {
	return f.disk.do("remove", name, 0, func() error { return f.on.Remove(name) })
}

func (f folder) Sync() error {
	f.disk.linger()
	return f.disk.do("sync", "folder", 0, f.on.Sync)
}

// voteFolder is the folder of the journal.
type voteFolder struct{ folder }

func (f voteFolder) Open(name string) (journal.File, error) {
	file, err := f.open(name)
	if errors.Is(err, disktest.ErrLocked) {
		err = journal.ErrInUse
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f voteFolder) Create(name string) (journal.File, error) {
	file, err := f.create(name)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// guardFolder is the folder of the guard.
type guardFolder struct{ folder }

func (f guardFolder) Open(name string) (guard.File, error) {
	file, err := f.open(name)
	if errors.Is(err, disktest.ErrLocked) {
		err = guard.ErrInUse
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f guardFolder) Create(name string) (guard.File, error) {
	file, err := f.create(name)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// file is an open file on a disk.
type file struct {
	disk  *disk
	name  string
	inner *disktest.File
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.inner.ReadAt(p, off)
}

func (f *file) Write(p []byte) (n int, err error) {
	err = f.disk.do("append", f.name, len(p), func() (err error) { n, err = f.inner.Write(p); return err })
	return n, err
}

func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.disk.do("write", f.name, len(p), func() (err error) { n, err = f.inner.WriteAt(p, off); return err })
	return n, err
}

func (f *file) Sync() error {
	f.disk.linger()
	return f.disk.do("sync", f.name, 0, f.inner.Sync)
}

func (f *file) Truncate(size int64) error {
	return f.disk.do("truncate", f.name, int(size), func() error { return f.inner.Truncate(size) })
}

func (f *file) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.inner.Size()
}

func (f *file) Close() error {
	return f.disk.do("close", f.name, 0, f.inner.Close)
}

// journalTail is how much of the journal's end is looked at for a vote that leaves.
const journalTail = 1 << 20

// ErrUnsynced means that a vote leaves which a power cut would make forgotten.
var ErrUnsynced = errors.New("a vote leaves that is not durable")

// keeps returns an error unless both memories of votes have v for good.
func (d *disk) keeps(id guard.Identity, v simplex.Vote) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	records := d.votes.Durable(journalFile)
	if !bytes.Contains(records[max(0, len(records)-journalTail):], v.Signature[:]) {
		return fmt.Errorf("%w: %s of view %d is not in the journal", ErrUnsynced, v.Kind, v.Proposal.Round.View)
	}
	left := disktest.New()
	left.Put(guard.FileName, d.guard.Durable(guard.FileName))
	aside := &disk{machine: d.machine, trace: d.trace, guard: left, done: true}
	g, err := guard.OpenIn(guardFolder{folder{aside, left}}, id)
	if err != nil {
		return fmt.Errorf("%w: %s of view %d: %w", ErrUnsynced, v.Kind, v.Proposal.Round.View, err)
	}
	if mark := g.Watermark(); !mark.Said(v.Kind, v.Proposal) {
		return fmt.Errorf("%w: %s of view %d is not in the guard", ErrUnsynced, v.Kind, v.Proposal.Round.View)
	}
	return nil
}

// journalFile is the vote journal's name, as package node has it.
const journalFile = "votes.journal"

// lose puts an older vote journal in the place of the newest, or none: the memory
// of the guard is what is left.
func (d *disk) lose(older *disktest.Disk) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.votes = disktest.New()
	if older != nil {
		d.votes = older.Cut(100, d.rng)
	}
}

// copyOfVotes is the vote journal as a backup has it.
func (d *disk) copyOfVotes() *disktest.Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.votes.Cut(0, d.rng)
}
