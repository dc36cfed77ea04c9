package p2p

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// What is dropped before it is sent is counted for each peer and class. The log has it
// once a minute at most, all of it in one line.

// dropsEvery is how often messages that were dropped write a line.
const dropsEvery = time.Minute

// dropsNamed is how many peers and classes a line names, those with most first.
const dropsNamed = 6

// drops is what the line before told. It belongs to the goroutine that writes.
type drops struct {
	told map[*queue]uint64
	away uint64
}

// dropped is one queue's part in a line.
type dropped struct {
	count uint64
	name  string
}

// logDropped writes what was dropped since the last time, if anything was.
func (d *drops) logDropped(t *Transport) {
	var lost []dropped
	total, seen := uint64(0), map[*queue]uint64{}
	for _, p := range append(slices.Clone(t.members), t.guests()...) {
		if p == nil {
			continue
		}
		reason := "its queue is full"
		if l, _ := p.current(); l == nil {
			reason = "it is not connected"
		}
		for class, q := range p.queues {
			n := q.dropped.Load()
			if seen[q] = n; n > d.told[q] {
				total += n - d.told[q]
				lost = append(lost, dropped{n - d.told[q], fmt.Sprintf("peer %d %s: %d, %s", p.id, Class(class), n-d.told[q], reason)})
			}
		}
	}
	away := t.OfflineDropped()
	d.told, d.away, away = seen, away, away-d.away // peers that have left are forgotten
	if total == 0 {
		return
	}
	slices.SortStableFunc(lost, func(a, b dropped) int { return cmp.Compare(b.count, a.count) })
	var names []string
	for _, l := range lost[:min(len(lost), dropsNamed)] {
		names = append(names, l.name)
	}
	t.cfg.Log.Warn("messages to peers dropped", "count", total, "for_want_of_offline_budget", away, "most", strings.Join(names, "; "))
}
