import functools
from functools import *
from collections import *
def attempt(fn):
    try: print(fn())
    except Exception as e: print(type(e).__name__, e)
p=partial(int, base=2); print(p('101'), p.args, p.keywords, p.func)
print(partial(partial(max,1),2)(0))
attempt(lambda: partial())
attempt(lambda: partial(3))
@lru_cache(maxsize=2)
def f(x, y=1):
    "doc"
    print('call',x); return x*y
print(f(1),f(2),f(1),f(3),f(2), f.cache_info(), f.__name__, f.__doc__, f.__wrapped__(5))
f.cache_clear(); print(f.cache_info(), f.cache_parameters())
class C:
    def __init__(self): self.n=0
    @cached_property
    def v(self): self.n+=1; return self.n
    @lru_cache
    def m(self,a): return a+1
    @singledispatchmethod
    def s(self,a): return 'obj'
    @s.register
    def _(self,a:int): return 'int'
    def base(self,a,b): return a,b
    pm=partialmethod(base, 5)
c=C(); print(c.v,c.v,c.m(1),c.m(1),c.s('x'),c.s(3),c.pm(6))
@singledispatch
def g(a): return 'base'
@g.register(int)
def _(a): return 'int'
@g.register
def _(a: list): return 'list'
print(g(1),g([]),g('x'),g(True),g.dispatch(bool) is g.registry[int])
@total_ordering
class T:
    def __init__(s,v): s.v=v
    def __eq__(s,o): return s.v==o.v
    def __lt__(s,o): return s.v<o.v
print(T(1)<=T(1),T(2)>T(1),T(1)>=T(2), sorted([3,1,2],key=cmp_to_key(lambda a,b:b-a)))
print(reduce(lambda a,b:a*b,range(1,6)), reduce(max,[],0))
attempt(lambda: reduce(max,[]))
def deco(fn):
    @wraps(fn)
    def w(*a,**k): return fn(*a,**k)
    return w
@deco
def h(): "hdoc"
print(h.__name__,h.__doc__)
d=deque(range(5)); d.rotate(2); print(d); d.rotate(-3); print(d, d[1], d.index(3), 4 in d, list(reversed(d)))
d.appendleft(9); d.extendleft([1,2]); d.insert(2,7); d.remove(9); del d[0]; print(d, d.count(1), d.pop(), d.popleft(), len(d))
attempt(lambda: deque([]).pop())
attempt(lambda: d[99])
attempt(lambda: deque([1]).remove(5))
attempt(lambda: d+[1])
attempt(lambda: deque([1],-1))
print(d+deque([1]), d*2, d==d.copy(), deque('abc',2), d<deque([100]), deque(maxlen=3).maxlen)
def it():
    q=deque([1,2,3])
    for x in q: q.append(x)
attempt(it)
class MyD(deque): pass
x=MyD([1,2]); x.name='q'; print(x, x.name, isinstance(x,deque))
dd=defaultdict(int); dd['a']+=1; print(dd, dd['z'], dict(dd), dd.copy(), defaultdict(None,{1:2}))
attempt(lambda: defaultdict(None)['q'])
attempt(lambda: defaultdict(3))
o=OrderedDict([('a',1),('b',2),('c',3)]); o.move_to_end('a'); o.move_to_end('c',last=False); print(o, o.popitem(), o.popitem(last=False), o)
print(OrderedDict(a=1,b=2)==OrderedDict(b=2,a=1), OrderedDict(a=1,b=2)==dict(b=2,a=1), OrderedDict.fromkeys('ab'))
attempt(lambda: o.move_to_end('zz'))
attempt(lambda: OrderedDict().popitem())
print(list(reversed(o.items())), o|{'n':1})
c=Counter('hello'); c.update('world'); c.subtract('l'); print(c, c['zz'], c.total(), sorted(c.elements())[:3], c-Counter('lo'), c&Counter('lll'), c|Counter('z'), +c, -c, c.most_common(1))
print(Counter(a=1)+Counter(a=2,b=1), Counter(a=1)<=Counter(a=2), Counter([1,1,2])=={1:2,2:1})
P=namedtuple('P','x y z',defaults=[5]); p=P(1,2); print(p, p._replace(x=9), p._asdict(), P._make([1,2,3]), P._field_defaults, p==(1,2,5), P.__doc__, P.x.__doc__)
attempt(lambda: P())
attempt(lambda: P(1,2,3,4))
attempt(lambda: p._replace(q=1))
attempt(lambda: setattr(p,'x',1))
attempt(lambda: namedtuple('Q','a a'))
attempt(lambda: namedtuple('Q','class'))
class Sub(P):
    def norm(self): return self.x+self.y
print(Sub(1,2).norm(), Sub(1,2), hash(P(1,2))==hash((1,2,5)))
print(namedtuple('R','a class a',rename=True)._fields)
cm=ChainMap({'a':1},{'a':2,'b':3}); print(cm['a'],cm['b'],list(cm),cm.new_child({'q':1}),cm.parents,len(cm))
class U(UserDict):
    def __missing__(s,k): return k*2
u=U(a=1); print(u, u['q'], 'a' in u, UserList([3,1]), UserString('ab').upper(), sorted(UserList([2,1])))
import abc
class Base(abc.ABC):
    @property
    @abc.abstractmethod
    def q(self): ...
    @abc.abstractmethod
    def r(self): ...
attempt(lambda: Base())
class D2(Base):
    q=1
    def r(self): return 1
print(D2().r(), Base.__abstractmethods__ == frozenset({'q','r'}))
Base.register(int); print(isinstance(3,Base), issubclass(bool,Base))
from functools import lru_cache
@lru_cache(maxsize=10)
def within(x): return x
class Calls:
    def __init__(self, x): self.x = x
    def __hash__(self): return self.x
    def __eq__(self, o):
        if self.x == 2: within(Calls(1))
        return self.x == o.x
within(Calls(1)); within(Calls(2)); print(within(Calls(2)).x, within.cache_info())
@lru_cache(maxsize=3)
def kept(x, k=None):
    print('call', x, k); return x
for x in (1, 2, 3, 1, 4, 2, 1, 1.0, '1', 3): kept(x); kept(x, k=1)
print(kept.cache_info()); kept.cache_clear(); print(kept.cache_info()); kept(1); print(kept.cache_info())
