package conformance

import (
	"fmt"
	"math/rand"
	"strings"
)

// Programs about generators and coroutines: what is sent, thrown and closed through
// chains of them, of native iterators and of iterators of the program. Every generator
// is kept (made): CPython closes one that nobody holds. Functions call those before
// them only, so that all end.
const delegationPrelude = `import itertools
class Odd(Exception):
    pass
class End(StopIteration):
    pass
keep = []
def made(g):
    keep.append(g)
    return g
class Steps:
    def __init__(self, n, end=None, how='item'):
        self.n, self.end, self.how = n, end, how
    def __iter__(self):
        return self
    def __next__(self):
        self.n -= 1
        if self.n >= 0:
            return self.n
        if self.how == 'bad':
            raise Odd('next')
        raise StopIteration if self.end is None else End(self.end, 1)
class Sender(Steps):
    def send(self, v):
        print('send', v)
        if v == 's':
            raise StopIteration('sent')
        return 'sent', v
class Thrower(Sender):
    def throw(self, *args):
        print('throw', *map(shown, args))
        if self.how == 'stop':
            raise StopIteration(args[0])
        if self.how == 'raise':
            raise args[0]
        if self.how == 'bad':
            raise Odd('throw')
        return 'thrown'
class Closer(Thrower):
    def close(self):
        print('close')
        if self.how == 'bad':
            raise Odd('close')
class Indexed:
    def __init__(self, n, how=IndexError):
        self.n, self.how = n, how
    def __getitem__(self, i):
        if i >= self.n:
            raise self.how
        return i
class Waits:
    def __init__(self, it):
        self.it = it
    def __await__(self):
        return self.it
class Guard:
    def __init__(self, swallow):
        self.swallow = swallow
    def __enter__(self):
        return self
    def __exit__(self, kind, value, trace):
        print('exit', kind and kind.__name__, shown(value))
        return self.swallow
class Turnstile(Guard):
    async def __aenter__(self):
        return await Waits(iter(['in'])) or self
    async def __aexit__(self, *a):
        print('aexit', a[0] and a[0].__name__)
        await Waits(Steps(1))
        return self.swallow
def stops(x):
    if x == 1:
        raise StopIteration('stopped')
    return x
def fails(x):
    if x == 2:
        raise Odd(x)
    return x
def shown(v):
    if isinstance(v, BaseException):
        return type(v).__name__ + repr(tuple(map(shown, v.args)))
    if type(v) in (tuple, list):
        return type(v)(map(shown, v))
    return v if type(v) in (int, str, bool, type(None)) else type(v).__name__
def chain(e):
    out = []
    while e is not None and len(out) < 5:
        out.append(shown(e))
        out.append('from' if e.__cause__ else 'while')
        e = e.__cause__ or (None if e.__suppress_context__ else e.__context__)
    return out[:-1]
def drive(g, *acts):
    made(g)
    for name, *args in acts:
        try:
            if name == 'take':
                out = []
                for x in g:
                    out.append(shown(x))
                    if len(out) >= args[0]:
                        break
            elif name == 'next':
                out = shown(next(g, *args))
            elif name == 'within':
                try:
                    raise LookupError(name)
                except LookupError:
                    out = shown(g.throw(*args))
            elif name == 'list':
                out = shown(list(itertools.islice(g, 9)))
            else:
                out = shown(getattr(g, name)(*args))
            print(name, *map(shown, args), '->', out)
        except BaseException as e:
            print(name, *map(shown, args), '!', chain(e), shown(e.value) if isinstance(e, StopIteration) else '')
def through(g, *acts):
    def outer():
        try:
            r = yield from g
            print('through', shown(r))
            return r
        except Odd as e:
            print('met', chain(e))
            yield 'met'
    drive(outer(), *acts)`

// delegation makes such programs.
type delegation struct {
	*rand.Rand
	serial int
	gens   []string // generator functions of one argument
	coros  []string // coroutine functions of one argument
	async  bool     // a coroutine is being made
	names  []string
	nest   int
	loop   bool
	except bool
}

// delegationProgram makes the program of a seed.
func delegationProgram(seed int64) []*statement {
	g := &delegation{Rand: rand.New(rand.NewSource(seed))}
	body := []*statement{line(delegationPrelude)}
	for range 2 + g.Intn(4) {
		body = append(body, g.define())
	}
	for range 2 + g.Intn(4) {
		body = append(body, g.drive())
	}
	return body
}

func (g *delegation) pick(list ...string) string { return list[g.Intn(len(list))] }

func (g *delegation) fresh(prefix string) string {
	g.serial++
	return fmt.Sprintf("%s%d", prefix, g.serial)
}

