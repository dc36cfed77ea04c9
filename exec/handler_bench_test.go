package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/state"
)

// BenchmarkSmallHandler is one message to a handler that adds to a number, and
// beside it the reading of its actor's manifest, of one line and of nine: what a
// cache of manifests could save, less than two hundredths.
func BenchmarkSmallHandler(b *testing.B) {
	c := oneValidator(b)
	c.engine = testEngine(b)
	addr := c.deployed(counter, 1, "storage.kv")
	block := actor.NewBlock(actor.Block{Params: &c.g.Params, ChainID: c.g.ChainID, Height: c.height + 1})
	e := actor.Envelope{From: alice, To: addr, Handler: "add", Payload: cbor.AppendUint(nil, 1)}
	e0 := e
	e0.Handler, e0.Payload = "init", cbor.AppendUint(nil, 1)
	o := state.NewOverlay(c.state)
	run := func(e actor.Envelope) actor.Outcome {
		out, err := actor.NewRun(block, o, c.engine, actor.Start{Origin: alice, Cycles: 1_000_000, Cells: 10_000}).First(e)
		if err != nil || out.Code != chain.CodeOK {
			b.Fatal(out, err)
		}
		return out
	}
	run(e0)
	b.Run("message", func(b *testing.B) {
		for b.Loop() {
			run(e)
		}
	})
	for name, ids := range map[string][]string{
		"manifest-1": {"storage.kv"},
		"manifest-9": {"econ.hold_balance", "econ.transfer", "exec.spawn", "oracle.llm", "sec.data_residency", "sec.tee_required", "storage.blob", "storage.kv", "timer.schedule"},
	} {
		list := manifest.Manifest(ids...)[14:]
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if g, err := manifest.Parse(list); err != nil || len(g) != len(ids) {
					b.Fatal(err)
				}
			}
		})
	}
}
