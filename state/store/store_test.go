package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// TestBlocksSurviveReopening commits random blocks on a real disk, closing and
// opening now and then, and compares everything that can be read.
func TestBlocksSurviveReopening(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 1))
	opts := testOptions(nil)
	s, err := Open(filepath.Join(dir, "deep", "data"), opts)
	check(t, err)
	check(t, s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}))
	var c chainOf
	c.start(t, s)
	for i := range 60 {
		v, rec, err := c.prepare(rng, s.Head())
		check(t, err)
		check(t, s.Commit(v, rec))
		if i%20 == 19 {
			check(t, c.verify(s, i+1))
			check(t, verifyProofs(s.Head(), &c.flats[i+1]))
			check(t, s.Close())
			s, err = Open(filepath.Join(dir, "deep", "data"), opts)
			check(t, err)
			check(t, c.verify(s, i+1))
		}
	}
	var heights []chain.Height
	check(t, s.Blocks(58, func(rec BlockRecord) error { heights = append(heights, rec.Height); return nil }))
	if !reflect.DeepEqual(heights, []chain.Height{58, 59, 60}) {
		t.Errorf("blocks from 58: %v", heights)
	}
	nodes, h, root, err := s.ProveAccount(testAddr(1))
	if err != nil || h != 60 || root != s.Head().Root() || len(nodes) == 0 {
		t.Errorf("proof of %d nodes at %d %s: %v", len(nodes), h, root, err)
	}
	slot, err := s.ProveStorage(testAddr(1), testSlot(1))
	check(t, err)
	a, _, err := tree.VerifyAccount(slot.Root, testAddr(1), slot.Account.Nodes)
	check(t, err)
	value, err := tree.VerifyStorage(a.StorageRoot, testSlot(1), slot.Storage.Nodes)
	if want := c.flats[60].slots[1][1]; err != nil || slot.Height != 60 || value == nil != (want == "-") || value != nil && string(value) != want {
		t.Errorf("storage proof at %d shows %q, %v; want %q", slot.Height, value, err, want)
	}
	if s.DiskBytes() == 0 {
		t.Error("no bytes on disk")
	}
	check(t, s.Close())
}

// TestForks grows random trees of pending blocks on the head, finalizes one
// branch, and compares every version that may still be read with the state it
// had when it was made.
func TestForks(t *testing.T) {
	for seed := range uint64(max(1, 6/thinning)) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			s := openWithGenesis(t, vfs.NewMem())
			type remembered struct {
				v *Version
				f flat
			}
			var all []remembered
			for range 15 {
				pending := []*Version{s.Head()}
				var path []*Version // of the branch that wins
				for range 6 {
					parent := pending[rng.IntN(len(pending))]
					v, err := parent.Apply(randomDelta(rng))
					check(t, err)
					f, err := readFlat(v)
					check(t, err)
					if len(all)%10 == 0 {
						check(t, verifyProofs(v, &f))
					}
					all = append(all, remembered{v, f})
					pending = append(pending, v)
				}
				for v := pending[len(pending)-1]; v != s.Head(); v = v.place.Load().parent {
					path = append([]*Version{v}, path...)
				}
				for _, v := range path {
					check(t, s.Commit(v, testRecord(v.Height(), byte(rng.IntN(200)))))
				}
				_, err := s.VerifyHead(context.Background())
				check(t, err)
				for _, r := range all {
					f, err := readFlat(r.v)
					if errors.Is(err, ErrStale) && r.v != s.Head() {
						continue
					}
					check(t, err)
					if !reflect.DeepEqual(f, r.f) {
						t.Fatalf("version of height %d changed", r.v.Height())
					}
				}
			}
			check(t, s.Close())
		})
	}
}

// TestDroppedVersionsGiveMemoryBack makes and drops many pending versions on a
// head that does not move, as a proposer in a stalled chain does.
func TestDroppedVersionsGiveMemoryBack(t *testing.T) {
	s := openWithGenesis(t, vfs.NewMem())
	defer s.Close()
	rng := rand.New(rand.NewPCG(8, 8))
	var early int64
	for i := range 2000 {
		v, err := s.Head().Apply(randomDelta(rng))
		check(t, err)
		_, err = v.Apply(randomDelta(rng))
		check(t, err)
		if i%100 == 99 {
			runtime.GC()
			time.Sleep(5 * time.Millisecond) // cleanups run on their own
		}
		if i == 499 {
			early = s.forest.Footprint().Bytes
		}
		for end := time.Now().Add(time.Minute); i > 499 && s.forest.Footprint().Bytes > 2*early; time.Sleep(5 * time.Millisecond) {
			if runtime.GC(); time.Now().After(end) {
				t.Fatalf("%d bytes after %d dropped versions, %d after 500", s.forest.Footprint().Bytes, i, early)
			}
		}
	}
}

