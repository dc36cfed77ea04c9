package conformance

import (
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

var (
	programs  = flag.Int("programs", 40, "random programs to compare with CPython")
	reported  = flag.Int("reported", 10, "random programs to shrink and print, of those that differ")
	firstSeed = flag.Int64("seed", 1, "seed of the first random program")
)

const (
	programBatch  = 100
	programCycles = 30_000_000
	shrinkBudget  = 1500 // runs
	shrinkChunk   = 24
)

// families are the generators of programs. Each has its own seeds.
var families = []struct {
	name, prelude string
	program       func(seed int64) []*statement
}{
	{"programs", prelude, program},
	{"delegation", delegationPrelude, delegationProgram},
	{"floats", floatPrelude, floatProgram},
}

// TestRandomPrograms runs generated programs of each family here and on CPython and
// compares what they print.
func TestRandomPrograms(t *testing.T) {
	python := cpython.Path(t)
	rt, err := pvm.NewRuntime([2]uint64{7, 11})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			p := &pair{t: t, python: python, engine: pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits()), prelude: f.prelude}
			p.all(f.program)
		})
	}
}

// all compares the programs of the seeds that were asked for.
func (p *pair) all(program func(seed int64) []*statement) {
	differ, unfit := 0, 0
	for done := 0; done < *programs; done += programBatch {
		n := min(programBatch, *programs-done)
		batch := make([][]*statement, n)
		for i := range batch {
			batch[i] = program(*firstSeed + int64(done+i))
		}
		for i, r := range p.compare(batch) {
			switch {
			case r.unfit:
				unfit++
			case r.want != r.got:
				differ++
				if differ <= *reported {
					p.report(*firstSeed+int64(done+i), batch[i])
				}
			}
		}
	}
	p.t.Logf("%d programs from seed %d: %d differ, %d took too long", *programs, *firstSeed, differ, unfit)
	if unfit > *programs/20 {
		p.t.Errorf("%d of %d programs say nothing", unfit, *programs)
	}
}

// pair is the machine beside CPython.
type pair struct {
	t       *testing.T
	python  string
	engine  *pvm.Engine
	prelude string // of the programs, left out when one is shown
}

type outcome struct {
	want, got string
	unfit     bool
}

func source(body []*statement) string {
	var b strings.Builder
	render(&b, body, 0)
	return b.String()
}

// compare runs programs on both.
func (p *pair) compare(batch [][]*statement) []outcome {
	scripts := make([]script, len(batch))
	for i, body := range batch {
		scripts[i] = script{Head: source(body), seconds: 1}
	}
	wants := oracle(p.t, p.python, scripts)
	out := make([]outcome, len(batch))
	for i := range batch {
		if strings.HasSuffix(wants[i], "! killed\n") {
			out[i].unfit = true
			continue
		}
		got, unfit := p.ours(scripts[i].Head)
		out[i] = outcome{want: agreed(wants[i]), got: agreed(got), unfit: unfit}
	}
	return out
}

// agreed takes out what differs on purpose: what print drops beyond its limit,
// and that a method of a builtin object is of class method, as one of Python is.
func agreed(text string) string {
	text = text[:min(len(text), vm.DefaultLimits().OutputBytes)]
	return strings.ReplaceAll(text, "'builtin_function_or_method' object", "'method' object")
}

// ours is what the machine prints; unfit when the program did not come to its end.
func (p *pair) ours(text string) (got string, unfit bool) {
	prog, err := p.engine.Program([]byte(text), "script.py")
	if err != nil {
		return "! SyntaxError\n", false
	}
	res, err := p.engine.Run(prog, programCycles, nil)
	var abort *vm.Abort
	if errors.As(err, &abort) {
		text := abort.Error()
		return text, !strings.Contains(text, "defect")
	}
	if err != nil {
		return err.Error(), false
	}
	got = string(res.Output)
	if res.Raised != nil {
		last := strings.Split(strings.TrimSpace(res.Traceback), "\n")
		name, _, _ := strings.Cut(last[len(last)-1], ":")
		got += "! " + strings.TrimPrefix(name, "__main__.") + "\n"
	}
	return got, false
}

// report shrinks a program as long as it differs and prints it.
func (p *pair) report(seed int64, body []*statement) {
	from := 0 // the candidates before did not help
	for budget := shrinkBudget; budget > 0; {
		smaller := without(body)
		if from >= len(smaller) {
			break
		}
		smaller = smaller[from:min(from+shrinkChunk, len(smaller))]
		budget -= len(smaller)
		from += len(smaller)
		for i, r := range p.compare(smaller) {
			if !r.unfit && r.want != r.got {
				body, from = smaller[i], max(0, from-len(smaller)+i-shrinkChunk)
				break
			}
		}
	}
	r := p.compare([][]*statement{body})[0]
	text := strings.TrimPrefix(source(body), p.prelude)
	p.t.Errorf("seed %d:\n%s\nCPython: %s\nours:    %s", seed, text, r.want, r.got)
}

// without returns the program with each statement taken out in turn, and with
// each block in the place of its statement.
func without(body []*statement) [][]*statement {
	var out [][]*statement
	for i, s := range body {
		rest := append(append([]*statement(nil), body[:i]...), body[i+1:]...)
		out = append(out, rest)
		for j, c := range s.clauses {
			if len(c.body) > 0 {
				lifted := append(append(append([]*statement(nil), body[:i]...), c.body...), body[i+1:]...)
				out = append(out, lifted)
			}
			for _, b := range without(c.body) {
				changed := &statement{clauses: append([]clause(nil), s.clauses...)}
				changed.clauses[j].body = b
				next := append([]*statement(nil), body...)
				next[i] = changed
				out = append(out, next)
			}
		}
	}
	return out
}
