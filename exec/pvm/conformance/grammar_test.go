package conformance

// The grammar of generated programs. Types: li and ls are lists of ints and of
// strings, d a dict from strings to ints, s a set of ints, tu a pair of an int and
// a string, obj an object of a generated class. Sets are printed sorted and
// never walked: their order is one of the differences that are wanted, as is that
// CPython closes a generator that nobody holds any more.

const prelude = `class Odd(Exception):
    def __str__(self):
        return "odd:" + ",".join(map(repr, self.args))
class Base:
    made = 0
    def __init__(self, n):
        self.n = n
        self.items = [n, 2]
        type(self).made += 1
    def __repr__(self):
        return f"{type(self).__name__}<{self.n!r}>"
class Guard:
    def __init__(self, swallow):
        self.swallow = swallow
    def __enter__(self):
        print("in")
        return self
    def __exit__(self, kind, value, trace):
        print("out", kind and kind.__name__, value)
        return self.swallow
def countdown(n):
    try:
        while n > 0:
            n -= 1
            yield n
    except Odd as error:
        print("closed", n, error)
def feed(gen, word):
    out = [next(gen, None)]
    try:
        out.append(gen.send(word))
        out.append(gen.throw(Odd(word)))
    except Exception as error:
        out.append(repr(error))
    gen.close()
    return repr(out)`

var typeNames = []string{"int", "str", "li", "float", "bool", "d", "ls", "s", "tu", "obj"}

var printed = map[string]string{
	"int": "%s", "str": "repr(%s)", "li": "%s", "float": "%s", "bool": "%s", "d": "%s", "ls": "%s", "s": "sorted(%s, key=repr)", "tu": "%s", "obj": "%s",
}

var literals = map[string][]string{
	"int":   {"0", "1", "-1", "2", "7", "10", "255", "-13", "1000003", "2**63", "-2**70", "10**20"},
	"small": {"0", "1", "2", "3", "5"},
	"str":   {"''", "'a'", "'abc'", "'Hello World'", "'x,y,,z'", "'ünï'", "'日本語'", "'  pad '", "'12'", "'a\\nb\\t'", "\"it's\"", "'\\x00\\x7f'", "'😀z'"},
	"li":    {"[]", "[1]", "[3, 1, 2]", "[0, -5, 5, 0]", "[1, 2, 3, 4, 5, 6]"},
	"ls":    {"[]", "['a']", "['b', 'a', 'c']", "['', 'xyz', 'é']"},
	"float": {"0.0", "1.0", "-0.0", "0.1", "2.5", "-3.75", "1e100", "1e-7", "123456.789", "float('inf')", "float('nan')", "1e16"},
	"bool":  {"True", "False"},
	"d":     {"{}", "{'a': 1}", "{'b': 2, 'a': 1, 'c': 3}"},
	"s":     {"set()", "{1}", "{3, 1, 2}", "frozenset([4, 5])"},
	"tu":    {"(1, 'a')", "(0, '')", "(-2, 'zz')"},
	"obj":   {"Base(1)", "Base(-4)", "Guard(True).swallow", "Base([1])"},
}

