package store

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestMend damages the record of one block in a store that is open, says what is left of
// it, refuses what does not fit, and writes it again: the file is what it was.
func TestMend(t *testing.T) {
	disk := vfs.NewMem()
	s := openWithGenesis(t, disk)
	var c chainOf
	c.start(t, s)
	rng := rand.New(rand.NewPCG(3, 3))
	for range 6 {
		v, rec, err := c.prepare(rng, s.Head())
		check(t, err)
		check(t, s.Commit(v, rec))
	}
	const h = chain.Height(3)
	want, _, err := s.BlockByHeight(h)
	check(t, err)
	file := blockFile(t, disk)
	good := readFile(t, disk, file)
	at := bytes.Index(good, want.Block)
	whole, ok, err := s.Salvage(h, 1<<20)
	if err != nil || !ok || !whole.Whole || !bytes.Equal(whole.Block, want.Block) || whole.Bytes != sizeOfParts(&want) {
		t.Fatalf("of a whole block: %+v, %v, %v", whole, ok, err)
	}
	if far, ok, err := s.Salvage(h, whole.Bytes-1); err != nil || !ok || far.Block != nil || far.Bytes != whole.Bytes || far.Whole {
		t.Errorf("of a block above the bound: %+v, %v, %v", far, ok, err)
	}
	bad := slices.Clone(good)
	bad[at] ^= 1
	overwrite(t, disk, file, bad)
	left, ok, err := s.Salvage(h, 1<<20)
	if err != nil || !ok || left.Whole || left.Block != nil || left.Digest != want.Digest || !bytes.Equal(left.Certificate, want.Certificate) {
		t.Fatalf("of a damaged block: %+v, %v, %v", left, ok, err)
	}
	for name, change := range map[string]func(r *BlockRecord){
		"longer":         func(r *BlockRecord) { r.Certificate = append(slices.Clone(r.Certificate), 1) },
		"a receipt more": func(r *BlockRecord) { r.Receipts = append(slices.Clone(r.Receipts), nil) },
	} {
		rec := want
		if change(&rec); !errors.Is(s.Mend(&rec, true), ErrOtherSize) {
			t.Errorf("%s: %v", name, s.Mend(&rec, true))
		}
	}
	other := want
	other.Digest[0] ^= 1
	if s.Mend(&other, true) == nil {
		t.Error("another block was written in its place")
	}
	above := want
	above.Height = 100
	if s.Mend(&above, true) == nil {
		t.Error("a block above the head was written")
	}
	if !bytes.Equal(readFile(t, disk, file), bad) {
		t.Fatal("a refused block was written")
	}
	check(t, s.Mend(&want, true))
	if !bytes.Equal(readFile(t, disk, file), good) {
		t.Error("the file is not what it was")
	}
	if got, _, err := s.BlockByHeight(h); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("mended: %+v, %v", got, err)
	}
	check(t, s.Close())
	if err := s.Mend(&want, true); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed store: %v", err)
	}
}

// TestMendOnAFullDisk: below the floor nothing is written; a write that fails is named,
// stops nothing, and succeeds once there is room.
func TestMendOnAFullDisk(t *testing.T) {
	disk := vfs.NewMem()
	failing := false
	o := testOptions(errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if failing && op.Kind == errorfs.OpFileWriteAt && strings.HasSuffix(op.Path, ".blocks") {
			return syscall.ENOSPC
		}
		return nil
	})))
	o.FreeBytesFloor = 1000
	disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 5000, TotalBytes: 10_000})
	s, err := Open("data", o)
	check(t, err)
	check(t, s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}))
	var c chainOf
	c.start(t, s)
	rng := rand.New(rand.NewPCG(5, 5))
	commit := func() BlockRecord {
		v, rec, err := c.prepare(rng, s.Head())
		check(t, err)
		check(t, s.Commit(v, rec))
		return rec
	}
	want := commit()
	file := blockFile(t, disk)
	good := readFile(t, disk, file)
	bad := slices.Clone(good)
	bad[bytes.Index(good, want.Block)] ^= 1
	overwrite(t, disk, file, bad)
	disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 999, TotalBytes: 10_000})
	if err := s.Mend(&want, true); !errors.Is(err, ErrDiskFull) || !bytes.Equal(readFile(t, disk, file), bad) {
		t.Errorf("below the floor: %v", err)
	}
	disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 5000, TotalBytes: 10_000})
	failing = true
	if err := s.Mend(&want, true); !errors.Is(err, ErrDiskFull) {
		t.Errorf("a full disk: %v", err)
	}
	failing = false
	commit() // the store goes on
	check(t, s.Mend(&want, true))
	if !bytes.HasPrefix(readFile(t, disk, file), good) {
		t.Error("the file is not what it was")
	}
	check(t, s.Close())
}

// TestBlockParts reads a record as others are served it.
func TestBlockParts(t *testing.T) {
	s := openWithGenesis(t, vfs.NewMem())
	var c chainOf
	c.start(t, s)
	v, rec, err := c.prepare(rand.New(rand.NewPCG(4, 4)), s.Head())
	check(t, err)
	check(t, s.Commit(v, rec))
	want := rec.parts()
	got, ok, err := s.BlockParts(1, rec.Digest, 0, 99, 1<<20)
	if err != nil || !ok || !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%q, want %q (%v, %v)", got, want, ok, err)
	}
	for name, ask := range map[string]func() ([][]byte, bool, error){
		"above the head": func() ([][]byte, bool, error) { return s.BlockParts(2, rec.Digest, 0, 99, 1<<20) },
		"genesis":        func() ([][]byte, bool, error) { return s.BlockParts(0, rec.Digest, 0, 99, 1<<20) },
		"another digest": func() ([][]byte, bool, error) { return s.BlockParts(1, chain.Hash{1}, 0, 99, 1<<20) },
		"no stretch":     func() ([][]byte, bool, error) { return s.BlockParts(1, rec.Digest, 1, 1, 1<<20) },
		"no such part":   func() ([][]byte, bool, error) { return s.BlockParts(1, rec.Digest, uint32(len(want)), 1<<31, 1<<20) },
	} {
		if parts, ok, err := ask(); ok || err != nil || parts != nil {
			t.Errorf("%s: %q, %v, %v", name, parts, ok, err)
		}
	}
	if parts, ok, err := s.BlockParts(1, rec.Digest, 0, 99, 0); err != nil || !ok || len(parts) != 0 {
		t.Errorf("no room: %q, %v, %v", parts, ok, err)
	}
	check(t, s.Close())
}

func sizeOfParts(r *BlockRecord) (n int) {
	for _, p := range r.parts() {
		n += len(p)
	}
	return n
}

// blockFile is the first file of blocks.
func blockFile(t *testing.T, disk vfs.FS) string {
	t.Helper()
	for _, name := range filesOf(t, disk) {
		if kindOf(name) == "blocks" {
			return name
		}
	}
	t.Fatal(fs.ErrNotExist)
	return ""
}

// overwrite changes a file that others have open.
func overwrite(t *testing.T, disk vfs.FS, name string, b []byte) {
	t.Helper()
	f, err := disk.OpenReadWrite(disk.PathJoin("data", name), vfs.WriteCategoryUnspecified)
	check(t, err)
	_, err = f.WriteAt(b, 0)
	check(t, errors.Join(err, f.Close()))
}
