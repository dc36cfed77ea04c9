package store

import (
	"bytes"
	"context"
	"errors"
	"runtime"
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
