# Kinds of values that wrap another for TestNests: nests() is a list of (name, (start, wrap)),
# where wrap(v, i) is what holds v, the i-th.
import itertools, functools, operator, collections, re, decimal, string, typing, enum, dataclasses, abc, json, cbor2
import collections.abc
from typing import TypeVar, ParamSpec

# E gives items for ever, Z gives none.
def E(): return itertools.repeat(1)
def Z(): return iter(())
def T(): return itertools.repeat((1,))
def F(*a, **k): return 1
def ident(v): return v
class A:
    x = 1
    def __init__(s, v=None): s.v = v
    def m(s, *a): return 1
class Call(A):
    def __call__(s, *a): return s.v(*a)
class Gives(A):
    def __getattr__(s, n): return getattr(s.v, n)
class Alike(A):
    def __eq__(s, o): return s.v == o.v
    def __hash__(s): return hash(s.v)
    def __lt__(s, o): return s.v < o.v
    def __repr__(s): return repr(s.v)
    def __len__(s): return len(s.v)
    def __bool__(s): return bool(s.v)
    def __iter__(s): return iter(s.v)
    def __contains__(s, x): return x in s.v
    def __getitem__(s, i): return s.v[i]
    def __index__(s): return operator.index(s.v)
    def __format__(s, f): return format(s.v, f)
    def __enter__(s): return s.v.__enter__()
    def __add__(s, o): return s.v + o
    def __reversed__(s): return reversed(s.v)
    def __instancecheck__(s, o): return isinstance(o, s.v)
    def __length_hint__(s): return operator.length_hint(s.v)
class Gets(A):
    def __get__(s, o, c=None): return s.v.__get__(o, c)
class Next(A):
    def __iter__(s): return s
    def __next__(s): return next(s.v)
class Zip(zip): pass
class Map(map): pass
class List(list): pass
class Dict(dict): pass
class Tuple(tuple): pass
class Str(str): pass
class Slots:
    __slots__ = ('a',)
    def __init__(s, v): s.a = v
@dataclasses.dataclass
class Data: a: object
@dataclasses.dataclass(frozen=True, eq=True, order=True)
class Frozen: a: object
Named = collections.namedtuple('Named', 'a')
class Reg(abc.ABC): pass
class G(typing.Generic[TypeVar('X')]): pass
def yields(v): yield from v
def loops(v):
    for x in v: yield x
async def awaits(v): return await v
async def aloops(v):
    async for x in v: yield x
async def agives():
    while True: yield 1
class Awaits(A):
    def __await__(s): return s.v.__await__()
def started(g):
    try: next(g)
    except BaseException: pass
    return g
def sent(g):
    try: g.send(None)
    except BaseException: pass
    return g
def raised(e):
    try: raise e
    except BaseException as x: return x
def error(v, **k):
    e = ValueError(v)
    for n in k: setattr(e, n, k[n])
    return e
def noted(v):
    e = ValueError()
    e.__notes__ = [v]
    return e
def later(v):
    try:
        raise v
    except BaseException:
        try: raise ValueError()
        except ValueError as e: return e
def wrapped(v):
    def f(*a): return v(*a)
    f.__wrapped__ = v
    return f
def closes(v): return lambda *a: v(*a)
def defaults(v):
    def f(a=v): return a
    return f
def notes(v):
    def f(a: v) -> v: return a
    return f
def attr(v, make):
    o = make()
    o.a = v
    return o
def itself(v, i):
    v.append(v)
    return v
def field(v): return dataclasses.field(default=v)
meth = A().m
P = type({}.keys().mapping)

