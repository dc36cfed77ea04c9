package bars

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// spinMust is the least efficiency of a spin loop at which the cores of a machine
// are its own: below it a neighbour has a part of them, or they are threads of one.
const spinMust = 0.85

// spinTurns fill some 20 ms of a core.
const spinTurns = 20_000_000

// crowdedError says that the machine did not give a bar its cores. It is no failure
// of the bar.
type crowdedError struct {
	cores int
	spin  float64
}

func (e *crowdedError) Error() string {
	return fmt.Sprintf("a spin loop beside it has %.2f of %d cores, want %.2f: somebody else uses them", e.spin, e.cores, spinMust)
}

// crowded returns a [*crowdedError] where the median round was without its cores.
func crowded(b *Bar, rounds []Round) error {
	if b.SpinCores <= 1 {
		return nil
	}
	var spins []float64
	for i := range rounds {
		spins = append(spins, rounds[i].Spin)
	}
	if got := median(spins); got < spinMust {
		return &crowdedError{b.SpinCores, got}
	}
	return nil
}

// spin returns t1/tn of a loop that touches nothing but its own registers: 1 if n
// cores are n times as fast as one. Each is the best of three.
func spin(cores int) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	one, all := time.Duration(1<<62), time.Duration(1<<62)
	for range 3 {
		one, all = min(one, spinOn(1)), min(all, spinOn(cores))
	}
	return float64(one) / float64(all)
}

func spinOn(cores int) time.Duration {
	var wg sync.WaitGroup
	sums := make([]uint64, 16*cores) // a line of the cache each
	start := time.Now()
	for c := range cores {
		wg.Go(func() {
			x := uint64(c) + 1
			for range spinTurns {
				x ^= x << 13
				x ^= x >> 7
				x ^= x << 17
			}
			sums[16*c] = x
		})
	}
	wg.Wait()
	return time.Since(start)
}
