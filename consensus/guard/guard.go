// Package guard keeps a validator from signing two contradicting votes, also
// when everything else that remembers its votes is lost: a journal that was
// deleted, rolled back, or restored from an old disk (node-ops.md §4.3).
//
// In flow the votes that are about to be signed; out flows leave to sign them,
// and one small file per key that holds the [simplex.Watermark].
//
// # Rules
//
//   - A vote leaves the process only after [Guard.Permit] allowed it and a later
//     [Guard.Sync] returned nil. The caller sees to that (package engine).
//   - A key that has signed has a file. [Open] refuses to go on without it, so
//     that a lost file stops the validator instead of starting it afresh; only
//     [Create] makes one, once, for a new key.
//   - The file belongs to one chain and one key, and to one process at a time. A
//     writer that finds another process's number, or a version that it did not write,
//     stops: that is its fence where locks do not reach, as on a shared disk.
//   - After a failed write the guard refuses everything: what is on the disk is
//     not known any more.
//
// # File
//
// Two slots of 4 KiB hold the two last versions, each with a sequence number
// and a checksum. A version is written over the older slot and synced in place,
// so that a torn write costs only a version of which nothing has left yet. The
// A third page names the process that owns the file (owner.go). The
// name never changes after [Create], which syncs the folder too: no later sync
// of the folder is needed (cometbft issue 6031 is what happens where a rename
// is not synced). With both slots damaged there is no memory, and no start.
//
// [Guard.Export] and [Guard.Import] carry the memory to another machine in the
// manner of EIP-3076; [Guard.Retire] leaves the old one unable to sign, and
// [Restore] starts the new one.
package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// FileName is the name of the watermark in its folder.
const FileName = "votes.watermark"

const (
	slotBytes   = 4096 // a write of one slot tears at most that slot
	magic       = "cbguard1"
	headBytes   = len(magic) + len(chain.Hash{}) + len(chain.PeerKey{}) + 8
	sealedBytes = headBytes + simplex.WatermarkBytes
	recordBytes = sealedBytes + len(chain.Hash{})
)

var (
	// ErrMissing means that a key that may have signed has no watermark. Import
	// one, or wait until the network is past every view the key can have voted
	// in and say so with Create.
	ErrMissing = errors.New("no watermark for this key: it must not sign before one is imported or created")
	// ErrExists means that there is a watermark already.
	ErrExists = errors.New("watermark exists already")
	// ErrDamaged means that neither slot of the file is whole.
	ErrDamaged = errors.New("watermark is damaged")
	// ErrForeign means a watermark of another chain or key.
	ErrForeign = errors.New("watermark belongs to another chain or key")
	// ErrInUse means that another process holds the watermark: another node
	// with this key.
	ErrInUse = errors.New("watermark is in use by another process, stop that first")
	// ErrPoisoned means that a write failed before.
	ErrPoisoned = errors.New("an earlier write of the watermark failed")
	// ErrFenced means that somebody else wrote the watermark since we opened it.
	ErrFenced = errors.New("watermark was written by another process")
)

// Identity names whose votes a guard remembers.
type Identity struct {
	Genesis chain.Hash
	Peer    chain.PeerKey
}

// Guard is the memory of one key, in one file. It is not safe for concurrent
// use.
type Guard struct {
	id       Identity
	dir      Folder
	file     File
	sequence uint64
	mark     simplex.Watermark
	stored   simplex.Watermark // what is durable
	torn     bool
	owner    owner // this process, once it has written
	poisoned error
}

// Create makes the file of a key that has never signed, and syncs it with its
// folder. Call it once in the life of a key: where the key is made.
func Create(dir string, id Identity) error { return create(osFolder(dir), id) }

// Open opens the file of a key and locks it.
func Open(dir string, id Identity) (*Guard, error) { return open(osFolder(dir), id) }

// CreateIn is [Create] in a folder that need not be one of the operating system.
func CreateIn(dir Folder, id Identity) error { return create(dir, id) }

// OpenIn is [Open] in such a folder.
func OpenIn(dir Folder, id Identity) (*Guard, error) { return open(dir, id) }

// Restore makes the file of a key that has none here, with the memory that
// [Guard.Export] wrote elsewhere.
func Restore(dir string, id Identity, r io.Reader) error { return restore(osFolder(dir), id, r) }

