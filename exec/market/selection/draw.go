//spec:implements CIP-2 5
//spec:implements CIP-11 9.2, 9.3
//spec:implements restored 9.6, 10

package selection

import (
	"encoding/binary"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Step is one step of a draw, as anybody can compute it again.
type Step struct {
	Candidate uint32     // index in the snapshot of who was drawn
	Pool      uint8      // 0 for the first pool of the draw, 1 for the fallback
	Place     uint32     // where the candidate stood in the pool, whose order changes with every step
	MRU       bool       // the most recently used runner weighed more
	Hash      chain.Hash // of the step
	Total     [2]uint64  // sum of the weights in the pool, upper word first
	Ticket    uint64     // what the hash leaves of it
}

// draw is a draw in its course. Chained draws swap to the front and hash the last hash;
// others hash the seed in every step and fill the gap from the end (resolution 5.3).
type draw struct {
	pools   []shuffle
	seed    chain.Hash
	chained bool
	i       uint64 // counts on over the pools (CIP-11 §9.2, point b)
}

// step draws one more; false when nobody is left, or nobody that weighs anything.
func (d *draw) step() (Step, bool) {
	at := uint8(0)
	// Bounded: by two pools.
	for int(at) < len(d.pools) && d.pools[at].empty() {
		at++
	}
	if int(at) == len(d.pools) {
		return Step{}, false
	}
	s := &d.pools[at]
	total := s.weighed()
	if total == (wide{}) { // the next pool is not asked: weights of 0 end a draw
		return Step{}, false
	}
	h := chain.DrawHash(d.seed, d.i)
	ticket := total.reduce(binary.LittleEndian.Uint64(h[:8]))
	place := s.pick(ticket)
	step := Step{
		Candidate: s.pool.candidate(s.member(place)), Pool: at, Place: place, MRU: s.bias.on,
		Hash: h, Total: [2]uint64{total.hi, total.lo}, Ticket: ticket,
	}
	// Bounded: by two pools.
	for k := range d.pools {
		d.pools[k].bias.on = false // step 0 alone (CIP-11 §9.3)
	}
	if d.chained {
		s.swapFront(place)
		d.seed = h
	} else {
		s.swapRemove(place)
	}
	d.i++
	return step, true
}

// take draws up to m.
func (d *draw) take(m int) []Step {
	var steps []Step
	// Bounded: by the seats of a job, which are paid for.
	for len(steps) < m {
		step, ok := d.step()
		if !ok {
			return steps
		}
		steps = append(steps, step)
	}
	return steps
}

// Round is one selection of a job.
type Round struct {
	First    chain.Hash      // seed of the job's first selection: chain.SelectionSeedV2 or V3
	Number   uint32          // 0 for the first selection, 1 and 2 for those that follow (resolution 12.80)
	Runners  int             // seats to fill
	Excluded []chain.Address // silent in an earlier round
}

// Seed returns the seed of the round (CIP-2 §6).
func (r *Round) Seed() chain.Hash {
	if r.Number == 0 {
		return r.First
	}
	return chain.RetrySeed(r.First, r.Number)
}

// DrawV2 returns the steps of CIP-2 §5, one for each seat that could be filled, in the
// order of the committee. Not chained, it is the form that CIP-11 calls an erratum:
// job.selection_chained_draw (resolution 5.3).
func (s *Snapshot) DrawV2(r *Round, chained bool) []Step {
	d := s.drawV2(r, chained)
	return d.take(r.Runners)
}

func (s *Snapshot) drawV2(r *Round, chained bool) draw {
	return newDraw(r, []pool{s.all.without(s.indices(r.Excluded))}, chained)
}

// DrawV3 returns the steps of CIP-11 §9.2, one for each seat that could be filled, in the
// order of the committee. Presence and the MRU are those of the block of the draw;
// weights are those of the snapshot (resolution 12.19).
func (p *Presence) DrawV3(r *Round, f MRU) []Step {
	d := p.drawV3(r, f)
	return d.take(r.Runners)
}

func (p *Presence) drawV3(r *Round, f MRU) draw {
	excluded := p.snapshot.indices(r.Excluded)
	pools := make([]pool, len(p.pools))
	// Bounded: by two pools.
	for k := range p.pools {
		pools[k] = p.pools[k].without(excluded)
	}
	d := newDraw(r, pools, false)
	if index, ok := p.snapshot.IndexOf(f.Runner); ok && f.Known {
		d.weighMRU(uint32(index), f.Factor)
	}
	return d
}

func newDraw(r *Round, pools []pool, chained bool) draw {
	d := draw{seed: r.Seed(), chained: chained, pools: make([]shuffle, len(pools))}
	// Bounded: by two pools.
	for k := range pools {
		d.pools[k] = newShuffle(&pools[k])
	}
	return d
}

// weighMRU lets the candidate at an index of the snapshot weigh more in the first step, if it
// is in the pool of that step.
func (d *draw) weighMRU(index, factor uint32) {
	// Bounded: by two pools.
	for k := range d.pools {
		first := &d.pools[k]
		if first.empty() {
			continue
		}
		if member, ok := first.pool.memberOf(index); ok {
			first.bias = bias{on: true, place: member, factor: factor}
		}
		return
	}
}

// indices returns where in the snapshot some runners are, ascending, each once. Runners that
// are no candidates are left out.
func (s *Snapshot) indices(runners []chain.Address) []uint32 {
	var out []uint32
	// Bounded: by the seats of the rounds before.
	for _, runner := range runners {
		if i, ok := s.IndexOf(runner); ok {
			out = append(out, uint32(i))
		}
	}
	// Bounded: by the seats of the rounds before.
	slices.Sort(out)
	// Bounded: by the seats of the rounds before.
	return slices.Compact(out)
}
