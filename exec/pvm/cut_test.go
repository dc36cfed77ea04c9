package pvm_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
)

// short looks at little of what a machine keeps.
const short = `
import re, json, decimal, functools, enum, collections.abc, string
class E(enum.Enum): A = 1
class S(collections.abc.Sequence):
    def __len__(s): return 1
    def __getitem__(s, i): return i
print(re.sub('(a|b)+', 'c', 'abab'), json.dumps([1, None]), decimal.Decimal(1) / 3, decimal.getcontext().flags, E.A, isinstance([], collections.abc.Sequence), 3 in [*zip(S(), "abcd")])
print(string.Template('$x').substitute(x=1), hash(json.dumps), isinstance(S(), collections.abc.Iterable), issubclass(dict, collections.abc.Mapping))
`

// TestCallsCutOffLeaveNothing: wherever a call ends for lack of cycles, within a native that
// changes what the machine keeps included, the machine is as a fresh one for the next call.
func TestCallsCutOffLeaveNothing(t *testing.T) {
	rt := keptRuntime(t)
	fresh, used := newKeptBench(t, rt), newKeptBench(t, rt)
	programs, cuts, looks := append(everyNth(goldenCorpus(t), 10), remembered()...), 8, 4
	if *long {
		programs, cuts, looks = append(everyNth(goldenCorpus(t), 5), remembered()...), 12, 1
	} else if testing.Short() {
		programs, cuts = append(everyNth(programs, 8), remembered()...), 4
	}
	for part := range 3 {
		programs = append(programs, program{"alter", alterPart(t, 7*part, 40)})
	}
	probe := keptScript(t, "look.py")
	fresh.run("import abc", keptCycles)
	state, want := fingerprint(t, fresh.machine), newKeptBench(t, rt).run(probe, keptCycles)
	wantShort := newKeptBench(t, rt).run(short, keptCycles)
	seed := uint64(1)
	for i, p := range programs {
		whole := used.spent(p.source, goldenCycles)
		if whole == 0 {
			continue
		}
		for range cuts {
			seed = seed*6364136223846793005 + 1442695040888963407
			limit := 1 + int64(seed>>33)%whole
			used.run(p.source, limit)
			if got := used.run(short, keptCycles); got != wantShort {
				t.Fatalf("after %s, cut off at %d of %d: %s, fresh %s", p.name, limit, whole, got, wantShort)
			}
		}
		if (i+1)%looks > 0 && i+1 < len(programs) {
			continue // a look at all that is kept takes longer than a program
		}
		if got := fingerprint(t, used.machine); got != state {
			t.Errorf("%s or one of %d before it, cut off, changed what the machine keeps: %s, fresh %s", p.name, looks-1, got, state)
			used = newKeptBench(t, rt)
		}
	}
	if got := used.run(probe, keptCycles); got != want {
		t.Errorf("after calls that were cut off:\n%s\nwant\n%s", got, want)
	}
}

// spent is what a program pays, 0 for one that does not compile.
func (b keptBench) spent(src string, cycles int64) int64 {
	p, err := pvm.Compile([]byte(src), "kept.py", pvm.DefaultLimits())
	if err != nil {
		return 0
	}
	b.machine.Host = sdk.NewSession(host.NewRecorder(), host.DefaultCosts(), sdk.DefaultLimits())
	res, _ := b.machine.Execute(p.Code, cycles)
	b.machine.Reset()
	return res.Cycles
}
