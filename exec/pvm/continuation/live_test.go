package continuation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// lowered returns the blocks of the first function of a source, before it is known what
// is live; nil where it is refused.
func lowered(t *testing.T, src string) (l *lowering) {
	t.Helper()
	mod, err := syntax.Parse([]byte(src), syntax.DefaultLimits())
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	f := mod.Body[0].(*syntax.AsyncFunctionDef)
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(*Error); !ok {
				panic(r)
			}
			l = nil
		}
	}()
	l = newLowering(f, f.Name, DefaultLimits())
	l.beginBlock(0)
	l.stmts(f.Body)
	l.emit(&syntax.Return{Pos: f.Pos})
	return l
}

// plainLiveness is liveness by lists of names, statement by statement in every round.
func plainLiveness(l *lowering) map[int][]string {
	live := map[int][]string{}
	add := func(a, b []string) []string {
		for _, x := range b {
			if !slices.Contains(a, x) {
				a = append(a, x)
			}
		}
		return a
	}
	for changed := true; changed; {
		changed = false
		for _, b := range l.blocks {
			var now []string
			for _, id := range b.succ {
				now = add(now, live[id])
			}
			for _, s := range slices.Backward(b.stmts) {
				if a, ok := s.(*syntax.Assign); ok {
					for _, t := range a.Targets {
						if n, ok := t.(*syntax.Name); ok {
							now = slices.DeleteFunc(now, func(v string) bool { return v == n.ID })
						}
					}
				}
				uses(s, func(id string) {
					if l.variable(id) {
						now = add(now, []string{id})
					}
				})
			}
			if b.region != nil {
				now = add(now, live[b.region.catch])
			}
			if len(now) != len(live[b.id]) {
				live[b.id], changed = now, true
			}
		}
	}
	for _, names := range live {
		slices.Sort(names)
	}
	return live
}

// handlerBody writes statements at random.
func handlerBody(rng *rand.Rand, b *strings.Builder, depth, loops int) {
	pad := strings.Repeat(" ", depth)
	name := func() string { return string(rune('a' + rng.IntN(6))) }
	for range 1 + rng.IntN(3) {
		kind := rng.IntN(12)
		if depth > 5 {
			kind %= 6
		}
		switch kind {
		case 0, 1:
			fmt.Fprintf(b, "%s%s = %s\n", pad, name(), name())
		case 2:
			fmt.Fprintf(b, "%s%s = f(-%s, await %s, %s)\n", pad, name(), name(), name(), name())
		case 3:
			fmt.Fprintf(b, "%s%s += %s\n", pad, name(), name())
		case 4:
			fmt.Fprintf(b, "%sdel %s\n", pad, name())
		case 5:
			if loops > 0 {
				fmt.Fprintf(b, "%sif %s: %s\n", pad, name(), []string{"break", "continue", "return " + name()}[rng.IntN(3)])
				continue
			}
			fmt.Fprintf(b, "%s%s = %s or await %s\n", pad, name(), name(), name())
		case 6, 7:
			fmt.Fprintf(b, "%sif %s:\n", pad, name())
			handlerBody(rng, b, depth+1, loops)
		case 8:
			fmt.Fprintf(b, "%swhile %s:\n", pad, name())
			handlerBody(rng, b, depth+1, loops+1)
		case 9:
			fmt.Fprintf(b, "%sfor %s in %s:\n", pad, name(), name())
			handlerBody(rng, b, depth+1, loops+1)
		case 10:
			fmt.Fprintf(b, "%stry:\n", pad)
			handlerBody(rng, b, depth+1, loops)
			fmt.Fprintf(b, "%sexcept %s as %s:\n", pad, name(), name())
			handlerBody(rng, b, depth+1, loops)
		case 11:
			fmt.Fprintf(b, "%stry:\n", pad)
			handlerBody(rng, b, depth+1, loops)
			fmt.Fprintf(b, "%sfinally:\n", pad)
			handlerBody(rng, b, depth+1, 0)
		}
	}
}

// TestLivenessAgrees holds liveness by sets to the plain one.
func TestLivenessAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	compared, live := 0, 0
	for range 600 {
		var b strings.Builder
		b.WriteString("async def h(a, b):\n")
		handlerBody(rng, &b, 1, 0)
		l := lowered(t, b.String())
		if l == nil {
			continue
		}
		want := plainLiveness(l)
		l.liveness()
		for _, bl := range l.blocks {
			if !slices.Equal(bl.flow.names(l.vars), want[bl.id]) {
				t.Fatalf("block %d: %v is live, want %v\n%s", bl.id, bl.flow.names(l.vars), want[bl.id], b.String())
			}
			compared, live = compared+1, live+len(want[bl.id])
		}
	}
	if compared < 2000 || live < 2000 {
		t.Errorf("%d blocks with %d live names compared", compared, live)
	}
}

