package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/boundary"
)

// Bounds of issue 14: nanoseconds a cycle at the boundary between program and chain,
// and what a block may take of its time.
const (
	perCycleMust, perCycleAim     = 50, 25
	perCellMust, perCellAim       = 2, 1
	worstBlockMust, worstBlockAim = 1_000, 500 // milliseconds, of a block time of 1,000
	// crowd is how many accounts, and entries of each of the system's tables, the
	// state of the bars has besides. Ten million take more than the minute that a bar
	// may take to set up; reads grow with their logarithm.
	crowd = 100_000
	shown = 10
)

// worstBars bound what a transaction costs against what it takes. They have no peer.
func worstBars() []bars.Bar {
	w := &worst{}
	return []bars.Bar{
		{Name: "worst-ns-per-cycle", Cores: 1, Gauge: &bars.Gauge{
			Unit: "ns/cycle", Must: perCycleMust, Aim: perCycleAim, Measure: w.perCycle, Close: w.printSlowest,
		}},
		{Name: "worst-bytes-per-cell", Gauge: &bars.Gauge{
			Unit: "bytes/cell", Must: perCellMust, Aim: perCellAim, Measure: w.perCell, Close: w.printThickest,
		}},
		{Name: "worst-block-that-limits-allow", Cores: 1, Gauge: &bars.Gauge{
			Unit: "ms", Must: worstBlockMust, Aim: worstBlockAim, Measure: w.block, Close: w.close,
		}},
		{Name: "ordinary-cycles-of-before", Gauge: &bars.Gauge{
			Unit: "%", Must: boundary.CyclesPercentMax, Measure: ordinaryCycles, Close: printOrdinary,
		}},
		{Name: "ordinary-cells-of-before", Gauge: &bars.Gauge{
			Unit: "%", Must: boundary.CellsPercentMax, Measure: ordinaryCells,
		}},
	}
}

// worst is the survey that two bars share. Each of them sets it up if the other has
// not run.
type worst struct {
	survey *boundary.Survey
	rounds int
}

func (w *worst) ready() error {
	if w.survey != nil {
		return nil
	}
	s, err := boundary.NewSurvey(crowd)
	if err != nil {
		return err
	}
	for _, failed := range s.Failed {
		fmt.Fprintln(os.Stderr, "not measured:", failed)
	}
	w.survey = s
	return nil
}

// perCycle is the worst of what each case took at least.
func (w *worst) perCycle(int) (float64, error) {
	if err := w.ready(); err != nil {
		return 0, err
	}
	if err := w.survey.Round(); err != nil {
		return 0, err
	}
	w.rounds++
	return w.survey.Slowest()[0].PerCycle(), nil
}

func (w *worst) printSlowest() error {
	if w.survey != nil {
		fmt.Printf("the %d slowest on a state of %d accounts and as many entries a table, least of %d samples:\n", shown, crowd, w.rounds)
		boundary.Table(os.Stdout, w.survey.Slowest(), shown)
	}
	return nil
}

// perCell is the most bytes that a case makes all nodes keep for a cell, both beyond
// the smallest transfer.
func (w *worst) perCell(int) (float64, error) {
	if err := w.ready(); err != nil {
		return 0, err
	}
	return w.survey.Thickest()[0].KeptPerCell(), nil
}

func (w *worst) printThickest() error {
	if w.survey != nil {
		fmt.Printf("the %d that keep most for a cell:\n", shown)
		boundary.KeptTable(os.Stdout, w.survey.Thickest(), shown)
	}
	return nil
}

func (w *worst) block(int) (float64, error) {
	if err := w.ready(); err != nil {
		return 0, err
	}
	took, err := w.survey.WorstBlock()
	return took.Seconds() * 1_000, err
}

func (w *worst) close() error {
	if w.survey == nil {
		return nil
	}
	return w.survey.Close()
}

func prices() ([]boundary.Price, error) {
	wd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return boundary.Ordinary(filepath.Join(bars.RepositoryRoot(wd), "sdk", "python", "examples"))
}

func ordinaryCycles(int) (float64, error) {
	list, err := prices()
	most := 0.0
	for i := range list {
		most = max(most, 100*float64(list[i].Now.Cycles)/max(1, float64(list[i].Before.Cycles)))
	}
	return most, err
}

func ordinaryCells(int) (float64, error) {
	list, err := prices()
	most := 0.0
	for i := range list {
		if p := &list[i]; p.Exempt == "" && p.Now.Cells > 0 {
			most = max(most, 100*float64(p.Now.Cells)/max(1, float64(p.Before.Cells)))
		}
	}
	return most, err
}

func printOrdinary() error {
	list, err := prices()
	if err != nil {
		return err
	}
	fmt.Println("the price of the ordinary, before and now:")
	for i := range list {
		p := &list[i]
		fmt.Printf("  %-32s cycles %8d %8d  cells %6d %6d  %s\n", p.Name, p.Before.Cycles, p.Now.Cycles, p.Before.Cells, p.Now.Cells, p.Exempt)
	}
	return nil
}