NESTS = [
 # iterators
 ('zip', E, lambda v, i: zip(v)), ('zip-over', Z, lambda v, i: zip(v)), ('zip-of-two', E, lambda v, i: zip(E(), v)),
 ('zip-strict', Z, lambda v, i: zip(v, (), strict=True)), ('zip-subclass', E, lambda v, i: Zip(v)),
 ('map', E, lambda v, i: map(abs, v)), ('map-python', E, lambda v, i: map(ident, v)), ('map-over', Z, lambda v, i: map(abs, v)),
 ('map-of-two', E, lambda v, i: map(max, v, E())), ('map-class', E, lambda v, i: map(type, v)), ('map-subclass', E, lambda v, i: Map(abs, v)),
 ('filter', E, lambda v, i: filter(None, v)), ('filter-over', Z, lambda v, i: filter(None, v)), ('filter-function', E, lambda v, i: filter(ident, v)),
 ('filter-none', lambda: itertools.repeat(0), lambda v, i: filter(None, v)),
 ('enumerate', E, lambda v, i: enumerate(v)), ('enumerate-over', Z, lambda v, i: enumerate(v)),
 ('reversed', lambda: [1], lambda v, i: reversed([v])), ('reversed-object', lambda: [1], lambda v, i: Alike(v)),
 ('iter-callable', lambda: F, lambda v, i: iter(v.__next__ if i else F, 2).__next__.__self__ if i else iter(F, 2)),
 ('iter-function', E, lambda v, i: iter(v.__next__, 2)), ('list-iterator', E, lambda v, i: iter([v])), ('tuple-iterator', E, lambda v, i: iter((v,))),
 ('values-iterator', E, lambda v, i: iter({1: v}.values())), ('items-iterator', E, lambda v, i: iter({1: v}.items())),
 ('keys-iterator', E, lambda v, i: iter({v: 1})), ('set-iterator', E, lambda v, i: iter({v})),
 ('chain', E, lambda v, i: itertools.chain(v)), ('chain-over', Z, lambda v, i: itertools.chain(v)), ('chain-iterable', E, lambda v, i: itertools.chain.from_iterable([v])),
 ('chain-again', Z, lambda v, i: itertools.chain(v, (), v)),
 ('cycle', E, lambda v, i: itertools.cycle(v)), ('cycle-over', Z, lambda v, i: itertools.cycle(v)), ('accumulate', E, lambda v, i: itertools.accumulate(v, max)),
 ('accumulate-initial', E, lambda v, i: itertools.accumulate(v, max, initial=1)), ('compress', E, lambda v, i: itertools.compress(v, E())),
 ('compress-by', E, lambda v, i: itertools.compress(E(), v)), ('compress-over', Z, lambda v, i: itertools.compress(v, E())),
 ('dropwhile', E, lambda v, i: itertools.dropwhile(callable, v)), ('takewhile', E, lambda v, i: itertools.takewhile(ident, v)),
 ('takewhile-native', E, lambda v, i: itertools.takewhile(bool, v)), ('takewhile-over', Z, lambda v, i: itertools.takewhile(bool, v)),
 ('filterfalse', E, lambda v, i: itertools.filterfalse(callable, v)), ('filterfalse-none', lambda: itertools.repeat(0), lambda v, i: itertools.filterfalse(None, v)),
 ('starmap', T, lambda v, i: itertools.starmap(lambda x: (x,), v)), ('starmap-native', T, lambda v, i: itertools.starmap(abs, zip(v)) if 0 else itertools.starmap(tuple, zip(v))),
 ('islice', E, lambda v, i: itertools.islice(v, None)), ('islice-over', Z, lambda v, i: itertools.islice(v, None)), ('islice-second', E, lambda v, i: itertools.islice(v, 1, None)), ('islice-step', E, lambda v, i: itertools.islice(v, 0, None, 2)),
 ('pairwise', E, lambda v, i: itertools.pairwise(v)), ('zip-longest', E, lambda v, i: itertools.zip_longest(v)), ('zip-longest-over', Z, lambda v, i: itertools.zip_longest(v, ())),
 ('product', lambda: iter([1]), lambda v, i: itertools.product(v)), ('product-of', E, lambda v, i: itertools.product([v])), ('permutations', lambda: iter([1]), lambda v, i: itertools.permutations(v)),
 ('combinations', lambda: iter([1]), lambda v, i: itertools.combinations(v, 1)), ('combinations-again', lambda: iter([1]), lambda v, i: itertools.combinations_with_replacement(v, 1)),
 ('groupby', E, lambda v, i: itertools.groupby(v)), ('groupby-key', lambda: itertools.count(), lambda v, i: itertools.groupby(v, F)), ('groupby-count', lambda: itertools.count(), lambda v, i: itertools.groupby(v)),
 ('group', lambda: itertools.count(), lambda v, i: next(itertools.groupby(v, F))[1]),
 ('tee', E, lambda v, i: itertools.tee(v)[0]), ('tee-second', E, lambda v, i: itertools.tee(v)[1]), ('tee-of-zip', E, lambda v, i: itertools.tee(zip(v))[1]),
 ('repeat', lambda: 1, lambda v, i: itertools.repeat(v)), ('repeat-once', lambda: 1, lambda v, i: itertools.repeat(v, 1)),
 ('count', lambda: 1, lambda v, i: itertools.count(v) if i == 0 else v),
 ('next-object', E, lambda v, i: Next(v)), ('zip-chain', E, lambda v, i: zip(v) if i % 2 else itertools.chain(v)), ('zip-map-filter', E, lambda v, i: (zip(v), map(ident, v), filter(None, v), enumerate(v))[i % 4]),
 ('zip-object', E, lambda v, i: zip(v) if i % 2 else Next(v)), ('zip-generator', E, lambda v, i: zip(v) if i % 2 else loops(v)),
 # generators
 ('yield-from', E, lambda v, i: yields(v)), ('yield-from-over', Z, lambda v, i: yields(v)), ('yield-from-started', E, lambda v, i: started(yields(v))), ('for-yield', E, lambda v, i: loops(v)),
 ('for-yield-started', E, lambda v, i: started(loops(v))), ('generator-expression', E, lambda v, i: (x for x in v)), ('yield-from-zip', E, lambda v, i: yields(zip(v))),
 ('await', lambda: Awaits(E()), lambda v, i: awaits(v)), ('await-started', lambda: awaits(Awaits(E())), lambda v, i: sent(awaits(v))), ('await-object', lambda: awaits(1), lambda v, i: Awaits(v)),
 ('async-for', agives, lambda v, i: aloops(v)), ('anext', agives, lambda v, i: anext(v) if i == 0 else awaits(v)), ('asend', agives, lambda v, i: aloops(v).asend(None) if i == 0 else awaits(v)),
 ('anext-default', agives, lambda v, i: anext(v, 1) if i == 0 else anext(Gives(v), v)),
 # callables and descriptors
 ('property', lambda: F, lambda v, i: property(v)), ('property-thrice', lambda: F, lambda v, i: property(v, v, v)), ('property-doc', lambda: F, lambda v, i: property(F, doc=v)),
 ('staticmethod', lambda: F, lambda v, i: staticmethod(v)), ('classmethod', lambda: F, lambda v, i: classmethod(v)), ('classmethod-property', lambda: F, lambda v, i: classmethod(v) if i % 2 else property(v)), ('classmethod-static', lambda: F, lambda v, i: classmethod(v) if i % 2 else staticmethod(v)),
 ('partial', lambda: F, lambda v, i: functools.partial(v)), ('partial-argument', lambda: F, lambda v, i: functools.partial(F, v)), ('partial-keyword', lambda: F, lambda v, i: functools.partial(F, a=v)), ('partial-one-more', lambda: F, lambda v, i: functools.partial(v, 1)),
 ('partial-of-method', lambda: F, lambda v, i: functools.partial(v) if i % 2 else type(meth)(v, 1)), ('partialmethod', lambda: F, lambda v, i: functools.partialmethod(v)), ('partialmethod-argument', lambda: F, lambda v, i: functools.partialmethod(F, v)),
 ('cached-property', lambda: F, lambda v, i: functools.cached_property(v)), ('lru-cache', lambda: F, lambda v, i: functools.lru_cache(v)), ('lru-cache-3', lambda: F, lambda v, i: functools.lru_cache(3)(v)), ('cache', lambda: F, lambda v, i: functools.cache(v)),
 ('lru-cache-0', lambda: F, lambda v, i: functools.lru_cache(0)(v)),
 ('method', lambda: meth, lambda v, i: type(meth)(v, 1)), ('method-of', lambda: meth, lambda v, i: type(meth)(F, v)), ('method-both', lambda: meth, lambda v, i: type(meth)(v, v)),
 ('method-repr', lambda: F, lambda v, i: v.__repr__), ('method-call', lambda: F, lambda v, i: v.__call__), ('method-get', lambda: F, lambda v, i: v.__get__(1)), ('method-eq', lambda: F, lambda v, i: v.__eq__), ('method-get-of', lambda: F, lambda v, i: v.__get__),
 ('wraps', lambda: F, lambda v, i: functools.wraps(v)(lambda *a: v(*a))), ('wrapped', lambda: F, lambda v, i: wrapped(v)), ('closure', lambda: F, lambda v, i: closes(v)), ('default', lambda: F, lambda v, i: defaults(v)), ('annotation', lambda: F, lambda v, i: notes(v)),
 ('function-attribute', lambda: F, lambda v, i: attr(v, lambda: lambda *a: 1)),
 ('cmp-to-key', lambda: F, lambda v, i: functools.cmp_to_key(v)), ('cmp-to-key-of', lambda: F, lambda v, i: functools.cmp_to_key(F)(v)), ('singledispatch', lambda: F, lambda v, i: functools.singledispatch(v)), ('singledispatchmethod', lambda: F, lambda v, i: functools.singledispatchmethod(v)),
 ('itemgetter', lambda: 1, lambda v, i: operator.itemgetter(v)), ('methodcaller', lambda: 1, lambda v, i: operator.methodcaller('m', v)), ('methodcaller-call', lambda: F, lambda v, i: operator.methodcaller('__call__', v)),
 ('call-object', lambda: F, lambda v, i: Call(v)), ('gives-attributes', lambda: A(), lambda v, i: Gives(v)), ('descriptor-object', lambda: F, lambda v, i: Gets(v)), ('call-class', lambda: F, lambda v, i: type('C', (), {'__call__': v})()), ('call-instance', lambda: F, lambda v, i: type('C', (), {'__call__': v})() if i < 500 else v),
 ('super', lambda: A(), lambda v, i: super(type(v), v)), ('super-of', lambda: A(), lambda v, i: super(object, v)), ('super-attribute', lambda: A(), lambda v, i: attr(super(A, v) if i == 0 else v, A)),
 # containers
 ('list', lambda: [], lambda v, i: [v]), ('list-of-two', lambda: [], lambda v, i: [v, v]), ('list-itself', lambda: [], itself), ('tuple', lambda: (), lambda v, i: (v,)), ('tuple-of-two', lambda: (), lambda v, i: (v, v)), ('tuple-ends', lambda: (), lambda v, i: (1, v)), ('dict', lambda: {}, lambda v, i: {1: v}), ('dict-key', lambda: (), lambda v, i: Tuple([v])),
 ('dict-of-two', lambda: {}, lambda v, i: {1: v, 2: v}), ('frozenset', lambda: frozenset(), lambda v, i: frozenset([v])), ('frozenset-of-two', lambda: frozenset(), lambda v, i: frozenset([v, i])), ('list-tuple', lambda: (), lambda v, i: [v] if i % 2 else (v,)), ('list-dict', lambda: (), lambda v, i: [v] if i % 2 else {'a': v}),
 ('list-subclass', lambda: [], lambda v, i: List([v])), ('dict-subclass', lambda: {}, lambda v, i: Dict({1: v})), ('tuple-subclass', lambda: (), lambda v, i: Tuple((v,))), ('deque', lambda: [], lambda v, i: collections.deque([v])), ('deque-bounded', lambda: [], lambda v, i: collections.deque([v], 1)),
 ('ordered-dict', lambda: {}, lambda v, i: collections.OrderedDict({1: v})), ('defaultdict', lambda: {}, lambda v, i: collections.defaultdict(F, {1: v})), ('defaultdict-of', lambda: F, lambda v, i: collections.defaultdict(v)), ('counter', lambda: 1, lambda v, i: collections.Counter({1: v})),
 ('chain-map', lambda: {}, lambda v, i: collections.ChainMap(v)), ('chain-map-second', lambda: {}, lambda v, i: collections.ChainMap({}, v)), ('chain-map-child', lambda: collections.ChainMap(), lambda v, i: v.new_child() if i < 300 else v), ('chain-map-value', lambda: {}, lambda v, i: collections.ChainMap({1: v})),
 ('user-dict', lambda: {}, lambda v, i: collections.UserDict({1: v})), ('user-list', lambda: [], lambda v, i: collections.UserList([v])), ('user-dict-data', lambda: {}, lambda v, i: attr(v, collections.UserDict)), ('user-string', lambda: 'a', lambda v, i: collections.UserString(v)),
 ('namedtuple', lambda: (), lambda v, i: Named(v)), ('dataclass', lambda: 1, lambda v, i: Data(v)), ('dataclass-frozen', lambda: 1, lambda v, i: Frozen(v)), ('object', lambda: 1, lambda v, i: A(v)), ('slots', lambda: 1, lambda v, i: Slots(v)), ('alike', lambda: 1, lambda v, i: Alike(v)), ('alike-list', lambda: [1], lambda v, i: Alike(v)),
 ('object-dict', lambda: {}, lambda v, i: A(v).__dict__), ('class-attribute', lambda: 1, lambda v, i: type('C', (), {'a': v})), ('class-dict', lambda: 1, lambda v, i: type('C', (), {'a': v}).__dict__),
 ('slice', lambda: 1, lambda v, i: slice(v)), ('slice-start', lambda: 1, lambda v, i: slice(v, None, None)), ('slice-all', lambda: 1, lambda v, i: slice(v, v, v)), ('values', lambda: {}, lambda v, i: {1: v}.values()), ('items', lambda: {}, lambda v, i: {1: v}.items()), ('keys', lambda: (), lambda v, i: {(v if isinstance(v, tuple) else ()): 1}.keys()),
 ('proxy', lambda: {}, lambda v, i: P(v)), ('proxy-value', lambda: {}, lambda v, i: P({1: v})), ('proxy-chain-map', lambda: {}, lambda v, i: P(v) if i % 2 else collections.ChainMap(v)), ('proxy-dict', lambda: {}, lambda v, i: P(Dict({1: v}))),
 ('proxy-user', lambda: {}, lambda v, i: P(attr(v, A)) if i % 2 else attr(v, collections.UserDict)), ('keys-view', lambda: {}, lambda v, i: collections.abc.KeysView(v)), ('values-view', lambda: {}, lambda v, i: collections.abc.ValuesView(v)), ('items-view', lambda: {}, lambda v, i: collections.abc.ItemsView(v)),
 # exceptions
 ('exception', lambda: ValueError(), lambda v, i: ValueError(v)), ('key-error', lambda: ValueError(), lambda v, i: KeyError(v)), ('stop-iteration', lambda: 1, lambda v, i: StopIteration(v)), ('cause', lambda: ValueError(), lambda v, i: error(1, __cause__=v)), ('context', lambda: ValueError(), lambda v, i: error(1, __context__=v)),
 ('cause-raised', lambda: ValueError(), lambda v, i: raised(error(1, __cause__=v))), ('context-raised', lambda: ValueError(), lambda v, i: later(v)), ('group', lambda: ValueError(), lambda v, i: ExceptionGroup('a', [v])), ('group-of-two', lambda: ValueError(), lambda v, i: ExceptionGroup('a', [v, v])), ('group-wide', lambda: ValueError(), lambda v, i: ExceptionGroup('a', [ValueError(), v])), ('group-raised', lambda: ValueError(), lambda v, i: raised(ExceptionGroup('a', [v]))),
 ('notes', lambda: ValueError(), lambda v, i: noted(v)), ('os-error', lambda: 1, lambda v, i: OSError(1, v)), ('attribute-error', lambda: 1, lambda v, i: AttributeError('a', obj=v)), ('unicode-error', lambda: 'a', lambda v, i: UnicodeDecodeError('utf-8', b'a', 0, 1, str(v)[:20])), ('cause-and-context', lambda: ValueError(), lambda v, i: error(1, __cause__=v, __context__=v)),
 # types
 ('alias', lambda: int, lambda v, i: list[v]), ('alias-tuple', lambda: int, lambda v, i: tuple[v, ...]), ('alias-of-two', lambda: int, lambda v, i: dict[v, v]), ('alias-variable', lambda: TypeVar('X'), lambda v, i: list[v]), ('alias-substituted', lambda: list[TypeVar('X')], lambda v, i: list[v] if i % 2 else dict[v, int]), ('alias-star', lambda: int, lambda v, i: tuple[v][*()] if 0 else list[tuple[v]]),
 ('union', lambda: int, lambda v, i: v | list[i]), ('union-alias', lambda: int, lambda v, i: list[v] | None), ('union-two', lambda: int, lambda v, i: list[v] | dict[v, int]), ('optional', lambda: int, lambda v, i: typing.Optional[typing.List[v]]), ('typing-union', lambda: int, lambda v, i: typing.Union[typing.List[v], int]), ('typing-list', lambda: int, lambda v, i: typing.List[v]), ('typing-variable', lambda: TypeVar('X'), lambda v, i: typing.List[v]), ('typing-dict', lambda: int, lambda v, i: typing.Dict[v, v]),
 ('typing-tuple', lambda: int, lambda v, i: typing.Tuple[v, ...]), ('callable', lambda: int, lambda v, i: typing.Callable[[v], v]), ('callable-abc', lambda: int, lambda v, i: collections.abc.Callable[[v], int]), ('annotated', lambda: int, lambda v, i: typing.Annotated[v, 1]), ('annotated-by', lambda: int, lambda v, i: typing.Annotated[int, v]), ('annotated-list', lambda: int, lambda v, i: typing.List[typing.Annotated[v, 1]]), ('literal', lambda: 1, lambda v, i: typing.Literal[v]), ('literal-tuple', lambda: 1, lambda v, i: typing.Literal[(v, i)]), ('classvar', lambda: int, lambda v, i: typing.ClassVar[v] if i == 0 else typing.List[v]),
 ('type-variable', lambda: int, lambda v, i: TypeVar('X', bound=v)), ('type-variable-either', lambda: int, lambda v, i: TypeVar('X', v, int)), ('param-spec', lambda: int, lambda v, i: ParamSpec('X', bound=v)), ('param-spec-args', lambda: ParamSpec('X'), lambda v, i: v.args if i == 0 else typing.ParamSpecArgs(v)), ('concatenate', lambda: int, lambda v, i: typing.Callable[typing.Concatenate[v, ParamSpec('X')], int]), ('new-type', lambda: int, lambda v, i: typing.NewType('N', v)), ('generic', lambda: int, lambda v, i: G[v]), ('generic-subclass', lambda: int, lambda v, i: type('C', (G,), {})[v] if i % 10 == 0 else G[v]), ('type', lambda: int, lambda v, i: typing.Type[v]), ('final', lambda: int, lambda v, i: typing.Final[v] if i == 0 else typing.List[v]), ('unpack', lambda: int, lambda v, i: typing.Unpack[typing.Tuple[v]]), ('forward', lambda: int, lambda v, i: typing.List[typing.ForwardRef('a')] if i == 0 else typing.List[v]),
 ('subclass', lambda: A, lambda v, i: type('C', (v,), {})), ('subclass-of-two', lambda: A, lambda v, i: type('C', (v, A), {})), ('subclass-exception', lambda: ValueError, lambda v, i: type('C', (v,), {})), ('metaclass', lambda: type, lambda v, i: type('M', (v,), {}) if i < 50 else v), ('metaclass-of', lambda: type, lambda v, i: v('M', (type,), {}) if i < 200 else v), ('registered', lambda: Reg, lambda v, i: Reg.register(type('C', (), {'a': v}))), ('abc', lambda: Reg, lambda v, i: (lambda c: (c.register(v), c)[1])(type(Reg)('C', (abc.ABC,), {}))),
 ('enum', lambda: 1, lambda v, i: enum.Enum('E', {'a': v}).a if i < 200 else v), ('field', lambda: 1, lambda v, i: field(v)), ('init-var', lambda: int, lambda v, i: dataclasses.InitVar[v]), ('module-of', lambda: 1, lambda v, i: type('C', (), {'__module__': v})), ('qualified', lambda: 'a', lambda v, i: type('C', (), {'__doc__': v})), ('instancecheck', lambda: int, lambda v, i: Alike(v)), ('tuple-of-classes', lambda: int, lambda v, i: (v, str)),
 # library
 ('template', lambda: 'a', lambda v, i: string.Template(v)), ('tag', lambda: 1, lambda v, i: cbor2.CBORTag(1, v) if hasattr(cbor2, 'CBORTag') else [v]), ('encoder', lambda: F, lambda v, i: json.JSONEncoder(default=v)), ('decoder', lambda: F, lambda v, i: json.JSONDecoder(object_hook=v)), ('encoder-bound', lambda: F, lambda v, i: json.JSONEncoder(default=v).default), ('string-subclass', lambda: 'a', lambda v, i: attr(v, Str)), ('formatter', lambda: 1, lambda v, i: attr(v, string.Formatter)), ('decimal-context', lambda: decimal.Context(), lambda v, i: v.copy()), ('decimal', lambda: decimal.Decimal(1), lambda v, i: decimal.Decimal(v)),
]
def nests():
    return [(n, (s, w)) for n, s, w in NESTS]

