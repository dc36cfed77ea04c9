package bench

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// TestDrainWaitsForHeartbeats: one that the node has taken is waited for until it is in a
// block or refused, and none begins when the schedule is over.
func TestDrainWaitsForHeartbeats(t *testing.T) {
	cfg := DefaultLoadConfig()
	cfg.Mix = Mix{Kinds: []Kind{{Kind: KindMarket, Percent: 100, Committee: 1, ResultBytes: 100}}, Runners: 2}
	workers, err := workersOf(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	terms := testPrices()
	terms.all.Runner.HeartbeatTimeoutBlocks = 10
	m := newMarket(&cfg, terms, workers, 20)
	f := func(when string, waits bool, beating int) {
		t.Helper()
		n := 0
		for _, w := range m.workers {
			if w.beats {
				n++
			}
		}
		if m.unsettled() != waits || n != beating {
			t.Errorf("%s: waits %t with %d heartbeats on their way, want %t and %d", when, m.unsettled(), n, waits, beating)
		}
	}
	f("at first", false, 0)
	m.beat()
	m.beat() // those on their way are not sent twice
	f("when both are due", true, 2)
	batch := m.nextAnswers()
	if len(batch) != 2 {
		t.Fatalf("%d to send, want 2", len(batch))
	}
	taken, refused := batch[0], batch[1]
	m.judged(taken, &rpc.Verdict{Code: rpc.CodeOK})
	m.beginDrain()
	m.judged(refused, &rpc.Verdict{Code: rpc.CodeInsufficient})
	f("when one is taken and one refused", true, 1)
	m.see(&marketNews{height: 21, others: []chain.Hash{taken.signed.hash}})
	f("when it is in a block", false, 0)
	m.see(&marketNews{height: 99})
	m.beat()
	f("when they are due while the load drains", false, 0)
}
