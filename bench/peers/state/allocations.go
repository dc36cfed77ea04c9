package main

import (
	"runtime"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

// allocations counts heap objects for each updated account, in steady state.
func allocations(accounts, updates int) *bars.Gauge {
	var (
		o *ours
		w *workload
	)
	return &bars.Gauge{
		Unit: "allocations", Must: 0.5, Aim: 0.1,
		Measure: func(int) (float64, error) {
			if o == nil {
				var err error
				if o, _, err = build(accounts); err != nil {
					return 0, err
				}
				w = newWorkload(accounts)
			}
			o.prepare(w, w.touch(updates))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := o.apply(); err != nil {
				return 0, err
			}
			runtime.ReadMemStats(&after)
			return float64(after.Mallocs-before.Mallocs) / float64(updates), nil
		},
	}
}
