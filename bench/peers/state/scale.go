package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// rebuild measures the opening of a store: reading the flat state, building all
// tries and holding their root to the head's.
func rebuild(accounts int) *bars.Gauge {
	var dir string
	return &bars.Gauge{
		Unit: "seconds", Must: 6, Aim: 3,
		Measure: func(int) (float64, error) {
			if dir == "" {
				var err error
				if dir, err = os.MkdirTemp("", "cowboy-bars-"); err != nil {
					return 0, fmt.Errorf("folder: %w", err)
				}
				d, err := newDurable(dir, newWorkload(accounts))
				if err != nil {
					return 0, err
				}
				if err := d.store.Close(); err != nil {
					return 0, err
				}
			}
			start := time.Now()
			s, err := store.Open(dir, store.DefaultOptions())
			if err != nil {
				return 0, err
			}
			return time.Since(start).Seconds(), s.Close()
		},
		Close: func() error { return os.RemoveAll(dir) },
	}
}

// syncedBytes measures what a block's commit adds to the database's log, for
// each updated account.
func syncedBytes(accounts, updates int) *bars.Gauge {
	var (
		dir string
		d   *durable
		w   *workload
	)
	return &bars.Gauge{
		Unit: "bytes", Must: 300, Aim: 260,
		Measure: func(int) (float64, error) {
			if d == nil {
				var err error
				if dir, err = os.MkdirTemp("", "cowboy-bars-"); err != nil {
					return 0, fmt.Errorf("folder: %w", err)
				}
				w = newWorkload(accounts)
				if d, err = newDurable(dir, w); err != nil {
					return 0, err
				}
			}
			d.prepare(w, w.touch(updates))
			before := d.store.LogBytes()
			if err := d.commit(); err != nil {
				return 0, err
			}
			return float64(d.store.LogBytes()-before) / float64(updates), nil
		},
		Close: func() error { return errors.Join(d.store.Close(), os.RemoveAll(dir)) },
	}
}

// growth measures how much dearer an update gets when the state grows a
// hundredfold: the best of eight blocks on each, taken in turns, in processor
// time. Neighbours on the machine take away wall time at random, and half of it
// from whoever runs twice as long.
func growth(small, large, updates int) *bars.Gauge {
	var sides [2]*ours
	var works [2]*workload
	cost := func() (best [2]time.Duration, err error) {
		for range 8 {
			for i := range sides {
				sides[i].prepare(works[i].delta(works[i].touch(updates)))
				start := processTime()
				if err := sides[i].apply(); err != nil {
					return best, err
				}
				if took := processTime() - start; best[i] == 0 || took < best[i] {
					best[i] = took
				}
			}
		}
		return best, nil
	}
	return &bars.Gauge{
		Unit: "times the cost", Must: 2.5, Aim: 1.8,
		Measure: func(int) (float64, error) {
			for i, accounts := range []int{small, large} {
				if sides[i] != nil {
					continue
				}
				sides[i], works[i] = newOurs(1), newWorkload(accounts)
				for part := range slices.Chunk(works[i].everyone(), 1_000_000) {
					sides[i].prepare(works[i].delta(part))
					if err := sides[i].apply(); err != nil {
						return 0, err
					}
				}
			}
			best, err := cost()
			return float64(best[1]) / float64(best[0]), err
		},
		Close: func() error { sides, works = [2]*ours{}, [2]*workload{}; return nil },
	}
}

// processTime is user and system time of this process.
func processTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // it has no way to go wrong with these arguments
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
