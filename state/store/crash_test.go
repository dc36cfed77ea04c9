package store

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// Settings of the crash matrix, after -args.
var (
	crashEvery  = flag.Int("every", 100, "crash matrix: try one operation of so many")
	crashSeed   = flag.Uint64("seed", 1, "crash matrix and random eras: seed of the workload")
	crashBlocks = flag.Int("blocks", 200, "crash matrix: blocks of the workload")
	crashOp     = flag.Int("op", -1, "crash matrix: try this operation alone")
	crashPart   = flag.Int("part", 0, "crash matrix, injected errors: which part of them to try, from 0")
	crashParts  = flag.Int("parts", 1, "crash matrix, injected errors: how many parts there are; each may have a process of its own")
	crashImage  = flag.String("image", "", "crash matrix: look at this saved image alone")
	crashAcked  = flag.Int("acked", -1, "crash matrix: height that was durable when the image was taken")
)

// crashDir is where the store lies on a crashing disk. It is two folders deep,
// so that both have to be made durable.
const crashDir = "node/chain"

// reopenBlocks is how many blocks are committed between two openings.
const reopenBlocks = 28

// crashOptions make files of blocks short enough for many of them, and long
// enough for several blocks in one.
func crashOptions(disk vfs.FS) Options {
	o := testOptions(disk)
	o.SegmentBytes = 40 << 10
	o.History = *crashSeed%2 == 0
	return o
}

// crashBlock returns the writes and the record of one block of a workload.
// Blocks are of a few bytes or of some pages, so that writes end inside of
// pages and go over many.
func crashBlock(seed uint64, h chain.Height) (*state.Delta, BlockRecord) {
	rng := rand.New(rand.NewPCG(seed, uint64(h)))
	delta := randomDelta(rng)
	body := append(heightBytes(h), heightBytes(chain.Height(seed))...)
	rec := BlockRecord{
		Height: h, Digest: keccak.Sum256(body), Receipts: [][]byte{},
		Block:       bytes.Repeat(body, 1+[]int{0, rng.IntN(20), rng.IntN(2500)}[rng.IntN(3)]),
		Certificate: append([]byte("certificate"), body...),
	}
	for i := range rng.IntN(5) {
		rec.ReceiptIDs = append(rec.ReceiptIDs, keccak.Sum256(body, []byte{byte(i)}))
		rec.Receipts = append(rec.Receipts, bytes.Repeat(append([]byte{byte(i)}, body...), 1+rng.IntN(40)))
	}
	return delta, rec
}

// crashModel is what a workload leaves at each height.
func crashModel(t *testing.T, seed uint64, blocks int) *chainOf {
	t.Helper()
	s := openWithGenesis(t, vfs.NewMem())
	var c chainOf
	c.start(t, s)
	for h := chain.Height(1); int(h) <= blocks; h++ {
		check(t, commitCrashBlock(s, seed, h))
		f, err := readFlat(s.Head())
		check(t, err)
		_, rec := crashBlock(seed, h)
		c.flats, c.roots, c.records = append(c.flats, f), append(c.roots, s.Head().Root()), append(c.records, rec)
	}
	if blocks >= 100 && len(s.eras.live) < testAccounts/2 {
		t.Errorf("%d of %d storages are ever cleared: the workload evicts too little", len(s.eras.live), testAccounts)
	}
	check(t, s.Close())
	return &c
}

// commitCrashBlock commits a block while the next two are built on it, as the ledger does
// (ADR 180): they are given up, whatever becomes of the commit.
func commitCrashBlock(s *Store, seed uint64, h chain.Height) error {
	delta, rec := crashBlock(seed, h)
	v, err := s.Head().Apply(delta)
	if err != nil {
		return err
	}
	var building sync.WaitGroup
	var errBuild error
	building.Go(func() { errBuild = buildCrashBlocks(v, seed, h+1, h+2) })
	err = s.Commit(v, rec)
	building.Wait()
	if errBuild != nil {
		return fmt.Errorf("build beside a commit that ended with %w: %w", err, errBuild)
	}
	return err
}

