package jobs

import "bytes"

// Aggregator is the seat of who gathers the results of the others: of those that committed
// the one of the best reputation in the snapshot, the lowest address among equals
// (resolution 12.29). False where nobody has.
func Aggregator(seats []*Seat) (n int, ok bool) {
	// Bounded: by the seats of a job.
	for i, s := range seats {
		if s.Commitment == nil {
			continue
		}
		best := seats[n]
		lower := bytes.Compare(s.Runner[:], best.Runner[:]) < 0 // Bounded: 20 bytes.
		if !ok || s.ReputationX1e9 > best.ReputationX1e9 || s.ReputationX1e9 == best.ReputationX1e9 && lower {
			n, ok = i, true
		}
	}
	return n, ok
}
