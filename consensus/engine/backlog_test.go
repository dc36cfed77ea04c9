package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// slowDisk is an application that takes long to make a block durable, and counts
// how many it holds executed meanwhile.
type slowDisk struct {
	*chainApp
	most int
}

func (a *slowDisk) Recover(ctx context.Context, req VerifyRequest) (bool, error) {
	ok, err := a.chainApp.Recover(ctx, req)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.most = max(a.most, len(a.executed)-1-len(a.final))
	return ok, err
}

func (a *slowDisk) Finalized(ctx context.Context, f Finalization) error {
	time.Sleep(50 * time.Millisecond)
	return a.chainApp.Finalized(ctx, f)
}

// TestCatchUpWaitsForTheDisk: a validator that was away, and whose disk is slower
// than its peers answer, holds a bounded number of executed blocks, and arrives.
func TestCatchUpWaitsForTheDisk(t *testing.T) {
	const blocks = 600
	set, shares, g := committee(t, 4)
	synctest.Test(t, func(t *testing.T) {
		network := &mesh{engines: make([]*Engine, 4)}
		history := newHistory(t, set, shares, g.Hash(), blocks)
		slow := &slowDisk{chainApp: newChainApp(t, g.Hash())}
		for i := range network.engines {
			app := newChainApp(t, g.Hash())
			var full Application = app
			if i < 3 {
				history.into(app)
			} else {
				app, full = slow.chainApp, slow
			}
			app.blockTime = time.Second
			cfg := testConfig(t, set, shares[i], g.Hash())
			cfg.LastFinalized, cfg.Archive = app.floor, app
			e, err := New(cfg, full, port{network, beacon.Participant(i)}, new(diskJournal))
			if err != nil {
				t.Fatal(err)
			}
			network.engines[i] = e
		}
		reached := slow.want(blocks + 20)
		for _, e := range network.engines {
			stop, _ := run(t, e)
			defer func() { _ = stop() }()
		}
		select {
		case <-reached:
		case <-time.After(10 * time.Minute):
			t.Errorf("%d of %d blocks after ten minutes", len(slow.final), blocks+20)
		}
		if limit := 2*backlogMax + wantsMax; slow.most > limit {
			t.Errorf("%d blocks were executed and not durable, want at most %d", slow.most, limit)
		}
	})
}

// queueArchive is an archive whose disk takes a second for each look.
type queueArchive struct {
	*chainApp
	running, most int
}

func (a *queueArchive) Final(ctx context.Context, v chain.View, limit, bytesMax int) ([]ArchivedBlock, error) {
	a.mu.Lock()
	a.running++
	a.most = max(a.most, a.running)
	a.mu.Unlock()
	time.Sleep(time.Second)
	a.mu.Lock()
	a.running--
	a.mu.Unlock()
	return a.chainApp.Final(ctx, v, limit, bytesMax)
}

// TestArchiveReadsShareABudget: however many full nodes ask, one look into the archive
// is for them at a time, a bounded number waits, and a validator that asks last goes
// beside them.
func TestArchiveReadsShareABudget(t *testing.T) {
	set, shares, g := committee(t, 4)
	h := newHistory(t, set, shares, g.Hash(), 30)
	archive := &queueArchive{chainApp: newChainApp(t, g.Hash())}
	h.into(archive.chainApp)
	playWith(t, func(c *Config) { c.Archive, c.LastFinalized = archive, h.floor }, func(s *scene) {
		const guests = 200
		ask := wire.Append(nil, wire.Request{Round: beacon.Round{View: 3}})
		for i := range beacon.Participant(guests) {
			s.hear(100+i, ask)
			s.hear(100+i, ask) // one look serves both
		}
		s.hear(2, ask)
		s.wait(time.Second + time.Millisecond)
		if len(s.net.sent[2]) == 0 {
			t.Error("the validator waits behind full nodes")
		}
		s.wait(2 * time.Minute)
		if archive.most != 2 {
			t.Errorf("%d looks at a time, want one for full nodes and one for a validator", archive.most)
		}
		if want := 1 + readsWaitingMax + 1; archive.reads != want {
			t.Errorf("%d looks, want %d", archive.reads, want)
		}
		s.hear(100+guests-1, ask) // one that found no room finds it later
		s.wait(2 * time.Second)
		if len(s.net.sent[100+guests-1]) == 0 {
			t.Error("no answer when there was room again")
		}
	})
}
