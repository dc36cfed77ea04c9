package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// TestEstimateCoversTheReceipt: what an estimate says on a head is enough in the next
// block, which has other work before it, and no more than a tenth too much; on a young
// chain and on one whose state is dear.
func TestEstimateCoversTheReceipt(t *testing.T) {
	for _, growth := range []uint64{10_000, 20_000} {
		w := newWorkshop(t, nil)
		if growth > 10_000 {
			m, err := exec.StateMeter(w.state)
			if err != nil {
				t.Fatal(err)
			}
			w.g.Params.State.LimitBytes = m.Total(&w.g.Params.State) / 2 * w.g.Params.State.PriceDoublings
		}
		created := cbor.AppendText(cbor.AppendText(cbor.AppendUint(cbor.AppendArray(nil, 7), chain.OpTokenCreate), "Gold"), "GLD")
		created = append(cbor.AppendUint(cbor.AppendUint(created, 2), 1_000), 0xf6, 0xf6)
		d := actor.Deployment{Source: []byte(counter), Salt: []byte{9}, Manifest: manifest.Manifest("storage.kv"), Init: &actor.Init{Handler: "init", Payload: cbor.AppendUint(nil, 7)}}
		for _, row := range []struct {
			name string
			tx   func() *chain.VerifiedTx
		}{
			{"transfer", func() *chain.VerifiedTx {
				tx := w.transfer(alice, chain.Address{0: 0x77, 1: byte(growth)}, 5).Tx
				tx.CellsLimit = 1_000
				return verified(tx, alice)
			}},
			{"token create", func() *chain.VerifiedTx { return w.program(alice, &chain.AddrTokens, created) }},
			{"deploy", func() *chain.VerifiedTx { return w.program(alice, nil, actor.AppendPayload(nil, &d)) }},
			{"set_timer", func() *chain.VerifiedTx {
				return verified(w.message("at", uintArg(uint64(w.height)+99)).Tx, alice)
			}},
		} {
			tx := row.tx()
			e, err := exec.Estimate(w.state, w.inputs(), alice, *tx.Tx)
			if err != nil || e.Code != chain.CodeOK {
				t.Fatalf("%s: %s %s, %v", row.name, chain.CodeName(e.Code), e.Detail, err)
			}
			if e.Growth < growth || growth == 10_000 && e.Growth != growth {
				t.Errorf("%s: the estimate says that the state costs %d basis points, want %d", row.name, e.Growth, growth)
			}
			r := w.block(w.transfer(bob, chain.Address{0: 0x78, 1: byte(w.height)}, 0), tx).Receipts[1]
			if r.Code != chain.CodeOK {
				t.Fatalf("%s: %s", row.name, chain.CodeName(r.Code))
			}
			for _, m := range []struct {
				what      string
				said, got uint64
			}{{"cycles", uint64(e.Used.Cycles), uint64(r.CyclesUsed)}, {"cells", uint64(e.Used.Cells), uint64(r.CellsUsed)}} {
				if m.said < m.got || m.said > m.got*11/10+16 {
					t.Errorf("%s at a price of %d: %d %s estimated, %d used", row.name, growth, m.said, m.what, m.got)
				}
			}
		}
	}
}
