package store

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
)

var faultOp = flag.Int("fault", -1, "injected errors: let this operation fail alone")

// The workload of injected errors is shorter than the crash matrix's: it runs
// once for every error.
const (
	faultBlocks      = 48
	faultReopenAfter = 20
)

// injection is an operation that fails.
type injection struct {
	number  int
	errno   syscall.Errno
	forever bool // and all after it
	short   bool // of a write the first half is done
}

func (i injection) String() string {
	return fmt.Sprintf("operation %d answers %v, forever %v, short %v", i.number, i.errno, i.forever, i.short)
}

// shortWrite is the error of a write that was done in part.
type shortWrite struct {
	error
	n int
}

func (s *shortWrite) Unwrap() error { return s.error }

func (i injection) before(op fileOp) error {
	if op.number != i.number && !(i.forever && op.number > i.number) {
		return nil
	}
	err := &fs.PathError{Op: op.kind, Path: op.path, Err: i.errno}
	if i.short && op.number == i.number && len(op.data) > 1 {
		return &shortWrite{err, len(op.data) / 2}
	}
	return err
}

// TestInjectedErrors lets one operation after the other fail, reads too, once
// or from then on. The store says so with an error that callers can tell, or
// gets along; it neither panics nor hangs, commits nothing more after a failed
// commit, and what is on the disk opens as after a crash.
func TestInjectedErrors(t *testing.T) {
	model := crashModel(t, *crashSeed, faultBlocks)
	probe := &tapFS{FS: vfs.NewCrashableMem(), reads: true, before: func(fileOp) error { return nil }}
	check(t, newFaultRun(probe).play())
	cases, outcomes := 0, map[string]int{}
	for number := range probe.n + 5 {
		if *faultOp >= 0 && number != *faultOp || *faultOp < 0 && number%*crashParts != *crashPart {
			continue
		}
		rng := rand.New(rand.NewPCG(*crashSeed+2, uint64(number)))
		if *faultOp < 0 && rng.IntN(*crashEvery*thinning) != 0 {
			continue
		}
		for c := range 4 {
			i := injection{number, []syscall.Errno{syscall.EIO, syscall.ENOSPC}[c%2], c >= 2, rng.IntN(2) == 0}
			cases++
			outcome, err := i.try(model, rng)
			outcomes[outcome]++
			if err != nil {
				t.Fatalf("%v: %v\ngo test ./state/store -run TestInjectedErrors -args -seed=%d -fault=%d", i, err, *crashSeed, number)
			}
		}
	}
	t.Logf("%d operations, %d errors injected: %v", probe.n, cases, outcomes)
}

// try runs the workload with the error and judges what comes of it.
func (i injection) try(model *chainOf, rng *rand.Rand) (outcome string, err error) {
	mem := vfs.NewCrashableMem()
	run := newFaultRun(&tapFS{FS: mem, reads: true, before: i.before})
	played := make(chan error, 1)
	go func() { played <- run.play() }()
	select {
	case err = <-played:
	case <-time.After(time.Minute):
		stacks := make([]byte, 1<<20)
		return "hangs", fmt.Errorf("the store hangs:\n%s", stacks[:runtime.Stack(stacks, true)])
	}
	switch {
	case err == nil:
		outcome = "got along"
	case errors.Is(err, ErrDiskFull):
		outcome = "disk full"
	case errors.Is(err, i.errno), errors.Is(err, ErrFailed), errors.Is(err, ErrCorrupt):
		outcome = "told"
	default:
		return "untyped", fmt.Errorf("no caller can tell this error: %w", err)
	}
	if run.wrong != nil {
		return outcome, run.wrong
	}
	acked := int(run.acked.Load())
	for _, percent := range []int{0, 100} {
		disk := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
		if err := reopenAfterCrash(crashImageOf{disk: disk, acked: acked}, model); err != nil {
			return outcome, fmt.Errorf("with %d %% of the unsynced data, height %d durable, after %q: %w", percent, acked, err, err)
		}
	}
	return outcome, nil
}

// faultRun is a workload on a disk that fails.
type faultRun struct {
	disk  vfs.FS
	acked atomic.Int64
	wrong error // what the store must not have done
}

func newFaultRun(disk vfs.FS) *faultRun {
	r := &faultRun{disk: disk}
	r.acked.Store(-1)
	return r
}

// play runs until the end or the first error.
func (r *faultRun) play() error {
	for next := chain.Height(1); next <= faultBlocks; {
		s, err := Open(crashDir, crashOptions(r.disk))
		if err != nil {
			return err
		}
		for begun := next; next <= faultBlocks && next < begun+faultReopenAfter; next++ {
			if err := r.commit(s, next); err != nil {
				return errors.Join(err, s.Close())
			}
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// commit commits one block, the genesis before the first.
func (r *faultRun) commit(s *Store, h chain.Height) error {
	if _, ok := s.Genesis(); !ok {
		if err := s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}); err != nil {
			return err
		}
		r.acked.Store(0)
	}
	err := commitCrashBlock(s, *crashSeed, h)
	if err == nil {
		r.acked.Store(int64(h))
		return nil
	}
	if again := commitCrashBlock(s, *crashSeed, s.Head().Height()+1); again == nil {
		r.wrong = fmt.Errorf("after %w it commits another block", err)
	}
	return err
}
