package store

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

var damages = flag.Int("damages", 16, "damages of each file of a store")

// TestDamagedFiles changes one byte, zeroes a page or cuts the end of each file
// of a closed store. Whatever then opens and reads must be what was written, or
// an error. Rerun with -v for the count of outcomes.
func TestDamagedFiles(t *testing.T) {
	fs := vfs.NewMem()
	s := openWithGenesis(t, fs)
	var c chainOf
	c.start(t, s)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range 30 {
		v, rec, err := c.prepare(rng, s.Head())
		check(t, err)
		check(t, s.Commit(v, rec))
		if i%8 == 7 {
			check(t, s.db.Flush()) // tables for most blocks, the log for the last
		}
	}
	check(t, s.Close())
	outcomes := map[string]int{}
	for _, name := range filesOf(t, fs) {
		good := readFile(t, fs, name)
		for range max(1, *damages/thinning) {
			bad, what := spoil(rng, good)
			outcome, err := judge(damagedCopy(t, fs, name, bad), &c, filepath.Base(name))
			kind := kindOf(name)
			if err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			outcomes[kind+": "+outcome]++
		}
	}
	t.Log(outcomes)
	for _, kind := range []string{"sst", "log", "MANIFEST", "OPTIONS", "marker", "blocks", "watermark"} {
		tried := 0
		for outcome, n := range outcomes {
			if strings.HasPrefix(outcome, kind+":") {
				tried += n
			}
		}
		if tried == 0 || outcomes[kind+": older head"] > 0 {
			t.Errorf("%s: %d tries, %d opened at an older head", kind, tried, outcomes[kind+": older head"])
		}
	}
}

// kindOf returns what a file is for, by its name.
func kindOf(name string) string {
	base := filepath.Base(name)
	for _, first := range []string{"MANIFEST", "OPTIONS", "marker"} {
		if strings.HasPrefix(base, first) {
			return first
		}
	}
	return strings.TrimPrefix(filepath.Ext(base), ".")
}

// spoil returns a damaged copy of a file.
func spoil(rng *rand.Rand, good []byte) (bad []byte, what string) {
	bad = append([]byte{}, good...)
	if len(bad) == 0 {
		return bad, "nothing, the file is empty"
	}
	at := rng.IntN(len(bad))
	switch rng.IntN(4) {
	case 0:
		clear(bad[at:min(len(bad), at+4096)])
		return bad, fmt.Sprintf("zeros from %d", at)
	case 1:
		return bad[:at], fmt.Sprintf("cut at %d", at)
	default:
		bit := byte(1) << rng.IntN(8)
		bad[at] ^= bit
		return bad, fmt.Sprintf("bit %#x of byte %d", bit, at)
	}
}

// judge opens a damaged store and compares all it says.
func judge(fs vfs.FS, c *chainOf, name string) (outcome string, err error) {
	s, err := Open("data", testOptions(fs))
	switch {
	case err != nil && !errors.Is(err, ErrCorrupt):
		return "refused at opening", fmt.Errorf("untyped error: %w", err)
	case err != nil && !strings.Contains(err.Error(), name):
		return "refused at opening", fmt.Errorf("the refusal does not name %s: %w", name, err)
	case err != nil:
		return "refused at opening", nil
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	h, _ := s.HeadInfo()
	err = c.verify(s, 0)
	switch {
	case errors.Is(err, ErrCorrupt):
		return "read error", nil
	case err != nil:
		return "wrong", fmt.Errorf("opened at height %d: %w", h, err)
	case int(h) < len(c.flats)-1:
		return "older head", fmt.Errorf("opened at height %d of %d", h, len(c.flats)-1)
	}
	return "harmless", nil
}

// filesOf returns the files of a closed store.
func filesOf(t *testing.T, fs vfs.FS) []string {
	t.Helper()
	names, err := fs.List("data")
	check(t, err)
	blocks, err := fs.List(fs.PathJoin("data", blocksFolder))
	check(t, err)
	for _, name := range blocks {
		names = append(names, fs.PathJoin(blocksFolder, name))
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == blocksFolder })
}

func readFile(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(fs.PathJoin("data", name))
	check(t, err)
	defer f.Close()
	b, err := io.ReadAll(f)
	check(t, err)
	return b
}

// damagedCopy returns a copy of a store with other contents of one file.
func damagedCopy(t *testing.T, fs vfs.FS, name string, contents []byte) vfs.FS {
	t.Helper()
	copied := vfs.NewMem()
	if _, err := vfs.Clone(fs, copied, "data", "data"); err != nil {
		t.Fatal(err)
	}
	f, err := copied.Create(copied.PathJoin("data", name), vfs.WriteCategoryUnspecified)
	check(t, err)
	_, err = f.Write(contents)
	check(t, err)
	check(t, f.Close())
	return copied
}

