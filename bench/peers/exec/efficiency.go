package main

import (
	"fmt"
	"runtime"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
)

// efficiencyBars hold the execution of handlers that do not touch each other on n
// cores against exec.Apply on one. Ours executes the block n times over while the
// peer does it once, so that the ratio is the efficiency t1/(n·tn): 1 if n cores
// are n times as fast.
func efficiencyBars() (list []bars.Bar) {
	for _, cores := range []int{1, 2, 4, 8, 16} {
		b := bars.Bar{
			Name: fmt.Sprintf("actor-uncontended-efficiency-%d-cores", cores), Peer: "our sequential exec.Apply on one core",
			Must: 0.6, Ops: people, Iterations: 1, SpinCores: cores,
		}
		if have := runtime.NumCPU(); have < cores {
			b.Absent = fmt.Sprintf("this machine has %d cores", have)
		} else {
			b.Setup = func() (bars.Contest, error) { return raceCores(cores) }
		}
		list = append(list, b)
	}
	return list
}

func raceCores(cores int) (bars.Contest, error) {
	w := workload{mode: parallel.Planned, make: workloads[0].make} // actor-uncontended
	c, err := w.raceOn(cores)
	once := c.Ours.Run
	c.Ours = bars.Side{Cores: cores, Run: func(n int) error { return once(n * cores) }}
	c.Peer.Cores = 1
	return c, err
}
