package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// TestFreeSpaceFloor stops before the disk is full, writes nothing, and goes on
// once there is room.
func TestFreeSpaceFloor(t *testing.T) {
	fs := vfs.NewMem()
	space := func(free uint64) { fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: free, TotalBytes: 10_000}) }
	open := func() *Store {
		o := testOptions(fs)
		o.FreeBytesFloor = 1000
		s, err := Open("data", o)
		check(t, err)
		check(t, s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}))
		return s
	}
	space(5000)
	s := open()
	var c chainOf
	c.start(t, s)
	rng := rand.New(rand.NewPCG(8, 8))
	v, rec, err := c.prepare(rng, s.Head())
	check(t, err)
	check(t, s.Commit(v, rec))
	space(999)
	v, rec, err = c.prepare(rng, s.Head())
	check(t, err)
	blocks, log := s.BlockBytesOnDisk(), s.LogBytes()
	if err := s.Commit(v, rec); !errors.Is(err, ErrDiskFull) {
		t.Fatalf("commit below the floor: %v", err)
	}
	if s.BlockBytesOnDisk() != blocks || s.LogBytes() != log {
		t.Error("a refused commit wrote something")
	}
	check(t, s.Close())
	s = open()
	check(t, c.verify(s, 1))
	space(1000)
	v, err = s.Head().Apply(genesisDelta())
	check(t, err)
	check(t, s.Commit(v, testRecord(2, 9)))
	check(t, s.Close())
}

// fullDisk is a disk that is full from some operation on.
type fullDisk struct{ left atomic.Int64 }

func (f *fullDisk) before(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && f.left.Add(-1) < 0 {
		return syscall.ENOSPC
	}
	return nil
}

// TestDiskFullAnywhere fills the disk before each operation of a run with flushes
// in turn. The commit that meets it fails in time and by name, closing returns,
// and what is left opens, with room, at the last block whose commit returned or
// at the one that failed.
func TestDiskFullAnywhere(t *testing.T) {
	met := 0
	for n := 0; ; n += thinning {
		full, err := fillDisk(t, n)
		if err != nil {
			t.Errorf("disk full from operation %d on: %v", n, err)
		}
		if !full {
			t.Logf("full before each of %d operations", n)
			break
		}
		met++
	}
	if met < 60/thinning {
		t.Errorf("only %d operations", met)
	}
}

// errLate means that a call waits for something that does not come.
var errLate = errors.New("the store hangs")

func inTime(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		return errLate
	}
}

func fillDisk(t *testing.T, operations int) (full bool, err error) {
	mem, disk := vfs.NewCrashableMem(), &fullDisk{}
	disk.left.Store(1 << 40)
	s := openWithGenesis(t, errorfs.Wrap(mem, errorfs.InjectorFunc(disk.before)))
	var c chainOf
	c.start(t, s)
	rng := rand.New(rand.NewPCG(9, 9))
	disk.left.Store(int64(operations))
	acked := 0
	for range 12 {
		err := inTime(func() error {
			v, rec, err := c.prepare(rng, s.Head())
			if err != nil {
				return err // reads end as well
			}
			return s.Commit(v, rec)
		})
		if err != nil {
			full = true
			if !errors.Is(err, ErrDiskFull) || errors.Is(err, errLate) {
				return full, fmt.Errorf("commit after block %d: %w", acked, err)
			}
			break
		}
		acked++
		if acked%4 == 0 {
			// A flush fails in the background: the store hears of it.
			_ = s.stop.wait(s.db.Flush) // or its error comes with the next commit
		}
	}
	if err := inTime(s.Close); errors.Is(err, errLate) {
		return full, err
	}
	disk.left.Store(1 << 40) // there is room again
	for _, fs := range []vfs.FS{mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng}), mem} {
		after, err := Open("data", testOptions(fs))
		if err != nil {
			return full, err
		}
		err = errors.Join(c.verify(after, acked), after.Close())
		if err != nil {
			return full, err
		}
	}
	return full, nil
}
