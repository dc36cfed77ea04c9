package node

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
)

// alarms are what is wrong with this node that does not end it: parts that consensus
// can do without, and the clock. A part raises its alarm when it fails and clears it
// when it works again; /health lists what is raised as a reason, metrics count, and
// each change is one line of the log. Safe for any goroutine.
type alarms struct {
	log *slog.Logger

	mu     sync.Mutex // guards all below
	on     map[alarm]string
	raised map[alarm]uint64 // how often since the start
}

// alarm names a part. The names are labels in metrics.
type alarm string

// The parts that raise one.
const (
	alarmClock       alarm = "clock"       // this node's clock differs from others', or is behind the chain
	alarmEvidence    alarm = "evidence"    // proofs of contradictions are not kept
	alarmBlocks      alarm = "blocks"      // stored blocks are damaged
	alarmCheckpoints alarm = "checkpoints" // no states are offered to nodes that join
	alarmNetwork     alarm = "network"     // the UDP socket cannot be read
	alarmMarket      alarm = "market"      // the runner market's accounts and records differ
	alarmParts       alarm = "parts"       // of parts.go, some failed and are started again
)

var allAlarms = []alarm{alarmClock, alarmEvidence, alarmBlocks, alarmCheckpoints, alarmNetwork, alarmMarket, alarmParts}

func newAlarms(log *slog.Logger) *alarms {
	return &alarms{log: log, on: map[alarm]string{}, raised: map[alarm]uint64{}}
}

// raise says what is wrong with a part, in words for an operator. The log hears of it
// when it begins; while it lasts the reason may change.
func (a *alarms) raise(part alarm, reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, before := a.on[part]
	a.on[part] = reason
	if !before {
		a.raised[part]++
		a.log.Error("alarm: "+reason, "part", string(part))
	}
}

// clear says that a part works again.
func (a *alarms) clear(part alarm) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, before := a.on[part]; before {
		delete(a.on, part)
		a.log.Info("alarm is over", "part", string(part))
	}
}

// reasons are what /health says, in the order of the parts' names.
func (a *alarms) reasons() (out []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, part := range slices.SortedFunc(maps.Keys(a.on), cmp.Compare[alarm]) {
		out = append(out, a.on[part])
	}
	return out
}

// stateOf reports whether a part's alarm is on, and how often it was raised.
func (a *alarms) stateOf(part alarm) (on bool, raised uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, on = a.on[part]
	return on, a.raised[part]
}