// TestVerifyHeadFindsWrongRows changes rows behind pebble's checksums, as a bug
// of ours would.
func TestVerifyHeadFindsWrongRows(t *testing.T) {
	d := genesisDelta()
	code := d.SetCode([]byte("code"))
	d.SetAccount(testAddr(1), state.Account{CodeHash: code})
	for i := range testSlots {
		d.SetStorage(testAddr(2), testSlot(i), []byte("a value of more than thirty-one bytes"))
	}
	s := openTest(t, vfs.NewMem())
	defer s.Close()
	check(t, s.Init(GenesisRecord{Hash: testGenesis, Delta: d}))
	it, err := s.db.NewIter(nil)
	check(t, err)
	var keys []string
	for it.First(); it.Valid(); it.Next() {
		if strings.ContainsRune("asc", rune(it.Key()[0])) {
			keys = append(keys, string(it.Key()))
		}
	}
	check(t, it.Close())
	if len(keys) < 20 {
		t.Fatalf("%d rows", len(keys))
	}
	for _, key := range keys {
		good, err := getRow(s.db, []byte(key))
		check(t, err)
		for name, change := range map[string]func() error{
			"missing": func() error { return s.db.Delete([]byte(key), nil) },
			"changed": func() error { return s.db.Set([]byte(key), append([]byte{}, good[1:]...), nil) },
			"extra":   func() error { return s.db.Set([]byte(key+"x"), good, nil) },
		} {
			if key[0] == tableCode && name == "extra" {
				continue // code that no account uses is not looked at
			}
			check(t, change())
			if _, err := s.VerifyHead(context.Background()); !errors.Is(err, ErrCorrupt) {
				t.Errorf("row %q %s: %v", key, name, err)
			}
			check(t, s.db.Set([]byte(key), good, nil))
			check(t, s.db.Delete([]byte(key+"x"), nil))
		}
	}
	if _, err := s.VerifyHead(context.Background()); err != nil {
		t.Errorf("after putting all back: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.VerifyHead(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestReadsFindWrongRows expects typed errors from reads of rows that are
// damaged behind pebble's checksums.
func TestReadsFindWrongRows(t *testing.T) {
	d := genesisDelta()
	code := d.SetCode([]byte("code"))
	s := openTest(t, vfs.NewMem())
	defer s.Close()
	check(t, s.Init(GenesisRecord{Hash: testGenesis, Delta: d}))
	v, err := s.Head().Apply(nil)
	check(t, err)
	check(t, s.Commit(v, testRecord(1, 0)))
	rec := testRecord(3, 0)
	write := func(key, value []byte) { check(t, s.db.Set(key, value, nil)) }
	remove := func(key []byte) { check(t, s.db.Delete(key, nil)) }

	write(codeKey(code), []byte("other"))
	write(hashKey(tableTxs, rec.ReceiptIDs[0]), []byte("short"))
	write(hashKey(tableHeights, rec.Digest), []byte("short"))
	row, err := getRow(s.db, heightKey(tableBlocks, 1))
	check(t, err)
	row[len(row)-1] ^= 1 // of the salt
	write(heightKey(tableBlocks, 1), row)

	_, errCode := s.Head().Code(code)
	_, errGone := s.Head().Code(chain.Hash{1})
	_, _, _, errTx := s.ReceiptLocation(rec.ReceiptIDs[0])
	_, _, errHeight := s.HeightByDigest(rec.Digest)
	_, _, errPart := s.BlockByHeight(1)
	_, _, _, errBytes := s.BlockBytes(1)
	_, _, errReceipts := s.Receipt(1, 0, unpaid)
	_, _, _, errIDs := s.ReceiptIDs(1)
	write(heightKey(tableBlocks, 1), []byte("short"))
	_, _, errDigest := s.BlockDigest(1)
	remove(heightKey(tableBlocks, 1))
	_, _, errBlock := s.BlockByHeight(1)
	errBlocks := s.Blocks(0, func(BlockRecord) error { return nil })
	for i, err := range []error{errCode, errGone, errTx, errHeight, errPart, errBytes, errReceipts, errIDs, errDigest, errBlock, errBlocks} {
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("read %d: %v", i, err)
		}
	}
}

// TestLostHeadWatermarkIsSaid: a store whose small file was lost opens, says so once,
// and has it again.
func TestLostHeadWatermarkIsSaid(t *testing.T) {
	fs := vfs.NewMem()
	s := openWithGenesis(t, fs)
	var c chainOf
	c.start(t, s)
	v, rec, err := c.prepare(rand.New(rand.NewPCG(1, 1)), s.Head())
	check(t, err)
	check(t, s.Commit(v, rec))
	check(t, s.Close())
	good := readFile(t, fs, watermarkName)
	for name, bad := range map[string][]byte{"cut": bytes.Clone(good[:5]), "flipped": append([]byte{good[0] ^ 1}, good[1:]...), "empty": nil} {
		fs := damagedCopy(t, fs, watermarkName, bad)
		for start, want := range []int{1, 0} {
			var out strings.Builder
			opts := testOptions(fs)
			opts.Log = slog.New(slog.NewTextHandler(&out, nil))
			s, err := Open("data", opts)
			check(t, err)
			check(t, s.Close())
			if got := strings.Count(out.String(), "head.watermark was missing or damaged"); got != want {
				t.Errorf("%s, start %d: said %d times, want %d:\n%s", name, start, got, want, out.String())
			}
		}
		if got := readFile(t, fs, watermarkName); string(got) != string(good) {
			t.Errorf("%s: not made anew: %x, want %x", name, got, good)
		}
	}
}

// TestRefusalsNameFiles: a file that is missing is named, too.
func TestRefusalsNameFiles(t *testing.T) {
	fs := vfs.NewMem()
	s := openWithGenesis(t, fs)
	var c chainOf
	c.start(t, s)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 9 {
		v, rec, err := c.prepare(rng, s.Head())
		check(t, err)
		check(t, s.Commit(v, rec))
	}
	check(t, s.db.Flush())
	check(t, s.Close())
	refused := 0
	for _, name := range filesOf(t, fs) {
		gone := vfs.NewMem()
		if _, err := vfs.Clone(fs, gone, "data", "data"); err != nil {
			t.Fatal(err)
		}
		check(t, gone.Remove(gone.PathJoin("data", name)))
		s, err := Open("data", testOptions(gone))
		if err == nil {
			check(t, errors.Join(c.verify(s, 0), s.Close()))
			continue
		}
		refused++
		if want := filepath.Base(name); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), kindOf(name)) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	if refused < 3 {
		t.Errorf("%d refusals: is the chain large enough?", refused)
	}
}
