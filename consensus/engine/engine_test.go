package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
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

// run starts an engine and returns its end and the way to end it.
func run(t *testing.T, e *Engine) (stop func() error, done <-chan error) {
	ctx, cancel := context.WithCancel(t.Context())
	ch := make(chan error, 1)
	go func() { ch <- e.Run(ctx) }()
	return func() error { cancel(); return <-ch }, ch
}

// Whatever journal operation is the last before the crash, and whether or not
// it reached the disk, the validator goes on without a second vote and without
// losing a block (consensus.md §1.5: a sent vote that is forgotten is Byzantine
// behaviour).
func TestCrashAtEveryJournalOperation(t *testing.T) {
	set, shares, g := committee(t, 1)
	for _, lands := range []bool{false, true} {
		for failOp := 1; ; failOp++ {
			died := false
			synctest.Test(t, func(t *testing.T) {
				network := &mesh{engines: make([]*Engine, 1), sent: make([][][]byte, 1), record: true}
				app := newChainApp(t, g.Hash())
				app.skip = map[chain.View]bool{2: true, 5: true} // nullified views
				journal := &diskJournal{failOp: failOp, lands: lands}
				cfg := testConfig(t, set, shares[0], g.Hash())
				cfg.PruneBytes = 1500 // several prunings

				first, err := New(cfg, app, port{network, 0}, journal)
				if err != nil {
					t.Fatal(err)
				}
				reached := app.want(6)
				stop, done := run(t, first)
				select {
				case <-reached:
					_ = stop()
					return // failOp lies beyond the run
				case err := <-done:
					if !errors.Is(err, errDisk) {
						t.Fatalf("operation %d: Run = %v, want the disk's error", failOp, err)
					}
					died = true
				}
				before := len(app.final)
				app.restart()
				cfg.LastFinalized = app.floor
				second, err := New(cfg, app, port{network, 0}, journal.crash())
				if err != nil {
					t.Fatal(err)
				}
				reached = app.want(before + 3)
				stop, done = run(t, second)
				select {
				case <-reached:
					_ = stop()
				case err := <-done:
					t.Fatalf("operation %d, lands %v: second run ended: %v", failOp, lands, err)
				}
				checkVotes(t, network.sent[0])
			})
			if !died {
				if failOp < 20 {
					t.Fatalf("only %d journal operations", failOp-1)
				}
				break
			}
		}
	}
}

// checkVotes fails if one validator sent votes that contradict each other.
func checkVotes(t *testing.T, sent [][]byte) {
	t.Helper()
	type slot struct {
		view chain.View
		kind simplex.Kind
	}
	votes := map[slot]simplex.Vote{}
	for _, raw := range sent {
		if raw[0] == wire.TagShardRelay {
			continue // no vote in it
		}
		msg, err := wire.Decode(raw, wire.Limits{BlockBytesMax: 1 << 20})
		if err != nil {
			t.Fatalf("sent %x: %v", raw, err)
		}
		v, ok := msg.(simplex.Vote)
		if o, isOffer := msg.(wire.Offer); isOffer {
			v, ok = o.Vote, true
		}
		if !ok {
			continue
		}
		view := v.Proposal.Round.View
		if old, twice := votes[slot{view, v.Kind}]; twice && old != v {
			t.Errorf("view %d: two %s votes: %v and %v", view, v.Kind, old.Proposal, v.Proposal)
		}
		votes[slot{view, v.Kind}] = v
		notarize, a := votes[slot{view, simplex.Notarize}]
		finalize, b := votes[slot{view, simplex.Finalize}]
		_, null := votes[slot{view, simplex.Nullify}]
		if b && null {
			t.Errorf("view %d: finalize and nullify", view)
		}
		if a && b && notarize.Proposal != finalize.Proposal {
			t.Errorf("view %d: notarize and finalize differ", view)
		}
	}
}

