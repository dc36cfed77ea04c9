package simplex

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// Skip says after how much silence the view of a validator is given up at once.
// It concerns this machine alone and nobody has to agree with it: others may wait
// for the leader timer, and who was skipped is not the worse for it. The zero
// value waits for everybody.
type Skip struct {
	// After is the number of periods in a row without a sign of a validator, from
	// which on it is silent. A period lasts at least one view, and until votes of
	// a quorum came in. 0: nobody is ever silent.
	After   int
	Members int // validators of the set
	Quorum  int // of them
}

// silence counts the periods since each validator was last heard. It counts
// nothing while no quorum is heard: then it is we who hear too little, or there
// is nobody with whom to do without the one that is missing (fail open).
type silence struct {
	skip  Skip
	quiet []int  // periods in a row, by participant
	heard []bool // in this period
	count int    // of heard
}

func newSilence(s Skip) silence {
	if s.After == 0 {
		return silence{}
	}
	return silence{skip: s, quiet: make([]int, s.Members), heard: make([]bool, s.Members)}
}

// hear takes a sign of life.
func (s *silence) hear(p beacon.Participant) {
	if int(p) >= len(s.quiet) {
		return
	}
	s.quiet[p] = 0
	if !s.heard[p] {
		s.heard[p] = true
		s.count++
	}
}

// endView ends the view, and with it the period if a quorum was heard; we are one of
// it.
func (s *silence) endView() {
	if s.skip.After == 0 || s.count+1 < s.skip.Quorum {
		return
	}
	for p, heard := range s.heard {
		if !heard {
			s.quiet[p]++
		}
		s.heard[p] = false
	}
	s.count = 0
}

func (s *silence) of(p beacon.Participant) bool {
	return int(p) < len(s.quiet) && s.quiet[p] >= s.skip.After
}

// seen takes the news that somebody voted. A vote far behind our view is a sign of
// somebody who cannot lead it yet.
func (m *Machine) seen(e VoteSeen) {
	if e.View+chain.View(m.cfg.Skip.After) >= m.view {
		m.silence.hear(e.From)
	}
	if e.Kind == Nullify {
		m.leaderNullified(e)
	}
}

// silent reports whether the leader of the current view is known and silent.
func (m *Machine) silent() bool {
	who, known := m.expected()
	return known && who != m.cfg.Self && m.cfg.Signer != nil && m.silence.of(who)
}