var grammar = map[string][]string{
	"small": {"0", "1", "2", "3", "4", "7", "len({ls})"},
	"int": {
		"({int} + {int})", "({int} - {int})", "({int} * {int})", "({int} // {int})", "({int} % {int})", "({int} ** {small})",
		"({int} << {small})", "({int} >> {small})", "({int} & {int})", "({int} | {int})", "({int} ^ {int})", "(-{int})", "(~{int})",
		"len({li})", "len({str})", "len({d})", "len({s})", "sum({li})", "{li}[{small}]", "{li}[-1]", "{d}[{str}]", "{d}.get({str}, {int})",
		"({int} if {bool} else {int})", "abs({int})", "max({int}, {int})", "min({li}, default={int})", "int({float})", "int({str})", "{str}.find({str})",
		"{str}.count({str})", "ord({str}[0])", "({int}).bit_length()", "{li}.index({int})", "{li}.count({int})", "(lambda q, k={int}: q + k)({int})",
		"next(iter({li}), {int})", "sum(x for x in {li} if x % 2)", "sum({int+x} for x in {li})", "round({float})", "divmod({int}, {int})[0]",
		"pow({int}, {small}, {int})", "{obj}.n", "{obj}.size()", "len({obj})", "{tu}[0]", "({bool} + {int})", "({bool} or {int})", "({int} and {int})",
		"max({li}, key=lambda k: (-k, {bool}))", "(w := {int})", "int({str}, {small})", "sum(map(len, {ls}))", "{d}.pop({str}, {int})", "{obj}.total", "type({obj}).made",
		"len([*{li}, *{s}])", "(1 if {li} else 0)", "list({d}.values())[0]", "{int}.__add__({int})", "({obj} + {obj}).n", "{obj}[{int}]", "sum({obj})",
		"int.from_bytes(str({str}).encode(), 'big') % 997", "hash({int})", "(not {int})", "{float}.__trunc__()", "-{bool}",
	},
	"float": {
		"({float} + {float})", "({float} - {int})", "({float} * {float})", "({int} / {int})", "({float} // {float})", "({float} % {float})", "({float} ** {small})",
		"float({int})", "float({str})", "abs({float})", "round({float}, {small})", "sum([{float}, {float}, {int}])", "max({float}, {int})", "(-{float})", "divmod({float}, {float})[1]",
		"({float} if {bool} else {float})", "sum(x / 3 for x in {li})", "{float}.conjugate()", "float.fromhex({float}.hex())", "{int} * {float}", "{li}[0] / len({li})",
	},
	"str": {
		"({str} + {str})", "({str} * {small})", "{str}[{small}:]", "{str}[::-1]", "{str}[{int}:{int}:{small}]", "{str}.upper()", "{str}.title()", "{str}.strip()",
		"{str}.replace({str}, {str})", "{str}.join({ls})", "str({int})", "str({float})", "repr({str})", "repr({li})", "repr({d})", "f'{{{@int}:>{@small}}}|{{{@str}!r:^9}}'",
		"f'{{{@float}:.{{{@small}}}f}} {{{@int}:+,d}} {{{@int}:#x}}'", "f'{{{@float}:g}}{{{@float}:12.3e}}{{{@bool}}}'", "'%s-%r-%5d' % ({str}, {str}, {int})", "'%.2f|%-8s|' % ({float}, {str})",
		"'{{0}}{{1!r}}{{a:>4}}'.format({int}, {str}, a={str})", "{ls}[{small}]", "{tu}[1]", "({str} if {bool} else {str})", "str({tu})", "type({obj}).__name__", "repr({obj})",
		"{str}.center({small}, '*')", "{str}.zfill({small})", "chr({int} % 1000 + 32)", "max({ls}, default={str})", "min({ls}, key=len, default={str})", "str({bool})", "''.join(sorted({str}))",
		"{str}.partition({str})[2]", "str(sorted({s}, key=repr))", "bin({int})", "hex({int})", "({str} or {str})", "{str}.swapcase()", "{str}.encode().hex()", "format({int}, 'd')", "format({float}, '.3')", "ascii({str})",
		"f'{{{@int}=}} {{{@str}!s:.2}}'", "next(reversed({ls}), {str})", "{str}.expandtabs({small})", "str({str}.encode())", "{str}.casefold().capitalize()", "str({obj})",
	},
	"bool": {
		"({int} < {int})", "({int} == {float})", "({str} < {str})", "({int} in {li})", "({str} in {str})", "({str} in {d})", "(not {bool})", "({bool} and {bool})", "({bool} or {bool})",
		"({int} <= {int} < {int})", "({li} == {li})", "({li} < {li})", "({tu} > {tu})", "({s} <= {s})", "({s} == {s})", "isinstance({obj}, Base)", "isinstance({int}, (int, str))", "{str}.isdigit()",
		"{str}.startswith({str})", "any({li})", "all(x > {int} for x in {li})", "bool({str})", "bool({obj})", "({obj} == {obj})", "({obj} < {obj})", "({int} in {obj})", "({d} == {d})", "{s}.isdisjoint({s})",
		"({float} == {float})", "({int} != {str})", "({li} is None)", "callable({obj})", "hasattr({obj}, 'total')", "({int} not in {s})", "({float} > {int})", "{str}.isalpha()", "issubclass(bool, int)", "({int} in range({int}))",
	},
	"li": {
		"({li} + {li})", "({li} * {small})", "{li}[{small}:]", "{li}[::-1]", "{li}[{int}:{int}]", "sorted({li})", "sorted({li}, reverse={bool})", "sorted({li}, key=lambda k: {int+k})", "list(reversed({li}))",
		"[{int}, {int}]", "[x * {int} for x in {li}]", "[{int+x} for x in {li} if {bool}]", "list(range({small}))", "list(range({int}, {int}, -10**20))", "list(map(lambda k: k + 1, {li}))", "list(filter(None, {li}))", "[*{li}, {int}]",
		"[x + y for x in {li} for y in range({small})]", "sorted({s}, key=repr)", "list({d}.values())", "[len(x) for x in {ls}]", "list({obj}.items)", "[i * v for i, v in enumerate({li}, {int})]", "[a - b for a, b in zip({li}, {li})]",
		"({li} if {bool} else {li})", "list({obj})", "[ord(c) for c in {str}]", "list({str}.encode())", "[x for x in [y * 2 for y in {li}] if x]", "list(dict.fromkeys({li}))", "list(range({int}, {int} + 3)[:{small}])", "[(lambda: x)() for x in {li}]", "[*map(int, {str})]",
		"list(countdown({small}))", "[last := x for x in {li}]", "list(divmod({int}, {int}))", "[f() for f in [lambda: x for x in {li}]]",
	},
	"ls": {
		"({ls} + {ls})", "{str}.split()", "{str}.split({str})", "list({str})", "sorted({ls})", "[str(x) for x in {li}]", "list({d})", "sorted({d}, key={d}.get)", "{ls}[::2]", "[{str}, {str}]", "[f'{{x:03}}' for x in {li}]",
		"sorted({ls}, key=len)", "[k for k, v in {d}.items() if v > {int}]", "[repr(x) for x in {ls}]", "{str}.splitlines()", "[a + b for a, b in zip({ls}, {ls})]", "list(map(str.upper, {ls}))", "{str}.rsplit(',', {small})", "[c for w in {ls} for c in w]",
	},
	"d": {
		"{{{str}: {int}, {str}: {int}}}", "dict({d})", "{{**{d}, {str}: {int}}}", "({d} | {d})", "{{k: v + 1 for k, v in {d}.items()}}", "{{x: len(x) for x in {ls}}}", "dict(zip({ls}, {li}))", "dict(a={int}, b={int})", "dict(sorted({d}.items()))",
		"{{str(x): {int+x} for x in {li}}}", "dict.fromkeys({ls}, {int})", "{{v: i for i, v in enumerate({str})}}", "dict([{tu}[::-1]])",
	},
	"s": {
		"({s} | {s})", "({s} & {s})", "({s} - {s})", "({s} ^ {s})", "set({li})", "{{{int}, {int}}}", "{{x % 3 for x in {li}}}", "frozenset({li})", "{s}.union({li})", "set(map(len, {ls}))", "{s}.copy()", "set(range({small}))", "{s}.difference({li}, {s})",
	},
	"tu":  {"({int}, {str})", "({tu} if {bool} else {tu})", "max({tu}, {tu})", "(*{li}[:1], {str})", "next(iter(enumerate({ls}, {int})), {tu})", "{tu} + {tu}", "tuple([{int}, {str}])", "(lambda *a: a)({int}, {str})", "{str}.partition({str})[:2]"},
	"obj": {"Base({int})", "Base({str})", "({obj} + {obj})", "({obj} if {bool} else {obj})", "max({obj}, {obj})"},
}

