package attacks_test

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

var (
	hostRuns = flag.Int("agree-host", 30, "programs of TestHostsAgree")
	hostSeed = flag.Uint64("agree-host-seed", 1, "what they are made by")
)

// Bounds of what a host of TestHostsAgree does: how deep calls nest, what a called handler
// gets, and how many answers of runners follow a message.
const (
	hostDepth   = 4
	hostCycles  = 400_000
	hostAnswers = 3
)

// hostHandlers are a program's handlers: one that looks, one that acts, and one that waits
// for runners.
const hostHandlers = `
@k.public
def h1(msg):
    try: $Z
    except Exception: pass
    ` + agreeFirst + `
    return $E
@k.public
def h2(msg):
    for x in range(3):
        try:
            $B
        except Exception: pass
        print(storage_of(x))
def storage_of(x): return k.storage.scan('', 2 + x)
@runner.continuation
async def ask(msg):
    a, b = $E, {'x': $D}
    for i in range(2):
        try:
            b = (await runner.llm('p', context=$E)).output
        except Exception as e:
            a = e
    r = await TaskGroup(runner.llm('p'), runner.http('a', context=$D))
    return repr([a, b, $E])
`

// errHost is an error of a host that is no refusal: it ends the call where it stands.
var errHost = errors.New("the disk is full")

// chainHost answers calls of the actor by its handlers, on another machine of its engine,
// and refuses now and then.
type chainHost struct {
	*host.Recorder
	engine  *pvm.Engine
	program *pvm.Program
	outer   *vm.Machine
	depth   int
	calls   int
	every   int // one of so many calls is refused
	stop    int // the call that fails, 0: none
	ids     []host.ID
}

func (h *chainHost) refuse(string) error {
	h.calls++
	switch {
	case h.calls == h.stop:
		return errHost
	case h.calls%h.every == 0:
		return &host.Refusal{Code: host.RefusedLimit, Text: "not now"}
	}
	return nil
}

func (h *chainHost) SubmitJob(j host.Job) (host.ID, error) {
	if j.Handler == sdk.ResumeHandler {
		h.ids = append(h.ids, j.Correlation)
	}
	return h.Recorder.SubmitJob(j)
}

func (h *chainHost) Call(m host.Message) ([]byte, error) {
	if _, err := h.Recorder.Call(m); err != nil {
		return nil, err
	}
	if m.To != h.Here.Self || h.depth >= hostDepth {
		return nil, &host.Refusal{Code: host.RefusedReentrancy, Text: "too deep"}
	}
	outer, cycles := h.outer, code.Cycles(hostCycles)
	if m.Cycles > 0 {
		cycles = code.Cycles(min(m.Cycles, hostCycles))
	}
	h.depth++
	answer, res, err := h.deliver(m.Handler, m.Payload, min(cycles, outer.CyclesLeft()))
	h.depth--
	h.outer = outer
	outer.ChargeCalled(res.Cycles)
	if errors.Is(err, errHost) {
		return nil, err
	}
	if err != nil || res.Raised != nil {
		return nil, &host.Refusal{Code: host.RefusedFailed, Text: res.Traceback}
	}
	return answer, nil
}

// deliver loads the program on a machine and hands it a message, "" runs its body alone.
func (h *chainHost) deliver(handler string, payload []byte, cycles code.Cycles) (answer []byte, res vm.Result, err error) {
	h.Here.CallID[0]++
	session := sdk.NewSession(h, host.DefaultCosts(), sdk.DefaultLimits())
	err = h.engine.With(session, func(m *vm.Machine) error {
		h.outer = m
		res, err = m.Do(cycles, func(m *vm.Machine) (vm.Value, error) {
			if _, err := m.LoadModule("__main__", h.program.Code); err != nil || handler == "" {
				return vm.None, err
			}
			answer, err = sdk.Entry{Handler: handler, Payload: payload}.Deliver(m)
			return vm.None, err
		})
		res.Output = slices.Clone(res.Output)
		return err
	})
	if err == nil && res.Raised == nil {
		res.Output = fmt.Appendf(res.Output, "\n%x\n%d", answer, session.ScratchPeak())
	}
	return answer, res, err
}

// hostScript is what happens to an actor: messages with what each may use, from the body
// of its program alone to the answers of runners.
type hostScript struct {
	program *pvm.Program
	cycles  []code.Cycles
	every   int
	stop    int
}

