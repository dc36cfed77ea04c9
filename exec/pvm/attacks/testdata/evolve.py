# What the programs of TestEvolve begin with.
import re, struct, json, math, hashlib, itertools, functools, collections, string, operator, enum, dataclasses, typing, abc, cowboy_sdk
try: import cbor2
except ImportError: cbor2 = None
from decimal import Decimal
class P:
    def __init__(s, *a): s.a = a
    def m(s, *a): return a
class H:
    def __init__(s, x): s.x = x
    def __eq__(s, o): return isinstance(o, H) and s.x == o.x
    def __hash__(s): return 5
    def __lt__(s, o): return s.x < o.x
class C:
    a = 1
    def __init__(s, x): s.x = x
    def __call__(s, *a): return s.x
    def __getitem__(s, i): return s.x
    def __len__(s): return 3
    def __iter__(s): return iter((1, 2, 3))
    def __repr__(s): return 'C'
    def __index__(s): return 5
    def __add__(s, o): return s
    __radd__ = __add__
class Q(C):
    def __init__(s, x, y): s.x, s.y = x, y
    def __getattr__(s, n): return s.y
class SL: __slots__ = ('a', 'b', 'c', 'x')
class E1(enum.Enum): A = 1; B = 2
class E2(enum.IntFlag): A = 1; B = 2; C = 4
@dataclasses.dataclass
class DC:
    a: int
    b: int
@dataclasses.dataclass(frozen=True, order=True)
class FDC:
    a: int
    b: int
NT = collections.namedtuple('NT', 'a b')
class GA:
    def __getattr__(s, n): raise AttributeError(n)
class CM:
    def __enter__(s): return s
    def __exit__(s, *a): return True
class DSC:
    def __get__(s, o, t): return 1
    def __set__(s, o, v): pass
    def __delete__(s, o): pass
class K60: pass
for i in range(30): K60 = type('K60', (K60,), {'m%d' % i: i})
class W:
    d = DSC()
    def __init__(s, x=None): s.w = x
    def __getattribute__(s, n): return object.__getattribute__(s, n)
    def __setattr__(s, n, v): object.__setattr__(s, n, v)
    def __next__(s): return 1
    def __iter__(s): return s
    def __eq__(s, o): return True
    __hash__ = None
class M(type):
    def __call__(c, *a): return type.__call__(c)
    def __instancecheck__(c, x): return True
class ABC1(abc.ABC):
    @abc.abstractmethod
    def m(s): pass
def gen(n):
    for i in range(n): yield i
def gen2():
    x = 0
    while True: x = yield x
async def coro(): return 1
def deep(n):
    x = []
    for i in range(n): x = [x]
    return x
def deepdict(n):
    x = {}
    for i in range(n): x = {'a': x}
    return x
def deeptuple(n):
    x = ()
    for i in range(n): x = (x, x)
    return x
def rec(n): return rec(n - 1) if n > 0 else 0
def deco(f): return functools.wraps(f)(lambda *a: f(*a))
def kwf(a=1, *b, c=2, **d): return d
def mkclass(x): return type('T', (), {'a': x, '__len__': lambda s: 1})
def mksub(x): return type('T', (x,) if isinstance(x, type) else (), {})
def mkerr(e):
    try:
        try: raise e
        except Exception: raise ValueError(1)
    except Exception as x: return x
def copy(x): return type(x)(x)
def run(c):
    try: c.send(None)
    except StopIteration as e: return e.value
def first(x): return next(iter(x))
def drain(x, n): return [y for y, _ in zip(x, range(n))]
def raises(x):
    try: raise x
    except Exception as e: return e
def same(x): return x
def exec_(x): pass
v0, v1, v2, v3, v4, v5, x, y = [1] * 1000, {i: i for i in range(1000)}, 'abc' * 1000, P(), C, 12345, 1, 2
