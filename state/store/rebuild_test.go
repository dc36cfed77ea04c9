package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// damageResident changes one account of the head in memory alone, behind its
// root, as a flipped bit would.
func damageResident(t *testing.T, s *Store) {
	t.Helper()
	d := state.NewDelta()
	d.SetAccount(testAddr(testAccounts-1), state.Account{Balance: 77_777})
	bad, err := s.forest.Apply(s.Head().image, d)
	check(t, err)
	v := newVersion(s, s.generation, s.Head().height, bad, nil)
	v.root = s.Head().root
	h := *s.head.Load()
	h.version = v
	v.place.Store(&place{kept: s.recent[len(s.recent)-1]})
	s.head.Store(&h)
}

// TestRebuild damages a resident trie: the next block gets a wrong root, and the
// right one after a rebuild. Versions from before are stale.
func TestRebuild(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	s, c := grown(t, rng, 12)
	next := genesisDelta()
	good, err := s.Head().Apply(next)
	check(t, err)
	damageResident(t, s)
	wrong, err := s.Head().Apply(next)
	check(t, err)
	if wrong.Root() == good.Root() {
		t.Fatal("damage does not show in the root")
	}
	v, err := s.Rebuild()
	check(t, err)
	if v != s.Head() || v.Root() != c.roots[12] {
		t.Fatalf("rebuilt root %s, want %s", v.Root(), c.roots[12])
	}
	again, err := v.Apply(next)
	check(t, err)
	if again.Root() != good.Root() {
		t.Errorf("root %s after the rebuild, want %s", again.Root(), good.Root())
	}
	for i, old := range []*Version{good, wrong} {
		if _, _, err := old.Account(testAddr(1)); !errors.Is(err, ErrStale) {
			t.Errorf("version %d from before: %v", i, err)
		}
		if err := s.Commit(old, testRecord(13, 0)); !errors.Is(err, ErrNotNext) {
			t.Errorf("commit of version %d from before: %v", i, err)
		}
	}
	c.grow(t, rng, s, 30)
	check(t, c.verify(s, 42))
	check(t, s.Close())
}

// TestRebuildTriesTwice: damage that is gone at the second attempt is mended;
// damage that stays refuses all further commits, by name.
func TestRebuildTriesTwice(t *testing.T) {
	for failures := range 3 {
		rng := rand.New(rand.NewPCG(21, 2))
		s, c := grown(t, rng, 5)
		pending, err := s.Head().Apply(genesisDelta())
		check(t, err)
		left := failures
		s.afterPlant = func(image *tree.Image) {
			if left--; left >= 0 {
				image.Root[0] ^= 1
			}
		}
		v, err := s.Rebuild()
		if failures < 2 {
			check(t, err)
			check(t, c.verify(s, 5))
			if v, err = v.Apply(genesisDelta()); err != nil || v.Root() != pending.Root() {
				t.Errorf("after %d failures: %v", failures, err)
			}
			check(t, s.Close())
			continue
		}
		var mismatch *RootError
		if !errors.Is(err, ErrCorrupt) || !errors.As(err, &mismatch) || mismatch.Height != 5 || mismatch.Want != c.roots[5] {
			t.Errorf("damage that stays: %v", err)
		}
		if err := s.Commit(pending, testRecord(6, 0)); !errors.Is(err, ErrFailed) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("commit after it: %v", err)
		}
		check(t, s.Close())
	}
}

// TestOpenRefusesAnotherRoot changes a row behind the checksums of the database.
func TestOpenRefusesAnotherRoot(t *testing.T) {
	fs := vfs.NewMem()
	s := openWithGenesis(t, fs)
	root := s.Head().Root()
	a := state.Account{Balance: 1}
	key := tree.AccountKey(testAddr(1))
	check(t, s.db.Set(hashKey(tableAccounts, key), a.Encode(), nil))
	if _, err := s.VerifyHead(context.Background()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("verify: %v", err)
	}
	check(t, s.Close())
	_, err := Open("data", testOptions(fs))
	var mismatch *RootError
	if !errors.Is(err, ErrCorrupt) || !errors.As(err, &mismatch) || mismatch.Want != root || mismatch.Got == (chain.Hash{}) {
		t.Errorf("opened: %v", err)
	}
}
