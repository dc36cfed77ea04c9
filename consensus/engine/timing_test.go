package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// heavy is an application that executes one block at a time, and each for long.
type heavy struct {
	*chainApp
	each time.Duration
	one  sync.Mutex
}

func (a *heavy) execute(ctx context.Context) error {
	a.one.Lock()
	defer a.one.Unlock()
	select {
	case <-time.After(a.each):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *heavy) Propose(ctx context.Context, req ProposeRequest) (Proposed, error) {
	if err := a.execute(ctx); err != nil {
		return Proposed{}, err
	}
	return a.chainApp.Propose(ctx, req)
}

func (a *heavy) Verify(ctx context.Context, req VerifyRequest) (bool, error) {
	if err := a.execute(ctx); err != nil {
		return false, err
	}
	return a.chainApp.Verify(ctx, req)
}

func (a *heavy) Recover(ctx context.Context, req VerifyRequest) (bool, error) {
	if err := a.execute(ctx); err != nil {
		return false, err
	}
	return a.chainApp.Recover(ctx, req)
}

// slowNetwork runs four validators and returns how many blocks all have after a while.
func slowNetwork(t *testing.T, latency, execution, longest, whole time.Duration) (blocks int, factors []int64) {
	t.Helper()
	set, shares, g := committee(t, 4)
	synctest.Test(t, func(t *testing.T) {
		network := &wan{latency: latency, perByte: time.Microsecond, free: map[[2]beacon.Participant]time.Time{}}
		apps := make([]*chainApp, 4)
		for i := range apps {
			apps[i] = newChainApp(t, g.Hash())
			apps[i].blockTime = time.Second
			cfg := testConfig(t, set, shares[i], g.Hash())
			cfg.TimeoutMax, cfg.Archive = longest, apps[i]
			e, err := New(cfg, &heavy{chainApp: apps[i], each: execution}, wanPort{network, beacon.Participant(i)}, new(diskJournal))
			if err != nil {
				t.Fatal(err)
			}
			network.engines = append(network.engines, e)
		}
		var stops []func() error
		for _, e := range network.engines {
			stop, _ := run(t, e)
			stops = append(stops, stop)
		}
		time.Sleep(whole)
		for _, stop := range stops {
			_ = stop()
		}
		blocks = len(apps[0].final)
		for i, app := range apps {
			blocks = min(blocks, len(app.final))
			factors = append(factors, network.engines[i].Stats.TimeoutPermille.Load())
		}
	})
	return blocks, factors
}

// TestSlowNetworksFinalize: a network of which the links take five seconds, and one whose
// blocks take four to execute, find the waits that let them go on. With waits that
// cannot grow they stand for ever.
func TestSlowNetworksFinalize(t *testing.T) {
	for _, c := range []struct {
		name               string
		latency, execution time.Duration
		whole              time.Duration
		blocks             int
	}{
		{"latency of 5 s", 5 * time.Second, 0, 10 * time.Minute, 20},
		{"execution of 4 s", 20 * time.Millisecond, 4 * time.Second, 8 * time.Minute, 30},
		{"quick", 20 * time.Millisecond, 0, time.Minute, 50},
	} {
		whole := c.whole
		got, factors := slowNetwork(t, c.latency, c.execution, time.Minute, whole)
		t.Logf("%s: %d blocks in %v, factors %v", c.name, got, whole, factors)
		if got < c.blocks {
			t.Errorf("%s: %d blocks in %v, want %d", c.name, got, whole, c.blocks)
		}
		if c.name == "quick" {
			if factors[0] != 1000 {
				t.Errorf("the waits of a quick network are %d/1000 of what they should be", factors[0])
			}
			continue
		}
		if fixed, _ := slowNetwork(t, c.latency, c.execution, 0, whole); fixed != 0 {
			t.Errorf("%s: %d blocks with waits that cannot grow: the case shows nothing", c.name, fixed)
		}
	}
}

// TestPatience: waits grow with the third view in a row that ends without a block, to a
// bound, and fall back with blocks, no further than they have to.
func TestPatience(t *testing.T) {
	const most = 20
	var p patience
	factor := func(lost bool, n int) float64 {
		for range n {
			p.viewEnded(time.Now(), p.view+1, lost, most)
		}
		return p.factor
	}
	if f := factor(true, growAfter); f != 1 {
		t.Errorf("factor %v after %d views without a block, want 1", f, growAfter)
	}
	if f := factor(true, 1); f != growth {
		t.Errorf("factor %v after one more, want %v", f, growth)
	}
	if f := factor(true, 1000); f != most {
		t.Errorf("factor %v after a thousand, want %d", f, most)
	}
	for range 3 {
		p.took(30*time.Second, 3*time.Second)
	}
	if p.factor != 20 {
		t.Errorf("factor %v where blocks take ten times as long as allowed, want twice that", p.factor)
	}
	for range 5 {
		p.took(time.Second, 3*time.Second)
	}
	if factor(false, 1); p.factor != 1 || p.stretch(time.Second) != time.Second {
		t.Errorf("factor %v after five quick blocks, want 1", p.factor)
	}
}
