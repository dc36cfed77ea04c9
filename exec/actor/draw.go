package actor

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// draws is what the handlers of a run have used of their actors' buckets. Like the charge,
// it stays used when the handler that used it is undone (resolution 11.22). So it is kept
// beside the state as long as the run goes on, and written down once: written at each call
// and again at each level of calls that fails, it would cost as much again for nothing.
type draws struct {
	list  []drawing
	place map[chain.Address]int // in list, once that is long
}

// drawing is cycles taken out of an actor's bucket.
type drawing struct {
	addr chain.Address
	used chain.Cycles
}

// linear is how many actors are searched without an index.
const linear = 8

// indexOf returns the place of an actor in the list, its length for one that is not there.
func (d *draws) indexOf(a chain.Address) int {
	if d.place != nil {
		if i, ok := d.place[a]; ok {
			return i
		}
		return len(d.list)
	}
	// Bounded: by linear, eight.
	for i := range d.list {
		if d.list[i].addr == a {
			return i
		}
	}
	return len(d.list)
}

func (d *draws) add(a chain.Address, used chain.Cycles) {
	i := d.indexOf(a)
	if i < len(d.list) {
		d.list[i].used += used
		return
	}
	d.list = append(d.list, drawing{a, used})
	switch n := len(d.list); {
	case d.place != nil:
		d.place[a] = i
	case n > linear:
		d.place = make(map[chain.Address]int, 4*linear)
		// Bounded: by linear, eight, once a run.
		for i := range d.list {
			d.place[d.list[i].addr] = i
		}
	}
}

// drawnBy returns what was drawn from an actor's bucket.
func (d *draws) drawnBy(a chain.Address) chain.Cycles {
	if i := d.indexOf(a); i < len(d.list) {
		return d.list[i].used
	}
	return 0
}

// draw takes cycles out of an actor's bucket.
func (r *Run) draw(a chain.Address, used chain.Cycles) {
	if !r.start.ReadOnly && used > 0 {
		r.draws.add(a, used)
	}
}

// quota returns the quota of an actor as the run has left it.
func (r *Run) quota(a chain.Address) (Quota, error) {
	l, err := ReadQuota(r.state, a)
	if used := r.draws.drawnBy(a); err == nil && used > 0 {
		l.draw(&r.block.Params.Actor, r.block.Height, used)
	}
	return l, err
}

// writeDraws writes down what the run has drawn, on a state that has nothing of it. An
// actor whose deployment was undone has no bucket.
func (r *Run) writeDraws() error {
	// Paid: by the call that each drawing is of, once a run, or twice where it cannot pay in the end.
	for _, d := range r.draws.list {
		a, err := r.state.CodeAndMeta(d.addr)
		if err != nil {
			return fmt.Errorf("draw from the bucket of %s: %w", d.addr, err)
		}
		if !a.HasCode() {
			continue
		}
		l, err := r.quota(d.addr)
		if err != nil {
			return fmt.Errorf("draw from the bucket of %s: %w", d.addr, err)
		}
		WriteQuota(r.state, d.addr, l)
	}
	return nil
}
