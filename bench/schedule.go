package bench

import (
	"math/rand/v2"
	"time"
)

// schedule returns when each request is due, counted from the start, in order.
// A request carries batch transfers that are due together, so requests come at
// rate/batch. All randomness comes from the seed.
func schedule(c *LoadConfig) []time.Duration {
	perSecond := c.Rate / float64(c.Batch)
	gap := float64(time.Second) / perSecond
	due := make([]time.Duration, 0, int(perSecond*c.Duration.Seconds())+1)
	switch c.Arrival {
	case ArrivalPoisson:
		rng := rand.New(rand.NewPCG(c.Seed, 0x6172_7269_7661_6c73))
		for at := rng.ExpFloat64() * gap; at < float64(c.Duration); at += rng.ExpFloat64() * gap {
			due = append(due, time.Duration(at))
		}
	default:
		// Multiplied, not summed up: a sum of gaps drifts.
		for i := 0; float64(i)*gap < float64(c.Duration); i++ {
			due = append(due, time.Duration(float64(i)*gap))
		}
	}
	return due
}
