package lanes

import "github.com/cowboy-foundation/cowboy/lanes/sched"

// Stats is what the lanes have done since they started and what they hold.
type Stats = sched.Stats

// LaneStats is what one lane holds.
type LaneStats = sched.LaneStats

// Stats returns the counters. It waits for nobody, so numbers that belong
// together may be one request apart.
func (l *Lanes) Stats() Stats { return l.pool.Stats() }
