package store

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// TestHangingIsLinear finds the versions that hang on the head among a long chain
// of them and many short ones, in steps that their number bounds.
func TestHangingIsLinear(t *testing.T) {
	s := openWithGenesis(t, vfs.NewMem())
	defer s.Close()
	apply := func(on *Version) *Version {
		v, err := on.Apply(state.NewDelta())
		check(t, err)
		return v
	}
	for _, n := range []int{1, 10, 1000, 4000} {
		old := s.Head()
		next := apply(old)
		versions := []*Version{next}
		dropped := map[*tree.Image]bool{}
		for i, tip, stale := 0, next, old; i < n; i++ {
			tip = apply(tip)
			versions = append(versions, tip)
			if i%2 == 0 {
				stale = apply(stale)
			} else {
				stale = apply(old)
			}
			versions = append(versions, stale)
			dropped[stale.image] = true
		}
		check(t, s.Commit(next, testRecord(next.Height(), 0)))
		images, steps := hanging(s.pending.parents, old.base())
		if len(images) != n {
			t.Errorf("%d versions hang on the block before, want %d", len(images), n)
		}
		for _, image := range images {
			if !dropped[image] {
				t.Error("a version is dropped that hangs on the head")
			}
		}
		if most := 2*len(s.pending.parents) + 2; steps > most {
			t.Errorf("%d pending versions take %d steps, at most %d are right", len(s.pending.parents), steps, most)
		}
		s.pending.clear()
		for _, v := range versions {
			_ = v.Root() // nobody drops them before this
		}
	}
}

// TestUseWhileClosing reads a block while an export is open and Close waits for
// it: the read is refused, where waiting would be for ever.
func TestUseWhileClosing(t *testing.T) {
	s := openWithGenesis(t, vfs.NewMem())
	v, err := s.Head().Apply(state.NewDelta())
	check(t, err)
	check(t, s.Commit(v, testRecord(1, 0)))
	x, err := s.Export()
	check(t, err)
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	for err = nil; err == nil; {
		_, _, err = s.BlockByHeight(1)
	}
	if !errors.Is(err, ErrClosed) {
		t.Errorf("read of a block: %v", err)
	}
	rows := 0
	check(t, x.Accounts(func(chain.Hash, []byte) error { rows++; return nil }))
	if rows == 0 {
		t.Error("the export has no accounts")
	}
	select {
	case err := <-closed:
		t.Fatalf("closed below an export: %v", err)
	default:
	}
	check(t, x.Close())
	check(t, <-closed)
	if _, err := s.VerifyHead(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("verify behind Close: %v", err)
	}
}

// TestDroppedBeforeWhatTheyAreBuiltOn builds a block beside a commit that gives up the
// version on which a dropped one is built: the builder takes the dropped one back either
// before or not at all, since afterwards its records refer to some that are gone.
func TestDroppedBeforeWhatTheyAreBuiltOn(t *testing.T) {
	opts := testOptions(vfs.NewMem())
	opts.KeepVersions = 1
	s, err := Open("data", opts)
	check(t, err)
	defer s.Close()
	actor := chain.Address{9}
	writing := func(key state.StorageKey, length int) *state.Delta {
		d := state.NewDelta()
		d.SetStorage(actor, key, bytes.Repeat([]byte{1}, length))
		return d
	}
	const large = 20 << 10 // has a chunk of its own, which goes with it
	check(t, s.Init(GenesisRecord{Hash: chain.Hash{1}, Delta: writing("\x01large", large)}))
	dropped, err := s.Head().Apply(writing("\x01small", 1))
	check(t, err)
	next, err := s.Head().Apply(writing("\x01large", large+1))
	check(t, err)
	s.pending.orphan(dropped.image) // as if the collector had found it

	s.giving.Lock() // the commit is about to give up the genesis
	built, committed := make(chan error), make(chan error)
	go func() {
		_, err := next.Apply(state.NewDelta())
		built <- err
	}()
	go func() { committed <- s.Commit(next, testRecord(next.Height(), 0)) }()
	time.Sleep(20 * time.Millisecond)
	s.pending.mu.Lock()
	if found := len(s.pending.orphans); found != 1 {
		t.Errorf("%d versions are found, the dropped one is with the builder", found)
	}
	s.pending.mu.Unlock()
	s.giving.Unlock()
	check(t, <-built)
	check(t, <-committed)
	runtime.KeepAlive(dropped)
}

// TestReadersPinBesideReads: a reader pins a version while others read it, without a wait for
// the end of their reads, and learns that one is given up while that waits for them.
func TestReadersPinBesideReads(t *testing.T) {
	k := new(kept)
	check(t, k.hold())
	pin := func() (pinned bool) {
		t.Helper()
		done := make(chan bool, 1)
		go func() { done <- k.pin() }()
		select {
		case pinned = <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("a reader waits for the read of another")
		}
		return pinned
	}
	for range 2 {
		if !pin() {
			t.Error("a version that is read cannot be pinned")
		}
	}
	if k.expire(ErrStale) {
		t.Error("a pinned version is given up")
	}
	k.unpin()
	k.unpin()
	expired := make(chan bool)
	go func() { expired <- k.expire(ErrStale) }()
	for k.pins.Load() != given {
		runtime.Gosched()
	}
	if pin() {
		t.Error("a version is pinned that is given up")
	}
	select {
	case <-expired:
		t.Error("a version is given up in the middle of a read")
	default:
	}
	k.letGo()
	if !<-expired || !errors.Is(k.hold(), ErrStale) || !k.expire(ErrClosed) {
		t.Error("a version is not given up when the last read is over")
	}
}

// TestPinnedVersionsStay: whoever has pinned a version reads it until it is unpinned, however
// pins, reads and attempts to give it up meet.
func TestPinnedVersionsStay(t *testing.T) {
	for range 200 {
		k := new(kept)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for n := 0; n < 1_000 && k.pin(); n++ {
					if err := k.hold(); err != nil {
						t.Errorf("a pinned version answers %v", err)
					} else {
						k.letGo()
					}
					k.unpin()
				}
			})
		}
		for !k.expire(ErrStale) {
			runtime.Gosched()
		}
		all.Wait()
		if k.pin() || k.pins.Load() != given || !errors.Is(k.hold(), ErrStale) {
			t.Fatalf("%x pins of a version that is given up", k.pins.Load())
		}
	}
	k := new(kept) // a rebuild waits for no pin
	k.pin()
	if k.giveUp(ErrStale); !errors.Is(k.hold(), ErrStale) || k.pin() || k.expire(ErrStale) {
		t.Error("a version is not given up with its pin")
	}
	if k.unpin(); !k.expire(ErrStale) {
		t.Error("the last pin of a version that is given up is not counted down")
	}
}
