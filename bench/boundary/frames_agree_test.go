package boundary_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/bench/boundary"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/state"
)

var (
	frameRuns = flag.Int("agree-frames", 16, "programs of TestFramesAgree")
	frameSeed = flag.Uint64("agree-frames-seed", 1, "what they are made by")
)

// frameHandlers are hostHandlers for a chain: what waits for runners is refused there, and
// there are actors to be made.
const frameHandlers = `
CHILD = '''
import cowboy_sdk as k
import collections.abc, enum, itertools
class Kind(enum.Enum):
    a = 1
n = [0]
@k.public
def init(msg): k.storage.set('init', msg.payload)
@k.public
def h1(msg):
    n.append(msg.payload)
    if msg.payload == 3: raise ValueError(n)
    return [len(n), str(Kind.a), hash(object()), isinstance(itertools.count(), collections.abc.Sized)]
@k.public
def h2(msg): return k.storage.scan('', 3)
'''
@k.public
def init(msg): k.storage.set('c', 1)
@k.public
def h1(msg):
    try: $Z
    except Exception: pass
    return $E
@k.public
def h2(msg):
    for x in range(3):
        try:
            $B
        except Exception: pass
        k.storage.set('r', repr(x))
@k.public
def h3(msg):
    try: child = k.spawn(b'h3', CHILD, 1)
    except k.CowboyError as e: child = k.storage.get('child', msg.sender)
    k.storage.set('child', child)
    for x in range(4):
        try: k.storage.set('a', k.call(child, 'h1', x))
        except k.CowboyError as e: k.emit_event('e', [e.code, str(e)])
        try: $Z
        except Exception: pass
    try: k.send(child, $E, 'h1')
    except Exception: pass
    return k.call(child, 'h2', 1)
`

// frameForms are calls of the chain beside those of host.grammar, for frames that carry
// them out.
var frameForms = []string{
	"k.spawn($D)", "k.spawn(b'b',CHILD)", "k.spawn(b'c',CHILD,$E)", "k.spawn(b'd',CHILD,value=$N)", "k.spawn(b'e','while 1: pass')",
	"k.spawn(b'f','import json,re,typing\\nx=re.compile(\"a\")\\n',$E)", "k.spawn(b'g',CHILD,$E,[])", "k.call(k.spawn(b'i',CHILD),'h1',$E)",
	"k.send(k.spawn(b'j',CHILD),$E,'h1',0,$N)", "k.upgrade_self(CHILD)", "k.call(k.get_actor_address(),$H,$E,$N)",
	"k.set_timer(k.current_block()+1,$H,$E)", "k.set_interval(1,$H,$E)", "k.create_deferred_tx($W,$H,$E,k.current_block()+1)",
	"k.transfer(k.get_sender(),$N)", "k.rent.sponsor($W,$N)", "k.token_approve(k.token_create($K,'b',2,$N),$W,$N)",
}

// forms is a grammar of exec/pvm/attacks: texts with holes, "$" and a kind, by their kind.
type forms map[byte][]string

const attacks = "../../exec/pvm/attacks/testdata"

