package attacks_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

var (
	agreeRuns = flag.Int("agree", 60, "programs of TestRandomProgramsAgree")
	agreeSeed = flag.Uint64("agree-seed", 1, "what they are made by")
)

// agreeFirst asks for what a machine knows from other calls, if it is not the same as one
// that has run nothing: identities, and what abstract classes of the library have answered.
const agreeFirst = "print(hash(object()), hash(type('N', (), {})), isinstance(itertools.count(), collections.abc.Sized))"

// agreeLoop ends by itself, so that cycles say how it came to its end.
const agreeLoop = agreeFirst + `
for x in range(12):
    try:
        $S
    except Exception: pass
    try:
        $B
    except Exception: pass
`

// agreeMost is what a program may use; every other one gets a part of it, so that it
// ends anywhere, and the machine that is used again has been left there.
const agreeMost = 1_500_000

// TestRandomProgramsAgree is TestMachinesAgree over programs of the grammar of TestEvolve:
// whatever a program does, and wherever its cycles end, its end, its cycles and its memory
// are the same under the key of every process, without caches, and on a machine that many
// others were stopped on before.
func TestRandomProgramsAgree(t *testing.T) {
	prelude, err := os.ReadFile("testdata/evolve.py")
	if err != nil {
		t.Fatal(err)
	}
	machines := differentMachines(t)
	e := &evolution{t: t, g: readGrammar(t, "testdata/evolve.grammar"), engine: machines[0].Engine, rng: rand.New(rand.NewPCG(*agreeSeed, 9)), prelude: string(prelude)}
	e.words()
	e.g.forms['N'] = nil // so that most programs come to their end
	for _, n := range []string{"0", "1", "3", "10", "40", "100", "300", "1000", "8000", "-1"} {
		e.g.forms['N'] = append(e.g.forms['N'], newForm('N', n))
	}
	setup, loop := newForm('R', "try:\n    $B\nexcept Exception: pass\n"), newForm('R', agreeLoop)
	ran := 0
	for range *agreeRuns {
		text := (&part{setup, []*part{e.g.grow(e.rng, 'B', 0)}}).String() + (&part{loop, e.g.fill(e.rng, loopForm, 0).kids}).String()
		p, err := pvm.Compile([]byte(e.prelude+text), "agree.py", pvm.DefaultLimits())
		if err != nil {
			continue
		}
		ran++
		cycles := code.Cycles(agreeMost)
		if ran%2 == 0 {
			cycles = 1 + code.Cycles(e.rng.Int64N(agreeMost))
		}
		agree(t, machines, text, p, cycles)
	}
	if ran < *agreeRuns/4 {
		t.Errorf("%d of %d programs compiled", ran, *agreeRuns)
	}
}
