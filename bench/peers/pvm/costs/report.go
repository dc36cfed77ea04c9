package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// The bars, in nanoseconds a cycle.
const (
	operationMust = 50
	mixMust       = 25
	worstShown    = 10
)

// report measures all and prints a line for each operation, then the bars.
func (r *runner) report(w io.Writer, only string, all bool) error {
	readings, failed, err := r.operations(w, only)
	if err != nil {
		return err
	}
	ops, mixes := readings, []*reading(nil)
	for i, g := range readings {
		if g.group == mixGroup {
			ops, mixes = readings[:i], readings[i:]
			break
		}
	}
	worstFirst(ops)
	worstFirst(mixes)
	if len(ops) == 0 {
		return fmt.Errorf("no operation has %q", only)
	}
	median := ops[len(ops)/2].nanos
	if all {
		for _, g := range ops {
			fmt.Fprintf(w, "%-12s %8.1f ns/cycle %7.2f of the median %10.1f cycles  %s\n", g.group, g.nanos, g.nanos/median, g.cycles, g.name)
		}
		for _, g := range mixes {
			fmt.Fprintf(w, "%-12s %8.1f ns/cycle %7.2f of the median  %s\n", g.group, g.nanos, g.nanos/median, g.name)
		}
	}
	fmt.Fprintf(w, "operations %d, median %.2f ns/cycle, failed %d\n", len(ops), median, failed)
	bar := func(kind string, must float64, list []*reading) {
		for _, g := range list[:min(worstShown, len(list))] {
			verdict := "ok"
			if g.nanos > must {
				verdict = "SHORT"
			}
			fmt.Fprintf(w, "bar %s-%s %.1f ns/cycle ratio-to-median %.2f must %.0f %s\n", kind, g.name, g.nanos, g.nanos/median, must, verdict)
		}
	}
	bar("op", operationMust, ops)
	bar("mix", mixMust, mixes)
	if only != "" {
		return nil
	}
	attacks, err := r.attacks()
	if err != nil {
		return err
	}
	worstFirst(attacks)
	bar("attack", operationMust, attacks[:3])
	return nil
}

func worstFirst(list []*reading) {
	slices.SortStableFunc(list, func(a, b *reading) int {
		switch {
		case a.nanos > b.nanos:
			return -1
		case a.nanos < b.nanos:
			return 1
		}
		return 0
	})
}

// operations measures the table, then the mixes. An operation that does not run
// is reported and left out.
func (r *runner) operations(w io.Writer, only string) (out []*reading, failed int, err error) {
	var ran []operation
	add := func(group, name, body string, times int) bool {
		g, err := r.prepare(group, body, times)
		if err == nil {
			if name != "" {
				g.name = name
			}
			err = r.sample(g)
		}
		if err != nil {
			fmt.Fprintln(w, "failed:", err)
			failed++
			return false
		}
		out = append(out, g)
		return true
	}
	for _, o := range r.table.ops {
		if strings.Contains(o.code, only) && add(o.group, "", o.code, copies) {
			ran = append(ran, o)
		}
	}
	if only == "" {
		for _, m := range mixes(ran) {
			add(mixGroup, m.group, m.code, 1)
		}
	}
	for range r.rounds - 1 {
		for _, g := range out {
			if err := r.sample(g); err != nil {
				return nil, 0, err
			}
		}
	}
	return out, failed, nil
}

// mixGroup marks mixes.
const mixGroup = "mix"

// mixes are the operations of each group, and every so many of all, one after
// another.
func mixes(ops []operation) []operation {
	const stride = 40
	byName := map[string][]string{}
	var names []string
	put := func(name, code string) {
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], code)
	}
	for i, o := range ops {
		put(o.group, o.code)
		put(fmt.Sprintf("every-%dth-from-%d", stride, i%stride), o.code)
	}
	out := make([]operation, len(names))
	for i, name := range names {
		out[i] = operation{name, tried(byName[name])}
	}
	return out
}
