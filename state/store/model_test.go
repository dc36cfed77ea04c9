package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

var testGenesis = chain.Hash{0x9e, 1}

// testOptions keeps memtables small, so that short tests flush and compact.
func testOptions(fs vfs.FS) Options {
	o := DefaultOptions()
	o.CacheBytes, o.MemTableBytes, o.KeepVersions, o.FS = 1<<20, 256<<10, 4, fs
	o.UndoBlocks, o.SegmentBytes = 16, 4<<10
	return o
}

func openTest(t *testing.T, fs vfs.FS) *Store {
	t.Helper()
	s, err := Open("data", testOptions(fs))
	check(t, err)
	return s
}

// openWithGenesis opens a store with the first state of every workload.
func openWithGenesis(t *testing.T, fs vfs.FS) *Store {
	t.Helper()
	s := openTest(t, fs)
	check(t, s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}))
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The places a workload writes to.
const (
	testAccounts = 24
	testSlots    = 10
)

func testAddr(i int) chain.Address { return chain.Address{byte(i), 0xad} }

func testSlot(i int) state.StorageKey { return state.NewStorageKey(byte(i%2), []byte{byte(i)}) }

func genesisDelta() *state.Delta {
	d := state.NewDelta()
	for i := range testAccounts / 2 {
		d.SetAccount(testAddr(i), state.Account{Balance: chain.Wei(1000 * (i + 1))})
	}
	return d
}

// randomDelta draws the writes of one block.
func randomDelta(rng *rand.Rand) *state.Delta {
	d := state.NewDelta()
	for range 1 + rng.IntN(20) {
		addr := testAddr(rng.IntN(testAccounts))
		switch rng.IntN(8) {
		case 0:
			d.DeleteAccount(addr)
		case 1:
			code := binary.BigEndian.AppendUint32(nil, uint32(rng.IntN(50)))
			d.SetAccount(addr, state.Account{Nonce: 1, CodeHash: d.SetCode(code), Meta: []byte{1}})
		case 2, 3, 4:
			d.SetAccount(addr, state.Account{Nonce: rng.Uint64N(2), Balance: chain.Wei(rng.Uint64N(3))})
		default:
			d.SetStorage(addr, testSlot(rng.IntN(testSlots)), [][]byte{nil, {}, {byte(rng.IntN(9))}, bytes.Repeat([]byte{7}, 80)}[rng.IntN(4)])
		}
	}
	return d
}

// flat is everything that a view says about the places of a workload.
type flat struct {
	accounts [testAccounts]state.Account
	exists   [testAccounts]bool
	slots    [testAccounts][testSlots]string // "-" if absent
}

func readFlat(v state.View) (flat, error) {
	var f flat
	for i := range testAccounts {
		a, ok, err := v.Account(testAddr(i))
		if err != nil {
			return flat{}, err
		}
		f.accounts[i], f.exists[i] = a, ok
		if _, err := v.Code(a.CodeHash); err != nil {
			return flat{}, err
		}
		for j := range testSlots {
			value, err := v.Storage(testAddr(i), testSlot(j))
			if err != nil {
				return flat{}, err
			}
			if f.slots[i][j] = string(value); value == nil {
				f.slots[i][j] = "-"
			}
		}
	}
	return f, nil
}

// chainOf is a workload with what it must leave at every height.
type chainOf struct {
	flats   []flat
	roots   []chain.Hash
	records []BlockRecord
}

// start records the state of height 0.
func (c *chainOf) start(t *testing.T, s *Store) {
	t.Helper()
	f, err := readFlat(s.Head())
	check(t, err)
	*c = chainOf{flats: []flat{f}, roots: []chain.Hash{s.Head().Root()}, records: []BlockRecord{{Digest: testGenesis}}}
}