// define makes a function that later ones may use.
func (g *delegation) define() *statement {
	head, list := "def ", &g.gens
	if g.async = g.Intn(4) == 0; g.async {
		head, list = "async def ", &g.coros
	}
	name := g.fresh("g")
	g.names, g.loop, g.except, g.nest = []string{"n"}, false, false, 0
	s := block(head+name+"(n):", g.body(4))
	if !g.async {
		s.clauses[0].body = append(s.clauses[0].body, line("yield n"))
	}
	if g.Intn(2) == 0 {
		s.clauses[0].body = append(s.clauses[0].body, line("return "+g.value()))
	}
	*list = append(*list, name)
	return s
}

func (g *delegation) body(n int) (out []*statement) {
	loop, except, names := g.loop, g.except, len(g.names)
	g.nest++
	for range 1 + g.Intn(n) {
		out = append(out, g.statement())
	}
	g.nest--
	g.loop, g.except, g.names = loop, except, g.names[:names]
	return out
}

func (g *delegation) statement() *statement {
	n := g.Intn(20)
	if g.nest > 3 {
		n = g.Intn(10)
	}
	switch {
	case n < 6:
		return g.step()
	case n < 8:
		return line("print(" + g.pick("'at'", "shown("+g.name()+")", g.name()+" == 1") + ", " + fmt.Sprint(g.Intn(100)) + ")")
	case n < 9:
		return g.leave()
	case n < 10:
		name := g.fresh("x")
		s := line(name + " = " + g.value())
		g.names = append(g.names, name)
		return s
	case n < 14:
		return g.attempt()
	case n < 16:
		return g.loopOver()
	case n < 17:
		return block("if "+g.pick(g.name()+" == 's'", g.name()+" is None", "n > 1", "n")+":", g.body(2))
	case n < 18 && g.async:
		return block("async with Turnstile("+g.pick("True", "False")+"):", g.body(3))
	case n < 19:
		return block("with Guard("+g.pick("True", "False")+"):", g.body(3))
	}
	return g.step()
}

// step is one place where the function waits.
func (g *delegation) step() *statement {
	expr := "await " + g.awaitable()
	switch {
	case g.async:
	case g.Intn(2) == 0:
		expr = "yield from " + g.iterable(2)
	default:
		expr = "yield " + g.value()
	}
	switch g.Intn(7) {
	case 0:
		return line("(" + expr + ")")
	case 1, 2, 3:
		name := g.fresh("x")
		s := line(name + " = " + g.value() + "; " + name + " = " + expr + "; print('got', shown(" + name + "))")
		g.names = append(g.names, name)
		return s
	case 4:
		return line("print(shown([" + g.value() + ", (" + expr + "), " + g.value() + "]))")
	case 5:
		name := g.name()
		if !strings.HasPrefix(name, "x") {
			break
		}
		return line(name + " = (" + expr + ")")
	}
	return line(strings.TrimPrefix(expr, "("))
}

func (g *delegation) leave() *statement {
	if g.loop && g.Intn(2) == 0 {
		return block("if "+g.pick("n", g.name()+" == 1", g.name()+" == 's'")+":", []*statement{line(g.pick("break", "continue"))})
	}
	what := "raise " + g.exception()
	switch {
	case g.except && g.Intn(3) == 0:
		what = g.pick("raise", "raise Odd('again') from None", "raise KeyError('k') from ValueError('v')")
	case g.Intn(2) == 0:
		what = "return " + g.value()
	}
	if g.Intn(3) == 0 {
		return line(what)
	}
	return block("if "+g.pick("n", "n > 1", g.name()+" == 's'", g.name()+" == 1")+":", []*statement{line(what)})
}

func (g *delegation) attempt() *statement {
	s := block("try:", g.body(3))
	if g.Intn(5) > 0 {
		kind := g.pick("Odd", "Exception", "BaseException", "GeneratorExit", "StopIteration", "(ValueError, TypeError)", "LookupError", "RuntimeError")
		name := g.fresh("e")
		g.except = true
		s.clauses = append(s.clauses, clause{"except " + kind + " as " + name + ":", append([]*statement{line("print('caught', chain(" + name + "))")}, g.body(2)...)})
		g.except = false
		if g.Intn(4) == 0 {
			s.clauses = append(s.clauses, clause{"else:", g.body(2)})
		}
	}
	if len(s.clauses) == 1 || g.Intn(3) == 0 {
		s.clauses = append(s.clauses, clause{"finally:", append([]*statement{line("print('finally')")}, g.body(2)...)})
	}
	return s
}

func (g *delegation) loopOver() *statement {
	name := g.fresh("x")
	head := "for " + name + " in " + g.iterable(2) + ":"
	if g.Intn(3) == 0 {
		g.loop = true
		s := block("while n > 0:", append([]*statement{line("n -= 1")}, g.body(2)...))
		g.loop = false
		return s
	}
	g.names = append(g.names, name)
	g.loop = true
	s := block(head, g.body(2))
	g.loop = false
	return s
}

func (g *delegation) name() string { return g.names[g.Intn(len(g.names))] }

