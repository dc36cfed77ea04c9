package attacks_test

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

var (
	evolveRuns  = flag.Int("evolve", 75, "programs of TestEvolve")
	evolveSeed  = flag.Uint64("evolve-seed", 1, "what they are made by")
	evolveNanos = flag.Bool("evolve-ns", false, "look for programs that take long, not for those that allocate much, and print the worst: on a machine that does nothing else")
)

// What a program of TestEvolve has: cycles for what comes first, and for its loop; what it
// may allocate for each, and besides.
const (
	evolveSetup    = 3_000_000
	evolveLoop     = 200_000
	evolvePerCycle = 512
	evolveFixed    = 48 << 20
	evolveLeast    = 20_000 // cycles of a loop that says something
)

// TestEvolve breeds programs: statements and expressions at random by a grammar, changed,
// nested and spliced, where those live on that allocate most for a cycle among all that
// have a form in common. None is a defect, and none allocates more than its cycles allow.
// With -evolve-ns those live on that take longest.
func TestEvolve(t *testing.T) {
	g := readGrammar(t, "testdata/evolve.grammar")
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	prelude, err := os.ReadFile("testdata/evolve.py")
	if err != nil {
		t.Fatal(err)
	}
	e := &evolution{
		t: t, g: g, engine: pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits()),
		rng: rand.New(rand.NewPCG(*evolveSeed, 7)), prelude: string(prelude), best: map[*form]*bred{},
	}
	e.words()
	runs := *evolveRuns
	if testing.Short() {
		runs /= 3
	}
	for range runs {
		e.step()
	}
	e.report()
}

type evolution struct {
	t       *testing.T
	g       *grammar
	engine  *pvm.Engine
	rng     *rand.Rand
	prelude string
	best    map[*form]*bred // of the programs that have a form
	order   []*form         // those with one, in the order they came
	ran     int
	said    int64 // cycles of all loops
}

// bred is a program and what was measured of it.
type bred struct {
	setup, loop *part
	score       float64
	text        string
	first, then reading
}

// reading is what a run took.
type reading struct {
	cycles, ns int64
	bytes      uint64
}

// words asks the machine for the names of methods and of what modules have.
func (e *evolution) words() {
	const ask = `
def methods():
    out = {}
    for t in [int,str,bytes,bytearray,list,dict,set,float,range,slice,type,object,ValueError,ExceptionGroup,Decimal,collections.deque,
        collections.OrderedDict,collections.Counter,collections.ChainMap,collections.UserDict,property,type(gen(1)),type(gen),type(re.compile('x')),
        type(re.match('x','x')),type(open('/tmp/w','w+b')),type(open('/tmp/w','w+')),functools.partial,type(hashlib.sha256()),struct.Struct,E1,string.Template,type({}.items())]:
        for n in dir(t): out[n] = 1
    return list(out)
def functions():
    out = []
    for mod in [re,struct,json,math,hashlib,itertools,functools,collections,string,operator,enum,dataclasses,typing,abc]+([cbor2] if cbor2 else []):
        for n in dir(mod):
            if n[0] != '_' and callable(getattr(mod, n)): out.append(mod.__name__ + '.' + n)
    return out
def calls():
    out = []
    for n in dir(cowboy_sdk):
        if n[0] == '_': continue
        it = getattr(cowboy_sdk, n)
        if callable(it): out.append(n)
        out += [n + '.' + a for a in dir(it) if a[0] != '_' and callable(getattr(it, a)) and not isinstance(it, (int, str, bytes, tuple, dict))]
    return ['cowboy_sdk.' + n for n in out]
`
	p, err := pvm.Compile([]byte(e.prelude+ask), "words.py", pvm.DefaultLimits())
	if err != nil {
		e.t.Fatal(err)
	}
	err = e.engine.With(newSession(), func(m *vm.Machine) error {
		if res, err := m.Execute(p.Code, 1<<40); err != nil || res.Raised != nil {
			e.t.Fatal(err, res.Traceback)
		}
		for kind, function := range map[byte]string{'O': "methods", 'L': "functions", 'K': "calls"} {
			res, err := m.CallFunction(function, nil, 1<<40)
			if err != nil || res.Raised != nil {
				e.t.Fatal(err, res.Traceback)
			}
			items, _ := res.Value.Items()
			words := make([]string, len(items))
			for i, item := range items {
				words[i], _ = item.Text()
			}
			e.g.words(kind, words)
		}
		return nil
	})
	if err != nil {
		e.t.Fatal(err)
	}
}

// step makes a program of one or two that lived on, and runs it.
func (e *evolution) step() {
	e.ran++
	b := &bred{}
	if len(e.order) < 20 || e.rng.IntN(8) == 0 {
		b.setup, b.loop = e.g.grow(e.rng, 'B', 0), e.g.fill(e.rng, loopForm, 0)
	} else {
		one, two := e.choose(), e.choose()
		b.setup, b.loop = one.setup, one.loop
		switch e.rng.IntN(3) {
		case 0:
			b.setup = e.g.mutate(e.rng, one.setup, two.setup)
		case 1:
			b.setup = e.g.mutate(e.rng, one.setup, two.loop)
			b.loop = e.g.mutate(e.rng, one.loop, two.loop)
		default:
			b.loop = e.g.mutate(e.rng, one.loop, two.loop)
		}
	}
	if e.measure(b) {
		e.keep(b)
	}
}