// A block whose finalization is durable here but which the application had not
// made durable before the crash is handed to it again.
func TestFinalizedButNotAppliedIsDeliveredAgain(t *testing.T) {
	set, shares, g := committee(t, 1)
	synctest.Test(t, func(t *testing.T) {
		app := newChainApp(t, g.Hash())
		app.blockTime = time.Second
		app.stuckAt = 3
		journal := new(diskJournal)
		cfg := testConfig(t, set, shares[0], g.Hash())
		e, err := New(cfg, app, Alone{}, journal)
		if err != nil {
			t.Fatal(err)
		}
		stop, _ := run(t, e)
		time.Sleep(6500 * time.Millisecond) // blocks 3 to 6 are final, none is applied
		_ = stop()
		if len(app.final) != 2 {
			t.Fatalf("%d blocks applied, want 2", len(app.final))
		}
		app.stuckAt = 0
		app.restart()
		cfg.LastFinalized = app.floor
		e, err = New(cfg, app, Alone{}, journal.crash())
		if err != nil {
			t.Fatal(err)
		}
		reached := app.want(6)
		start := time.Now()
		stop, _ = run(t, e)
		<-reached
		if took := time.Since(start); took != 0 {
			t.Errorf("blocks 3 to 6 came after %v, want at once: they were final before", took)
		}
		_ = stop()
	})
}

// A slow disk stops proposals, not the process.
func TestProposalsWaitForDelivery(t *testing.T) {
	set, shares, g := committee(t, 1)
	synctest.Test(t, func(t *testing.T) {
		app := newChainApp(t, g.Hash())
		app.stuckAt = 1
		cfg := testConfig(t, set, shares[0], g.Hash())
		e, err := New(cfg, app, Alone{}, new(diskJournal))
		if err != nil {
			t.Fatal(err)
		}
		stop, _ := run(t, e)
		time.Sleep(time.Second)
		want := uint64(cfg.UndeliveredMax) + 1 // one is asked for in the turn that fills the line
		if n := e.Stats.ProposalsMade.Load(); n != want {
			t.Errorf("%d proposals with no delivery, want %d", n, want)
		}
		_ = stop()
	})
}

// Four engines with real threshold keys agree over a network, and every one of
// them reports the same chain.
func TestFourValidatorsFinalizeTheSameChain(t *testing.T) {
	set, shares, g := committee(t, 4)
	network := &mesh{engines: make([]*Engine, 4), sent: make([][][]byte, 4), record: true}
	apps := make([]*chainApp, 4)
	reached := make([]<-chan struct{}, 4)
	for i := range apps {
		apps[i] = newChainApp(t, g.Hash())
		apps[i].blockTime = 5 * time.Millisecond
		reached[i] = apps[i].want(10)
		e, err := New(testConfig(t, set, shares[i], g.Hash()), apps[i], port{network, beacon.Participant(i)}, new(diskJournal))
		if err != nil {
			t.Fatal(err)
		}
		network.engines[i] = e
	}
	for _, e := range network.engines {
		stop, _ := run(t, e)
		defer func() { _ = stop() }()
	}
	deadline := time.After(time.Minute)
	for i := range reached {
		select {
		case <-reached[i]:
		case <-deadline:
			t.Fatalf("validator %d has %d blocks in view %d", i, len(apps[i].final), network.engines[i].Stats.View.Load())
		}
	}
	for i := range apps {
		apps[i].mu.Lock()
		for h := range 10 {
			if apps[i].final[h].Digest != apps[0].final[h].Digest {
				t.Errorf("height %d differs at validator %d", h+1, i)
			}
		}
		apps[i].mu.Unlock()
		if n := network.engines[i].Stats.Bans.Load(); n != 0 {
			t.Errorf("validator %d banned %d honest peers", i, n)
		}
		network.mu.Lock()
		checkVotes(t, network.sent[i])
		network.mu.Unlock()
	}
}

// Three of four go on when one is down, and the leader that is down costs
// nullified views.
func TestThreeOfFourGoOn(t *testing.T) {
	set, shares, g := committee(t, 4)
	synctest.Test(t, func(t *testing.T) {
		network := &mesh{engines: make([]*Engine, 4)}
		apps := make([]*chainApp, 3)
		for i := range apps {
			apps[i] = newChainApp(t, g.Hash())
			apps[i].blockTime = time.Second
			e, err := New(testConfig(t, set, shares[i], g.Hash()), apps[i], port{network, beacon.Participant(i)}, new(diskJournal))
			if err != nil {
				t.Fatal(err)
			}
			network.engines[i] = e
		}
		reached := apps[0].want(20)
		for _, e := range network.engines[:3] {
			stop, _ := run(t, e)
			defer func() { _ = stop() }()
		}
		<-reached
		if n := network.engines[0].Stats.LeaderTimeouts.Load(); n == 0 {
			t.Error("20 blocks without a timeout, though one leader of four is down")
		}
	})
}