def make(start, wrap, depth, top):
    v = start()
    for i in range(depth):
        top[0] = v
        v = wrap(v, i)
    top[0] = v

def others(): return [('F', F), ('a', 'a'), ('1', 1)]
def once(f, *a):
    try: f(*a)
    except BaseException: pass
def again(f, *a):
    while True:
        try: f(*a)
        except BaseException: pass
def allocate(*a):
    while True: b'a' * 50000
def attributes(v):
    for n in dir(v):
        try: getattr(v, n)
        except BaseException: pass
def members(v):
    for n in dir(v):
        try: getattr(v, n)()
        except BaseException: pass
def members_of(v, w):
    for n in dir(v):
        try: getattr(v, n)(w)
        except BaseException: pass
def bound(v):
    class C: a = v
    C.a
    C().a
    C().a()
def bound_in(v):
    class C: a = v
    o = C()
    o.a = 1
    del o.a
def isin(v): isinstance(1, v)
def issub(v): issubclass(int, v)
def handles(v):
    try: raise KeyError()
    except v: pass
def star(v):
    try: raise v
    except* KeyError: pass
def throws(v, w): v.throw(w)
def ctx(v):
    try: raise v
    except BaseException:
        raise KeyError()
def matches(v):
    match v:
        case {'a': 1} | {1: [*_]}: pass
        case [[[x, *_], *_], *_]: pass
        case A(v=1) | Data(1): pass
def hints(v):
    def f(a: v) -> v: pass
    typing.get_type_hints(f)
def substituted(v): return v[int]
def text(v): return f'{v}{v!r}{v!s:>10}'
def drops(v):
    del v
def prints(v): print(v)
def ops():
    fs = [attributes, members, members_of, bound, bound_in, isin, issub, handles, star, throws, ctx, matches, hints, substituted, text, drops, prints]
    return [(f.__name__, f) for f in fs]
def functions(): return [('make', make), ('once', once), ('again', again), ('allocate', allocate)]
