package simnode

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cowboy-foundation/cowboy/node"
	"github.com/cowboy-foundation/cowboy/node/datadir"
)

// checkpointBlocks is how many blocks lie between two checkpoints where somebody
// joins.
const checkpointBlocks = 12

// ErrNotJoined means that a node that came while the chain ran is not level with it.
var ErrNotJoined = errors.New("a full node that joins by state is not level long after the faults ended")

// joins makes the computer of a full node, off and empty. From then on it meets what
// the others meet: cuts, crashes, clocks.
func (r *run) joins(dir string) {
	place := len(r.machines)
	m := &machine{
		run: r, id: r.plan.Validators, place: place, dir: datadir.FullNodeFolder(dir, 0),
		address: fmt.Sprintf("127.0.0.1:%d", 5001+10*place), follows: true,
	}
	m.disk = newDisk(place, rand.New(rand.NewPCG(r.plan.Seed, uint64(100+place))), r.trace)
	r.witness.places(place + 1)
	r.joiner = m
}

// fetch is a state sync that is under way.
type fetch struct {
	cancel context.CancelFunc
	done   chan error // gets one
}

// giveUp gives up, and waits for the end.
func (f *fetch) giveUp() {
	if f.cancel != nil {
		f.cancel()
		<-f.done
		f.cancel = nil
	}
}

// arrive fetches a state in the background, when the joiner's time has come, and then
// starts the node that goes on from it. It is called each tick.
func (r *run) arrive() error {
	m := r.joiner
	switch {
	case m == nil || m.lives > 0 || time.Since(r.trace.began) < r.plan.JoinsAt:
		return nil
	case r.fetch.cancel == nil:
		r.trace.note("a node without a chain comes to place %d", m.place)
		var ctx context.Context
		ctx, r.fetch.cancel = context.WithCancel(context.Background())
		r.fetch.done = make(chan error, 1)
		go func() {
			l := &life{machine: m, disk: m.disk}
			r.fetch.done <- node.SyncStateOn(ctx, m.host(l), m.config(), r.genesis, false, m.log())
		}()
	}
	select {
	case err := <-r.fetch.done:
		r.fetch.cancel()
		r.fetch.cancel = nil
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNotJoined, err)
		}
		r.report.States["joined by state"]++
		r.machines = append(r.machines, m)
		return m.start()
	default:
		return nil
	}
}

// joined demands that the node that came is level with the validators.
func (r *run) joined() error {
	if r.joiner == nil {
		return nil
	}
	_, top, _ := r.witness.level(r.honest)
	if at := r.witness.heightOf(r.joiner.place); at+3 < top {
		return fmt.Errorf("%w: it is at %d, the highest at %d", ErrNotJoined, at, top)
	}
	return nil
}