// TestIntermediateValuesAreBounded: what is kept across awaits is followed through all
// blocks, so there is a bound on it as on the names of a handler.
func TestIntermediateValuesAreBounded(t *testing.T) {
	most := tempShare * DefaultLimits().Variables
	for _, row := range []struct {
		operands int
		taken    bool
	}{{most - 1, true}, {most, false}, {4 * most, false}} {
		src := "async def h(x):\n x(" + strings.Repeat("-x,", row.operands) + "await x)\n"
		l := lowered(t, src)
		if (l != nil) != row.taken {
			t.Errorf("%d operands before an await: taken %v, want %v", row.operands, l != nil, row.taken)
		}
	}
}

// TestNodesAreGoneThroughOnce: whether something awaits is asked at every level around it,
// and found once.
func TestNodesAreGoneThroughOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString("async def h(x):\n")
	const levels, statements = 60, 500
	for d := range levels {
		b.WriteString(strings.Repeat(" ", d+1) + "if x:\n")
	}
	pad := strings.Repeat(" ", levels+1)
	b.WriteString(strings.Repeat(pad+"x\n", statements) + pad + "await x\n")
	l := lowered(t, b.String())
	if l == nil {
		t.Fatal("refused")
	}
	if n := len(l.awaiting); n > 4*(levels+statements) {
		t.Errorf("%d answers are remembered", n)
	}
	if n := len(l.awaiting); n < levels+statements {
		t.Errorf("%d answers are remembered of %d statements: others are found anew at each level", n, levels+statements)
	}
}

// nestedLoops is a handler of so many loops within each other, with so many values that are
// kept across an await, and an await behind so many jumps. What the outermost loop reads is
// found to be live in one more of the inner ones with each round.
func nestedLoops(depth, values, jumps int) string {
	var b strings.Builder
	b.WriteString("async def h(x, y):\n")
	for d := range depth {
		fmt.Fprintf(&b, "%swhile %s:\n", strings.Repeat(" ", d+1), []string{"y", "x"}[min(d, 1)])
	}
	pad := strings.Repeat(" ", depth+1)
	fmt.Fprintf(&b, "%sx(%sawait x)\n", pad, strings.Repeat("-x,", values))
	fmt.Fprintf(&b, "%s%sawait x\n", pad, strings.Repeat("x and ", jumps))
	return b.String()
}

// TestRoundsArePaid counts the words that liveness reads of sets, of handlers with ever more
// loops within each other, and wants a cycle or more for each few: a token costs 22.
func TestRoundsArePaid(t *testing.T) {
	const cyclesOfUnit, wordsOfCycle = 22, 12
	for _, depth := range []int{0, 1, 2, 8, 30, 60, 95} {
		l := lowered(t, nestedLoops(depth, 1_000, 1_000))
		if l == nil {
			t.Fatalf("%d loops are refused", depth)
		}
		units := 0
		l.charge = func(n int) { units += n }
		l.liveness()
		jumps := 0
		for _, b := range l.blocks {
			jumps += len(b.flow.next)
		}
		rounds := roundsOf(l)
		read := rounds * jumps * ((len(l.vars) + 63) / 64)
		paid := (units + len(l.blocks)*blockUnits + l.made) * cyclesOfUnit
		t.Logf("%d loops: %d blocks, %d rounds, %d words for %d cycles, %d units of them for rounds", depth, len(l.blocks), rounds, read, paid, units)
		if rounds < depth {
			t.Errorf("%d loops take %d rounds: the handler is none of many", depth, rounds)
		}
		if read > wordsOfCycle*paid {
			t.Errorf("%d loops: %d words are read for %d cycles", depth, read, paid)
		}
		if depth <= 2 && units > 0 {
			t.Errorf("%d loops cost %d units more than their blocks", depth, units)
		}
	}
}

// roundsOf is how often liveness goes over all blocks of a handler.
func roundsOf(l *lowering) (rounds int) {
	for _, b := range l.blocks {
		clear(b.flow.live)
		b.flow.live.join(b.flow.reads, nil)
	}
	for changed := true; changed; rounds++ {
		changed = false
		for _, b := range slices.Backward(l.blocks) {
			changed = b.flow.grow() || changed
		}
	}
	return rounds
}