// simplest stands in f-strings where there is no variable of the type.
var simplest = map[string]string{"int": "7", "str": "str(12)", "float": "2.5", "bool": "True", "small": "3", "obj": "Base(1)"}

var iterables = []string{
	"range({small})", "{li}[:9]", "enumerate({li}[:9])", "sorted({s}, key=repr)", "{d}", "{d}.items()", "{str}[:9]", "zip({li}[:5], {ls})", "reversed({li}[:9])", "{obj}", "map(abs, {li}[:9])", "range({int}, {int}, abs({int}) * 10**15 + 10**22)",
}

// simple statements; {=type} is a variable.
var simple = []string{
	"print({int}, {str})", "print({li}, {d})", "print({float}, {bool})", "print(sorted({s}, key=repr), {tu}, sep={str})", "print(repr({str}), {ls}, end='\\n')", "print({obj})", "print(f'{{{@int}:>10}}|{{{@str}!r}}|{{{@float}:.2f}}')",
	"{=int} += {int}", "{=int} -= {int}", "{=int} *= {small}", "{=int} //= {int}", "{=int} %= {int}", "{=int} <<= {small}", "{=int} ^= {int}", "{=str} += {str}", "{=str} *= {small}", "{=float} /= {float}", "{=float} += {int}", "{=float} **= {small}",
	"{=li}.append({int})", "{=li}.extend({li})", "{=li} += {li}", "{=li}[{small}] = {int}", "{=li}.sort()", "{=li}.insert({int}, {int})", "{=li}.reverse()", "print({=li}.pop({small}))", "del {=li}[{small}]", "{=li}[{small}:{small}] = {li}", "del {=li}[::2]", "{=li}.remove({int})", "{=li}[::2] = {li}",
	"{=d}[{str}] = {int}", "{=d}.update({d})", "{=d} |= {d}", "del {=d}[{str}]", "print({=d}.setdefault({str}, {int}))", "print({=d}.popitem())", "{=d}[{str}] += {int}", "{=ls}.append({str})", "{=ls}.sort(key=len)", "{=s} |= {s}", "{=s}.add({int})", "{=s}.discard({int})", "{=s} -= {s}", "{=s}.remove({int})",
	"a, *b = {li}; print(a, b)", "a, b = {tu}; print(a, b)", "*a, b = {str}; print(a, b)", "(a, b), c = {tu}, {int}; print(c, b, a)", "a = b = {li}; a.append({int}); print(b)", "a, b, c = {li}; print(a)",
	"assert {bool}, {str}", "with Guard({bool}): print({int} // {int})", "with Guard({bool}) as a, Guard({bool}): raise Odd({int})", "{=obj}.n = {int}; print({=obj})", "{=obj}.extra = {str}; print({=obj}.extra)", "del {=obj}.n", "print({=obj}.missing)", "{=obj}.items.append({int})",
	"print(getattr({obj}, {str}, {int}))", "print(next(countdown({small})))", "print(feed(countdown({small}), {str}))", "print([*countdown({small})])", "print(dict(zz=1, **{d}))", "print((lambda *a, k=2, **o: (a, k, o))(*{li}, **{d}))", "print((lambda a, b=1, /, c=2, *, d: (a, b, c, d))(*{li}, d={int}))",
	"print(*{ls}, sep={str})", "print({li} < {li}, {tu} == {tu})", "raise Odd({int}, {str}) from ValueError({str})", "print({str}.encode('ascii', 'backslashreplace'))", "print({str} % {tu})", "print({int} in {li}, {str} in {ls})", "del {=int}", "print([x for x in {li} if x == x][{small}])", "print(str({str}).translate({{97: 'X', 98: None}}))", "print({float}.as_integer_ratio())", "print({float}.is_integer(), {float}.hex())",
	"print({int}.to_bytes({small}, 'little', signed={bool}))", "print(all(x for x in {li}), any(countdown({small})))", "print(sum({li}, {int}), sum([{li}, {li}], []))", "print(list(zip({li}, {str}, strict=True)))", "print(min({ls}), max({li}))", "print(iter({li}).__next__())", "print({str} < {int})", "print({li} + {tu})", "print({int}[0])", "print({str}({int}))", "print(-{str})",
	"print(int({str}), float({str}))", "print({obj} == {obj}, {obj} != {obj})", "print(sorted([{obj}, {obj}]))", "print({obj}[{small}], {obj}[{small}:{small}])", "print(f'{{{@obj}!s}} {{{@obj}}}')", "print({obj}({int}))", "print({obj}.make({int}))", "print({obj}.static({int}))", "{=obj}.total = {int}; print({=obj}.total)", "print({obj} * {int}, {int} * {obj})", "print({obj} - {int})",
}

