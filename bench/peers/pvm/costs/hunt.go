package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"slices"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// huntCycles bounds one run of a program that is hunted.
const huntCycles = 300_000

// prey is a random program: operations with operands exchanged.
type prey struct {
	bodies []string
	nanos  float64
}

// hunt runs random programs from a seed on and prints the worst, shrunk.
func (r *runner) hunt(w io.Writer, seed int64, length time.Duration) error {
	var found []prey
	programs := 0
	for end := time.Now().Add(length); time.Now().Before(end); seed++ {
		g := rand.New(rand.NewSource(seed))
		var p prey
		for range 1 + g.Intn(4) {
			p.bodies = append(p.bodies, r.table.exchange(g, r.table.ops[g.Intn(len(r.table.ops))].code))
		}
		programs++
		if p.nanos = r.time(p.bodies, 1); p.nanos < operationMust || math.IsInf(p.nanos, 1) {
			continue
		}
		if p = r.shrink(p); p.nanos > operationMust {
			found = append(found, p)
			fmt.Fprintf(w, "found seed %d %.1f ns/cycle: %s\n", seed, p.nanos, strings.Join(p.bodies, " ; "))
		}
	}
	slices.SortStableFunc(found, func(a, b prey) int { return int(b.nanos - a.nanos) })
	worst := 0.0
	if len(found) > 0 {
		worst = found[0].nanos
	}
	for _, p := range found[:min(worstShown, len(found))] {
		fmt.Fprintf(w, "outlier %.1f ns/cycle: %s\n", p.nanos, strings.Join(p.bodies, " ; "))
	}
	verdict := "ok"
	if worst > operationMust {
		verdict = "SHORT"
	}
	fmt.Fprintf(w, "bar hunt programs %d, %d above the limit, worst %.1f ns/cycle must %d %s\n", programs, len(found), worst, operationMust, verdict)
	return nil
}

// exchange puts other operands, mostly of the same kind, into an operation.
func (t *table) exchange(g *rand.Rand, code string) string {
	return words.ReplaceAllStringFunc(code, func(w string) string {
		o, ok := t.operands[w]
		if !ok || o.kind == "module" || g.Intn(2) == 0 {
			return w
		}
		for range 20 {
			other := t.operands[t.order[g.Intn(len(t.order))]]
			if other.kind == o.kind || other.kind != "module" && g.Intn(10) == 0 {
				return other.name
			}
		}
		return w
	})
}

// tried is bodies one after another; an exception ends one, not the program.
func tried(bodies []string) string {
	var code strings.Builder
	for _, b := range bodies {
		code.WriteString("try:\n    " + strings.ReplaceAll(b, "\n", "\n    ") + "\nexcept Exception: pass\n")
	}
	return strings.TrimSuffix(code.String(), "\n")
}

// time is the least nanoseconds a cycle of so many runs, infinite for a program
// that does not compile.
func (r *runner) time(bodies []string, runs int) float64 {
	p, err := pvm.Compile([]byte(r.table.program(tried(bodies), 1)), "prey.py", r.lim)
	if err != nil {
		return math.Inf(1)
	}
	best := math.Inf(1)
	for range runs {
		_ = r.engine.With(nil, func(m *vm.Machine) error {
			if res, err := m.Execute(p.Code, budget); failure("prey", res, err) != nil {
				return err
			}
			begin := processorTime()
			res, err := m.CallFunction("run", []vm.Value{vm.SmallInt(mostRepeat)}, huntCycles)
			took := processorTime() - begin
			var abort *vm.Abort
			if res.Cycles > huntCycles/4 && (err == nil || errors.As(err, &abort)) {
				best = min(best, float64(took)/float64(res.Cycles))
			}
			return err
		})
	}
	return best
}

// shrink leaves out bodies as long as the program stays nearly as slow.
func (r *runner) shrink(p prey) prey {
	const runs, nearly = 5, 0.9
	p.nanos = r.time(p.bodies, runs)
	for i := 0; i < len(p.bodies) && len(p.bodies) > 1; {
		less := slices.Delete(slices.Clone(p.bodies), i, i+1)
		if n := r.time(less, runs); n > nearly*p.nanos && !math.IsInf(n, 1) {
			p = prey{less, n}
			continue
		}
		i++
	}
	return p
}