func TestVersionsStayReadableForAWhile(t *testing.T) {
	s := openWithGenesis(t, vfs.NewMem())
	defer s.Close()
	var versions []*Version
	for i := range 10 {
		d := state.NewDelta()
		d.SetAccount(testAddr(0), state.Account{Balance: chain.Wei(i + 1)})
		v, err := s.Head().Apply(d)
		check(t, err)
		check(t, s.Commit(v, testRecord(v.Height(), 0)))
		versions = append(versions, v)
	}
	for i, v := range versions {
		a, _, err := v.Account(testAddr(0))
		if i < 10-s.opts.KeepVersions {
			if !errors.Is(err, ErrStale) {
				t.Errorf("version %d: %+v, %v", i, a, err)
			}
			if _, err := v.Apply(nil); !errors.Is(err, ErrStale) && err != nil {
				t.Errorf("apply on version %d: %v", i, err)
			}
		} else if err != nil || a.Balance != chain.Wei(i+1) {
			t.Errorf("version %d: balance %d, %v", i, a.Balance, err)
		}
	}
}

// TestKeepHoldsAVersion: what is kept stays readable, also what was kept before it
// was committed, and goes when it is let go.
func TestKeepHoldsAVersion(t *testing.T) {
	s := openWithGenesis(t, vfs.NewMem())
	defer s.Close()
	grow := func(balance chain.Wei) *Version {
		d := state.NewDelta()
		d.SetAccount(testAddr(0), state.Account{Balance: balance})
		v, err := s.Head().Apply(d)
		check(t, err)
		return v
	}
	commit := func(v *Version) { t.Helper(); check(t, s.Commit(v, testRecord(v.Height(), 0))) }
	one := grow(1)
	letGo, err := one.Keep()
	check(t, err)
	commit(one)
	again, err := one.Keep()
	check(t, err)
	for i := range s.opts.KeepVersions + 3 {
		commit(grow(chain.Wei(i + 2)))
	}
	for _, release := range []func(){letGo, again} {
		if a, _, err := one.Account(testAddr(0)); err != nil || a.Balance != 1 {
			t.Errorf("a version that is kept: balance %d, %v", a.Balance, err)
		}
		release()
	}
	commit(grow(100))
	if _, _, err := one.Account(testAddr(0)); !errors.Is(err, ErrStale) {
		t.Errorf("a version let go: %v", err)
	}
	if _, err := one.Keep(); !errors.Is(err, ErrStale) {
		t.Errorf("kept too late: %v", err)
	}
	if n := len(s.recent); n != s.opts.KeepVersions {
		t.Errorf("%d versions are kept", n)
	}
}

func TestCommitRefuses(t *testing.T) {
	s := openWithGenesis(t, vfs.NewMem())
	defer s.Close()
	other := openWithGenesis(t, vfs.NewMem())
	defer other.Close()
	genesis := s.Head()
	make1 := func(parent *Version) *Version {
		v, err := parent.Apply(genesisDelta())
		check(t, err)
		return v
	}
	one, fork := make1(genesis), make1(genesis)
	two := make1(one)
	f := func(name string, v *Version, h chain.Height) {
		t.Helper()
		if err := s.Commit(v, testRecord(h, 0)); !errors.Is(err, ErrNotNext) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f("grandchild of the head", two, 2)
	f("block of another height", one, 2)
	f("the head itself", genesis, 0)
	f("version of another store", make1(other.Head()), 1)
	check(t, s.Commit(one, testRecord(1, 0)))
	f("committed twice", one, 1)
	f("sibling of the head", fork, 1)
	check(t, s.Commit(two, testRecord(2, 0)))
	if _, err := s.VerifyHead(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestGenesisIsChecked(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, fs)
	if _, ok := s.Genesis(); ok || s.Head().Root() != state.EmptyRoot {
		t.Error("an empty store has a genesis")
	}
	pending, err := s.Head().Apply(genesisDelta())
	check(t, err)
	if err := s.Commit(pending, testRecord(1, 0)); !errors.Is(err, ErrNoGenesis) {
		t.Errorf("commit before Init: %v", err)
	}
	check(t, s.Close())

	s = openWithGenesis(t, fs)
	root := s.Head().Root()
	check(t, s.Close())
	s = openWithGenesis(t, fs) // the same one again
	defer s.Close()
	err = s.Init(GenesisRecord{Hash: chain.Hash{7}, Delta: genesisDelta()})
	var other *OtherGenesisError
	if !errors.Is(err, ErrOtherGenesis) || !errors.As(err, &other) || other.Stored != testGenesis || other.Given != (chain.Hash{7}) {
		t.Errorf("other genesis: %v", err)
	}
	if !strings.Contains(err.Error(), testGenesis.String()) || !strings.Contains(err.Error(), chain.Hash{7}.String()) {
		t.Errorf("the message does not name both: %v", err)
	}
	h, digest := s.HeadInfo()
	if h != 0 || digest != testGenesis || s.Head().Root() != root {
		t.Errorf("head %d %s", h, digest)
	}
	if digest, ok, err := s.BlockDigest(0); digest != testGenesis || !ok || err != nil {
		t.Errorf("digest of height 0: %s, %v, %v", digest, ok, err)
	}
	if h, ok, err := s.HeightByDigest(testGenesis); h != 0 || !ok || err != nil {
		t.Errorf("height of the genesis hash: %d, %v, %v", h, ok, err)
	}
}

func TestFolderIsLocked(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, testOptions(nil))
	check(t, err)
	if _, err := Open(dir, testOptions(nil)); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("second store of the folder: %v", err)
	}
	check(t, s.Close())
	s, err = Open(dir, testOptions(nil))
	check(t, err)
	check(t, s.Close())
	check(t, s.Close())
}

