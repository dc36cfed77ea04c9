package main

import (
	"fmt"
	"io"

	"github.com/cowboy-foundation/cowboy/bench/boundary"
)

// crowd is how large the state of the second table is: see bench/peers/exec.
const crowd = 100_000

// boundary prints what every host call, instruction and delivery takes on the worst
// state: the largest records, nothing compiled, many entries.
func (r *runner) boundary(w io.Writer, all bool) error {
	s, err := boundary.NewSurvey(crowd)
	if err != nil {
		return err
	}
	for range r.rounds - 1 {
		if err := s.Round(); err != nil {
			return err
		}
	}
	list := s.Slowest()
	fmt.Fprintf(w, "host calls, instructions and deliveries among %d accounts and as many entries a table: %d, failed %d\n", crowd, len(list), len(s.Failed))
	for _, failed := range s.Failed {
		fmt.Fprintln(w, "failed:", failed)
	}
	if all {
		boundary.Table(w, list, len(list))
	}
	for i := range list[:min(worstShown, len(list))] {
		verdict := "ok"
		if list[i].PerCycle() > operationMust {
			verdict = "SHORT"
		}
		fmt.Fprintf(w, "bar %s-%s %.1f ns/cycle must %d %s\n", list[i].Group, list[i].Name, list[i].PerCycle(), operationMust, verdict)
	}
	return s.Close()
}
