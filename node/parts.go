package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/exec"
)

// part is one of the goroutines of topology.go.
type part uint8

// The parts, in the order in which they start.
const (
	partLanes part = iota
	partSignatures
	partLedger
	partFanOut
	partEvidence
	partRoom
	partScrub
	partMarket
	partRepair
	partBlocksServed
	partClock
	partSubmissions
	partSubmitter
	partMesh
	partCheckpoints
	partConsensus
	partTrials
	partRPC
	partAdmin
	partStateSync // of cowboyd run --sync, before the node starts
	numParts
)

// fate is what the failure of a part does to its node. A part that ends without an
// error before the node stops has failed as well.
type fate uint8

const (
	// fateEnds: consensus cannot go on without the part, and what it had in hand may be
	// lost, so the node stops in order and a supervisor starts it again. A panic of such
	// a part ends the process at once.
	fateEnds fate = iota
	// fateAgain: the node goes on, /health is degraded, and the part is started again
	// after pauses that grow. A panic counts as a failure.
	fateAgain
)

// String is what the table in docs/operating.md says.
func (f fate) String() string {
	if f == fateAgain {
		return "alarm, started again"
	}
	return "the node stops"
}

// parts says for each its name in logs, metrics and alarms, and its fate
// (docs/adr/0140). TestPartsAreListed holds docs/operating.md to it, and start follows it.
var parts = [numParts]struct {
	name string
	fate fate
}{
	partLanes:        {"lanes", fateEnds},              // no transaction would come into a block
	partSignatures:   {"signature pipeline", fateEnds}, // no proposal could be judged
	partLedger:       {"ledger", fateEnds},             // no block could be executed or stored
	partFanOut:       {"fan-out", fateEnds},            // the pool would judge by an old state for ever
	partEvidence:     {"evidence", fateAgain},
	partRoom:         {"room for state", fateAgain},
	partScrub:        {"scrub", fateAgain},
	partMarket:       {"runner market", fateAgain},
	partRepair:       {"repair", fateAgain},
	partBlocksServed: {"blocks served", fateAgain},
	partClock:        {"clock", fateAgain},
	partSubmissions:  {"submissions", fateAgain},
	partSubmitter:    {"submitter", fateAgain},
	partMesh:         {"mesh", fateEnds}, // nobody would hear its votes
	partCheckpoints:  {"checkpoints", fateAgain},
	partConsensus:    {"consensus", fateEnds},
	partTrials:       {"trials", fateAgain},
	partRPC:          {"RPC", fateAgain},
	partAdmin:        {"admin pages", fateAgain},
	partStateSync:    {"state sync", fateEnds}, // there is no node without it
}

func (p part) String() string { return parts[p].name }

// Pauses before a part is started again: short enough that a listener whose port was
// taken for a moment is not missed, and so long at last that the log stays readable.
const (
	againMin = time.Second
	againMax = time.Minute
	// againCalm is how long a part must have run before it counts as mended.
	againCalm = 5 * time.Second
)

// restarts keeps count of the parts that failed and are started again.
type restarts struct {
	alarms *alarms
	log    *slog.Logger
	pause  struct{ min, max, calm time.Duration }

	mu       sync.Mutex // guards all below
	down     map[part]string
	failures [numParts]uint64
}

func newRestarts(a *alarms, log *slog.Logger) *restarts {
	r := &restarts{alarms: a, log: log, down: map[part]string{}}
	r.pause.min, r.pause.max, r.pause.calm = againMin, againMax, againCalm
	return r
}

// supervise runs a part until ctx ends, again and again if need be.
func (r *restarts) supervise(ctx context.Context, p part, run func(context.Context) error) {
	wait := r.pause.min
	for {
		begun := time.Now()
		calm := time.AfterFunc(r.pause.calm, func() { r.mended(p) })
		err := survive(ctx, run)
		calm.Stop()
		if ctx.Err() != nil {
			return
		}
		if time.Since(begun) > r.pause.max {
			wait = r.pause.min // it worked for a while
		}
		r.failed(p, err, wait)
		if rest(ctx, wait) != nil {
			return
		}
		wait = min(2*wait, r.pause.max)
	}
}

// errEnded is what a part failed with that ended without an error.
var errEnded = errors.New("it ended by itself")

// survive makes an error of a panic.
func survive(ctx context.Context, run func(context.Context) error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = exec.Panicked(cause).Err
		}
	}()
	if err := run(ctx); err != nil {
		return err
	}
	return errEnded
}

func (r *restarts) failed(p part, err error, wait time.Duration) {
	attrs := []any{"part", p.String(), "again_in", wait, "err", err}
	if panicked := new(exec.Panic); errors.As(err, &panicked) {
		attrs = append(attrs, "stack", panicked.Stack)
	}
	r.log.Error("a part of the node failed; consensus goes on without it", attrs...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures[p]++
	r.down[p] = fmt.Sprintf("%s failed (%v) and is started again: consensus goes on without it", p, err)
	r.alarms.raise(alarmParts, r.reason())
}

func (r *restarts) mended(p part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.down[p]; !there {
		return
	}
	delete(r.down, p)
	if len(r.down) == 0 {
		r.alarms.clear(alarmParts)
		return
	}
	r.alarms.raise(alarmParts, r.reason())
}

// reason is what /health says. r.mu is held.
func (r *restarts) reason() string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(r.down)) {
		out = append(out, r.down[p])
	}
	return strings.Join(out, "; ")
}

// stateOf reports whether a part is down, and how often it failed.
func (r *restarts) stateOf(p part) (down bool, failures uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, down = r.down[p]
	return down, r.failures[p]
}

// group runs parts until one ends that the node needs; its context then ends for the
// others.
type group struct {
	ctx    context.Context
	cancel context.CancelFunc
	again  *restarts
	parts  sync.WaitGroup
	mu     sync.Mutex
	errs   []error
}

func newGroup(ctx context.Context, again *restarts) *group {
	g := &group{again: again}
	g.ctx, g.cancel = context.WithCancel(ctx)
	return g
}

// start runs a part on its own goroutine.
func (g *group) start(p part, run func(context.Context) error) {
	if parts[p].fate == fateAgain {
		g.parts.Go(func() { g.again.supervise(g.ctx, p, run) })
		return
	}
	g.parts.Go(func() {
		defer g.cancel()
		err := run(g.ctx)
		if err == nil || errors.Is(err, context.Canceled) {
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.errs = append(g.errs, fmt.Errorf("%s: %w", p, err))
	})
}

func (g *group) ended() <-chan struct{} { return g.ctx.Done() }

func (g *group) stop() { g.cancel() }

// wait returns what the parts failed with, once all have ended.
func (g *group) wait() error {
	g.parts.Wait()
	return errors.Join(g.errs...)
}
