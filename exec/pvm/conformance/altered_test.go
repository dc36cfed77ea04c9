package conformance

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// alterations is what programs that alter the library begin with: a way to what
// its modules hold, by numbers, and ways to change what is found there.
const alterations = `
class Mine:
    x: int = 1
    def __len__(self): return 1
    def __iter__(self): return iter(())
ATTRIBUTES = ["__dict__", "__defaults__", "__kwdefaults__", "__annotations__", "__closure__", "__wrapped__", "__func__",
    "__self__", "__bases__", "__mro__", "__class__", "fget", "fset", "fdel", "cell_contents", "__members__", "_member_map_",
    "__abstractmethods__", "__all__", "__subclasses__", "__globals__", "__doc__", "registry", "cache_parameters"]
EXTRA = ["text", (1, 2), {"a": 1}, Mine, lambda *a, **k: 7, None, property(lambda s: 3)]
NAMES = ["__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__", "__annotations__", "__call__",
    "__eq__", "__hash__", "__len__", "__instancecheck__", "__subclasshook__", "__iter__", "__getattr__", "__init__", "__new__", "altered"]
def step(x, n):
    if isinstance(x, (list, tuple)) and n % 3:
        return x[n % len(x)]
    if isinstance(x, dict) and n % 3:
        return list(x.values())[n % len(x)]
    if n % 4 == 0:
        v = getattr(x, ATTRIBUTES[n % len(ATTRIBUTES)])
        return v() if n % 24 == 20 else v
    names = [k for k in dir(x) if k[:1] != "_" or k[:2] == "__"]
    for k in range(12):
        y = getattr(x, names[(n + k) % len(names)], None)
        if y.__class__.__name__ not in ("builtin_function_or_method", "method", "NoneType", "str", "int"):
            return y
    return x
def note(x):
    e = ValueError()
    e.__notes__ = x
    e.add_note("altered")
def swap(x, n):
    names = dir(x)
    setattr(x, names[n % len(names)], getattr(x, names[n // 7 % len(names)]))
CHANGES = [
    lambda x, n: setattr(x, NAMES[n % len(NAMES)], EXTRA[n % len(EXTRA)]),
    lambda x, n: setattr(x, dir(x)[n % len(dir(x))], EXTRA[n % len(EXTRA)]),
    lambda x, n: delattr(x, dir(x)[n % len(dir(x))]),
    lambda x, n: type.__setattr__(x, NAMES[n % len(NAMES)], EXTRA[n % len(EXTRA)]),
    lambda x, n: type.__delattr__(x, sorted(x.__dict__)[n % len(x.__dict__)]),
    lambda x, n: object.__setattr__(x, NAMES[n % len(NAMES)], n),
    swap,
    lambda x, n: x.register(EXTRA[3] if n % 2 else type("Late", (), {})),
    lambda x, n: x.register(int, lambda *a: 7),
    lambda x, n: isinstance(Mine(), x),
    lambda x, n: issubclass(Mine, x),
    lambda x, n: type("Below", (x,), {"__slots__": ()} if n % 2 else {"y": 2})(),
    lambda x, n: type(x)("Below", (x,), {}),
    lambda x, n: x[int],
    lambda x, n: x(), lambda x, n: x(n), lambda x, n: x("a"), lambda x, n: x(Mine), lambda x, n: x("a", "b c"),
    lambda x, n: x.append(n), lambda x, n: x.insert(0, n), lambda x, n: x.extend(iter(range(n % 40))), lambda x, n: x.reverse(),
    lambda x, n: x.sort(key=str), lambda x, n: x.pop(), lambda x, n: x.clear(), lambda x, n: x.__setitem__(slice(0, 2), [9]),
    lambda x, n: x.__delitem__(slice(0, None, 2)), lambda x, n: x.__imul__(n % 3), lambda x, n: x.__iadd__([n]),
    lambda x, n: x.update({"k": n}), lambda x, n: x.__setitem__("altered", n), lambda x, n: x.popitem(), lambda x, n: x.setdefault(n, n),
    lambda x, n: x.__ior__({"q": 1}), lambda x, n: x.pop(next(iter(x))), lambda x, n: x.add(n), lambda x, n: x.discard(next(iter(x))),
    lambda x, n: note(x), lambda x, n: x.cache_clear(), lambda x, n: type("Taken", (), {"__classcell__": x}),
    lambda x, n: x.__set_name__(Mine, "altered"), lambda x, n: x.__init__(), lambda x, n: x.__init__(n), lambda x, n: x.__init__(Mine, n, n),
    lambda x, n: hash(x), lambda x, n: getattr(x, "__setstate__")((n,)), lambda x, n: next(x), lambda x, n: x.__enter__(), lambda x, n: x.clear_flags(),
]
def alter(x, path, how, n):
    try:
        for p in path:
            y = step(x, p)
            if y is None or y.__class__ in (str, int):
                break
            x = y
    except BaseException as error:
        print(error.__class__.__name__)
    for k in range(how, how + 30):
        try:
            print(k, CHANGES[k % len(CHANGES)](x, n).__class__.__name__)
            if n % k < k // 2:
                return
        except BaseException as error:
            print(error.__class__.__name__, str(error)[:60])
def use(fn):
    try:
        print(str(fn())[:300])
    except BaseException as error:
        print(error.__class__.__name__, str(error)[:200])
`

