package continuation_test

import (
	"encoding/hex"
	"errors"
	"flag"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/continuation"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/values"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// oracle answers jobs: a number by twice the number, text in capitals, and
// "fail" by an error.
const oracle = `
def answer(spec):
    p = spec["prompt"]
    if p == "fail":
        return {"error": "no luck"}
    return {"output": p.upper() if isinstance(p, str) else p * 2}
`

// instant is a host that has every answer at once.
type instant struct {
	*host.Recorder
	ask func(spec []byte) []byte
}

func (i instant) Answer(j host.Job) ([]byte, error) { return i.ask(j.Spec), nil }

// noting remembers the jobs' identifiers in order.
type noting struct {
	*host.Recorder
	ids []host.ID
}

func (n *noting) SubmitJob(j host.Job) (host.ID, error) {
	n.ids = append(n.ids, j.Correlation)
	return n.Recorder.SubmitJob(j)
}

type world struct {
	t  testing.TB
	rt *vm.Runtime
}

func newWorld(t testing.TB) *world {
	t.Helper()
	mods, err := sdk.Modules()
	if err != nil {
		t.Fatal(err)
	}
	cfg := vm.DefaultConfig()
	cfg.Modules, cfg.Globals = mods, sdk.Builtins()
	rt, err := vm.NewRuntime(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, rt}
}

// ask runs the oracle.
func (w *world) ask(extra string) func(spec []byte) []byte {
	o, err := compile.Source([]byte(oracle+extra), "oracle", compile.DefaultLimits())
	if err != nil {
		w.t.Fatal(err)
	}
	return func(spec []byte) []byte {
		var out []byte
		res, err := w.rt.NewMachine().Do(10_000_000, func(m *vm.Machine) (vm.Value, error) {
			if _, err := m.LoadModule("__main__", o); err != nil {
				return vm.None, err
			}
			v, err := values.Decode(m, spec, values.DefaultProfile())
			if err != nil {
				return vm.None, err
			}
			fn, _ := m.Global("__main__", "answer")
			if v, err = m.Call(fn, v); err == nil {
				out, err = values.Append(m, nil, v, values.DefaultProfile())
			}
			return vm.None, err
		})
		if err != nil || res.Raised != nil {
			w.t.Fatal(err, res.Traceback)
		}
		return out
	}
}

// deliver runs one call of the program on a fresh machine. It answers what was
// printed, what was returned, and the exception.
func (w *world) deliver(h host.Host, o *code.Object, handler string, payload []byte) (printed, got string) {
	m := w.rt.NewMachine()
	m.Host = sdk.NewSession(h, host.DefaultCosts(), sdk.DefaultLimits())
	res, err := m.Do(50_000_000, func(m *vm.Machine) (vm.Value, error) {
		if _, err := m.LoadModule("__main__", o); err != nil {
			return vm.None, err
		}
		out, err := sdk.Entry{Handler: handler, Payload: payload}.Deliver(m)
		if err != nil {
			return vm.None, err
		}
		v, err := values.Decode(m, out, values.DefaultProfile())
		if err != nil {
			return vm.None, err
		}
		s, err := m.Repr(v)
		return s.Value(), err
	})
	if err != nil {
		return string(res.Output), "[" + err.Error() + "]"
	}
	if res.Raised != nil {
		s := strings.TrimSpace(res.Traceback)
		return string(res.Output), s[strings.LastIndexByte(s, '\n')+1:]
	}
	s, _ := res.Value.Text()
	return string(res.Output), s
}

// stepwise runs a handler as the chain does: every answer is another call. It
// answers all that was printed, then what the last call returned.
func (w *world) stepwise(o *code.Object, ask func([]byte) []byte) (string, int) {
	rec := &noting{Recorder: host.NewRecorder()}
	printed, got := w.deliver(rec, o, "h", []byte{0xa1, 0x61, 'n', 0x05})
	steps := 0
	for next := 0; next < len(rec.Calls) && steps < 500; next++ {
		c := rec.Calls[next]
		if c.Name != "SubmitJob" {
			continue
		}
		if c.To != sdk.ResumeHandler {
			w.t.Fatalf("job goes to %q", c.To)
		}
		id := hex.EncodeToString(rec.ids[steps][:])
		steps++
		sender := rec.Here.Sender
		rec.Here.Sender, rec.Here.CallID[1] = chain.Address{19: 2}, byte(steps)
		answer := append([]byte{0xa2}, ask(c.Data)[1:]...)
		answer = append(answer, append([]byte("\x6ecorrelation_id\x78\x42"), "0x"+id...)...)
		out, last := w.deliver(rec, o, sdk.ResumeHandler, answer)
		printed, got = printed+out, last
		rec.Here.Sender = sender
	}
	for k := range rec.Storage {
		if strings.HasPrefix(k, "__continuation") {
			w.t.Errorf("%s is left in storage", k)
		}
	}
	return printed + got, steps
}

const prelude = `
from cowboy_sdk import *
class Box:
    def __init__(self, v): self.v = v
    def __enter__(self):
        print('enter', self.v)
        return self.v
    def __exit__(self, t, e, tb):
        print('exit', self.v, t and t.__name__)
        return self.v == 'swallow'
    def __cowboy_serialize__(self): return self.v
    @classmethod
    def __cowboy_deserialize__(cls, v): return cls(v)
class E1(Exception): pass
class E2(Exception): pass
async def local(x):
    return x + 1
async def ask(p):
    return (await runner.llm(p)).output
def note(*a):
    print(*a)
    return a[0]
@actor
class A:
    async def other(self, x):
        return x * 10
    @runner.continuation
    async def h(self, msg):
`

// same runs a body both ways and compares.
func (w *world) same(body string) (string, int) {
	w.t.Helper()
	src := prelude + "        " + strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n        ") + "\n"
	plain, err := compile.Source([]byte(src), "actor.py", compile.DefaultLimits())
	if err != nil {
		w.t.Fatalf("%s\n%v", src, err)
	}
	split, err := continuation.Source([]byte(src), "actor.py", compile.DefaultLimits(), continuation.DefaultLimits())
	if err != nil {
		w.t.Fatalf("%s\n%v", src, err)
	}
	ask := w.ask("")
	printed, got := w.deliver(instant{host.NewRecorder(), ask}, plain, "h", []byte{0xa1, 0x61, 'n', 0x05})
	stepped, steps := w.stepwise(split, ask)
	if printed+got != stepped {
		w.t.Errorf("%s\nstraight through:\n%s\nstep by step:\n%s", body, printed+got, stepped)
	}
	return stepped, steps
}

func TestStepByStepIsStraightThrough(t *testing.T) {
	w := newWorld(t)
	for _, row := range []struct {
		rule, body, want string
		steps            int
	}{
		{"no await at all", "return 7", "7", 0},
		{"result", "r = await runner.llm(3)\nreturn r.output", "6", 1},
		{"context", "r = await runner.llm('a', context={'k': (1, 2)})\nreturn [r.output, type(r.context['k']).__name__]", "['A', 'tuple']", 1},
		{"parameters survive", "r = await runner.llm(msg.n)\nreturn msg.n + r.output", "15", 1},
		{"types and order survive", "t, s, d, b = (1, 2), {3, 1}, {'b': 1, 'a': 2}, bytearray(b'x')\nawait runner.llm(1)\nprint(t, s, d, b)", "(1, 2) {3, 1} {'b': 1, 'a': 2} bytearray(b'x')\nNone", 1},
		{"local coroutines run on the spot", "return await local(1) + await self.other(2)", "22", 0},
		{"a request awaited later", "q = runner.llm(4)\nx = (await q).output\nreturn x", "8", 1},
		{"within expressions", "return [note(1), (await runner.llm(2)).output, note(3), (await runner.llm(4)).output]", "1\n3\n[1, 4, 3, 8]", 2},
		{"function and keywords", "return dict(a=note(1), b=(await runner.llm(2)).output, **{'c': (await runner.llm(3)).output})", "1\n{'a': 1, 'b': 4, 'c': 6}", 2},
		{"stars", "return note(*[1, 2], (await runner.llm(2)).output, *(await runner.llm('x')).output)", "1 2 4 X\n1", 2},
		{"f-string", "return f'{note(1):>3}{(await runner.llm(2)).output!r:<4}{note(3)}.'", "1\n3\n'  14   3.'", 1},
		{"and, or", "return (await runner.llm(0)).output and note(1) or (await runner.llm(2)).output or note(3)", "4", 2},
		{"conditional", "return (await runner.llm(1)).output if (await runner.llm(0)).output else (await runner.llm('no')).output", "'NO'", 2},
		{"walrus", "if (x := (await runner.llm(4)).output) > 5:\n    return x", "8", 1},
		{"augmented", "x = 1\nx += (await runner.llm(2)).output\nd = {'k': x}\nd['k'] *= (await runner.llm(1)).output\nreturn d", "{'k': 10}", 2},
		{"comparison and index", "v = [1, 2, 3][(await runner.llm(1)).output]\nreturn v == (await runner.llm(1)).output, -(await runner.llm(1)).output", "[False, -2]", 3},
		{"if", "if msg.n > (await runner.llm(1)).output:\n    y = (await runner.llm('a')).output\nelif note(1):\n    y = 0\nelse:\n    pass\nreturn y", "'A'", 2},
		{"while with else", "i = 0\nwhile i < (await runner.llm(1)).output:\n    i += 1\n    if i == 9: break\nelse:\n    print('else', i)\nreturn i", "else 2\n2", 3},
		{"while with break and continue", "i = 0\nwhile True:\n    i += 1\n    if i == 2: continue\n    r = await runner.llm(i)\n    for j in range(3):\n        if j == 1: break\n    else:\n        continue\n    if i > 2: break\nelse:\n    print('never')\nreturn i, r.output", "[3, 6]", 2},
		{"for over a range", "t = 0\nfor i in range(3):\n    t += (await runner.llm(i)).output\nelse:\n    print('else')\nreturn t", "else\n6", 3},
		{"for over a generator", "out = []\nfor a, b in ((i, i * i) for i in range(2)):\n    out.append((a, b, (await runner.llm(b)).output))\nreturn out", "[[0, 0, 0], [1, 1, 2]]", 2},
		{"for over a list that grows", "l = [1]\nfor i in l:\n    if len(l) < 3: l.append(i + 1)\n    await runner.llm(i)\nreturn l", "[1, 2, 3]", 3},
		{"nested loops", "n = 0\nfor i in range(2):\n    for j in 'ab':\n        if j == 'b' and i: break\n        n += len((await runner.llm(j)).output)\n    else:\n        print(i)\nreturn n", "0\n3", 3},
		{"except", "try:\n    await runner.llm('fail')\nexcept RunnerError as e:\n    return str(e)\nelse:\n    return 0", "'no luck'", 1},
		{"except of another kind", "try:\n    try:\n        await runner.llm('fail')\n    except E1:\n        print('no')\nexcept (E2, RunnerError):\n    print('yes')\nreturn 1", "yes\n1", 1},
		{"not caught", "await runner.llm('fail')", "cowboy_sdk.RunnerError: no luck", 1},
		{"else of try", "try:\n    x = (await runner.llm(1)).output\nexcept Exception:\n    x = 0\nelse:\n    x += (await runner.llm(1)).output\nreturn x", "4", 2},
		{"raise within", "try:\n    if (await runner.llm(1)).output: raise E1('a')\nexcept E1 as e:\n    print(repr(e))\n    try:\n        raise\n    except E1:\n        print('again')\nreturn 2", "E1('a')\nagain\n2", 1},
		{"finally", "try:\n    r = (await runner.llm(1)).output\nfinally:\n    print('finally')\nreturn r", "finally\n2", 1},
		{"finally and exception", "try:\n    try:\n        await runner.llm('fail')\n    finally:\n        print('f1')\nexcept RunnerError:\n    print('caught')\nfinally:\n    print('f2', [x for x in range(2)], (lambda: 3)())", "f1\ncaught\nf2 [0, 1] 3\nNone", 1},
		{"return through finally", "for i in range(3):\n    try:\n        try:\n            await runner.llm(i)\n            if i == 1: return note(i)\n        finally:\n            print('inner')\n    finally:\n        print('outer')", "inner\nouter\n1\ninner\nouter\n1", 2},
		{"break through finally", "for i in range(3):\n    try:\n        await runner.llm(i)\n        if i: break\n        continue\n    finally:\n        print('f', i)\nreturn i", "f 0\nf 1\n1", 2},
		{"return from a loop through finally", "try:\n    await runner.llm(1)\n    for i in range(5):\n        if i == 3: return i\nfinally:\n    print('f')", "f\n3", 1},
		{"finally that returns", "try:\n    await runner.llm('fail')\nfinally:\n    return 5", "5", 1},
		{"with", "with Box('a') as x, Box('b'):\n    print(x, (await runner.llm(x)).output)\nreturn 1", "enter a\nenter b\na A\nexit b None\nexit a None\n1", 1},
		{"with and exception", "with Box('a'):\n    with Box('swallow'):\n        await runner.llm('fail')\n    print('on')\n    return (await runner.llm(1)).output", "enter a\nenter swallow\nexit swallow RunnerError\non\nexit a None\n2", 2},
		{"with and return", "for x in 'ab':\n    with Box(x):\n        if (await runner.llm(x)).output == 'B': return x", "enter a\nexit a None\nenter b\nexit b None\n'b'", 2},
		{"match", "match (await runner.llm(2)).output, msg.n:\n    case [1, _]: return 1\n    case [4 as x, y] if y == 5:\n        z = await runner.llm(y)\n        return x, y, z.output\n    case _: return 2", "[4, 5, 10]", 2},
		{"variables that may have no value", "if msg.n == 9:\n    v = 1\nawait runner.llm(1)\ntry:\n    print(v)\nexcept UnboundLocalError as e:\n    print('unbound')\nv = 2\nawait runner.llm(1)\nreturn v", "unbound\n2", 2},
		{"closures over variables", "x = 1\nawait runner.llm(1)\nf = lambda: x + 1\nx = 5\nreturn f()", "6", 1},
		{"what is not used need not be stored", "f = lambda: 0\ng = (i for i in 'ab')\nf(), next(g)\nreturn (await runner.llm(1)).output", "2", 1},
		{"class and global statements", "global G\nG = 1\nawait runner.llm(1)\nG = 2\nreturn G", "2", 1},
		{"assert and raise from", "try:\n    assert (await runner.llm(0)).output, 'zero'\nexcept AssertionError as e:\n    print(e)\ntry:\n    raise E1 from ((await runner.llm(1)).output and E2())\nexcept E1 as e:\n    return type(e.__cause__).__name__", "zero\n'E2'", 2},
		{"one object in two places", "a = [1]\nb = {'k': a}\nawait runner.llm(1)\na.append(2)\nreturn b", "{'k': [1, 2]}", 1},
		{"chain", "print(1 < (await runner.llm(1)).output < 3 < note(9) > (await runner.llm(2)).output)\nreturn note(1) > note(2) > (await runner.llm(1)).output", "9\nTrue\n1\n2\nFalse", 2},
		{"chain evaluates once", "return note(1) < (await runner.llm(2)).output < note(3) < note(0)", "1\n3\nFalse", 1},
		{"await in except", "try:\n    raise E1('a')\nexcept E2:\n    return 0\nexcept E1:\n    r = (await runner.llm(1)).output\n    print(r)\nreturn 5", "2\n5", 1},
		{"exception survives", "try:\n    await runner.llm('fail')\nexcept RunnerError as e:\n    await runner.llm(1)\n    print(repr(e), e.code, e.args)\n    await runner.llm(1)\n    print(str(e))\ntry:\n    e\nexcept NameError:\n    return 'unbound'", "RunnerError('no luck') E1602 ('no luck',)\nno luck\n'unbound'", 3},
		{"bare raise after an await in except", "try:\n    try:\n        raise E1(1, 2)\n    except Exception:\n        await runner.llm(1)\n        if msg.n == 5: raise\nexcept E1 as e:\n    return e.args", "[1, 2]", 1},
		{"bare raise in a real clause within", "try:\n    try:\n        raise E1(1)\n    except E1:\n        await runner.llm(1)\n        try:\n            raise E2(2)\n        except E2:\n            raise\nexcept E2 as e:\n    return e.args", "[2]", 1},
		{"return from except through finally", "for i in range(2):\n    try:\n        raise KeyError('k')\n    except KeyError as e:\n        x = (await runner.llm(i)).output\n        if x: return str(e), x\n    finally:\n        print('f', i)", "f 0\nf 1\n[\"'k'\", 2]", 2},
		{"await in finally", "try:\n    print('b')\nfinally:\n    print((await runner.llm(1)).output)\nreturn 1", "b\n2\n1", 1},
		{"return through an awaiting finally", "try:\n    return note((await runner.llm(1)).output)\nfinally:\n    print('f', (await runner.llm('x')).output)", "2\nf X\n2", 2},
		{"exception through an awaiting finally", "try:\n    try:\n        raise E1('a')\n    finally:\n        await runner.llm(1)\n        print('f')\nexcept E1 as e:\n    return repr(e)", "f\n\"E1('a')\"", 1},
		{"break and continue through an awaiting finally", "for i in range(4):\n    try:\n        if i == 1: continue\n        if i == 2: break\n        print('b', i)\n    finally:\n        await runner.llm(i)\n        print('f', i)\nelse:\n    print('else')\nreturn i", "b 0\nf 0\nf 1\nf 2\n2", 3},
		{"finally that returns after an await", "try:\n    raise E1\nfinally:\n    await runner.llm(1)\n    return 7", "7", 1},
		{"return from a loop in except through finally", "try:\n    try:\n        await runner.llm('fail')\n    except RunnerError:\n        for i in range(3):\n            if i == 1: return i\nfinally:\n    print('f')", "f\n1", 1},
		{"return from a loop in finally through finally", "try:\n    try:\n        await runner.llm(1)\n    finally:\n        for i in range(3):\n            if i == 1: return i\nfinally:\n    print('f')", "f\n1", 1},
		{"first iterable of comprehensions", "x = 1\na = [c + str(x) for c in (await runner.llm('ab')).output]\nb = {k: v for k in (await runner.llm('k')).output for v in a}\nreturn a, b, sum(i for i in [(await runner.llm(2)).output, x])", "[['A1', 'B1'], {'K': 'B1'}, 5]", 3},
		{"group", "g = TaskGroup(runner.llm(1, context='c'), runner.llm('b'))\ng.add(runner.llm(3))\nx = 9\nr = await g\nreturn [i.output for i in r], r[0].context, x, await TaskGroup()", "[[2, 'B', 6], 'c', 9, []]", 3},
		{"group with a failure", "try:\n    await TaskGroup(runner.llm(1), runner.llm('fail'), runner.llm(2))\nexcept RunnerError as e:\n    return str(e)", "'no luck'", 3},
		{"groups in a loop", "out = []\nfor i in range(2):\n    out += [r.output for r in await TaskGroup(*[runner.llm(j) for j in range(i + 1)])]\nreturn out", "[0, 0, 2]", 3},
		{"finally within finally", "try:\n    try:\n        return 1\n    finally:\n        await runner.llm(1)\n        print('inner')\nfinally:\n    await runner.llm(1)\n    print('outer')", "inner\nouter\n1", 2},
		{"with in except and finally", "try:\n    try:\n        raise E1\n    except E1:\n        with Box('swallow'):\n            await runner.llm('fail')\n        print('on')\nfinally:\n    with Box('b'):\n        await runner.llm(1)", "enter swallow\nexit swallow RunnerError\non\nenter b\nexit b None\nNone", 2},
		{"unpacking", "(a, *b), c = (await runner.llm('xyz')).output, 1\nreturn a, b, c", "['X', ['Y', 'Z'], 1]", 1},
		{"docstring", "'doc'\nx: int = (await runner.llm(1)).output\nreturn x", "2", 1},
	} {
		t.Run(row.rule, func(t *testing.T) {
			w.t = t
			got, steps := w.same(row.body)
			if got != row.want || steps != row.steps {
				t.Errorf("%d steps gave\n%s\nwant %d steps and\n%s", steps, got, row.steps, row.want)
			}
		})
	}
}

// TestValuesThatDoNotSurvive: what has no encoding stops the handler at the
// await, where it can be seen.
func TestValuesThatDoNotSurvive(t *testing.T) {
	w := newWorld(t)
	for _, row := range []struct{ rule, body, want string }{
		{"generator", "g = (i for i in 'ab')\nawait runner.llm(1)\nreturn next(g)", "TypeError: Object of type generator is not serializable: it has no __cowboy_serialize__"},
		{"value within itself", "g = []\ng.append(g)\nawait runner.llm(1)\nreturn len(g)", "ValueError: a value that contains itself is not serializable"},
		{"too large", "g = 'a' * 65536\nawait runner.llm(1)\nreturn len(g)", "ValueError: value is too long to serialize: more than 65536 bytes"},
	} {
		src := prelude + "        " + strings.ReplaceAll(row.body, "\n", "\n        ") + "\n"
		o, err := continuation.Source([]byte(src), "actor.py", compile.DefaultLimits(), continuation.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		rec := host.NewRecorder()
		if _, got := w.deliver(rec, o, "h", []byte{0xf6}); got != row.want || len(rec.Storage) != 0 {
			t.Errorf("%s: %s, want %s; storage has %d entries", row.rule, got, row.want, len(rec.Storage))
		}
	}
	src := prelude + "        return (await runner.llm(1)).output\n"
	o, err := continuation.Source([]byte(src), "actor.py", compile.DefaultLimits(), continuation.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	rec := host.NewRecorder()
	for i := range 101 {
		rec.Here.CallID[2] = byte(i)
		_, got := w.deliver(rec, o, "h", []byte{0xf6})
		if want := i < 100; (got == "None") != want {
			t.Fatalf("waiting handler %d: %s", i+1, got)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, row := range []struct{ rule, body, want string }{
		{"list comprehension", "return [await runner.llm(i) for i in (1,)]", "line 1"},
		{"second iterable", "return [1 for i in 'a' for j in await runner.llm(1)]", "line 1"},
		{"condition of a comprehension", "return {1 for i in 'a' if await runner.llm(1)}", "line 1"},
		{"dict comprehension", "return {1: await runner.llm(1) for i in 'a'}", "line 1"},
		{"generator expression", "return list(await runner.llm(1) for i in 'a')", "line 1"},
		{"asynchronous comprehension", "return [1 async for i in await runner.llm(1)]", "line 1"},
		{"async for", "x = 1\nasync for i in x: pass", "line 2"},
		{"async with", "async with x: pass", "line 1"},
		{"class of an except clause", "try:\n    pass\nexcept await runner.llm(1):\n    pass", "line 3"},
		{"bare raise in finally", "try:\n    pass\nfinally:\n    await runner.llm(1)\n    raise", "line 5"},
		{"bare raise in finally in except", "try:\n    pass\nexcept E1:\n    await runner.llm(1)\n    try:\n        pass\n    finally:\n        raise", "line 8"},
		{"target", "x[await runner.llm(1)] = 2", "line 1"},
		{"delete", "del x[await runner.llm(1)]", "line 1"},
		{"guard", "match 1:\n    case x if await runner.llm(1): pass", "line 2"},
		{"nine awaits", "await ask(1)\n" + strings.Repeat("await runner.llm(1)\n", 8), "line 9"},
		{"local function", "def f(): pass\nawait runner.llm(1)\nf()", "line 2"},
		{"local class", "class C: pass\nawait runner.llm(1)\nC()", "line 2"},
		{"local import", "import json\nawait runner.llm(1)\njson.dumps(1)", "line 2"},
		{"self rebound", "self = 1\nawait runner.llm(1)", "line -1"},
		{"generator", "yield 1\nawait runner.llm(1)", "line -1"},
	} {
		first := strings.Count(prelude, "\n")
		src := prelude + "        " + strings.ReplaceAll(row.body, "\n", "\n        ") + "\n"
		_, err := continuation.Source([]byte(src), "actor.py", compile.DefaultLimits(), continuation.DefaultLimits())
		var e *continuation.Error
		if !errors.As(err, &e) || !errors.Is(err, continuation.ErrRefused) {
			t.Errorf("%s: %v", row.rule, err)
			continue
		}
		line := int(e.Line) - first
		if want := strings.TrimPrefix(row.want, "line "); want != "-1" && want != string(rune('0'+line)) {
			t.Errorf("%s: refused in line %d, want %s: %v", row.rule, line, want, err)
		}
	}
	for _, row := range []struct{ rule, src string }{
		{"nested function", "def f():\n @runner.continuation\n async def g(msg): pass"},
		{"plain function", "@runner.continuation\ndef g(msg): pass"},
		{"static method", "class A:\n @staticmethod\n @runner.continuation\n async def g(msg): pass"},
		{"twice", "@runner.continuation\nasync def g(msg): pass\n@runner.continuation\nasync def g(msg): pass"},
	} {
		_, err := continuation.Source([]byte("from cowboy_sdk import runner\n"+row.src+"\n"), "actor.py", compile.DefaultLimits(), continuation.DefaultLimits())
		if !errors.Is(err, continuation.ErrRefused) {
			t.Errorf("%s: %v", row.rule, err)
		}
	}
}

func TestWhitepaperContinuation(t *testing.T) { // whitepaper, SDK Ergonomics
	w := newWorld(t)
	b, err := os.ReadFile("../sdk/testdata/continuation.py")
	if err != nil {
		t.Fatal(err)
	}
	src := string(b) + "\nTradingBot.execute_buy = lambda self, price: self.storage.set('bought', price)\n"
	o, err := continuation.Source([]byte(src), "actor.py", compile.DefaultLimits(), continuation.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		rule   string
		after  byte // the price when the result comes
		bought bool
	}{{"price stays", 100, true}, {"price changes", 101, false}} {
		rec := host.NewRecorder()
		rec.Storage["price"] = []byte{0x18, 100}
		if _, got := w.deliver(rec, o, "handle_trade", []byte{0xf6}); got != "None" {
			t.Fatal(got)
		}
		var id string
		for k := range rec.Storage {
			if s, ok := strings.CutPrefix(k, "__continuation:"); ok {
				id = s
			}
		}
		last := rec.Calls[len(rec.Calls)-1]
		if last.Name != "SubmitJob" || !strings.Contains(string(last.Data), "Analyze buying opportunity at $100") {
			t.Errorf("%s: job is %q", row.rule, last)
		}
		rec.Storage["price"] = []byte{0x18, row.after}
		answer := []byte("\xa2\x66output\x6dstill Bullish\x6ecorrelation_id\x78\x42")
		answer = append(answer, "0x"+id...)
		if _, got := w.deliver(rec, o, sdk.ResumeHandler, answer); !strings.Contains(got, "PermissionDenied") {
			t.Errorf("%s: anybody resumes: %s", row.rule, got)
		}
		rec.Here.Sender = chain.Address{19: 3}
		rec.Here.CodeHash[0]++
		if _, got := w.deliver(rec, o, sdk.ResumeHandler, answer); !strings.Contains(got, "other code") {
			t.Errorf("%s: other code resumes: %s", row.rule, got)
		}
		rec.Here.CodeHash[0]--
		if _, got := w.deliver(rec, o, sdk.ResumeHandler, answer); got != "None" {
			t.Errorf("%s: %s", row.rule, got)
		}
		if _, ok := rec.Storage["bought"]; ok != row.bought {
			t.Errorf("%s: bought is %v", row.rule, ok)
		}
		if _, got := w.deliver(rec, o, sdk.ResumeHandler, answer); !strings.Contains(got, "no handler waits") {
			t.Errorf("%s: resumed twice: %s", row.rule, got)
		}
	}
}

// writer makes handlers that end.
type writer struct {
	r      *rand.Rand
	awaits int
	loops  int
	final  int // finally clauses around
	out    strings.Builder
}

func (g *writer) line(depth int, s string) {
	g.out.WriteString(strings.Repeat("    ", depth) + s + "\n")
}

func (g *writer) pick(ss ...string) string { return ss[g.r.Intn(len(ss))] }

// value is an expression; now and then it awaits.
func (g *writer) value(deep int) string {
	if g.awaits < 8 && g.r.Intn(4) == 0 {
		g.awaits++
		return "(await runner.llm(" + g.pick("1", "2", "a", "b", "'fail'", "i") + ")).output"
	}
	if deep > 0 && g.r.Intn(3) == 0 {
		x, y := g.value(deep-1), g.value(deep-1)
		return g.pick("("+x+" < "+y+" <= 3)", "("+x+" + "+y+")", "("+x+" and "+y+")", "("+x+" or "+y+")", "note("+x+")", "("+x+" if "+y+" else b)", "(c, "+x+")[1]", "len(str("+x+") + str("+y+"))")
	}
	return g.pick("a", "b", "c", "i", "1", "0", "2")
}

func (g *writer) as(named bool) string {
	if named {
		return " as e:"
	}
	return ":"
}

func (g *writer) body(depth, deep int) {
	for range 1 + g.r.Intn(3) {
		g.statement(depth, deep)
	}
}

func (g *writer) statement(depth, deep int) {
	kind := g.r.Intn(14)
	if deep == 0 && kind > 4 {
		kind = g.r.Intn(5)
	}
	switch kind {
	case 0, 1:
		g.line(depth, g.pick("a", "b", "c")+g.pick(" = ", " += ")+g.value(2))
	case 2:
		g.line(depth, "print('p', "+g.value(2)+", a, b)")
	case 3:
		g.line(depth, "if "+g.value(1)+" == 2: raise "+g.pick("E1", "E2"))
	case 4:
		switch {
		case g.loops > 0:
			g.line(depth, "if "+g.value(1)+" > 3: "+g.pick("break", "continue", "return c"))
		default:
			g.line(depth, "if "+g.value(1)+" > 5: return "+g.value(1))
		}
	case 5, 6:
		g.line(depth, "if "+g.value(2)+" > 2:")
		g.body(depth+1, deep-1)
		if g.r.Intn(2) == 0 {
			g.line(depth, "else:")
			g.body(depth+1, deep-1)
		}
	case 7, 8:
		g.line(depth, "for i in "+g.pick("range(3)", "[1, 2]", "(x for x in (3, 1))")+":")
		g.loop(depth, deep)
	case 9:
		g.line(depth, "while (n := n + 1) < 4 + "+g.value(0)+":")
		g.line(depth+1, "if n > 9: break")
		g.loop(depth, deep)
	case 10, 11:
		g.line(depth, "try:")
		g.body(depth+1, deep-1)
		final := g.r.Intn(2) == 0
		if !final || g.r.Intn(2) == 0 {
			named := g.r.Intn(2) == 0
			g.line(depth, "except "+g.pick("E1", "(E2, RunnerError)", "Exception")+g.as(named))
			g.body(depth+1, min(deep-1, 1))
			if named {
				g.line(depth+1, "print(repr(e))")
			}
			if g.final == 0 && g.r.Intn(4) == 0 {
				g.line(depth+1, "raise")
			}
			if g.r.Intn(3) == 0 {
				g.line(depth, "else:")
				g.body(depth+1, deep-1)
			}
		}
		if final {
			g.line(depth, "finally:")
			g.final++
			g.body(depth+1, min(deep-1, 1))
			g.final--
		}
	case 12:
		g.line(depth, "with Box("+g.pick("'x'", "'swallow'")+"):")
		g.body(depth+1, deep-1)
	case 13:
		g.line(depth, "match "+g.value(1)+":")
		g.line(depth+1, "case 2 | 4:")
		g.body(depth+2, deep-1)
		g.line(depth+1, "case c:")
		g.body(depth+2, deep-1)
	}
}

func (g *writer) loop(depth, deep int) {
	g.loops++
	g.body(depth+1, deep-1)
	g.loops--
	if g.r.Intn(3) == 0 {
		g.line(depth, "else:")
		g.body(depth+1, deep-1)
	}
}

var handlers = flag.Int("handlers", 100, "handlers of TestGeneratedHandlers")

func TestGeneratedHandlers(t *testing.T) {
	w := newWorld(t)
	suspended := 0
	for seed := range int64(*handlers) {
		g := &writer{r: rand.New(rand.NewSource(seed))}
		g.line(0, "a, b, c, i, n = 1, 2, 0, 5, 0")
		for range 4 {
			g.statement(0, 3)
		}
		g.line(0, "return [a, b, c, i, n]")
		_, steps := w.same(g.out.String())
		suspended += steps
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if suspended < *handlers {
		t.Errorf("only %d suspensions in all", suspended)
	}
}

func FuzzTransform(tf *testing.F) {
	f := soak.New(tf, append(soak.Python(), "import cowboy_sdk\n@cowboy_sdk.runner.continuation\nasync def h(msg):\n ", "await f()", "await", "with a as b:\n  ")...)
	f.Add([]byte(prelude + "        return (await runner.llm(1)).output\n"))
	f.Add([]byte("import cowboy_sdk\n@cowboy_sdk.runner.continuation\nasync def h(msg):\n for i in 1,:\n  try: await i\n  finally: pass\n"))
	f.AddSources("..")
	f.Fuzz(func(t *testing.T, src []byte) {
		lim := compile.DefaultLimits()
		if _, err := compile.Source(src, "f", lim); err != nil {
			return
		}
		o, err := continuation.Source(src, "f", lim, continuation.DefaultLimits())
		if err != nil {
			return
		}
		f.Past()
		if err := code.Verify(o); err != nil {
			t.Fatal(err)
		}
	})
}
