package query

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rent"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestNobodyReadsDormantStorage: readers see nothing of what somebody has put into an
// evicted storage.
func TestNobodyReadsDormantStorage(t *testing.T) {
	creator := chain.Address{0xa1}
	slot := state.NewStorageKey(state.VMNamespacePVM, []byte("name"))
	put := []state.StorageChange{{Key: slot, Value: []byte{0x61, 'x'}}}
	s, addr := actorStore(t, creator, func(o *state.Overlay, addr chain.Address) {
		o.SetStorage(addr, slot, []byte{0x61, 'y'})
	})
	look := func(what string, v *store.Version, awake bool) {
		t.Helper()
		value, err := storageAwake(v, addr, slot)
		if err != nil || (value != nil) != awake {
			t.Errorf("%s: slot %x, %v", what, value, err)
		}
		params := params.Default()
		head := &ledger.Executed{Block: &chain.Block{Header: chain.Header{Height: 1}}, State: v}
		head.Force.Params = &params
		a, ok, err := actorAt(t.Context(), head, &rpc.ActorQuery{Address: addr, EntriesMax: 10, BytesMax: 1000})
		if err != nil || !ok || a.Dormant == awake || (len(a.Entries) > 0) != awake || (a.StorageBytes > 0) != awake {
			t.Errorf("%s: %+v, %v, %v", what, a, ok, err)
		}
	}
	next := func(v *store.Version, change func(o *state.Overlay) error) *store.Version {
		t.Helper()
		o := state.NewOverlay(v)
		if err := change(o); err != nil {
			t.Fatal(err)
		}
		out, err := v.Apply(o.Delta())
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	head := s.Head()
	look("awake", head, true)
	session := rent.Session{Actor: addr, By: creator, Height: 2}
	head = next(head, func(o *state.Overlay) error { _, err := rent.Evict(o, addr); return err })
	look("evicted", head, false)
	head = next(head, func(o *state.Overlay) error {
		if err := rent.Begin(o, session, 100); err != nil {
			return err
		}
		return rent.Put(o, session, put)
	})
	look("restoring", head, false)
}

// actorStore is a store with one actor in its genesis.
func actorStore(t *testing.T, creator chain.Address, fill func(*state.Overlay, chain.Address)) (*store.Store, chain.Address) {
	t.Helper()
	params := params.Default()
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	o := state.NewOverlay(state.Empty{})
	block := actor.NewBlock(actor.Block{Params: &params, ChainID: 7, Height: 1})
	d := &actor.Deployment{Creator: creator, Source: []byte("def go(msg):\n    return 1\n"), Manifest: manifest.Manifest("storage.kv")}
	out, err := actor.NewRun(block, o, pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits()), actor.Start{Origin: creator, Cycles: 5_000_000, Cells: 100_000}).Deploy(d)
	if err != nil || out.Code != chain.CodeOK {
		t.Fatal(out, err)
	}
	fill(o, out.Actor)
	s, err := store.Open(t.TempDir(), store.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Init(store.GenesisRecord{Hash: chain.Hash{1}, Delta: o.Delta()}); err != nil {
		t.Fatal(err)
	}
	return s, out.Actor
}
