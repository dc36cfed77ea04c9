package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/attacks"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// An attack may use so many cycles; one that used fewer than leastCycles tells
// nothing, since a call has a price of its own.
const (
	attackCycles = 2_000_000
	leastCycles  = 100_000
)

// attacks runs the corpus of hostile programs.
func (r *runner) attacks() ([]*reading, error) {
	corpus, err := attacks.Corpus()
	if err != nil {
		return nil, err
	}
	var out []*reading
	for _, a := range corpus {
		p, err := pvm.Compile([]byte(a.Source), "attack", r.lim)
		if err != nil {
			continue // refused
		}
		g := &reading{name: operation{code: a.Name}.name(), group: "attack", nanos: math.Inf(1)}
		var abort *vm.Abort
		for range min(r.rounds, 3) {
			begin := processorTime()
			res, err := r.engine.Run(p, attackCycles, nil)
			took := processorTime() - begin
			if err != nil && !errors.As(err, &abort) {
				return nil, fmt.Errorf("attack %s: %w", a.Name, err)
			}
			if res.Cycles < leastCycles {
				break
			}
			if per := float64(took) / float64(res.Cycles); per < g.nanos {
				g.nanos, g.cycles = per, float64(res.Cycles)
			}
		}
		if !math.IsInf(g.nanos, 1) {
			out = append(out, g)
		}
	}
	return out, nil
}