// uses are what a program does with the modules, altered or not.
var uses = []string{
	"str([enum.Enum('E', 'A B').A, enum.Flag('F', 'R W').R])",
	"dataclasses.make_dataclass('P', ['x', 'y'])(1, 2)",
	"dataclasses.replace(dataclasses.dataclass(Mine)(3), x=4)",
	"collections.namedtuple('N', 'a b')(1, 2)._replace(a=5)",
	"collections.Counter('abcab').most_common(2)",
	"collections.OrderedDict(a=1, b=2).popitem(last=False)",
	"collections.ChainMap({'a': 1}, {'b': 2})['b']",
	"list(collections.defaultdict(list, a=[1]).items())",
	"[isinstance(Mine(), getattr(collections.abc, k)) for k in collections.abc.__all__]",
	"functools.reduce(lambda a, b: a + b, [1, 2, 3])",
	"functools.lru_cache(maxsize=2)(lambda n: n + 1)(3)",
	"functools.singledispatch(lambda x: 'any')(3)",
	"functools.total_ordering(Mine)",
	"typing.get_type_hints(Mine)", "typing.Optional[int]", "typing.Union[int, str] == typing.Union[str, int]",
	"typing.NamedTuple('T', [('a', int)])(3)", "typing.cast(int, 'x')",
	"abc.get_cache_token()", "hash(collections.OrderedDict)", "hash(typing.Any)", "dir(enum)[:8]",
	"re.sub('a+', 'b', 'caat')", "re.compile('(x)(?P<n>y)').match('xy').groupdict()", "re.IGNORECASE | re.M",
	"decimal.Decimal(1) / 3", "decimal.getcontext()", "decimal.Decimal('NaN').compare(1)", "decimal.Decimal(5).as_tuple()",
	"decimal.setcontext(decimal.Context(traps=[decimal.Inexact]))", "decimal.getcontext().flags.__setitem__(decimal.Inexact, True)",
	"json.dumps({'a': [1, 2.5]})", "json.JSONDecoder().decode('[1]')", "math.pi", "math.comb(10, 3)", "struct.pack('<ih', 1, 2)",
	"hashlib.sha256(b'a').hexdigest()", "list(itertools.groupby('aab'))", "itertools.tee([1, 2])[1].__next__()",
	"sorted(hashlib.algorithms_guaranteed)", "cowboy_sdk.runner", "dir(cowboy_sdk)[:20]", "len(dir(cowboy_sdk))",
}

var alteredModules = []string{
	"abc", "collections", "collections.abc", "dataclasses", "enum", "functools", "typing", "cowboy_sdk",
	"re", "decimal", "json", "math", "struct", "hashlib", "itertools",
}

// altering makes the program of a seed.
func altering(seed int64) string {
	r := rand.New(rand.NewSource(seed))
	var b strings.Builder
	var names []string
	for _, name := range alteredModules {
		if r.Intn(3) > 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		names = []string{"typing"}
	}
	b.WriteString("import " + strings.Join(names, ", ") + alterations)
	for range 4 + r.Intn(20) {
		if r.Intn(4) == 0 {
			fmt.Fprintf(&b, "use(lambda: %s)\n", uses[r.Intn(len(uses))])
			continue
		}
		path := make([]string, 1+r.Intn(5))
		for i := range path {
			path[i] = fmt.Sprint(r.Intn(5040))
		}
		fmt.Fprintf(&b, "alter(%s, [%s], %d, %d)\n", names[r.Intn(len(names))], strings.Join(path, ", "), r.Intn(5040), r.Intn(5040))
	}
	return b.String()
}

// FuzzAltered runs programs that alter the library on a machine that has run all
// of those before, and on a new one: all that is visible of a run is the same.
func FuzzAltered(tf *testing.F) {
	f := soak.New(tf)
	for seed := range 6 {
		f.Add(int64(seed), uint32(seed))
	}
	rt, err := pvm.NewRuntime([2]uint64{5, 9})
	if err != nil {
		f.Fatal(err)
	}
	used := rt.NewMachine()
	f.Fuzz(func(t *testing.T, seed int64, n uint32) {
		text := altering(seed)
		p, err := pvm.Compile([]byte(text), "altering.py", pvm.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		cycles := int64(1_000_000)
		if n%4 == 0 {
			cycles = int64(n) % cycles
		}
		run := func(m *vm.Machine) (vm.Result, string) {
			m.Host = sdk.NewSession(host.NewRecorder(), host.DefaultCosts(), sdk.DefaultLimits())
			res, err := m.Execute(p.Code, cycles)
			res.Output = bytes.Clone(res.Output)
			m.Reset()
			return res, fmt.Sprint(err)
		}
		got, end := run(used)
		want, wantEnd := run(rt.NewMachine())
		if end != wantEnd || got.Cycles != want.Cycles || got.HeapPeak != want.HeapPeak || got.Traceback != want.Traceback || !bytes.Equal(got.Output, want.Output) {
			t.Fatalf("on a used machine %s, %d cycles, heap %d; on a new one %s, %d cycles, heap %d\n%s\n%s%s\nnew:\n%s%s",
				end, got.Cycles, got.HeapPeak, wantEnd, want.Cycles, want.HeapPeak, text[strings.Index(text, "\nuse("):], got.Output, got.Traceback, want.Output, want.Traceback)
		}
		if end == "<nil>" {
			f.Past()
		}
	})
}
