package marketsim

import (
	"slices"

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

// promise notes what the attempt that was drawn takes of the lane, and how often that was
// crowded before.
func (m *market) promise(j *job) {
	j.promised, j.large = nil, false
	p := share{behind: j.opens(), until: j.deadline}
	if p.behind >= p.until || len(j.seats()) == 0 {
		return
	}
	m.eachMeter(&j.spec, &j.terms, func(shown, has uint64) {
		p.millionths = max(p.millionths, upwards(uint64(len(j.seats()))*1_000_000*shown, has*(p.until-p.behind)))
		j.large = j.large || shown > has/2
	})
	j.promised = &p
	m.promises = append(m.promises, &p)
	j.crowds = m.crowds(j)
}

// takeBack ends what an attempt has promised with this block: nothing more can be shown.
func (m *market) takeBack(j *job) {
	if j.promised != nil {
		j.promised.until = min(j.promised.until, max(m.height, j.promised.behind))
		j.promised = nil
	}
}

// countLane counts the block that ends, if more than half of the lane was promised in it and an
// eighth used, or seven eighths used.
func (m *market) countLane() {
	sum := uint64(0)
	m.promises = slices.DeleteFunc(m.promises, func(p *share) bool { return p.until < m.height })
	for _, p := range m.promises {
		if p.behind < m.height {
			sum += p.millionths
		}
	}
	lane, system := fees.LaneTarget(m.p, chain.LaneRunner), fees.LaneTarget(m.p, chain.LaneSystem)
	bytes := fees.LaneBytes(m.p, chain.LaneRunner) + fees.LaneBytes(m.p, chain.LaneSystem)
	eighths := max(8*uint64(m.used.Cycles)/uint64(lane.Cycles+system.Cycles), 8*uint64(m.used.Cells)/uint64(lane.Cells+system.Cells), 8*m.used.Bytes/bytes)
	if eighths < 7 && (sum <= 500_000 || eighths < 1) {
		return
	}
	m.crowded++
	if 2*m.used.Cycles >= lane.Cycles+system.Cycles || 2*m.used.Cells >= lane.Cells+system.Cells || 2*m.used.Bytes >= bytes {
		m.busy++
		m.met["busy lane"]++
	}
}

// crowds is how many blocks had no room for the results of a job, as far as anybody can say:
// large ones may find none in a block of which an eighth is used.
func (m *market) crowds(j *job) uint64 {
	if j.large {
		return m.crowded
	}
	return m.busy
}

// crowdedIn says whether so many blocks were too crowded for a job since it was looked at last:
// half of them or more, three quarters for large results.
func (m *market) crowdedIn(j *job, blocks uint64) bool {
	n := m.crowds(j) - j.crowds
	if j.large {
		return n > 0 && 4*n >= 3*blocks
	}
	return n > 0 && 2*n >= blocks
}

// excuses says whether the runners of a job may have found no room in so many blocks: these were
// crowded, or its results have come to fit no longer in its time.
func (m *market) excuses(j *job, blocks uint64) bool {
	if m.crowdedIn(j, blocks) {
		return true
	}
	if !m.givesTime(&j.spec, &j.terms) {
		m.met["spare for a vote"]++
		return true
	}
	return false
}

// spare lets go unblamed who has shown nothing in a crowded lane.
func (m *market) spare(j *job) {
	if j.phase != assigned && j.phase != closing || !slices.ContainsFunc(j.seats(), func(s *seat) bool { return s.shown == nil }) ||
		!m.excuses(j, j.deadline-min(j.opens(), j.deadline)) {
		return
	}
	j.spared = true
	for _, s := range j.seats() {
		s.excess = s.excess || s.shown == nil
	}
	m.met["spare in a crowded lane"]++
}