type parameterList struct {
	text string // of the definition
	call string // with holes
	vars []variable
}

var parameters = []parameterList{
	{"", "()", nil},
	{"p", "({int})", []variable{{"p", "int"}}},
	{"p, q", "({int}, q={str})", []variable{{"p", "int"}, {"q", "str"}}},
	{"p, q={int}", "({li})", []variable{{"p", "li"}, {"q", "int"}}},
	{"*p", "(*{li})", []variable{{"list(p)", "li"}}},
	{"p, *q, r={str}", "({int}, *{li}, r={str})", []variable{{"p", "int"}, {"r", "str"}}},
	{"**p", "(**{d})", []variable{{"p", "d"}}},
	{"p, /, q, *, r", "({int}, {str}, r={li})", []variable{{"p", "int"}, {"q", "str"}, {"r", "li"}}},
	{"p=[]", "()", []variable{{"p", "li"}}},
}

type method struct{ decorator, head, body string }

var methods = []method{
	{"", "def size(self):", "return {int}"},
	{"", "def __eq__(self, other):", "return isinstance(other, Base) and self.n == other.n"},
	{"", "def __lt__(self, other):", "return self.n < other.n"},
	{"", "def __add__(self, other):", "return type(self)(self.n + other.n)"},
	{"", "def __len__(self):", "return {small}"},
	{"", "def __getitem__(self, k):", "return self.items[k]"},
	{"", "def __iter__(self):", "yield from self.items[:9]"},
	{"", "def __contains__(self, k):", "return k == {int}"},
	{"", "def __bool__(self):", "return {bool}"},
	{"", "def __repr__(self):", "return f'<{{self.n}} {{{@str}}}>'"},
	{"", "def __init__(self, n):", "super().__init__(n); self.extra = {str}"},
	{"@property", "def total(self):", "return sum(self.items)"},
	{"@classmethod", "def make(cls, n):", "return cls(n)"},
	{"@staticmethod", "def static(n):", "return n"},
	{"", "def __call__(self, k=1):", "return self.n, k"},
	{"", "def __mul__(self, k):", "return self.n * k"},
	{"", "def __rmul__(self, k):", "return k, self.n"},
	{"", "def __sub__(self, k):", "return NotImplemented"},
	{"", "def __getattr__(self, name):", "raise AttributeError(name) if name.startswith('_') else Odd(name)"},
	{"", "def __hash__(self):", "return 7"},
	{"", "def __format__(self, spec):", "return 'F' + spec"},
	{"", "def __str__(self):", "return {str}"},
	{"", "def __setattr__(self, name, value):", "object.__setattr__(self, name, value)"},
	{"", "def __index__(self):", "return {small}"},
}

type pattern struct{ text, show string }

var patterns = []pattern{
	{"0 | 1 | -1", "'few'"},
	{"int(k) if k > {int}", "k"},
	{"int()", "'int'"},
	{"str(k)", "repr(k)"},
	{"[]", "'empty'"},
	{"[k]", "k"},
	{"[k, *rest]", "k, rest"},
	{"[*_, k, 3 | 6]", "k"},
	{"(int(k), str(z))", "k, z"},
	{"{{'a': k, **rest}}", "k, rest"},
	{"{{'b': int() as k}}", "k"},
	{"{{}}", "'dict'"},
	{"Base(n=int(k))", "k"},
	{"Base() as k", "k"},
	{"float(k)", "k"},
	{"True", "'yes'"},
	{"None | False", "'no'"},
	{"'abc' | 'a'", "'word'"},
	{"[[*_], *_] | [str(), *_]", "'nested'"},
}