// prepare makes the next block on v and records what it must leave.
func (c *chainOf) prepare(rng *rand.Rand, v *Version) (*Version, BlockRecord, error) {
	next, err := v.Apply(randomDelta(rng))
	if err != nil {
		return nil, BlockRecord{}, err
	}
	f, err := readFlat(next)
	if err != nil {
		return nil, BlockRecord{}, err
	}
	rec := testRecord(next.Height(), byte(rng.IntN(200)))
	c.flats, c.roots, c.records = append(c.flats, f), append(c.roots, next.Root()), append(c.records, rec)
	return next, rec, nil
}

func testRecord(h chain.Height, salt byte) BlockRecord {
	body := append(heightBytes(h), salt)
	rec := BlockRecord{
		Height: h, Digest: keccak.Sum256(body), Block: bytes.Repeat(body, 30),
		Certificate: append([]byte("certificate"), body...), Receipts: [][]byte{},
	}
	for i := range int(h) % 4 {
		rec.ReceiptIDs = append(rec.ReceiptIDs, keccak.Sum256(body, []byte{byte(i)}))
		rec.Receipts = append(rec.Receipts, append([]byte{byte(i)}, body...))
		if h%8 < 4 && i < 2 { // others are of an older release; the third is a delivery
			rec.Senders = append(rec.Senders, testAddr(i))
		}
	}
	if n := len(rec.Receipts); n > 0 {
		rec.Emitters = []Emitter{{testAddr(int(h) % 3), []int{n - 1}}, {testAddr(9), []int{0, n + 200}}}
	}
	return rec
}

// verify compares a store with what the workload left: all of it if min is the
// height of the last block, else any height from min on.
func (c *chainOf) verify(s *Store, low int) error {
	height, digest := s.HeadInfo()
	if int(height) < low || int(height) >= len(c.flats) {
		return fmt.Errorf("head at %d, want %d to %d", height, low, len(c.flats)-1)
	}
	if digest != c.records[height].Digest || s.Head().Root() != c.roots[height] {
		return fmt.Errorf("height %d: digest %s, root %s", height, digest, s.Head().Root())
	}
	f, err := readFlat(s.Head())
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(f, c.flats[height]) {
		return fmt.Errorf("height %d: flat values differ", height)
	}
	root, err := s.VerifyHead(context.Background())
	if err != nil || root != c.roots[height] {
		return fmt.Errorf("height %d: root %s from flat state, want %s: %w", height, root, c.roots[height], err)
	}
	for h := chain.Height(1); h <= height; h++ {
		if err := c.verifyBlock(s, h); err != nil {
			return fmt.Errorf("block %d of %d: %w", h, height, err)
		}
	}
	if int(height)+1 < len(c.records) {
		next := c.records[height+1]
		_, ok, err := s.BlockByHeight(height + 1)
		_, known, err2 := s.HeightByDigest(next.Digest)
		_, _, bytesOK, err3 := s.BlockBytes(height + 1)
		events, err4 := s.Emissions(testAddr(9), Stretch{From: height + 1, To: height + 1}, 1)
		if len(events) > 0 || err4 != nil {
			return errors.Join(errors.New("events above the head"), err4)
		}
		if ok || known || bytesOK || err != nil || err2 != nil || err3 != nil {
			return errors.Join(fmt.Errorf("block %d above the head is there in part", height+1), err, err2, err3)
		}
	}
	return nil
}