func restore(dir Folder, id Identity, r io.Reader) error {
	var mark simplex.Watermark
	if err := merge(&mark, id, r); err != nil {
		return err // before there is a file, which would let the key sign
	}
	return createWith(dir, id, &mark)
}

func create(dir Folder, id Identity) error { return createWith(dir, id, new(simplex.Watermark)) }

// Start opens the file of a key. Only if unused is true and there is none does
// it make one: the caller knows that the key has never signed.
func Start(dir string, id Identity, unused bool) (*Guard, error) {
	g, err := Open(dir, id)
	if unused && errors.Is(err, ErrMissing) {
		if err = Create(dir, id); err != nil {
			return nil, err
		}
		return Open(dir, id)
	}
	return g, err
}

// createWith writes both slots under a name of no meaning first, so that a crash
// leaves either no file or a whole one.
func createWith(dir Folder, id Identity, mark *simplex.Watermark) error {
	if f, err := dir.Open(FileName); err == nil {
		return errors.Join(ErrExists, f.Close())
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("create watermark: %w", err)
	}
	const draft = FileName + ".new"
	f, err := dir.Create(draft)
	if err != nil {
		return fmt.Errorf("create watermark: %w", err)
	}
	b := make([]byte, 2*slotBytes)
	copy(b, encode(id, 1, mark))
	_, err = f.WriteAt(b, 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("create watermark: %w", err)
	}
	if err := dir.Rename(draft, FileName); err != nil {
		return fmt.Errorf("create watermark: %w", err)
	}
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("sync folder of watermark: %w", err)
	}
	return nil
}

func open(dir Folder, id Identity) (*Guard, error) {
	f, err := dir.Open(FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, fmt.Errorf("open watermark: %w", err)
	}
	g := &Guard{id: id, dir: dir, file: f}
	err = g.load()
	if err == nil {
		// What was read may only be in the system's memory: the process before
		// was killed between a write, or a rename, and its sync.
		err = errors.Join(f.Sync(), dir.Sync())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", FileName, err), f.Close())
	}
	return g, nil
}

// load takes the newer of the whole slots.
func (g *Guard) load() error {
	var b [2 * slotBytes]byte
	// Both slots were written before the file had its name: a shorter one was cut.
	if n, err := g.file.ReadAt(b[:], 0); n < len(b) {
		return fmt.Errorf("%w: it has %d bytes of %d: %w", ErrDamaged, n, len(b), err)
	}
	found, whole := false, 0
	for slot := range uint64(2) {
		id, sequence, mark, ok := decode(b[slot*slotBytes:][:recordBytes])
		switch {
		case !ok || slot != slotOf(sequence):
			continue
		case id != g.id:
			return fmt.Errorf("%w: genesis %v, key %v", ErrForeign, id.Genesis, id.Peer)
		}
		if !found || sequence > g.sequence {
			g.sequence, g.mark = sequence, mark
		}
		found = true
		whole++
	}
	// Only the first version has nothing beside it.
	other := b[(1-slotOf(max(1, g.sequence)))*slotBytes:][:recordBytes]
	g.torn = whole == 1 && (g.sequence > 1 || !bytes.Equal(other, make([]byte, recordBytes)))
	if !found {
		return ErrDamaged
	}
	g.stored = g.mark
	return nil
}

// slotOf returns the slot of a version: 0 for the first.
func slotOf(sequence uint64) uint64 { return (sequence - 1) % 2 }

// Permit reports whether a vote may be signed, and remembers it if so. The
// error says why not. The vote must not leave before Sync.
func (g *Guard) Permit(k simplex.Kind, p simplex.Proposal) error {
	if g.poisoned != nil {
		return g.poisoned
	}
	return g.mark.Permit(k, p)
}

// Note remembers a vote that another memory of this key knows of: the journal,
// or the network.
func (g *Guard) Note(k simplex.Kind, p simplex.Proposal) { g.mark.Note(k, p) }

// Replace takes another memory in place of what is remembered, which may permit
// what was refused. Only who can prove that nothing of it left this machine may do
// so: package node, for a validator without others.
func (g *Guard) Replace(mark simplex.Watermark) { g.mark = mark }

