package attacks_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

var (
	nestRuns  = flag.Int("nests", 3, "operations of TestNests on each kind of nest; 0: all of them")
	nestSeed  = flag.Uint64("nest-seed", 1, "what they are chosen by")
	nestNanos = flag.Float64("nest-ns", 400, "ns of the processor that a cycle may take in TestNests: 50 on a machine that does nothing else")
	nestKinds = flag.String("nest-kinds", "", "only nests whose name matches this")
	nestOps   = flag.String("nest-ops", "", "only operations whose text matches this")
	nestParts = flag.String("nest-part", "1/1", "only this part of the kinds, as in 2/3")
)

// Depths of nests, and what an operation on one may use. Nests of nestDeep levels are made
// again after nestKept operations, as that takes long.
const (
	nestShallow = 50
	nestDeep    = 20_000
	nestCycles  = 40_000
	nestBuild   = 8_000_000
	nestKept    = 400 // operations, of which shallow ones are made again 50 times as often
	nestSampled = 30  // one kind in so many is nested deep in a sample
)

// The heap while it is measured, and what that may use.
const (
	nestHeap     = 16 << 20
	nestMeasured = 600_000
)

// A call is judged by its time from nestLeast on: the clock, and what a first call makes
// ready. It is tried nestTries times, as what else runs slows some of them.
const (
	nestLeast = 60 * time.Microsecond
	nestTries = 6
)