func readAttack(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(attacks, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func readForms(t *testing.T, files ...string) forms {
	t.Helper()
	g, text := forms{}, ""
	for _, file := range files {
		text += "\n" + readAttack(t, file)
	}
	for _, section := range strings.Split(text, "\n=")[1:] {
		head, body, _ := strings.Cut(strings.TrimRight(section, "\n"), "\n")
		between := "\n"
		if head[0] == '=' {
			between = "\n--\n"
		}
		kind := head[len(head)-1]
		g[kind] = append(g[kind], strings.Split(body, between)...)
	}
	return g
}

// formsDeep is from where on forms without holes are preferred.
const formsDeep = 5

// fill fills the holes of a text. The lines of a part are indented as the line it stands in.
func (g forms) fill(rng *rand.Rand, text string, depth int) string {
	var b strings.Builder
	for {
		before, rest, hole := strings.Cut(text, "$")
		b.WriteString(before)
		if !hole {
			return b.String()
		}
		kind := rest[0]
		text = rest[1:]
		if kind == '$' {
			b.WriteByte('$')
			continue
		}
		list := g[kind]
		form := list[rng.IntN(len(list))]
		for try := 0; depth >= formsDeep && strings.Contains(form, "$") && try < 12; try++ {
			if try > 6 && (kind == 'S' || kind == 'E') {
				list = g['D']
			}
			form = list[rng.IntN(len(list))]
		}
		if kind == 'B' && depth > 2 {
			form = list[0]
		}
		so := b.String()
		line := so[strings.LastIndexByte(so, '\n')+1:]
		margin := line[:len(line)-len(strings.TrimLeft(line, " "))]
		b.WriteString(strings.ReplaceAll(g.fill(rng, form, depth+1), "\n", "\n"+margin))
	}
}

// machine is an engine that a program must not tell from another.
type machine struct {
	name  string
	times int // how often it runs what it runs
	*pvm.Engine
}

// differentMachines differ in what a process has of its own.
func differentMachines(t *testing.T) (machines []machine) {
	t.Helper()
	for _, m := range []struct {
		name  string
		key   [2]uint64
		cold  bool
		times int
		room  int
	}{
		{name: "the first key", key: [2]uint64{1, 2}, times: 1},
		{name: "another key, used again", key: [2]uint64{0xdeadbeefcafe, 0x123456789abcdef1}, times: 2, room: 1 << 30},
		{name: "a third key, without caches", key: [2]uint64{0x9e3779b97f4a7c15, 77}, cold: true, times: 1},
	} {
		cfg, err := pvm.RuntimeConfig(m.key)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Cold = m.cold
		rt, err := vm.NewRuntime(cfg)
		if err != nil {
			t.Fatal(err)
		}
		machines = append(machines, machine{m.name, m.times, pvm.NewEngine(rt, pvm.NewLRU(m.room), pvm.DefaultLimits())})
	}
	return machines
}

// TestFramesAgree is TestHostsAgree on a chain: programs that deploy, spawn, replace
// themselves, send and set timers make the same blocks under the key of every process,
// without caches, on machines that were cut off anywhere in other runs of them, and on
// several machines at once.
func TestFramesAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(*frameSeed, 12))
	forms := readForms(t, "evolve.grammar", "host.grammar")
	forms['O'] = []string{"append", "get", "items", "split", "join", "sort", "update", "encode", "count", "copy", "pop"}
	forms['L'] = []string{"re.findall", "re.compile", "json.dumps", "json.loads", "functools.partial", "itertools.chain", "collections.Counter", "typing.get_type_hints"}
	forms['N'] = []string{"0", "1", "3", "10", "40", "100", "1000", "30000", "200000", "-1"}
	for range 3 {
		forms['Z'] = append(forms['Z'], frameForms...)
	}
	prelude := readAttack(t, "evolve.py") + readAttack(t, "host.py")
	g, err := boundary.New(boundary.Config{Change: func(p *params.Params) {
		p.Actor.Imports = slices.Compact(slices.Sorted(slices.Values(append(p.Actor.Imports, params.DevelopmentImports()...))))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	runs := *frameRuns
	if testing.Short() {
		runs /= 4
	}
	f := &frames{t: t, g: g, rng: rng, machines: differentMachines(t), beside: besideEngines(t), codes: map[string]int{}}
	for i := range runs {
		f.program(prelude+forms.fill(rng, frameHandlers, 1), i)
	}
	t.Logf("%d actors were made, %d actors by them: %v", f.made, f.spawned, f.codes)
	if f.made < runs/4 || f.spawned < f.made/2 {
		t.Errorf("%d of %d programs were deployed, %d actors spawned", f.made, runs, f.spawned)
	}
}

// framesLeast is the least that a transaction is cut to: a deployment costs as much.
const framesLeast = 101_000

// frames is the chain of TestFramesAgree.
type frames struct {
	t        *testing.T
	g        *boundary.Ground
	rng      *rand.Rand
	machines []machine
	beside   *parallel.Executor

	made, spawned int
	codes         map[string]int // of receipts
}

func besideEngines(t *testing.T) *parallel.Executor {
	t.Helper()
	rt, err := pvm.NewRuntime([2]uint64{77, 78})
	if err != nil {
		t.Fatal(err)
	}
	var engines []*pvm.Engine
	for range 2 {
		engines = append(engines, pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits()))
	}
	x, err := parallel.New(parallel.Config{Mode: parallel.Planned, Workers: 2}, engines)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// program deploys a program and calls its handlers, in blocks that all machines make.
func (f *frames) program(source string, salt int) {
	f.t.Helper()
	d := &actor.Deployment{
		Creator: boundary.Alice, Source: []byte(source), Salt: fmt.Append(nil, salt), Manifest: boundary.EncodeManifest(boundary.All()),
		Init: &actor.Init{Handler: "init", Payload: cbor.AppendNull(nil)},
	}
	if !f.block(source, f.g.Tx(boundary.Alice, nil, 1_000*chain.WeiPerCBY, actor.AppendPayload(nil, d), f.g.Most())) {
		return
	}
	f.made++
	at := actor.AddressOf(d.Creator, d.Salt, d.Source)
	for range 3 {
		var txs []*chain.VerifiedTx
		for _, who := range []chain.Address{boundary.Alice, boundary.Bob, boundary.Mallory} {
			handler := []string{"h1", "h2", "h3", "h3", "h3"}[f.rng.IntN(5)]
			limits := chain.Usage{Cycles: 150_000 + chain.Cycles(f.rng.IntN(500_000)), Cells: 30_000}
			txs = append(txs, f.g.Tx(who, &at, 0, actor.AppendMessage(nil, handler, cbor.AppendUint(nil, f.rng.Uint64N(5))), limits))
		}
		f.block(source, txs...)
		f.block(source) // timers and messages that waited
	}
}

// block makes a block everywhere and keeps it; true when its first transaction succeeded.
func (f *frames) block(source string, txs ...*chain.VerifiedTx) bool {
	f.t.Helper()
	by := func(e *pvm.Engine) func(state.View, exec.Inputs, []*chain.VerifiedTx) (exec.Result, error) {
		return func(v state.View, in exec.Inputs, txs []*chain.VerifiedTx) (exec.Result, error) {
			in.Engine = e
			return exec.Apply(v, in, txs)
		}
	}
	want := ""
	check := func(where string, r exec.Result, err error) {
		f.t.Helper()
		got := blockText(&r, err)
		if want == "" {
			want = got
		}
		if got != want {
			f.t.Fatalf("%s: block %d:\n%s\n%s", where, f.g.Height+1, differing(got, want), source)
		}
	}
	for _, m := range f.machines {
		if m.times > 1 { // used again, and left in the middle
			cut := slices.Clone(txs)
			for i, tx := range cut {
				less, least := *tx.Tx, chain.Cycles(framesLeast)
				less.CyclesLimit = least + chain.Cycles(f.rng.Int64N(int64(less.CyclesLimit-least)))
				cut[i] = f.g.Verified(tx.Sender, less)
			}
			if _, err := f.g.TryBy(by(m.Engine), cut...); err != nil {
				f.t.Fatalf("%v\n%s", err, source)
			}
		}
		r, err := f.g.TryBy(by(m.Engine), txs...)
		check(m.name, r, err)
	}
	r, err := f.g.TryBy(f.beside.Apply, txs...)
	check("two machines of a runtime at once", r, err)
	r, err = f.g.Block(txs...)
	check("the chain", r, err)
	for i := range r.Receipts {
		f.codes[chain.CodeName(r.Receipts[i].Code)]++
	}
	for _, a := range r.Delta.Accounts() {
		if rec, err := actor.ReadRecord(f.g.State, a.Address); err == nil && rec != nil && rec.Parent != (chain.Address{}) && rec.Deployed == f.g.Height {
			f.spawned++
		}
	}
	return len(r.Receipts) > 0 && r.Receipts[0].Code == chain.CodeOK
}

// blockText is all that nodes must agree on of a block.
func blockText(r *exec.Result, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	for i := range r.Receipts {
		fmt.Fprintf(&b, "receipt %s %d cycles %x\n", chain.CodeName(r.Receipts[i].Code), r.Receipts[i].CyclesUsed, r.Receipts[i].Encode())
	}
	fmt.Fprintln(&b, r.Used, r.Burned, r.Issued, r.Tips)
	for _, c := range r.Delta.Accounts() {
		fmt.Fprintln(&b, c.Address, c.Cleared, c.Account)
		for _, w := range c.Storage {
			fmt.Fprintf(&b, "  %q %v %x\n", w.Key, w.Value == nil, w.Value)
		}
	}
	for _, c := range r.Delta.Codes() {
		fmt.Fprintln(&b, c.Hash, len(c.Code))
	}
	return b.String()
}

// differing is the first line that differs.
func differing(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d is\n%.2000s\nwant\n%.2000s", i, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
