package store

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// pieces reads an export into one piece per account, and one for the lists.
func pieces(t *testing.T, x *Export) (out []Piece) {
	t.Helper()
	check(t, x.Accounts(func(key chain.Hash, row []byte) error {
		p := Piece{Accounts: []AccountRow{{key, append([]byte(nil), row...)}}}
		a, err := state.DecodeAccount(row)
		check(t, err)
		if a.HasCode() {
			code, err := x.Code(a.CodeHash)
			check(t, err)
			p.Codes = []state.CodeChange{{Hash: a.CodeHash, Code: code}}
		}
		check(t, x.Storage(key, func(slot state.StorageKey, value []byte) error {
			p.Slots = append(p.Slots, SlotRow{key, slot, append([]byte(nil), value...)})
			return nil
		}))
		out = append(out, p)
		return nil
	}))
	check(t, x.Lists(func(name chain.Hash, list []byte) error {
		out = append(out, Piece{Lists: []ListRow{{name, append([]byte(nil), list...)}}})
		return nil
	}))
	return out
}

// grown returns a store with n random blocks.
func grown(t *testing.T, rng *rand.Rand, n int) (*Store, *chainOf) {
	t.Helper()
	s := openWithGenesis(t, vfs.NewMem())
	c := &chainOf{}
	c.start(t, s)
	c.grow(t, rng, s, n)
	return s, c
}

func (c *chainOf) grow(t *testing.T, rng *rand.Rand, s *Store, n int) {
	t.Helper()
	for range n {
		v, rec, err := c.prepare(rng, s.Head())
		check(t, err)
		check(t, s.Commit(v, rec))
	}
}

func target(x *Export) Target { return Target{testGenesis, x.Height(), x.Digest(), x.Root()} }

// TestExportHoldsStill reads and proves a state while more blocks than are kept
// come after it.
func TestExportHoldsStill(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	s, c := grown(t, rng, 20)
	x, err := s.Export()
	check(t, err)
	c.grow(t, rng, s, 20)
	if x.Height() != 20 || x.Root() != c.roots[20] || x.Digest() != c.records[20].Digest {
		t.Fatalf("export of %d, root %s", x.Height(), x.Root())
	}
	for i := range testAccounts {
		proof, err := x.ProveAccount(tree.AccountKey(testAddr(i)))
		check(t, err)
		a, ok, err := tree.VerifyAccount(x.Root(), testAddr(i), proof)
		if err != nil || ok != c.flats[20].exists[i] || !reflect.DeepEqual(a, c.flats[20].accounts[i]) {
			t.Errorf("account %d: %+v, %v", i, a, err)
		}
	}
	check(t, x.Close())
	check(t, x.Close())
	c.grow(t, rng, s, 1) // takes back what was held
	if n := len(s.recent); n != 4 {
		t.Errorf("%d versions kept after the export, want 4", n)
	}
	check(t, c.verify(s, 41))
	check(t, s.Close())
}

// TestImportAcrossCrashes takes a state in, with the power cut again and again,
// and goes on with the chain.
func TestImportAcrossCrashes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	source, c := grown(t, rng, 25)
	x, err := source.Export()
	check(t, err)
	all, to := append(pieces(t, x), Piece{Lists: []ListRow{{chain.Hash{1}, []byte("list")}}}), target(x)
	check(t, x.Close())

	disk := vfs.NewCrashableMem()
	var s *Store
	for s == nil {
		i, err := OpenImport("data", testOptions(disk), to)
		check(t, err)
		at := 0
		if p := i.Progress(); p != nil {
			at = int(p[0])
		}
		for n := rng.IntN(8); n > 0 && at < len(all); n-- {
			check(t, i.Put([]byte{byte(at + 1)}, all[at]))
			at++
		}
		if at == len(all) {
			s, err = i.Finish(c.records[25])
			check(t, err)
			break
		}
		crashed := disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng})
		check(t, i.Close())
		if disk = crashed; rng.IntN(2) == 0 {
			if _, err := Open("data", testOptions(disk)); !errors.Is(err, ErrImporting) {
				t.Fatalf("half an import opened: %v", err)
			}
		}
	}
	x, err = s.Export()
	check(t, err)
	if got := pieces(t, x); !reflect.DeepEqual(got, all) {
		t.Error("what was imported comes out changed")
	}
	check(t, x.Close())
	checkImported(t, s, c, 25)
	c.grow(t, rng, s, 3)
	crashed := disk.CrashClone(vfs.CrashCloneCfg{})
	check(t, s.Close())
	s = openTest(t, crashed)
	checkImported(t, s, c, 28)
	check(t, s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}))
	check(t, s.Close())
	if _, err := OpenImport("data", testOptions(crashed), to); !errors.Is(err, ErrHasChain) {
		t.Errorf("import over a chain: %v", err)
	}
	check(t, source.Close())
}

// checkImported compares a store that began at height 25.
func checkImported(t *testing.T, s *Store, c *chainOf, head chain.Height) {
	t.Helper()
	if h, digest := s.HeadInfo(); h != head || digest != c.records[h].Digest || s.Head().Root() != c.roots[h] || s.Base() != 25 {
		t.Fatalf("head at %d, base %d", h, s.Base())
	}
	f, err := readFlat(s.Head())
	check(t, err)
	if !reflect.DeepEqual(f, c.flats[head]) {
		t.Error("flat values differ")
	}
	for h := chain.Height(25); h <= head; h++ {
		if digest, block, ok, err := s.BlockBytes(h); err != nil || !ok || digest != c.records[h].Digest || string(block) != string(c.records[h].Block) {
			t.Errorf("block %d: %v, %v", h, ok, err)
		}
	}
	for _, h := range []chain.Height{1, 24} {
		_, _, err := s.BlockByHeight(h)
		_, _, _, err2 := s.BlockBytes(h)
		_, _, err3 := s.BlockDigest(h)
		var missing *NotKeptError
		if !errors.Is(err, ErrNotKept) || !errors.As(err2, &missing) || *missing != (NotKeptError{h, 25}) || !errors.Is(err3, ErrNotKept) {
			t.Errorf("block %d: %v; %v; %v", h, err, err2, err3)
		}
	}
	if digest, ok, err := s.BlockDigest(0); digest != testGenesis || !ok || err != nil {
		t.Errorf("digest of height 0: %s, %v, %v", digest, ok, err)
	}
}