// buildCrashBlocks builds blocks on a version and reads what they wrote.
func buildCrashBlocks(v *Version, seed uint64, heights ...chain.Height) error {
	for _, h := range heights {
		delta, _ := crashBlock(seed, h)
		next, err := v.Apply(delta)
		if err != nil {
			return err
		}
		for _, c := range delta.Accounts() {
			a, exists, err := next.Account(c.Address)
			if err != nil {
				return err
			}
			if c.Account != nil && (a.Nonce != c.Account.Nonce || a.Balance != c.Account.Balance) {
				return fmt.Errorf("account %s of block %d is %+v, %v, and was written as %+v", c.Address, h, a, exists, *c.Account)
			}
		}
		v = next
	}
	return nil
}

// crashImageOf is a disk as a power cut left it.
type crashImageOf struct {
	disk  *vfs.MemFS
	op    fileOp // that did not happen, or in part
	left  string // what of the unsynced data is left
	acked int    // last height whose Commit had returned, -1 before the genesis
}

// camera takes images of a disk before the operations on it.
type camera struct {
	mem    *vfs.MemFS
	acked  atomic.Int64
	images chan<- crashImageOf
	points int
	kinds  map[string]int // operations by kind, all of them
}

// picks says whether an operation is one of those tried. It draws, because
// commits repeat the same few operations over and over: every fiftieth might
// always be the same kind.
func picks(number int) bool {
	if *crashOp >= 0 {
		return number == *crashOp
	}
	if number%*crashParts != *crashPart {
		return false
	}
	return rand.New(rand.NewPCG(*crashSeed, uint64(number))).IntN(*crashEvery*thinning) == 0
}

func (c *camera) before(op fileOp) error {
	c.kinds[op.kind]++
	if !picks(op.number) {
		return nil
	}
	c.points++
	rng := rand.New(rand.NewPCG(*crashSeed+1, uint64(op.number)))
	for _, percent := range []int{0, 50, 100} {
		disk := c.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
		c.images <- crashImageOf{disk, op, fmt.Sprintf("%d %% of the unsynced data", percent), int(c.acked.Load())}
	}
	if len(op.data) > 1 {
		cut := 1 + rng.IntN(len(op.data)-1)
		disk := c.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng})
		if err := tear(disk, op, cut); err != nil {
			return err
		}
		c.images <- crashImageOf{disk, op, fmt.Sprintf("all, and %d bytes of the write under way", cut), int(c.acked.Load())}
	}
	return nil
}

