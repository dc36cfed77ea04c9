package marketsim

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// share is what the results of an attempt take of the runner lane, in millionths, in the
// blocks behind one height and up to another (ADR 222).
type share struct{ behind, until, millionths uint64 }

// upwards is ceil(a / by).
func upwards(a, by uint64) uint64 { return (a + by - 1) / by }

// eachMeter calls do with what one result of a job takes of a block, and what a block has for
// results, in cycles, cells and bytes.
func (m *market) eachMeter(s *chain.JobSpec, t *chain.JobTerms, do func(shown, has uint64)) {
	one := jobs.Shown(m.p, s, t)
	lane, system := fees.LaneTarget(m.p, chain.LaneRunner), fees.LaneTarget(m.p, chain.LaneSystem)
	do(uint64(one.Cycles), uint64(lane.Cycles+system.Cycles))
	do(uint64(one.Cells), uint64(lane.Cells+system.Cells))
	do(one.Bytes, fees.LaneBytes(m.p, chain.LaneRunner)+fees.LaneBytes(m.p, chain.LaneSystem))
}

// givesTime says whether all runners of a job can show their results in half of the lane, in
// the blocks that each has for its own.
func (m *market) givesTime(s *chain.JobSpec, t *chain.JobTerms) bool {
	span := s.TimeoutBlocks - 1 // the draw takes a block
	alone := span
	if p := &m.p.Job; s.Verification.Runners > 1 && p.AggregatorWindowBasisPoints > 0 {
		alone = span * p.AggregatorWindowBasisPoints / 10_000
	} else if s.Verification.Runners > 1 {
		alone = span * (10_000 - p.CommitDeadlineBasisPoints) / 10_000
	}
	fits := true
	m.eachMeter(s, t, func(shown, has uint64) {
		fits = fits && shown <= has && 2*uint64(s.Verification.Runners)*shown <= alone*has
	})
	return fits
}

// opens is behind which height each runner may show its own result.
func (j *job) opens() uint64 {
	switch {
	case j.runners() == 1:
		return j.begun
	case j.gatherTo == j.deadline:
		return j.commitBy
	}
	return j.gatherTo
}

// promise notes what the attempt that was drawn takes of the lane.
func (m *market) promise(j *job) {
	p := share{behind: j.opens(), until: j.deadline}
	if p.behind >= p.until || len(j.seats()) == 0 {
		return
	}
	m.eachMeter(&j.spec, &j.terms, func(shown, has uint64) {
		p.millionths = max(p.millionths, upwards(uint64(len(j.seats()))*upwards(1_000_000*shown, has), p.until-p.behind))
	})
	m.promises = append(m.promises, p)
}

// crowded says whether in a block behind a height more than half of the lane was promised.
func (m *market) crowded(behind uint64) bool {
	for h := behind + 1; h <= m.height; h++ {
		sum := uint64(0)
		for _, p := range m.promises {
			if p.behind < h && h <= p.until {
				sum += p.millionths
			}
		}
		if sum > 500_000 {
			return true
		}
	}
	return false
}

// spare lets go unblamed who has shown nothing in a crowded lane.
func (m *market) spare(j *job) {
	if j.phase != assigned && j.phase != closing || !m.crowded(j.opens()) {
		return
	}
	j.spared = true
	for _, s := range j.seats() {
		s.excess = s.excess || s.shown == nil
	}
	m.met["spare in a crowded lane"]++
}
