//spec:implements CIP-2 5
//spec:implements CIP-11 9.2, 9.3
//spec:implements restored 9.6, 10

package selection

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Step is one step of a draw, as anybody can compute it again.
type Step struct {
	Candidate uint32     // index in the snapshot of who was drawn
	Pool      uint8      // 0 for the first pool of the draw, 1 for the fallback
	Place     uint32     // where the candidate stood in the pool, whose order changes with every step
	Favoured  bool       // a runner of the pool weighed more for having served the submitter last
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
		Candidate: s.pool.candidate(s.member(place)), Pool: at, Place: place, Favoured: s.favour.on,
		Hash: h, Total: [2]uint64{total.hi, total.lo}, Ticket: ticket,
	}
	// Bounded: by two pools.
	for k := range d.pools {
		d.pools[k].favour.on = false // step 0 alone (CIP-11 §9.3)
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
	all := s.without(r.Excluded)
	d := draw{pools: []shuffle{newShuffle(&all)}, seed: r.Seed(), chained: chained}
	return d.take(r.Runners)
}

// DrawV3 returns the steps of CIP-11 §9.2, one for each seat that could be filled, in the
// order of the committee. Presence and the favoured runner are those of the block of the
// draw; weights are those of the snapshot (resolution 12.19).
func (s *Snapshot) DrawV3(r *Round, p *Presence, f Favourite) []Step {
	d := s.drawV3(r, p, f)
	return d.take(r.Runners)
}

func (s *Snapshot) drawV3(r *Round, p *Presence, f Favourite) draw {
	all := s.without(r.Excluded)
	d := draw{seed: r.Seed()}
	switch p.Members {
	case AllMembers:
		d.pools = []shuffle{newShuffle(&all)}
	case PresentFirst:
		here, rest := s.split(&all, p.Present)
		d.pools = []shuffle{newShuffle(&here), newShuffle(&rest)}
	case PresentOnly:
		here, _ := s.split(&all, p.Present)
		d.pools = []shuffle{newShuffle(&here)}
	}
	d.favour(s, f)
	return d
}

// favour lets the favourite weigh more in the first step, if it is in the pool of that
// step.
func (d *draw) favour(s *Snapshot, f Favourite) {
	index, ok := s.IndexOf(f.Runner)
	if !f.Known || !ok {
		return
	}
	// Bounded: by two pools.
	for k := range d.pools {
		first := &d.pools[k]
		if first.empty() {
			continue
		}
		if member, ok := first.pool.memberOf(uint32(index)); ok {
			first.favour = favour{on: true, place: member, factor: f.Factor}
		}
		return
	}
}
