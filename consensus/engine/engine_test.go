package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A single validator reaches its own quorum and finalizes a block per block
// time, with no delay of the engine's own.
func TestSingleValidatorFinalizesEveryBlockTime(t *testing.T) {
	set, shares, g := committee(t, 1)
	synctest.Test(t, func(t *testing.T) {
		app := newChainApp(t, g.Hash())
		app.blockTime = time.Second
		e, err := New(testConfig(t, set, shares[0], g.Hash()), app, Alone{}, new(diskJournal))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		reached := app.want(5)
		start := time.Now()
		go func() { done <- e.Run(ctx) }()
		<-reached
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("5 blocks took %v, want exactly 5 block times", took)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
		if n := e.Stats.Syncs.Load(); n > 6 {
			t.Errorf("%d syncs for 5 blocks, want one per turn that votes", n)
		}
	})
}