func TestImportRefusals(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	source, c := grown(t, rng, 5)
	x, err := source.Export()
	check(t, err)
	all, to := pieces(t, x), target(x)
	check(t, x.Close())
	check(t, source.Close())
	begin := func(fs vfs.FS, to Target, all ...Piece) *Import {
		t.Helper()
		i, err := OpenImport("data", testOptions(fs), to)
		check(t, err)
		check(t, i.Put([]byte{9}, all...))
		return i
	}
	disk := vfs.NewMem()
	i := begin(disk, to, all[1:]...)
	if _, err := i.State(); !errors.Is(err, ErrImportRoot) {
		t.Errorf("a missing account: %v", err)
	}
	check(t, i.Close())
	other := to
	other.Height, other.Root = 4, c.roots[4]
	i, err = OpenImport("data", testOptions(disk), other)
	check(t, err)
	if i.Progress() != nil {
		t.Error("progress towards another target was kept")
	}
	if it, err := i.store.db.NewIter(&pebble.IterOptions{UpperBound: []byte{'m'}}); err != nil || it.First() {
		t.Error("rows of another target were kept")
	} else {
		check(t, it.Close())
	}
	check(t, i.Put([]byte{9}, all[0]))
	token := other.encode()
	token[0]-- // the format before this one
	check(t, i.store.db.Set([]byte(keyImport), token, pebble.Sync))
	check(t, i.Close())
	i, err = OpenImport("data", testOptions(disk), other)
	check(t, err)
	if i.Progress() != nil {
		t.Error("progress in another format was kept")
	}
	check(t, i.Close())
	i = begin(disk, to, all...)
	v, err := i.State()
	check(t, err)
	if f, err := readFlat(v); err != nil || !reflect.DeepEqual(f, c.flats[5]) {
		t.Errorf("the imported state reads otherwise: %v", err)
	}
	if _, err := i.Finish(c.records[4]); err == nil {
		t.Error("another block was taken")
	}
	check(t, i.Put([]byte{10}, Piece{Lists: []ListRow{{chain.Hash{1}, []byte{1}}}}))
	_, err = i.Finish(c.records[5])
	check(t, err)
	check(t, i.Close())
}

// TestImportAtTheFirstBlock: what was before an imported state is not known,
// also where the state is that of the first block.
func TestImportAtTheFirstBlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	source, c := grown(t, rng, 1)
	x, err := source.Export()
	check(t, err)
	all, to := pieces(t, x), target(x)
	check(t, x.Close())
	check(t, source.Close())
	for _, history := range []bool{false, true} {
		opts := testOptions(vfs.NewMem())
		opts.History = history
		i, err := OpenImport("data", opts, to)
		check(t, err)
		check(t, i.Put([]byte{1}, all...))
		s, err := i.Finish(c.records[1])
		check(t, err)
		next := *c
		next.grow(t, rng, s, 2)
		for h := range chain.Height(4) {
			a, _, err := s.AccountAt(t.Context(), h, testAddr(1), free)
			if h < 1 && !errors.Is(err, ErrNoHistory) {
				t.Errorf("history %v: height %d is answered: %v", history, h, err)
			}
			if h >= 1 && (err != nil || !reflect.DeepEqual(a, next.flats[h].accounts[1])) {
				t.Errorf("history %v: account at %d: %+v, %v", history, h, a, err)
			}
		}
		check(t, s.Close())
	}
}

// TestExportWaitsForACommit has a disk that takes its time over the sync of a
// commit: its batch is in the database by then, and not yet durable.
func TestExportWaitsForACommit(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 5))
	syncing, goOn := make(chan struct{}), make(chan struct{})
	var slow atomic.Bool
	disk := &tapFS{FS: vfs.NewMem(), before: func(op fileOp) error {
		if strings.HasPrefix(op.kind, "sync") && strings.HasSuffix(op.path, ".log") && slow.Swap(false) {
			close(syncing)
			<-goOn
		}
		return nil
	}}
	s, c := openWithGenesis(t, disk), &chainOf{}
	c.start(t, s)
	c.grow(t, rng, s, 3)
	slow.Store(true)
	v, rec, err := c.prepare(rng, s.Head())
	check(t, err)
	committed := make(chan error, 1)
	go func() { committed <- s.Commit(v, rec) }()
	<-syncing
	exported := make(chan *Export, 1)
	go func() {
		x, err := s.Export()
		if err != nil {
			t.Error(err)
		}
		exported <- x
	}()
	select {
	case x := <-exported:
		t.Errorf("an export amid a commit: %+v", x)
		exported <- x
	case <-time.After(50 * time.Millisecond): // waits, as it should
	}
	close(goOn)
	check(t, <-committed)
	if x := <-exported; x != nil {
		if x.Height() != 4 || x.Root() != c.roots[4] {
			t.Errorf("export of %d, root %s", x.Height(), x.Root())
		}
		check(t, x.Close())
	}
	check(t, s.Close())
}
