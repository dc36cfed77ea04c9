import itertools, functools, operator, collections, re, decimal, struct, json, string, typing, enum, dataclasses, hashlib, abc, hmac
class E: pass
class A1:
    def __init__(s): s.a = 1
class A4:
    def __init__(s): s.a = s.b = s.c = s.d = 1
class A5:
    def __init__(s): s.a = s.b = s.c = s.d = s.e = 1
class A9:
    def __init__(s): s.a = s.b = s.c = s.d = s.e = s.f = s.g = s.h = s.i = 1
class S1:
    __slots__ = ('a',)
    def m(s): pass
    @classmethod
    def c(s): pass
class SI(int): pass
class SF(float): pass
class SS(str): pass
class SB(bytes): pass
class ST(tuple): pass
class SL(list): pass
class SD(dict): pass
class SX(set): pass
class EX(Exception): pass
def f(a=1): pass
def g(): yield
def gs():
    x = g()
    next(x)
    return x
async def co(): pass
def clo():
    x = 1
    return lambda: x
def caught(f):
    try: f()
    except BaseException as e: return e
def deep(n):
    if n: deep(n - 1)
    else: raise ValueError
def dic(a):
    a.__dict__
    return a
def it(x):
    next(x)
    return x
NT = collections.namedtuple('NT', 'a b')
@dataclasses.dataclass
class DC:
    a: int = 1
    b: int = 2
class EN(enum.Enum):
    a = 1
T = typing.TypeVar('T')
D5 = decimal.Decimal(5)
M = re.match('(a)(b)', 'ab')
P = re.compile('(a)(b)')
SA = S1()
EA = E()
U = int | str
