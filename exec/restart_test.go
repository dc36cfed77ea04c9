package exec_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestWaitingSurvivesRestart is W7: what waits when a node stops is delivered once
// after its start, as on nodes that never stopped, and then not again.
func TestWaitingSurvivesRestart(t *testing.T) {
	c, a, b := slow(t)
	dir := t.TempDir()
	open := func() *store.Store {
		s, err := store.Open(dir, store.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	if err := s.Init(store.GenesisRecord{Hash: chain.Hash{1}, Delta: c.state.Delta()}); err != nil {
		t.Fatal(err)
	}
	commit := func(r exec.Result) {
		t.Helper()
		v, err := s.Head().Apply(r.Delta)
		if err == nil {
			err = s.Commit(v, store.BlockRecord{Height: v.Height(), Digest: chain.Hash{9, byte(v.Height())}, Block: []byte{byte(v.Height())}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const n = 27_000
	txs := []*chain.VerifiedTx{
		c.post(alice, a, 0, "tell", tell(b, "burn", 100_000, 5, n, n, n)), c.post(alice, a, 1, "tell", tell(b, "burn", 100_000, 5, n, n, n)),
	}
	first := c.block(txs...)
	commit(first)
	it, err := mailbox.Peek(c.state, b)
	if err != nil || it == nil || c.waiting(b) != 2 {
		t.Fatalf("%+v waits, %v", it, err)
	}
	delivered := map[chain.Hash]int{}
	for range 4 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open()
		in := c.inputs()
		in.Engine = testEngine(t)
		restarted, err := exec.Apply(s.Head(), in, nil)
		r := c.block()
		if err != nil || !reflect.DeepEqual(restarted.Receipts, r.Receipts) {
			t.Fatalf("after a restart: %+v, %v, want %+v", restarted.Receipts, err, r.Receipts)
		}
		for i := range r.Receipts {
			delivered[r.Receipts[i].TxHash]++
		}
		commit(restarted)
	}
	for _, d := range first.Receipts[1].Trace[1:] {
		if delivered[d.Message] != 1 {
			t.Errorf("message %s came %d times", d.Message, delivered[d.Message])
		}
	}
	// The message again, crafted as it was: it is known.
	o := state.NewOverlay(s.Head())
	if err := mailbox.Push(o, it, 100); !errors.Is(err, mailbox.ErrSeen) || len(delivered) != 2 {
		t.Errorf("replayed: %v, %d deliveries", err, len(delivered))
	}
	if l, err := actor.ReadQuota(s.Head(), b); err != nil || l.Waiting != 0 {
		t.Errorf("%+v, %v", l, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