// run plays the script and says all that is visible of it. cut gives each message less.
func (s *hostScript) run(e *pvm.Engine, cut func(code.Cycles) code.Cycles, stop int) []string {
	h := &chainHost{Recorder: host.NewRecorder(), engine: e, program: s.program, every: s.every, stop: stop}
	h.Refuse = h.refuse
	h.Balances[h.Here.Self] = 1 << 40
	h.Actors[h.Here.Self] = host.Actor{Code: s.program.Hash, Storage: 5}
	h.Granted["granted"] = []byte{0xa1, 0x61, 'a', 0x01}
	h.Here.CodeHash = s.program.Hash
	var out []string
	message := func(handler string, payload []byte, cycles code.Cycles) {
		_, res, err := h.deliver(handler, payload, cut(cycles))
		calls, stored := fnv.New64a(), fnv.New64a()
		fmt.Fprint(calls, h.Calls)
		for _, key := range slices.Sorted(maps.Keys(h.Storage)) {
			fmt.Fprintf(stored, "%q %x ", key, h.Storage[key])
		}
		out = append(out, fmt.Sprintf("%s: %d cycles, %d bytes, %v, %d calls %x, stored %x, %q, %q",
			handler, res.Cycles, res.HeapPeak, err, len(h.Calls), calls.Sum(nil), stored.Sum(nil), res.Output, res.Traceback))
	}
	for i, handler := range []string{"", "h1", "h2", "ask"} {
		message(handler, []byte{0xa1, 0x61, 'a', 0x01}, s.cycles[i])
	}
	h.Here.Sender = chain.AddrJobDispatcher
	for i := 0; i < hostAnswers && i < len(h.ids); i++ {
		id := h.ids[i]
		payload := append([]byte("\xa2\x66output\x18\x2a\x6ecorrelation_id\x58\x20"), id[:]...)
		message(sdk.ResumeHandler, payload, s.cycles[4])
	}
	return out
}

// TestHostsAgree is TestRandomProgramsAgree with a chain behind it: handlers that store,
// send, call themselves on other machines, keep files and wait for runners end alike under
// the key of every process, without caches, beside a machine that runs the same, and on
// machines of an engine whose calls were cut off anywhere before, in the middle of a native
// and of a called handler, by their cycles and by errors of the host.
func TestHostsAgree(t *testing.T) {
	machines := differentMachines(t)
	e := &evolution{t: t, g: readGrammar(t, "testdata/evolve.grammar", "testdata/host.grammar"), engine: machines[0].Engine, rng: rand.New(rand.NewPCG(*hostSeed, 11))}
	for _, file := range []string{"testdata/evolve.py", "testdata/host.py"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e.prelude += string(text)
		if file == "testdata/evolve.py" {
			e.words()
		}
	}
	e.g.forms['N'] = nil
	for _, n := range []string{"0", "1", "3", "10", "40", "100", "300", "1000", "8000", "-1"} {
		e.g.forms['N'] = append(e.g.forms['N'], newForm('N', n))
	}
	beside, err := vm.NewRuntime(besideConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	two := [2]*pvm.Engine{pvm.NewEngine(beside, pvm.NewLRU(0), pvm.DefaultLimits()), pvm.NewEngine(beside, pvm.NewLRU(0), pvm.DefaultLimits())}
	handlers, ran, ended := newForm('R', hostHandlers), 0, 0
	runs := *hostRuns
	if testing.Short() {
		runs /= 4
	}
	for range runs {
		text := e.g.fill(e.rng, handlers, 1).String()
		p, err := pvm.Compile([]byte(e.prelude+text), "host.py", pvm.DefaultLimits())
		if err != nil {
			continue
		}
		ran++
		s := &hostScript{program: p, every: 5 + e.rng.IntN(60), stop: 1 + e.rng.IntN(30)}
		for range 5 {
			c := code.Cycles(agreeMost)
			if e.rng.IntN(2) == 0 {
				c = 1 + code.Cycles(e.rng.Int64N(agreeMost/4))
			}
			s.cycles = append(s.cycles, c)
		}
		ended += hostsAgree(t, s, machines, two, text, e.rng)
	}
	t.Logf("%d of %d programs compiled, %d messages came to their end", ran, runs, ended)
	if ran < runs/4 || ended < ran {
		t.Errorf("%d of %d programs compiled, %d messages came to their end", ran, runs, ended)
	}
}

func besideConfig(t *testing.T) vm.Config {
	t.Helper()
	cfg, err := pvm.RuntimeConfig([2]uint64{77, 78})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// hostsAgree plays a script everywhere and answers how many messages were not cut off.
func hostsAgree(t *testing.T, s *hostScript, machines []machine, beside [2]*pvm.Engine, text string, rng *rand.Rand) int {
	t.Helper()
	whole := func(c code.Cycles) code.Cycles { return c }
	want := s.run(machines[0].Engine, whole, 0)
	check := func(where string, got []string) {
		t.Helper()
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Errorf("%s: %s:\n%.600s\nwant\n%.600s", text, where, got[min(i, len(got)-1)], want[i])
				return
			}
		}
	}
	for _, m := range machines[1:] {
		if m.times > 1 { // used again, and left in the middle
			s.run(m.Engine, func(c code.Cycles) code.Cycles { return 1 + rng.Int64N(c) }, 0)
			s.run(m.Engine, whole, s.stop)
		}
		check(m.name, s.run(m.Engine, whole, 0))
	}
	var wg sync.WaitGroup
	got := make([][]string, len(beside))
	for i, e := range beside {
		wg.Go(func() { got[i] = s.run(e, whole, 0) })
	}
	wg.Wait()
	for _, g := range got {
		check("two machines of a runtime at once", g)
	}
	ended := 0
	for _, w := range want {
		if !strings.Contains(w, "out of cycles") {
			ended++
		}
	}
	return ended
}
