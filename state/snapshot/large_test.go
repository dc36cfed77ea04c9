package snapshot

import (
	"encoding/binary"
	"flag"
	"io"
	"runtime"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// largeEntries are of the state of TestLargeStateWithinMemory; -args -entries 10000000 is
// a large chain, and needs some 3 GB of memory for its tries.
var largeEntries = flag.Int("entries", 60_000, "accounts and storage values of the large state, half of each")

// checkpointMemory is what a checkpoint takes besides the state, whatever that is
// (docs/operating.md).
const checkpointMemory = 100 << 20

// TestLargeStateWithinMemory writes a checkpoint of a store that has many accounts and one
// storage with as many values: the heap grows by what the settings allow, not with the
// state.
func TestLargeStateWithinMemory(t *testing.T) {
	s, err := store.Open(t.TempDir(), options(vfs.Default))
	check(t, err)
	check(t, s.Init(store.GenesisRecord{Hash: genesis}))
	fill(t, s, *largeEntries/2)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, peak, steps := heap(), uint64(0), 0
	cfg := writeConfig(checkpoint.DefaultChunkBytes)
	cfg.ScratchDir = t.TempDir()
	cfg.Pause = func() error {
		if steps++; steps%50 == 0 {
			peak = max(peak, heap())
		}
		return nil
	}
	sum, err := Write(t.Context(), io.Discard, s, cfg)
	check(t, err)
	if want := uint64(*largeEntries / 2); sum.Slots != want || sum.Accounts != want+1 {
		t.Errorf("%d accounts and %d values, want %d of each", sum.Accounts, sum.Slots, want)
	}
	grown := int64(max(peak, heap())) - int64(before)
	if t.Logf("%d bytes in %d chunks; the heap grew by %d bytes", sum.Bytes, sum.Chunks, grown); grown > checkpointMemory {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	check(t, s.Close())
}

// fill commits n accounts and n values of one storage, some at a time.
func fill(t *testing.T, s *store.Store, n int) {
	t.Helper()
	const atOnce = 50_000
	for from := 0; from < n; from += atOnce {
		d := state.NewDelta()
		for i := from; i < min(n, from+atOnce); i++ {
			var key [8]byte
			binary.BigEndian.PutUint64(key[:], uint64(i)*0x9e3779b97f4a7c15)
			d.SetAccount(chain.Address(append(key[:], make([]byte, 12)...)), state.Account{Balance: 1})
			d.SetStorage(chain.AddrTimers, state.NewStorageKey(state.VMNamespaceSystem, key[:]), append(key[:], make([]byte, 90)...))
		}
		commit(t, s, d)
	}
}
