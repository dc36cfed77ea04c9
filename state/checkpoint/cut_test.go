package checkpoint_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// room is a scratch in a file, or one that fails.
type room struct {
	*os.File
	failAt int // write that fails, 0 for none
	writes *int
}

var errRoom = errors.New("no room on this disk")

func (r room) Write(b []byte) (int, error) {
	if *r.writes++; *r.writes == r.failAt {
		return 0, errRoom
	}
	return r.File.Write(b)
}

// cutTo returns a configuration with scratch in the folder of the test's process.
func cutTo(chunkBytes, sortBytes int) checkpoint.CutConfig {
	return checkpoint.CutConfig{
		ChunkBytes: chunkBytes, SortBytes: sortBytes, Pause: func() error { return nil },
		Scratch: func() (checkpoint.Scratch, error) {
			file, err := os.CreateTemp("", "cut-*.test")
			if err != nil {
				return nil, err
			}
			return room{File: file, writes: new(int)}, os.Remove(file.Name())
		},
	}
}

// shelf is a source without proofs whose accounts have storages by number.
type shelf struct {
	storages []int // entries of each account
	value    func(i int) []byte
}

func (s shelf) key(i int) chain.Hash { return chain.Hash{byte(i << 4), byte(i >> 4)} }

func (s shelf) Accounts(f func(chain.Hash, []byte) error) error {
	for i, n := range s.storages {
		a := state.NewAccount()
		if a.Nonce = 1; n > 0 {
			a.StorageRoot, a.StorageSize = chain.Hash{1}, state.StorageSize{Entries: uint64(n)}
		}
		if err := f(s.key(i), a.Encode()); err != nil {
			return err
		}
	}
	return nil
}

func (s shelf) Storage(account chain.Hash, f func(state.StorageKey, []byte) error) error {
	n := s.storages[int(account[0]>>4)|int(account[1])<<4]
	for i := range n {
		if err := f(state.NewStorageKey(1, binary.BigEndian.AppendUint32(nil, uint32(i))), s.value(i)); err != nil {
			return err
		}
	}
	return nil
}

func (s shelf) Lists(func(chain.Hash, []byte) error) error { return nil }
func (s shelf) Code(chain.Hash) ([]byte, error)            { return nil, nil }
func (s shelf) ProveAccount(key chain.Hash) ([][]byte, error) {
	return [][]byte{key[:2]}, nil
}

func (s shelf) ProveStorage(account, slot chain.Hash) ([][]byte, error) {
	return [][]byte{account[:2], slot[:]}, nil
}

// plainSlots are the chunks of one storage as they are defined: all of it in
// memory, sorted, and cut where a chunk has its bytes.
func plainSlots(t *testing.T, s shelf, account int, target int) (out [][]checkpoint.Slot) {
	t.Helper()
	type slot struct {
		hash [keccak.Size]byte
		checkpoint.Slot
	}
	var all []slot
	check(t, s.Storage(s.key(account), func(key state.StorageKey, value []byte) error {
		all = append(all, slot{tree.SlotKey(key), checkpoint.Slot{Key: key, Value: bytes.Clone(value)}})
		return nil
	}))
	slices.SortFunc(all, func(a, b slot) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	for len(all) > 0 {
		var part []checkpoint.Slot
		for size := 0; len(all) > 0 && size < target; all = all[1:] {
			size += 8 + len(all[0].Key) + len(all[0].Value)
			part = append(part, all[0].Slot)
		}
		out = append(out, part)
	}
	return out
}

// TestCutInParts cuts storages of many sizes with parts of many sizes: the chunks
// are the same bytes, and those of large storages hold what the plain way cuts.
func TestCutInParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	lengths := make([]int, 5000)
	for i := range lengths {
		lengths[i] = rng.IntN(60)
		if rng.IntN(500) == 0 {
			lengths[i] = 9000
		}
	}
	s := shelf{
		storages: []int{0, 1, 30, 900, 5000, 0, 3, 2000, 1200, 0},
		value:    func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, lengths[i]) },
	}
	const target = 4096
	var want [][]byte
	for _, sortBytes := range []int{1, 300, 5000, 40_000, 1 << 20, 1 << 30} {
		var got [][]byte
		var large [][]checkpoint.Slot
		check(t, checkpoint.Cut(s, cutTo(target, sortBytes), func(c checkpoint.Chunk) error {
			got = append(got, c.Append(nil))
			if c, ok := c.(*checkpoint.Slots); ok && c.Account == s.key(4) {
				large = append(large, c.Slots)
			}
			return nil
		}))
		if want == nil {
			want = got
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("parts of %d bytes: other chunks than with parts of one row", sortBytes)
		}
		plain := plainSlots(t, s, 4, target)
		if fmt.Sprint(large) != fmt.Sprint(plain) {
			t.Errorf("parts of %d bytes: %d chunks of the large storage differ from the %d of the plain way", sortBytes, len(large), len(plain))
		}
	}
}

// TestCutOnFullDisk fails each write to the scratch: the cutting ends with the
// disk's error, and the scratch is closed.
func TestCutOnFullDisk(t *testing.T) {
	s := shelf{storages: []int{4000}, value: func(int) []byte { return make([]byte, 20) }}
	for failAt := 1; ; failAt++ {
		cfg, writes := cutTo(4096, 20_000), 0
		var file *os.File
		cfg.Scratch = func() (checkpoint.Scratch, error) {
			var err error
			file, err = os.CreateTemp(t.TempDir(), "full")
			return room{File: file, failAt: failAt, writes: &writes}, err
		}
		err := checkpoint.Cut(s, cfg, func(checkpoint.Chunk) error { return nil })
		if _, closed := file.Stat(); !errors.Is(closed, os.ErrClosed) {
			t.Fatalf("write %d: the scratch is left open", failAt)
		}
		if err == nil && failAt > 3 {
			return
		}
		if !errors.Is(err, errRoom) {
			t.Fatalf("write %d: %v", failAt, err)
		}
	}
}

// cutEntries are of the account of TestCutWithinMemory; -args -entries 10000000 is a
// system account of a large chain.
var cutEntries = flag.Int("entries", 400_000, "entries of the large account that is cut")

// TestCutWithinMemory cuts one account of 60 MB with parts of 1 MiB: the heap
// grows by a few parts and chunks, far less than the account.
func TestCutWithinMemory(t *testing.T) {
	const valueBytes, target = 130, 256 << 10
	entries, sortBytes := *cutEntries, 1<<20
	if entries > 1_000_000 {
		sortBytes = checkpoint.DefaultSortBytes
	}
	value := make([]byte, valueBytes)
	s := shelf{storages: []int{entries}, value: func(i int) []byte {
		binary.BigEndian.PutUint32(value, uint32(i))
		return value
	}}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, peak, slots, steps := heap(), uint64(0), 0, 0
	cfg := cutTo(target, sortBytes)
	cfg.Pause = func() error {
		if steps++; steps%20 == 0 {
			peak = max(peak, heap())
		}
		return nil
	}
	check(t, checkpoint.Cut(s, cfg, func(c checkpoint.Chunk) error {
		if c, ok := c.(*checkpoint.Slots); ok {
			slots += len(c.Slots)
		}
		return nil
	}))
	if slots != entries {
		t.Fatalf("%d slots of %d", slots, entries)
	}
	if grown := int64(peak) - int64(before); grown > int64(max(10<<20, 4*sortBytes)) {
		t.Errorf("the heap grew by %d bytes for an account of %d", grown, entries*valueBytes)
	} else {
		t.Logf("the heap grew by %d bytes for an account of %d", grown, entries*valueBytes)
	}
}
