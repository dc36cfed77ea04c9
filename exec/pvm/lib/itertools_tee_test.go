package lib

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// linksWalked is the plain reference of Links.
func linksWalked(s *teeState) (n int) {
	for l := s.at; l != nil && l.full; l = l.next {
		n++
	}
	return n
}

// machineOf runs a program on a machine of its own.
func machineOf(t *testing.T, src string) (*vm.Machine, vm.Result) {
	t.Helper()
	cfg := vm.DefaultConfig()
	cfg.Modules = Modules()
	rt, err := vm.NewRuntime(cfg)
	if err != nil {
		t.Fatal(err)
	}
	code, err := compile.Source([]byte(src), "tee.py", compile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	m := rt.NewMachine()
	res, err := m.Execute(code, 1<<30)
	if err != nil || res.Traceback != "" {
		t.Fatalf("%v %s", err, res.Traceback)
	}
	return m, res
}

// TestBranchesCountTheirLinks counts the links of branches that went on in turn, of branches
// of them, and of ones whose source has ended or failed.
func TestBranchesCountTheirLinks(t *testing.T) {
	m, _ := machineOf(t, `
import itertools
def failing():
    yield from range(20)
    raise ValueError
branches = []
for source in range(50), failing(), range(0):
    some = list(itertools.tee(source, 5))
    for turn in range(200):
        at = turn * 7 % len(some)
        try: next(some[at], None)
        except ValueError: pass
        if turn % 40 == 20: some += itertools.tee(some[at])
        if turn % 40 == 30: some.append(some[at].__copy__())
    branches += some
def branch(i): return branches[i]
`)
	for i, n, full := int64(0), int64(60), 0; i < n; i++ {
		res, err := m.CallFunction("branch", []vm.Value{vm.SmallInt(i)}, 1<<20)
		if err != nil || res.Traceback != "" {
			t.Fatalf("branch %d: %v %s", i, err, res.Traceback)
		}
		p, _ := res.Value.Foreign()
		s := p.(*teeState)
		if s.Links() != linksWalked(s) {
			t.Errorf("branch %d counts %d links, and has %d", i, s.Links(), linksWalked(s))
		}
		if s.Links() > 0 {
			full++
		}
		if i == n-1 && full < 10 {
			t.Errorf("%d branches have links", full)
		}
	}
}

// TestLinksArePaid: a measurement of the heap pays for each link that it walks, at two units.
func TestLinksArePaid(t *testing.T) {
	const links = 20_000
	begin := "import itertools\na, b = itertools.tee(range(20_000))\nfor _ in a: pass\n"
	rest, allocate := "for _ in b: pass\n", "for _ in range(100): 'x' * 100_000\n"
	_, behind := machineOf(t, begin+allocate+rest)
	_, level := machineOf(t, begin+rest+allocate)
	if more := behind.Cycles - level.Cycles; more < 2*links {
		t.Errorf("%d links cost a measurement %d cycles, want %d", links, more, 2*links)
	}
}
