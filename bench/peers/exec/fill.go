package main

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// What filling the state must take at the least (issue 14), and the most bytes that a
// cell may keep, which stands for what the thickest case keeps.
const (
	fillDaysMust, fillDaysAim = 30, 365
	bytesOfCell               = 2
)

// fillBar bounds how much of the state's limit blocks fill in thirty days that are
// all at their target of cells, from an empty chain.
func fillBar() []bars.Bar {
	return []bars.Bar{{Name: "days-to-fill-the-state", Gauge: &bars.Gauge{
		Unit: "fillings in thirty days", Must: 1, Aim: float64(fillDaysMust) / fillDaysAim, Measure: measureFill, Close: printFill,
	}}}
}

// fillDays steps through the limit in parts of a thousandth.
func fillDays() (days float64, cost chain.Wei) {
	p := params.Default()
	limit, step := p.State.LimitBytes, p.State.LimitBytes/1_000
	perDay := float64(p.CellsTarget) * 86_400_000 / float64(p.BlockTimeMillis)
	var cells float64
	for kept := uint64(0); kept < limit; kept += step {
		cells += float64(step) / bytesOfCell * float64(fees.GrowthFactor(&p.State, kept)) / fees.GrowthOne
	}
	return cells / perDay, chain.Wei(cells) * p.MinBaseFee
}

func measureFill(int) (float64, error) {
	days, _ := fillDays()
	return fillDaysMust / days, nil
}

func printFill() error {
	days, cost := fillDays()
	fmt.Printf("to fill the limit of the state at the target of cells takes %.0f days and %d CBY at the lowest base fee\n", days, cost/chain.WeiPerCBY)
	return nil
}