// tear does the first bytes of a write.
func tear(disk *vfs.MemFS, op fileOp, cut int) error {
	f, err := disk.OpenReadWrite(op.path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(op.data[:cut], op.at)
	return errors.Join(err, f.Close())
}

// TestCrashMatrix runs a workload on a disk that loses power at every operation
// picked: nothing, half or all of what was not synced is left, and once the
// operation itself in part. Every image opens at the last block whose Commit had
// returned, or the one under way, with all that belongs to that height and
// nothing above it; and the chain goes on. All operations are tried with
//
//	go test ./state/store -run TestCrashMatrix -args -every=1
func TestCrashMatrix(t *testing.T) {
	model := crashModel(t, *crashSeed, *crashBlocks)
	if *crashImage != "" {
		disk := vfs.NewCrashableMem()
		_, err := vfs.Clone(vfs.Default, disk, *crashImage, crashDir)
		check(t, err)
		check(t, reopenAfterCrash(crashImageOf{disk: disk, acked: *crashAcked}, model))
		return
	}
	images := make(chan crashImageOf, 8)
	var tried atomic.Int64
	var checkers sync.WaitGroup
	for range 2 {
		checkers.Go(func() {
			for i := range images {
				tried.Add(1)
				if err := reopenAfterCrash(i, model); err != nil {
					t.Errorf("seed %d, before %v, left %s, height %d durable: %v\n%s", *crashSeed, i.op, i.left, i.acked, err, saveImage(i))
				}
			}
		})
	}
	c := &camera{mem: vfs.NewCrashableMem(), images: images, kinds: map[string]int{}}
	tap := &tapFS{FS: c.mem, before: c.before}
	err := runWorkload(tap, &c.acked)
	close(images)
	checkers.Wait()
	check(t, err)
	t.Logf("%d blocks, %d operations %v, power cut at %d of them, %d images", *crashBlocks, tap.n, c.kinds, c.points, tried.Load())
	for _, kind := range []string{"create", "write", "sync", "remove", "make folder", "open for writing"} {
		if c.kinds[kind] == 0 {
			t.Errorf("no operation of the kind %q: the workload or the tap misses it", kind)
		}
	}
}

// runWorkload commits all blocks and notes the heights that are durable.
func runWorkload(disk vfs.FS, acked *atomic.Int64) error {
	acked.Store(-1)
	for next := chain.Height(1); int(next) <= *crashBlocks; {
		s, err := Open(crashDir, crashOptions(disk))
		if err != nil {
			return err
		}
		if next == 1 {
			if err := s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}); err != nil {
				return errors.Join(err, s.Close())
			}
			acked.Store(0)
		}
		for range min(reopenBlocks, *crashBlocks-int(next)+1) {
			if err := commitCrashBlock(s, *crashSeed, next); err != nil {
				return errors.Join(fmt.Errorf("commit block %d: %w", next, err), s.Close())
			}
			acked.Store(int64(next))
			next++
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// saveImage keeps a disk and says how to look at it again: the order of
// operations in the background differs from run to run.
func saveImage(i crashImageOf) string {
	dir, err := os.MkdirTemp("", "crash-image-")
	if err == nil {
		_, err = vfs.Clone(i.disk, vfs.Default, crashDir, filepath.Join(dir, "chain"))
	}
	again := fmt.Sprintf("go test ./state/store -run TestCrashMatrix -args -seed=%d -blocks=%d", *crashSeed, *crashBlocks)
	if err != nil {
		return fmt.Sprintf("%s -op=%d (the image cannot be saved: %v)", again, i.op.number, err)
	}
	return fmt.Sprintf("%s -acked=%d -image=%s", again, i.acked, filepath.Join(dir, "chain"))
}

// reopenAfterCrash opens an image, compares all it says, commits further blocks
// and opens it once more.
func reopenAfterCrash(i crashImageOf, model *chainOf) (err error) {
	s, err := Open(crashDir, crashOptions(i.disk))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, ok := s.Genesis(); !ok {
		if i.acked >= 0 {
			return errors.New("the genesis is lost")
		}
		return s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()})
	}
	if err := model.verify(s, max(i.acked, 0)); err != nil {
		return err
	}
	head, _ := s.HeadInfo()
	if int(head) > i.acked+1 {
		return fmt.Errorf("head at %d, nothing above %d was begun", head, i.acked+1)
	}
	if err := errors.Join(servesNothingAbove(s, model, head), readsBack(s, model, head)); err != nil {
		return err
	}
	last := min(head+2, chain.Height(len(model.records)-1))
	for h := head + 1; h <= last; h++ {
		if err := commitCrashBlock(s, *crashSeed, h); err != nil {
			return fmt.Errorf("commit block %d on what is left: %w", h, err)
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	if s, err = Open(crashDir, crashOptions(i.disk)); err != nil {
		return fmt.Errorf("open again: %w", err)
	}
	return model.verify(s, int(last))
}

// readsBack compares the states of the heights that the store keeps old values
// for.
func readsBack(s *Store, model *chainOf, head chain.Height) error {
	first := head - min(head, chain.Height(s.opts.UndoBlocks))
	if s.opts.History {
		first = 0
	}
	for h := first; h <= head; h += 1 + h%5 {
		f, err := readFlat(pastView{s, h})
		if err != nil {
			return fmt.Errorf("state at %d: %w", h, err)
		}
		if !reflect.DeepEqual(f, model.flats[h]) {
			return fmt.Errorf("state at %d reads differently", h)
		}
	}
	return nil
}

// servesNothingAbove looks for every block above the head.
func servesNothingAbove(s *Store, model *chainOf, head chain.Height) error {
	for h := head + 1; int(h) < len(model.records); h++ {
		_, block, err1 := s.BlockByHeight(h)
		_, _, body, err2 := s.BlockBytes(h)
		_, digest, err3 := s.BlockDigest(h)
		_, height, err4 := s.HeightByDigest(model.records[h].Digest)
		_, receipt, err5 := s.Receipt(h, 0, unpaid)
		tx := false
		var err6 error
		for _, hash := range model.records[h].ReceiptIDs {
			_, _, found, err := s.ReceiptLocation(hash)
			tx, err6 = tx || found, errors.Join(err6, err)
		}
		if block || body || digest || height || receipt || tx {
			return fmt.Errorf("block %d is served above the head at %d", h, head)
		}
		if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
			return fmt.Errorf("block %d above the head at %d: %w", h, head, err)
		}
	}
	return nil
}