func (e *evolution) choose() *bred { return e.best[e.order[e.rng.IntN(len(e.order))]] }

// keep lets a program live on for the forms for which it is the best; one that takes long
// is measured again first.
func (e *evolution) keep(b *bred) {
	var forms []*form
	for _, root := range []*part{b.setup, b.loop} {
		walk(&root, func(at **part) {
			f := (*at).form
			if old := e.best[f]; old == nil || old.score < b.score {
				forms = append(forms, f)
			}
		})
	}
	for again := 0; *evolveNanos && again < 3 && len(forms) > 0; again++ {
		c := *b
		if !e.measure(&c) {
			return
		}
		if c.score < b.score {
			*b = c
		}
	}
	for _, f := range forms {
		old := e.best[f]
		if old == nil {
			e.order = append(e.order, f)
		}
		if old == nil || old.score < b.score {
			e.best[f] = b
		}
	}
}

// loopForm is what a loop is made of: if one part raises, the other runs nonetheless.
var loopForm = newForm('R', "$S\n$B")

const evolveBody = `
def body():
    global v0,v1,v2,v3,v4,v5,x,y
    while True:
        try:
            $S
        except Exception: pass
        try:
            $B
        except Exception: pass
`

// measure runs a program and scores it; it says no of one that does not compile or ends
// too soon.
func (e *evolution) measure(b *bred) bool {
	setup := newForm('R', "try:\n    $B\nexcept Exception: pass\n")
	body := newForm('R', evolveBody)
	b.text = (&part{setup, []*part{b.setup}}).String() + (&part{body, b.loop.kids}).String()
	p, err := pvm.Compile([]byte(e.prelude+b.text), "evolve.py", pvm.DefaultLimits())
	if err != nil {
		return false
	}
	var inner error
	err = e.engine.With(newSession(), func(m *vm.Machine) error {
		m.Brief = true
		b.first, inner = e.read(func() (vm.Result, error) { return m.Execute(p.Code, evolveSetup) })
		e.judge(b, b.first, inner)
		if inner != nil {
			return nil
		}
		b.then, inner = e.read(func() (vm.Result, error) { return m.CallFunction("body", nil, evolveLoop) })
		e.judge(b, b.then, inner)
		return nil
	})
	if err != nil {
		e.t.Fatal(err)
	}
	e.said += b.then.cycles
	b.score = max(b.first.per(), b.then.per())
	return b.first.cycles+b.then.cycles > evolveLeast
}

// newSession is a chain behind a program that takes and answers what it is told.
func newSession() *sdk.Session {
	return sdk.NewSession(host.NewRecorder(), host.DefaultCosts(), sdk.DefaultLimits())
}

// per is what a cycle took.
func (r reading) per() float64 {
	if r.cycles < evolveLeast {
		return 0
	}
	if *evolveNanos {
		return float64(r.ns-200_000) / float64(r.cycles)
	}
	return float64(r.bytes) / float64(r.cycles)
}

func (e *evolution) read(run func() (vm.Result, error)) (reading, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	res, err := run()
	r := reading{cycles: res.Cycles, ns: time.Since(start).Nanoseconds()}
	runtime.ReadMemStats(&after)
	r.bytes = after.TotalAlloc - before.TotalAlloc
	return r, err
}

func (e *evolution) judge(b *bred, r reading, err error) {
	var abort *vm.Abort
	if errors.As(err, &abort) && abort.Code == vm.Internal {
		e.t.Errorf("%v\n%s\n%s", err, abort.Stack, b.text)
	}
	if r.bytes > uint64(r.cycles)*evolvePerCycle+evolveFixed {
		e.t.Errorf("%d bytes allocated for %d cycles\n%s", r.bytes, r.cycles, b.text)
	}
}

// report holds the search to having found something to run, and prints the worst.
func (e *evolution) report() {
	seen := map[*bred]bool{}
	var all []*bred
	for _, f := range e.order {
		if b := e.best[f]; !seen[b] {
			seen[b] = true
			all = append(all, b)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].score > all[j].score })
	if e.said < int64(e.ran)*evolveLeast {
		e.t.Errorf("%d programs ran for %d cycles", e.ran, e.said)
	}
	e.t.Logf("%d programs, %d live on, most a cycle %.1f", e.ran, len(all), all[0].score)
	for i := 0; *evolveNanos && i < min(40, len(all)); i++ {
		b := all[i]
		e.t.Logf("%.1f (%d cycles %d ns %d B; %d cycles %d ns %d B)\n%s", b.score, b.first.cycles, b.first.ns, b.first.bytes,
			b.then.cycles, b.then.ns, b.then.bytes, strings.TrimSpace(b.text))
	}
}
