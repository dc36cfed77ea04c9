package simnode

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// mustReach are rare states that forty seeds or more must have reached: a
// simulation in which they do not happen does not test what it should.
var mustReach = []string{
	"power cut, 0% kept", "power cut, 30% kept", "power cut, 70% kept", "power cut, 100% kept",
	"one-way cut", "machine cut off", "partition", "disk failed", "ended by its disk", "clock stepped", "vote journal lost", "older vote journal put back",
	"view both notarized and nullified", "contradiction seen", "peer banned", "vote withheld by the guard",
	"block fetched", "leader timed out", "certification timed out", "silent leader skipped", "blocks served to peers",
	"transfer final", "joined by state", "guest let in", "request of a guest waited", "blocks dropped for want of room",
}

// reached counts, when a life ends, what consensus came through in it.
func (l *life) reached() {
	c := l.node.Consensus()
	states := l.machine.run.report.States
	for _, s := range []struct {
		name string
		n    uint64
	}{
		{"contradiction seen", c.Equivocations.Load()},
		{"peer banned", c.Bans.Load()},
		{"vote withheld by the guard", c.VotesWithheld.Load()},
		{"block fetched", c.FetchesSent.Load()},
		{"leader timed out", c.LeaderTimeouts.Load()},
		{"certification timed out", c.CertificationTimeouts.Load()},
		{"silent leader skipped", c.LeaderSkips.Load()},
		{"blocks served to peers", c.BlocksServed.Load()},
		{"messages refused, the inbox was full", c.Refused.Load()},
		{"blocks dropped for want of room", c.BlocksDropped.Load()},
	} {
		states[s.name] += int(s.n)
	}
	states["request of a guest waited"] += int(l.node.GuestWaits())
	if l.machine.honest() {
		l.machine.run.convictions += int(c.Evidence.Load())
	}
	l.bans()
}

// bans notes whom an honest machine did not hear.
func (l *life) bans() {
	r := l.machine.run
	if !l.machine.honest() {
		return
	}
	peers := l.node.Consensus().Peers
	for i := range peers {
		r.banned[i] = r.banned[i] || peers[i].BlockedUntilUnix.Load() > 0
		r.spoke[i] = r.spoke[i] || peers[i].LastVoteView.Load() > 0
	}
}

// slack is what is on its way from one budget to another, beside the valid blocks
// that are not final yet.
const slack = 4 << 20

// budgets compares what the engines of honest machines hold with what they may.
func (r *run) budgets() {
	may := engine.DefaultConfig(&r.genesis.Params)
	beside := int64(slack)
	if r.plan.Withheld > 0 {
		may.InboxBytes, may.PendingBytesMax, beside = inboxOfSmall, blocksOfSmall, smallBlockBytes
	}
	for _, m := range r.machines {
		if m.life == nil || !m.honest() {
			continue
		}
		c := m.life.node.Consensus()
		inbox, blocks := c.InboxBytes.Load(), c.BlockBytes.Load()
		r.report.InboxMax, r.report.BlocksMax = max(r.report.InboxMax, inbox), max(r.report.BlocksMax, blocks)
		if r.withholds.Load() {
			r.report.FullMost = max(r.report.FullMost, float64(blocks)/float64(may.PendingBytesMax))
		}
		if inbox > int64(may.InboxBytes) || blocks > int64(may.PendingBytesMax)+beside {
			r.witness.fault(fmt.Errorf("%w: %d has %d bytes in the inbox, may %d, and %d of blocks, may %d", ErrBudget, m.id, inbox, may.InboxBytes, blocks, may.PendingBytesMax))
		}
		m.life.bans()
	}
}

// rare counts the views in which honest validators said words of both ends.
func (w *witness) rare(states map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	finals := map[chain.View]bool{}
	for _, b := range w.final {
		finals[b.view] = true
	}
	for v, counts := range w.voted {
		if counts[simplex.Notarize] > 0 && counts[simplex.Nullify] > 0 {
			states["view both notarized and nullified"]++
		}
		if counts[simplex.Nullify] > 0 && finals[v] {
			states["block final in a view that some gave up"]++
		}
	}
}
