package sdk

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func timerDefs() []vm.Def {
	return []vm.Def{
		native("set_timer", 2, "height handler data gba", func(c call) (vm.Value, error) {
			height, err := c.unsigned(0, "height")
			if err != nil {
				return vm.None, err
			}
			return c.timer(host.Timer{Height: height}, 2, 3)
		}),
		native("set_interval", 2, "every_n_blocks handler data gba", setInterval),
		native("schedule_timer_ex", 2, "height handler data every gba target cycles_limit cells_limit", scheduleTimer),
		native("extend_timer", 2, "timer_id height", extendTimer),
		native("cancel_timer", 1, "timer_id", cancelTimer),
	}
}

func setInterval(c call) (vm.Value, error) {
	every, err := c.unsigned(0, "every_n_blocks")
	if err != nil {
		return vm.None, err
	}
	if every == 0 {
		return vm.None, c.m.ValueError("every_n_blocks must be at least 1")
	}
	return c.timer(host.Timer{Every: every}, 2, 3)
}

// scheduleTimer sets a timer with everything that the chain lets be chosen.
func scheduleTimer(c call) (vm.Value, error) {
	var t host.Timer
	// Bounded: by four arguments.
	for _, row := range []struct {
		i    int
		what string
		to   *uint64
	}{{0, "height", &t.Height}, {3, "every", &t.Every}, {6, "cycles_limit", &t.Cycles}, {7, "cells_limit", &t.Cells}} {
		n, err := c.unsigned(row.i, row.what)
		if err != nil {
			return vm.None, err
		}
		*row.to = n
	}
	if !c.arg(5).IsNone() {
		a, err := c.address(5)
		if err != nil {
			return vm.None, err
		}
		t.To = a
	}
	return c.timer(t, 2, 4)
}

// timer sets a timer whose handler is argument 1; data and gba are where the
// function has these.
func (c call) timer(t host.Timer, data, gba int) (vm.Value, error) {
	var err error
	if t.Handler, err = c.nameArg(1, "handler"); err != nil {
		return vm.None, err
	}
	if !c.arg(gba).IsNone() {
		a, err := c.address(gba)
		if err != nil {
			return vm.None, err
		}
		t.Bidder = &a
	}
	c.m.Charge(c.s.costs.Timer + c.s.costs.TimerFile)
	if t.Data, err = c.s.encode(c.m, c.arg(data)); err != nil {
		return vm.None, err
	}
	id, err := c.s.host.SetTimer(t)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.hexText(id[:]), nil
}

func extendTimer(c call) (vm.Value, error) {
	id, err := c.id(0)
	if err != nil {
		return vm.None, err
	}
	height, err := c.unsigned(1, "height")
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.Timer + c.s.costs.TimerFile)
	return vm.None, c.done(c.s.host.ExtendTimer(id, height))
}

func cancelTimer(c call) (vm.Value, error) {
	id, err := c.id(0)
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.TimerCancel + c.s.costs.TimerFile)
	return c.truth(c.s.host.CancelTimer(id))
}