// TestNests nests every kind of value that wraps another, nestShallow and nestDeep deep, and
// does with each all that TestCross calls, all that the table of costs measures, with the nest
// in the place of each operand, and what only nests are used for. No operation is a defect,
// and none takes longer than its cycles allow: what walks a nest pays for each level, and
// recurses no deeper than the limit of recursion (ADR 233).
func TestNests(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // its clock is read
	defer runtime.UnlockOSThread()
	x := &nests{t: t, rng: rand.New(rand.NewPCG(*nestSeed, 11)), engine: pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits())}
	x.only, x.onlyOps = regexp.MustCompile(*nestKinds), regexp.MustCompile(*nestOps)
	if _, err := fmt.Sscanf(*nestParts, "%d/%d", &x.part, &x.parts); err != nil || x.part < 1 || x.part > x.parts {
		t.Fatalf("part %q of the kinds", *nestParts)
	}
	for kinds := 1; x.next < kinds; {
		err := x.engine.With(nil, func(m *vm.Machine) error {
			m.Brief = true // as in a block
			m.LimitHeap(1 << 30)
			kinds = x.session(m)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d calls of %d operations, %d of them long enough to be judged", x.calls, len(x.ops), x.judged)
}

// nests is one run of TestNests.
type nests struct {
	t             *testing.T
	rng           *rand.Rand
	engine        *pvm.Engine
	only, onlyOps *regexp.Regexp
	part, parts   int
	next          int         // kind
	ops           []operation // of the session under way
	functions     map[string]vm.Value
	calls, judged int
}

// operation is something to call, with some values beside nests.
type operation struct {
	named
	args [][]vm.Value
}

// placeV and placeW are placeholders of a nest, and of another of its kind, in arguments.
var placeV, placeW = vm.SmallInt(-77), vm.SmallInt(-78)

// session loads everything anew, and goes through kinds: one of them when all operations
// are done with it, as they leave much behind, else all. It returns how many there are.
func (x *nests) session(m *vm.Machine) int {
	x.load(m, "testdata/cross.py")
	calls := crossList(x.t, m, "calls")
	x.execute(m, operationsOf(x.t))
	table := crossList(x.t, m, "ops")
	x.load(m, "testdata/nests.py")
	own, kinds := crossList(x.t, m, "ops"), crossList(x.t, m, "nests")
	x.functions = map[string]vm.Value{}
	for _, f := range crossList(x.t, m, "functions") {
		x.functions[f.text] = f.v
	}
	v, w := placeV, placeW
	alone := [][]vm.Value{{v}}
	among := [][]vm.Value{{v}, {v, w}, {v, v, v}}
	for _, o := range crossList(x.t, m, "others") {
		among = append(among, []vm.Value{v, o.v}, []vm.Value{o.v, v})
	}
	x.ops = x.ops[:0]
	for _, list := range []struct {
		ops  []named
		args [][]vm.Value
	}{{calls, among}, {table, alone}, {own, among[:2]}} {
		for _, o := range list.ops {
			if !x.onlyOps.MatchString(o.text) {
				continue
			}
			x.ops = append(x.ops, operation{o, list.args})
		}
	}
	if len(calls) < 1_500 || len(table) < 1_000 || len(kinds) < 200 {
		x.t.Fatalf("%d calls, %d operations and %d kinds", len(calls), len(table), len(kinds))
	}
	for ; x.next < len(kinds); x.next++ {
		if x.next%x.parts != x.part-1 || !x.only.MatchString(kinds[x.next].text) {
			continue
		}
		x.kind(m, kinds[x.next])
		if *nestRuns == 0 {
			x.next++
			break
		}
	}
	return len(kinds)
}

func (x *nests) load(m *vm.Machine, file string) {
	source, err := os.ReadFile(file)
	if err != nil {
		x.t.Fatal(err)
	}
	x.execute(m, source)
}

func (x *nests) execute(m *vm.Machine, source []byte) {
	p, err := pvm.Compile(source, "nests.py", pvm.DefaultLimits())
	if err != nil {
		x.t.Fatal(err)
	}
	if res, err := m.Execute(p.Code, 1<<40); err != nil || res.Raised != nil {
		x.t.Fatal(err, res.Traceback)
	}
}

// kind goes through the operations on nests of one kind.
func (x *nests) kind(m *vm.Machine, kind named) {
	pair, _ := kind.v.Items()
	for _, depth := range []int{nestDeep, nestShallow} {
		if depth == nestDeep && *nestRuns > 0 && x.rng.IntN(nestSampled) > 0 {
			continue
		}
		n := &nest{nests: x, m: m, name: fmt.Sprintf("%s, %d deep", kind.text, depth), start: pair[0], wrap: pair[1], depth: depth, built: math.Inf(1)}
		n.fresh()
		if depth == nestDeep {
			n.measure() // before operations leave things behind
		}
		if *nestRuns == 0 {
			for _, op := range x.ops {
				for _, args := range op.args {
					n.operate(op.named, args)
				}
			}
		}
		for range *nestRuns {
			op := x.ops[x.rng.IntN(len(x.ops))]
			n.operate(op.named, op.args[x.rng.IntN(len(op.args))])
		}
		for try := 0; try < nestTries && n.built > *nestNanos; try++ {
			n.fresh()
		}
		if n.built > *nestNanos {
			n.t.Errorf("%s: made: %.0f ns/cycle", n.name, n.built)
		}
	}
}

// nest is two nests of one kind and depth.
type nest struct {
	*nests
	m           *vm.Machine
	name        string
	start, wrap vm.Value
	depth       int
	v, w        vm.Value
	used        int     // operations since they were made
	built       float64 // ns a cycle, at best
}

// fresh makes the two, as deep as they can be.
func (n *nest) fresh() {
	n.v, n.w, n.used = n.build(), n.build(), 0
}

func (n *nest) build() vm.Value {
	top := n.m.NewList([]vm.Value{vm.None})
	took, cycles := n.run("made", n.functions["make"], []vm.Value{n.start, n.wrap, vm.SmallInt(int64(n.depth)), top}, nestBuild)
	if took < nestLeast {
		n.built = 0
	}
	n.built = min(n.built, float64(took)/float64(cycles))
	items, _ := top.Items()
	return items[0]
}

// measure has the heap measured over and over, with the nests in it.
func (n *nest) measure() {
	n.m.LimitHeap(nestHeap)
	best := math.Inf(1)
	for try := 0; try < nestTries && best > *nestNanos; try++ {
		took, cycles := n.run("measured", n.functions["allocate"], []vm.Value{n.v, n.w}, nestMeasured)
		if cycles < nestMeasured {
			best = 0 // too much is there already
		}
		best = min(best, float64(took)/float64(cycles))
	}
	if n.m.LimitHeap(1 << 30); best > *nestNanos {
		n.t.Errorf("%s: measured: %.0f ns/cycle", n.name, best)
	}
}

// operate does one operation once, and where that takes any time, over and over.
func (n *nest) operate(op named, pattern []vm.Value) {
	n.calls++
	if n.used++; n.used > nestKept || n.depth == nestShallow && n.used > nestKept/50 {
		n.fresh()
	}
	took, cycles := n.run(op.text, n.functions["once"], n.arguments(op, pattern), nestCycles)
	if took < nestLeast/4 {
		return
	}
	n.judged++
	best := float64(took) / float64(cycles)
	if took < nestLeast {
		best = *nestNanos + 1
	}
	for try := 0; try < nestTries && best > *nestNanos; try++ {
		if try > 0 && (n.depth == nestShallow || try == nestTries-1) {
			n.fresh()
		}
		took, cycles := n.run(op.text, n.functions["again"], n.arguments(op, pattern), nestCycles)
		best = min(best, float64(took)/float64(cycles))
	}
	if best > *nestNanos {
		n.t.Errorf("%s: %s of %d values: %.0f ns/cycle", n.name, op.text, len(pattern), best)
	}
}

// arguments puts the nests into a pattern, behind the operation.
func (n *nest) arguments(op named, pattern []vm.Value) []vm.Value {
	args := []vm.Value{op.v}
	for _, a := range pattern {
		switch a {
		case placeV:
			a = n.v
		case placeW:
			a = n.w
		}
		args = append(args, a)
	}
	return args
}

// run calls a function and tells how long it took.
func (n *nest) run(text string, fn vm.Value, args []vm.Value, most code.Cycles) (time.Duration, code.Cycles) {
	begin := threadTime()
	res, err := n.m.Do(most, func(m *vm.Machine) (vm.Value, error) { return m.Call(fn, args...) })
	took := threadTime() - begin
	var abort *vm.Abort
	if err != nil && (!errors.As(err, &abort) || abort.Code == vm.Internal) {
		n.t.Errorf("%s: %s: %v", n.name, text, err)
	}
	return took, max(1, res.Cycles)
}

// The table of costs: operands, and operations on them.
const costTable = "../../../bench/peers/pvm/costs/"

var (
	identifiers = regexp.MustCompile(`\b[A-Za-z_]\w*\b`)
	notOperands = regexp.MustCompile(`[^f\pL]'(?:[^'\\\n]|\\.)*'|\.[A-Za-z_]\w*`) // texts and attributes
)

// operationsOf is a program whose ops() are the operations of the table of costs, each for
// every operand in it that a value can stand for.
func operationsOf(t *testing.T) []byte {
	operands, err := os.ReadFile(costTable + "operands.py")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(costTable + "operations.txt")
	if err != nil {
		t.Fatal(err)
	}
	var program strings.Builder
	var values []string // names of operands
	for i, part := range strings.Split("\n"+string(operands), "\n#### ") {
		head, body, _ := strings.Cut(part, "\n")
		f := strings.Fields(head)
		if i == 0 || f[0] == "branch" || f[0] == "woven" { // which take long to make
			continue
		}
		if f[1] != "module" {
			values = append(values, f[0])
		}
		program.WriteString(body + "\n")
	}
	var texts []string
	for _, line := range strings.Split(string(list), "\n") {
		switch {
		case strings.HasPrefix(line, " "):
			texts[len(texts)-1] += "\n" + strings.TrimPrefix(line, "    ")
		case line != "" && !strings.HasPrefix(line, "## "):
			texts = append(texts, line)
		}
	}
	var pairs strings.Builder
	for i, text := range texts {
		for _, w := range values {
			if !strings.Contains(text, w) {
				continue
			}
			stood, defaults := standIn(text, w, values)
			if stood == text {
				continue
			}
			fmt.Fprintf(&program, "def o%d_%s(nest_, *rest_%s):\n    %s\n", i, w, defaults, strings.ReplaceAll(stood, "\n", "\n    "))
			fmt.Fprintf(&pairs, "(%q, o%d_%s), ", text+" with a nest as "+w, i, w)
		}
	}
	return []byte(program.String() + "def ops():\n    return [" + pairs.String() + "]\n")
}

// standIn puts the nest in the place of an operand, and makes parameters of all operands, as
// there are operations that bind them.
func standIn(text, operand string, values []string) (stood, defaults string) {
	masked := notOperands.FindAllStringIndex(text, -1)
	var out strings.Builder
	at, seen := 0, map[string]bool{}
	for _, span := range identifiers.FindAllStringIndex(text, -1) {
		w := text[span[0]:span[1]]
		switch {
		case within(masked, span[0]) || notName(text[:span[0]], text[span[1]:]):
		case w == operand:
			out.WriteString(text[at:span[0]] + "nest_")
			at = span[1]
		case !seen[w] && slices.Contains(values, w):
			seen[w] = true
			defaults += fmt.Sprintf(", %[1]s=%[1]s", w)
		}
	}
	return out.String() + text[at:], defaults
}

// notName tells of what is between two parts of a text that it is the mark of a text of bytes,
// or a part of the format of an f-string.
func notName(before, after string) bool {
	return strings.HasPrefix(after, "'") || strings.HasSuffix(before, "!") || strings.HasPrefix(after, "}") && strings.HasSuffix(before, ":")
}

func within(spans [][]int, at int) bool {
	return slices.ContainsFunc(spans, func(s []int) bool { return s[0] <= at && at < s[1] })
}