func (g *delegation) value() string {
	if len(g.names) > 0 && g.Intn(3) == 0 {
		return g.name()
	}
	return g.pick("0", "1", "2", "'a'", "'s'", "None", "(1, 'b')", "Odd(3)", "[4]", "StopIteration(5)")
}

func (g *delegation) small() string { return fmt.Sprint(g.Intn(4)) }

func (g *delegation) exception() string {
	return g.pick("Odd(1)", "Odd", "StopIteration(7)", "StopIteration", "End('e', 2)", "ValueError('v')", "KeyError", "GeneratorExit", "GeneratorExit('g')", "StopAsyncIteration(8)", "RuntimeError('r')")
}

func (g *delegation) how() string { return g.pick("'item'", "'stop'", "'raise'", "'bad'") }

// iterable is what a generator can delegate to, mostly.
func (g *delegation) iterable(depth int) string {
	if len(g.gens) > 0 && g.Intn(3) == 0 {
		return "made(" + g.pick(g.gens...) + "(" + g.small() + "))"
	}
	if depth > 0 && g.Intn(2) == 0 {
		it := g.iterable(depth - 1)
		fn := g.pick("stops", "fails", "shown")
		switch g.Intn(14) {
		case 0:
			return "zip(" + it + ", " + g.iterable(depth-1) + ")"
		case 1:
			return "enumerate(" + it + ")"
		case 2:
			return "filter(" + fn + ", " + it + ")"
		case 3:
			return "iter(" + it + ")"
		case 4:
			return "itertools.chain(" + it + ", " + g.iterable(depth-1) + ")"
		case 5:
			return "itertools.islice(" + it + ", " + g.small() + ")"
		case 6:
			return "itertools." + g.pick("takewhile", "dropwhile", "filterfalse") + "(" + fn + ", " + it + ")"
		case 7:
			return "itertools.starmap(" + fn + ", zip(" + it + "))"
		case 8:
			return "itertools.pairwise(" + it + ")"
		case 9:
			return "itertools.tee(" + it + ")[0]"
		case 10:
			return "(" + fn + "(y) for y in " + it + ")"
		case 11:
			return "zip(" + it + ", [1, 2], strict=True)"
		}
		return "map(" + fn + ", " + it + ")"
	}
	switch g.Intn(10) {
	case 0:
		return "[0, 1, 2]"
	case 1:
		return "range(" + g.small() + ")"
	case 2:
		return g.pick("'ab'", "{'k': 1}", "()", "{1, 2}", "reversed([1, 2])", "b'xy'", "5", "None", "Odd")
	case 3:
		return "Indexed(" + g.small() + g.pick("", ", StopIteration", ", Odd", ", KeyError") + ")"
	case 4:
		return "iter(Steps(" + g.small() + ").__next__, " + g.small() + ")"
	}
	return g.pick("Steps", "Sender", "Thrower", "Closer", "Closer") + "(" + g.small() + ", " + g.value() + ", " + g.how() + ")"
}

func (g *delegation) awaitable() string {
	switch {
	case len(g.coros) > 0 && g.Intn(3) == 0:
		return "made(" + g.pick(g.coros...) + "(" + g.small() + "))"
	case g.Intn(12) == 0:
		return g.pick("5", "None", "[1]", "Waits(5)")
	}
	return "Waits(" + g.iterable(1) + ")"
}

// drive puts one of the functions through a few acts.
func (g *delegation) drive() *statement {
	g.names = nil
	word, what := "drive", g.iterable(1)
	switch n := g.Intn(10); {
	case n < 4 && len(g.gens) > 0:
		what = g.pick(g.gens...) + "(" + g.small() + ")"
	case n < 6 && len(g.coros) > 0:
		what = g.pick(g.coros...) + "(" + g.small() + ")"
	default:
		word = "through"
	}
	var acts []string
	for range 2 + g.Intn(6) {
		acts = append(acts, "("+g.act()+",)")
	}
	return guarded(line(word + "(" + what + ", " + strings.Join(acts, ", ") + ")"))
}

func (g *delegation) act() string {
	switch g.Intn(12) {
	case 0, 1, 2:
		return "'next'" + g.pick("", "", ", 'absent'")
	case 3, 4:
		return "'send', " + g.pick("None", "1", "'s'", "None")
	case 5, 6:
		return g.pick("'throw'", "'throw'", "'within'") + ", " + g.exception()
	case 7:
		return "'throw', " + g.pick("5", "None", "Odd, 1", "Odd, (1, 2)", "Odd, Odd(6)", "ValueError, Odd(6)", "Odd(1), 2", "Odd, None, None", "LookupError, KeyError(1)", "int", "'text'")
	case 8:
		return "'close'"
	case 9:
		return "'take', " + fmt.Sprint(1+g.Intn(4))
	case 10:
		return "'list'"
	}
	return "'next'"
}
