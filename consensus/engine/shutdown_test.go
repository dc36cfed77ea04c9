package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// 27 of the acceptance list: graceful_shutdown and children_shutdown_on_abort.
// Four engines are told to stop one after the other, at a moment that the seed
// chooses, in the middle of proposals, verifications and deliveries. Each stops
// at once, says nothing any more and leaves no goroutine behind: synctest does
// not return from a bubble in which one still waits.
func TestScenario27GracefulShutdown(t *testing.T) {
	set, shares, g := committee(t, 4)
	for seed := uint64(1); seed <= 10; seed++ {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 27))
			network := &mesh{engines: make([]*Engine, 4), sent: make([][][]byte, 4), record: true}
			var stops []context.CancelFunc
			var ends []chan error
			for i := range network.engines {
				app := newChainApp(t, g.Hash())
				app.blockTime = 100 * time.Millisecond
				if i == int(seed%4) {
					app.stuckAt = 2 // it is killed in the middle of a delivery
				}
				e, err := New(testConfig(t, set, shares[i], g.Hash()), app, port{network, beacon.Participant(i)}, new(diskJournal))
				if err != nil {
					t.Fatal(err)
				}
				network.engines[i] = e
			}
			for _, e := range network.engines {
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan error, 1)
				go func() { done <- e.Run(ctx) }()
				stops, ends = append(stops, cancel), append(ends, done)
			}
			time.Sleep(time.Duration(rng.IntN(1500)) * time.Millisecond)
			for _, i := range rng.Perm(4) {
				began := time.Now()
				stops[i]()
				if err := <-ends[i]; !errors.Is(err, context.Canceled) {
					t.Errorf("seed %d: engine %d ends with %v", seed, i, err)
				}
				if took := time.Since(began); took > 0 {
					t.Errorf("seed %d: engine %d takes %v to stop", seed, i, took)
				}
				network.mu.Lock()
				said := len(network.sent[i])
				network.mu.Unlock()
				time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
				network.mu.Lock()
				if n := len(network.sent[i]) - said; n > 0 {
					t.Errorf("seed %d: engine %d sends %d messages after its end", seed, i, n)
				}
				network.mu.Unlock()
			}
		})
	}
}
