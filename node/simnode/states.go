package simnode

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// mustReach are rare states that forty seeds or more must have reached: a
// simulation in which they do not happen does not test what it should.
var mustReach = []string{
	"power cut, 0% kept", "power cut, 30% kept", "power cut, 70% kept", "power cut, 100% kept",
	"one-way cut", "machine cut off", "partition", "disk failed", "ended by its disk", "clock stepped", "vote journal lost", "older vote journal put back",
	"view both notarized and nullified", "contradiction seen", "peer banned", "vote withheld by the guard",
	"block fetched", "leader timed out", "certification timed out", "silent leader skipped", "blocks served from the archive",
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
		{"blocks served from the archive", c.BlocksServed.Load()},
		{"messages refused, the inbox was full", c.Refused.Load()},
	} {
		states[s.name] += int(s.n)
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
