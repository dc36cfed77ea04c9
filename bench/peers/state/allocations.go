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
				o, w = newOurs(maxWorkers), newWorkload(accounts)
				o.prepare(w.delta(w.everyone()))
				if err := o.apply(); err != nil {
					return 0, err
				}
			}
			o.prepare(w.delta(w.touch(updates)))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := o.apply(); err != nil {
				return 0, err
			}
			runtime.ReadMemStats(&after)
			return float64(after.Mallocs-before.Mallocs) / float64(updates), nil
		},
		Close: func() error { o, w = nil, nil; return nil },
	}
}

// residentBytes measures the memory of the resident tries for each account,
// less the key and value that the flat state has as well.
func residentBytes(accounts int) *bars.Gauge {
	return &bars.Gauge{
		Unit: "bytes", Must: 100, Aim: 80,
		Measure: func(int) (float64, error) {
			o, w := newOurs(maxWorkers), newWorkload(accounts)
			o.prepare(w.delta(w.everyone()))
			if err := o.apply(); err != nil {
				return 0, err
			}
			const key, value = 32, 11 // keccak256(address); flags, nonce and balance
			return float64(o.forest.Footprint().Bytes)/float64(accounts) - key - value, nil
		},
	}
}