func (c *chainOf) verifyBlock(s *Store, h chain.Height) error {
	want := c.records[h]
	rec, ok, err := s.BlockByHeight(h)
	if err != nil || !ok {
		return fmt.Errorf("found %v: %w", ok, err)
	}
	if len(rec.Receipts) == 0 {
		rec.Receipts = [][]byte{}
	}
	if rec.Emitters = want.Emitters; !reflect.DeepEqual(rec, want) {
		return fmt.Errorf("record %+v, want %+v", rec, want)
	}
	if at, ok, err := s.HeightByDigest(want.Digest); at != h || !ok || err != nil {
		return fmt.Errorf("digest is of height %d, %v, %w", at, ok, err)
	}
	if digest, block, ok, err := s.BlockBytes(h); digest != want.Digest || !bytes.Equal(block, want.Block) || !ok || err != nil {
		return fmt.Errorf("block bytes %x of digest %s, %v, %w", block, digest, ok, err)
	}
	if digest, ok, err := s.BlockDigest(h); digest != want.Digest || !ok || err != nil {
		return fmt.Errorf("digest is %s, %v, %w", digest, ok, err)
	}
	if ids, senders, ok, err := s.ReceiptIDs(h); !slices.Equal(ids, want.ReceiptIDs) || !slices.Equal(senders, want.Senders) || !ok || err != nil {
		return fmt.Errorf("ids of receipts %v, senders %v, %v, %w", ids, senders, ok, err)
	}
	size := len(want.Block) + len(want.Certificate)
	if block, certificate, ok, err := s.FinalBlock(h, size); !bytes.Equal(block, want.Block) || !bytes.Equal(certificate, want.Certificate) || !ok || err != nil {
		return fmt.Errorf("final block %x with certificate %x, %v, %w", block, certificate, ok, err)
	}
	if block, certificate, ok, err := s.FinalBlock(h, size-1); block != nil || certificate != nil || !ok || err != nil {
		return fmt.Errorf("%d bytes fit into one less: %v, %w", size, ok, err)
	}
	for _, e := range want.Emitters {
		list, err := s.Emissions(e.Address, Stretch{From: h, To: h}, 2)
		if err != nil || len(list) != 1 || list[0].Height != h || !slices.Equal(list[0].Slots, e.Slots) {
			return fmt.Errorf("events of %s: %+v, %w", e.Address, list, err)
		}
	}
	for i, hash := range want.ReceiptIDs {
		at, index, ok, err := s.ReceiptLocation(hash)
		if at != h || index != i || !ok || err != nil {
			return fmt.Errorf("receipt %d is at %d %d, %v, %w", i, at, index, ok, err)
		}
		owed := errors.New("owed")
		if receipt, ok, err := s.Receipt(h, i, func(bytes int) error {
			if bytes != len(want.Receipts[i]) {
				return fmt.Errorf("%d bytes", bytes)
			}
			return owed
		}); receipt != nil || ok || !errors.Is(err, owed) {
			return fmt.Errorf("receipt %d of %d bytes for nobody who pays: %x, %v, %w", i, len(want.Receipts[i]), receipt, ok, err)
		}
		receipt, ok, err := s.Receipt(h, i, unpaid)
		if !bytes.Equal(receipt, want.Receipts[i]) || !ok || err != nil {
			return fmt.Errorf("receipt %d is %x, %v, %w", i, receipt, ok, err)
		}
	}
	return nil
}

// verifyProofs checks a proof of every place against the root alone.
func verifyProofs(v *Version, want *flat) error {
	for i := range testAccounts {
		proof, err := v.ProveAccount(testAddr(i))
		if err != nil {
			return err
		}
		a, ok, err := tree.VerifyAccount(v.Root(), testAddr(i), proof.Nodes)
		if err != nil || ok != want.exists[i] || !reflect.DeepEqual(a, want.accounts[i]) || ok != (proof.Value != nil) {
			return fmt.Errorf("proof of account %d shows %+v, %v: %w", i, a, ok, err)
		}
		for j := range testSlots {
			_, storage, err := v.ProveStorage(testAddr(i), testSlot(j))
			if err != nil {
				return err
			}
			value, err := tree.VerifyStorage(a.StorageRoot, testSlot(j), storage.Nodes)
			got := string(value)
			if value == nil {
				got = "-"
			}
			if err != nil || got != want.slots[i][j] {
				return fmt.Errorf("proof of slot %d %d shows %q: %w", i, j, got, err)
			}
		}
	}
	return nil
}

// unpaid is a reading that nobody pays for.
func unpaid(int) error { return nil }