func TestOpenRefusesOtherFolders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, []byte("x"), 0o600))
	if _, err := Open(file, testOptions(nil)); err == nil {
		t.Error("opened a file as a folder")
	}
	fs := vfs.NewMem()
	s := openWithGenesis(t, fs)
	check(t, s.db.Set([]byte(keyFormat), []byte{formatVersion + 1}, nil))
	check(t, s.Close())
	if _, err := Open("data", testOptions(fs)); !errors.Is(err, ErrFormat) {
		t.Errorf("newer format: %v", err)
	}
	fs = vfs.NewMem()
	s = openTest(t, fs)
	check(t, s.db.Set([]byte("x"), []byte("y"), nil))
	check(t, s.Close())
	if _, err := Open("data", testOptions(fs)); !errors.Is(err, ErrFormat) {
		t.Errorf("rows without format: %v", err)
	}
}

func TestClosedStoreAnswers(t *testing.T) {
	s := openWithGenesis(t, vfs.NewMem())
	head := s.Head()
	pending, err := head.Apply(genesisDelta())
	check(t, err)
	check(t, s.Close())
	_, _, errAccount := head.Account(testAddr(0))
	_, _, errBlock := s.BlockByHeight(1)
	_, errVerify := s.VerifyHead(context.Background())
	_, _, _, errTx := s.ReceiptLocation(chain.Hash{})
	for i, err := range []error{errAccount, errBlock, errVerify, errTx, s.Commit(pending, testRecord(1, 0))} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// TestConcurrentReaders reads, proves and applies on whatever the head is while
// blocks are committed, and closes the store among them. Every answer is of one
// version, or says that the version or the store is gone.
func TestConcurrentReaders(t *testing.T) {
	s := openWithGenesis(t, vfs.NewMem())
	var c chainOf
	c.start(t, s)
	var mu sync.Mutex // guards c
	var readers sync.WaitGroup
	fail := make(chan error, 8)
	for reader := range 4 {
		readers.Go(func() {
			for {
				err := readOnce(s, &c, &mu, reader)
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil && !errors.Is(err, ErrStale) {
					fail <- err
					return
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for range 60 {
		mu.Lock()
		v, rec, err := c.prepare(rng, s.Head())
		mu.Unlock()
		check(t, err)
		check(t, s.Commit(v, rec))
	}
	check(t, s.Close())
	readers.Wait()
	close(fail)
	for err := range fail {
		t.Error(err)
	}
}

func readOnce(s *Store, c *chainOf, mu *sync.Mutex, reader int) error {
	v := s.Head()
	mu.Lock()
	want, rec := c.flats[v.Height()], c.records[v.Height()]
	mu.Unlock()
	switch reader {
	case 0:
		return verifyProofs(v, &want)
	case 1:
		if _, err := v.Apply(genesisDelta()); err != nil {
			return err
		}
		_, err := s.VerifyHead(context.Background())
		return err
	case 2:
		if v.Height() == 0 {
			return nil
		}
		got, ok, err := s.BlockByHeight(v.Height())
		if err == nil && (!ok || got.Digest != rec.Digest) {
			return fmt.Errorf("block %d: %v", v.Height(), ok)
		}
		return err
	default:
		f, err := readFlat(v)
		if err == nil && !reflect.DeepEqual(f, want) {
			return fmt.Errorf("version of height %d reads differently", v.Height())
		}
		return err
	}
}

func TestOptionsCheck(t *testing.T) {
	good := DefaultOptions()
	check(t, good.Check())
	for i, spoil := range []func(*Options){
		func(o *Options) { o.CacheBytes = 0 },
		func(o *Options) { o.MemTableBytes = 8 << 30 },
		func(o *Options) { o.KeepVersions = 0 },
		func(o *Options) { o.OpenFilesMax = 1 },
	} {
		o := DefaultOptions()
		spoil(&o)
		if o.Check() == nil {
			t.Errorf("bad options %d pass", i)
		}
		if _, err := Open("data", o); err == nil {
			t.Errorf("opened with bad options %d", i)
		}
	}
}
