package engine

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// What is refused is counted for each sender. The log has it once a minute at most, all
// of it in one line: who sends it chooses how much there is.

// refusalsEvery is how often messages that were refused write a line.
const refusalsEvery = time.Minute

// refusalsNamed is how many senders a line names, those with most first.
const refusalsNamed = 6

// refusals is what the line before told. It belongs to the loop.
type refusals struct {
	told     []uint64 // by participant; the last is everybody else's
	withheld uint64
	at       time.Time
}

// logRefused writes what was refused since the last time, if anything was and it is time.
func (t *refusals) logRefused(now time.Time, stats *Stats, inbox *inbox, log *slog.Logger) {
	total := stats.Refused.Load() + stats.RefusedBytes.Load() + stats.AgainWithheld.Load()
	before := t.withheld
	for _, n := range t.told {
		before += n
	}
	if total <= before || !t.at.IsZero() && now.Sub(t.at) < refusalsEvery {
		return
	}
	t.at = now
	if n := stats.AgainWithheld.Load(); n > t.withheld {
		log.Warn("answers to validators withheld: they were sent the same blocks before, and have used up what they may be sent again", "count", n-t.withheld)
		t.withheld = n
	}
	type sender struct {
		count uint64
		name  string
	}
	var senders []sender
	sum := uint64(0)
	for i := range inbox.refused {
		n, name := inbox.refused[i].Load(), fmt.Sprintf("validator %d", i)
		if i == len(inbox.refused)-1 {
			name = "full nodes"
		}
		if more := n - t.told[i]; more > 0 {
			sum += more
			senders = append(senders, sender{more, fmt.Sprintf("%s: %d", name, more)})
			t.told[i] = n
		}
	}
	if sum == 0 {
		return
	}
	slices.SortStableFunc(senders, func(a, b sender) int { return cmp.Compare(b.count, a.count) })
	var names []string
	for _, s := range senders[:min(len(senders), refusalsNamed)] {
		names = append(names, s.name)
	}
	log.Warn("messages of peers refused: the inbox of consensus, or the sender's share of it, was full", "count", sum, "most", strings.Join(names, "; "))
}
