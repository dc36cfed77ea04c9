package main

import (
	"errors"
	"fmt"
	"math"
	"syscall"
	"time"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

const (
	budget     = 1 << 40
	copies     = 4         // of an operation in the body of the loop
	mostRepeat = 1_000_000 // of the loop
)

// reading is what one thing measured took, its loop taken off.
type reading struct {
	name   string
	group  string
	nanos  float64 // of processor time a cycle, the least of the samples
	cycles float64 // of the operation
	best   sample
	sized  int
	p      *pvm.Program
}

// sample is one run of so many repetitions.
type sample struct {
	time    time.Duration
	cycles  int64
	repeats int
}

// runner measures.
type runner struct {
	table  *table
	rounds int
	least  time.Duration
	rt     *vm.Runtime
	lim    pvm.Limits
	engine *pvm.Engine
	empty  sample // the loop alone
}

func (r *runner) start() error {
	rt, err := pvm.NewRuntime([2]uint64{7, 9})
	if err != nil {
		return err
	}
	r.rt, r.lim = rt, pvm.DefaultLimits()
	r.engine = pvm.NewEngine(rt, pvm.NewLRU(0), r.lim)
	base, err := r.prepare("", "pass", 1)
	if err != nil {
		return err
	}
	for range 20 {
		if err := r.sample(base); err != nil {
			return err
		}
	}
	r.empty = base.best
	return nil
}

// processorTime is what this process has used, its collector included: unlike the
// clock on the wall it does not count what neighbours do.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// prepare compiles the loop of an operation.
func (r *runner) prepare(group, body string, times int) (*reading, error) {
	o := operation{group, body}
	p, err := pvm.Compile([]byte(r.table.program(body, times)), o.name()+".py", r.lim)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", body, err)
	}
	return &reading{name: o.name(), group: group, p: p, nanos: math.Inf(1)}, nil
}

// sample runs an operation on a clean machine: the first time, until a run takes
// long enough, then as often.
func (r *runner) sample(g *reading) error {
	return r.engine.With(nil, func(m *vm.Machine) error {
		res, err := m.Execute(g.p.Code, budget)
		if err := failure(g.name, res, err); err != nil {
			return err
		}
		sizing := g.sized == 0
		if sizing {
			g.sized = 1
		}
		res, err = m.CallFunction("run", []vm.Value{vm.SmallInt(1)}, budget) // what happens once: imports, shapes
		if err := failure(g.name, res, err); err != nil {
			return err
		}
		for {
			begin := processorTime()
			res, err := m.CallFunction("run", []vm.Value{vm.SmallInt(int64(g.sized))}, budget)
			took := processorTime() - begin
			if err := failure(g.name, res, err); err != nil {
				return err
			}
			if sizing && took < r.least && g.sized < mostRepeat {
				grow := 2 * float64(r.least) / float64(max(took, r.least/64))
				g.sized = min(mostRepeat, int(float64(g.sized)*max(grow, 2)))
				continue
			}
			r.keep(g, sample{took, res.Cycles, g.sized})
			return nil
		}
	})
}

// keep takes the loop off and keeps the least.
func (r *runner) keep(g *reading, s sample) {
	nanos, cycles := float64(s.time), float64(s.cycles)
	if r.empty.repeats > 0 {
		share := float64(s.repeats) / float64(r.empty.repeats)
		nanos -= share * float64(r.empty.time)
		cycles -= share * float64(r.empty.cycles)
	}
	if per := max(0, nanos) / max(1, cycles); per < g.nanos {
		g.nanos, g.cycles, g.best = per, cycles/float64(s.repeats*copies), s
	}
}

// failure turns the end of a run that did not return into an error.
func failure(name string, res vm.Result, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case res.Raised != nil:
		return errors.New(name + ": " + res.Traceback)
	}
	return nil
}
