package trial_test

import (
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/node/trial"
)

// TestGreedyClient: one client asks for as many long estimates as it may. Another's
// question is answered while all but those under way still wait: it needs no more
// than its own time on the worker that is left to others.
func TestGreedyClient(t *testing.T) {
	b, addr, _ := bench(t, func(c *trial.Config) { c.Workers = 2 })
	greedy, honest := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	spin := chain.Tx{To: &addr, Payload: actor.AppendMessage(nil, "spin", nil)}
	var ended, busy atomic.Int32
	all := make(chan struct{}, 40)
	per := int32(trial.DefaultConfig().PerClient)
	for range 40 {
		go func() {
			defer func() { all <- struct{}{} }()
			switch _, err := b.Estimate(t.Context(), greedy, alice, spin); {
			case errors.Is(err, trial.ErrBusy):
				busy.Add(1)
			case err != nil:
				t.Error(err)
			default:
				ended.Add(1)
			}
		}()
	}
	for range 40 - int(per) { // those refused are back at once
		<-all
	}
	for i := range 3 {
		if a, err := b.Read(t.Context(), trial.Question{Client: honest, Actor: addr, Handler: "get"}); err != nil || a.Code != chain.CodeOK {
			t.Fatalf("an honest question: %+v, %v", a, err)
		}
		// In turn it would have waited for all. How many end meanwhile is the
		// machine's affair.
		if n := ended.Load(); i == 0 && n >= per-1 {
			t.Errorf("an honest client waited for %d of %d estimates of another", n, per)
		}
	}
	for range per {
		<-all
	}
	if ended.Load()+busy.Load() != 40 || busy.Load() < 40-2*per {
		t.Errorf("%d estimates were made and %d refused", ended.Load(), busy.Load())
	}
}