// CloseRound remembers that the key spoke in a round, in words that are not known here.
func (g *Guard) CloseRound(r beacon.Round) { g.mark.CloseRound(r) }

// Torn reports whether one of the two last versions was not whole when the file was
// opened, and the other was taken: a crash tears the newer one while it is written,
// before anything of it has left; later damage may have hit either.
func (g *Guard) Torn() bool { return g.torn }

// Watermark returns what is remembered, durable or not.
func (g *Guard) Watermark() simplex.Watermark { return g.mark }

// Sync makes durable what was permitted. It returns at once if nothing is new.
func (g *Guard) Sync() error {
	if g.poisoned != nil {
		return g.poisoned
	}
	if g.mark == g.stored {
		return nil
	}
	sequence := g.sequence + 1
	mark := g.mark
	var err error
	if g.owner == (owner{}) {
		err = g.claim()
	}
	if err == nil {
		err = g.fence()
	}
	if err == nil {
		_, err = g.file.WriteAt(encode(g.id, sequence, &mark), int64(slotOf(sequence)*slotBytes))
	}
	if err == nil {
		err = g.file.Sync()
	}
	if err == nil {
		err = g.owns()
	}
	if err != nil {
		g.poisoned = fmt.Errorf("%w: %w", ErrPoisoned, err)
		return fmt.Errorf("write watermark: %w", err)
	}
	g.sequence, g.stored = sequence, mark
	return nil
}

// fence reports whether the file is ours and the slot of our last version still
// holds it. Who wrote after us used the other slot first, then this one: the other
// is looked at too.
func (g *Guard) fence() error {
	if err := g.owns(); err != nil {
		return err
	}
	var b [2 * slotBytes]byte
	if n, err := g.file.ReadAt(b[:], 0); err != nil && n < slotBytes+recordBytes {
		return err
	}
	for slot := range uint64(2) {
		_, sequence, _, ok := decode(b[slot*slotBytes:][:recordBytes])
		if ok && sequence > g.sequence || slot == slotOf(g.sequence) && (!ok || sequence != g.sequence) {
			return ErrFenced
		}
	}
	return nil
}

// retiredName is what a watermark is called whose memory went elsewhere.
const retiredName = FileName + ".retired"

// Retire leaves this folder without a watermark, after its memory was exported: no
// process signs from here until one is imported. It ends the guard.
func (g *Guard) Retire() error {
	if g.poisoned != nil {
		return g.poisoned
	}
	g.poisoned = ErrPoisoned
	if err := g.dir.Rename(FileName, retiredName); err != nil {
		return fmt.Errorf("retire watermark: %w", err)
	}
	if err := g.dir.Sync(); err != nil {
		return fmt.Errorf("sync folder of watermark: %w", err)
	}
	return nil
}

// Close gives the file free for another process. What was not synced is lost.
func (g *Guard) Close() error {
	g.poisoned = ErrPoisoned
	return g.file.Close()
}

// encode writes magic ‖ genesis ‖ peer key ‖ sequence ‖ watermark ‖ keccak256 of
// all that.
func encode(id Identity, sequence uint64, mark *simplex.Watermark) []byte {
	b := make([]byte, 0, recordBytes)
	b = append(append(append(b, magic...), id.Genesis[:]...), id.Peer[:]...)
	b = mark.Append(binary.BigEndian.AppendUint64(b, sequence))
	sum := keccak.Sum256(b)
	return append(b, sum[:]...)
}

func decode(b []byte) (Identity, uint64, simplex.Watermark, bool) {
	sum := keccak.Sum256(b[:sealedBytes])
	if !bytes.HasPrefix(b, []byte(magic)) || !bytes.Equal(sum[:], b[sealedBytes:]) {
		return Identity{}, 0, simplex.Watermark{}, false
	}
	var id Identity
	rest := b[len(magic):]
	rest = rest[copy(id.Genesis[:], rest):]
	rest = rest[copy(id.Peer[:], rest):]
	sequence := binary.BigEndian.Uint64(rest)
	mark, err := simplex.DecodeWatermark(rest[8:][:simplex.WatermarkBytes])
	return id, sequence, mark, err == nil && sequence > 0
}
