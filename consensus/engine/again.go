package engine

import (
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Blocks that a validator has not been sent yet go out as fast as its line takes them:
// that is how it catches up. What it was sent before it may have again within a budget
// of bytes, so that one which asks for the tip all day takes neither the uplink nor the
// disk (docs/adr/0149).
const (
	// againSeconds is how long a validator that asked for nothing twice saves up.
	againSeconds = 8
	// againFor is after how long it is forgotten what a validator was sent: one whose
	// folder is restored from yesterday's backup is served like a new one.
	againFor = 24 * time.Hour
	// givenMax bounds the ranges that are remembered of one validator.
	givenMax = 64
	// readCost is what a block that was read from the disk counts for at least.
	readCost = 16 << 10
)

// given is what one validator was sent, and what it may be sent again. The zero value
// is of one that was sent nothing.
type given struct {
	ranges []span // ascending, apart from each other
	since  time.Time
	left   float64 // bytes; below 0: owed
	at     time.Time
}

// span is a range of views.
type span struct{ from, to chain.View }

// part is the block of a view in an answer, and what it counts for.
type part struct {
	view  chain.View
	bytes int
}

// again returns what one validator may be sent again in a second, its share of what all
// of them may, and what it saves up at most.
func (c *Config) again() (perSecond, most float64) {
	perSecond = float64(c.AgainBytes) / float64(c.Set.Len())
	return perSecond, max(againSeconds*perSecond, float64(answerBytes), float64(c.wholeMax()))
}

// may reports whether there is something left for a validator that asks again.
func (g *given) may(c *Config, now time.Time) bool {
	perSecond, most := c.again()
	if g.at.IsZero() {
		g.since, g.at, g.left = now, now, most
	}
	if now.Sub(g.since) >= againFor {
		g.ranges, g.since = nil, now
	}
	g.left = min(most, g.left+now.Sub(g.at).Seconds()*perSecond)
	g.at = now
	return g.left > 0
}

// has reports whether the blocks of view v were sent.
func (g *given) has(v chain.View) bool {
	return slices.ContainsFunc(g.ranges, func(s span) bool { return s.from <= v && v <= s.to })
}

// bill counts the blocks of an answer that begins at view from, and returns the bytes
// of those that were sent before. What was not there between them will never be: it
// counts as sent.
func (g *given) bill(from chain.View, parts []part) (again int) {
	if len(parts) == 0 {
		return 0
	}
	to := from
	for _, p := range parts {
		from, to = min(from, p.view), max(to, p.view)
		if g.has(p.view) {
			again += p.bytes
		}
	}
	g.left -= float64(again)
	g.add(span{from, to})
	return again
}

// add remembers a range. Where there are too many, the two that are closest to each
// other become one.
func (g *given) add(s span) {
	i := 0
	for i < len(g.ranges) && g.ranges[i].to < s.from && g.ranges[i].to+1 != s.from {
		i++
	}
	j := i
	for ; j < len(g.ranges) && (g.ranges[j].from <= s.to || g.ranges[j].from == s.to+1); j++ {
		s = span{min(s.from, g.ranges[j].from), max(s.to, g.ranges[j].to)}
	}
	g.ranges = slices.Replace(g.ranges, i, j, s)
	if len(g.ranges) <= givenMax {
		return
	}
	closest := 1
	for k := 2; k < len(g.ranges); k++ {
		if g.ranges[k].from-g.ranges[k-1].to < g.ranges[closest].from-g.ranges[closest-1].to {
			closest = k
		}
	}
	g.ranges[closest-1].to = g.ranges[closest].to
	g.ranges = slices.Delete(g.ranges, closest, closest+1)
}

// ration takes out of an answer to a validator the blocks that it was sent and for
// which nothing is left of its budget, and counts the others. Certificates stay.
func (s *serving) ration(now time.Time, to beacon.Participant, from chain.View, pieces []piece) {
	if int(to) >= len(s.peers) {
		return // full nodes pay otherwise
	}
	g := &s.peers[to].given
	may := g.may(s.cfg, now)
	var parts []part
	for i := range pieces {
		p := &pieces[i]
		if p.block == nil {
			continue
		}
		v := p.certificate.Proposal.Round.View
		if may || !g.has(v) {
			parts = append(parts, part{v, len(p.block) + simplex.CertificateBytesMax})
			continue
		}
		p.block = nil
		s.stats.AgainWithheld.Add(1)
	}
	s.stats.AgainBytes.Add(uint64(g.bill(from, parts)))
}

// mayRead reports whether the archive may be read for a peer from view v on, and to
// before which view: a validator with nothing left of its budget gets what lies between
// ranges that it was sent, and not these once more. 0: as far as an answer goes.
func (s *serving) mayRead(now time.Time, to beacon.Participant, v chain.View) (before chain.View, may bool) {
	if int(to) >= len(s.peers) {
		return 0, true
	}
	g := &s.peers[to].given
	if g.may(s.cfg, now) {
		return 0, true
	}
	if g.has(v) {
		s.stats.AgainWithheld.Add(1)
		return 0, false
	}
	for _, r := range g.ranges {
		if r.from > v {
			return r.from, true
		}
	}
	return 0, true
}
