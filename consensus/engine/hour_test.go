package engine

import (
	"encoding/binary"
	"flag"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

var without = flag.Duration("without", 10*time.Minute, "virtual time without finality in TestAnHourWithoutFinality")

// TestAnHourWithoutFinality: a liar of four offers blocks of the largest size in every
// view that it leads, and in others, votes to give up every view, and never for a block,
// while an honest validator is away: views end and nothing becomes final. No budget is
// passed in an hour, nobody's word about it contradicts another, and when the one that
// was away is back the chain goes on without the liar.
func TestAnHourWithoutFinality(t *testing.T) {
	whole := *without
	if testing.Short() {
		whole /= 6
	}
	const block = 4 << 10 // budgets are scaled by it: a thousandth of the real ones
	set, shares, g := committee(t, 4)
	synctest.Test(t, func(t *testing.T) {
		network := &lossy{engines: make([]*Engine, 4)}
		healed := false
		const liar, away = 3, 2
		network.drop = func(from, to beacon.Participant, _ []byte) bool {
			return to == liar || !healed && (from == away || to == away)
		}
		apps := make([]*chainApp, 4)
		var disk *diskJournal
		for i := range apps[:liar] {
			apps[i] = newChainApp(t, g.Hash())
			apps[i].blockTime = 500 * time.Millisecond
			cfg := testConfig(t, set, shares[i], g.Hash())
			cfg.Archive, cfg.SkipAfter = apps[i], 0
			cfg.MaxBlockBytes, cfg.PendingBytesMax, cfg.InboxBytes = block, 32*block, 16*block
			cfg.TallyBytes, cfg.PruneBytes = 32*simplex.TallyViewBytes(4), 32<<10
			cfg.TimeoutMax = 0 // as many views as can be
			journal := new(diskJournal)
			if i == 0 {
				disk = journal
			}
			e, err := New(cfg, apps[i], lossyPort{network, beacon.Participant(i)}, journal)
			if err != nil {
				t.Fatal(err)
			}
			network.engines[i] = e
		}
		for _, e := range network.engines[:liar] {
			stop, _ := run(t, e)
			defer func() { _ = stop() }()
		}
		voice := voiceOf(t, set, shares, liar)
		e := network.engines[0]
		most := map[string]int{}
		for start := time.Now(); time.Since(start) < whole; {
			time.Sleep(time.Second)
			synctest.Wait()
			for _, at := range network.engines[:away] {
				v := at.machine.View()
				junk := make([]byte, block-8)
				binary.BigEndian.PutUint64(junk, uint64(v))
				_, given := at.machine.Certificate(v-1, simplex.Nullify)
				p := simplex.Proposal{Round: beacon.Round{View: v}, Parent: v - 1, Payload: digestOf(junk)}
				if who, ok := at.machine.LeaderOf(v, v-2); v > 2 && given && ok && who == liar {
					p.Parent = v - 2 // which was given up too: bogus
				}
				if who, ok := at.machine.LeaderOf(v, p.Parent); ok && who == liar || v%2 == 0 { // or it may lead, for all that one knows
					_ = at.Deliver(liar, wire.Append(nil, wire.Offer{Vote: voice.Sign(simplex.Notarize, p), Block: junk}))
					_ = at.Deliver(liar, wire.Append(nil, wire.Preview{Round: p.Round, Parent: p.Parent, Bytes: junk}))
				}
				_ = at.Deliver(liar, simplex.AppendVote(nil, voice.Sign(simplex.Nullify, view(v, 0))))
			}
			synctest.Wait()
			for name, n := range map[string]int{
				"blocks": e.blocks.bytes, "block records": len(e.blocks.list), "votes": e.tally.Views() * simplex.TallyViewBytes(4),
				"inbox": int(e.Stats.InboxBytes.Load()), "journal": disk.bytes(), "views": int(e.machine.View()),
			} {
				most[name] = max(most[name], n)
			}
		}
		t.Logf("at most, in %v: %v; %d final; %d blocks dropped, %d prunings", whole, most, len(apps[0].final), e.Stats.BlocksDropped.Load(), e.Stats.Prunings.Load())
		limits := map[string]int{
			"blocks": 34 * block, "votes": 34 * simplex.TallyViewBytes(4), "inbox": 16 * block,
			"journal": 64<<10 + most["views"]*2048,
		}
		for name, limit := range limits {
			if most[name] > limit {
				t.Errorf("%s took %d bytes, want at most %d", name, most[name], limit)
			}
		}
		if most["views"] < int(whole/(10*time.Second)) {
			t.Errorf("%d views in %v: nothing was tried", most["views"], whole)
		}
		before := len(apps[0].final)
		healed = true
		reached := apps[2].want(before + 5)
		select {
		case <-reached:
		case <-time.After(2 * time.Minute):
			t.Errorf("%d blocks two minutes after healing, %d before", len(apps[2].final), before)
		}
	})
}
