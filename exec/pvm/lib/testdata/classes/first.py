import abc
class A(abc.ABC):
    @abc.abstractmethod
    def f(self): pass
try: A()
except TypeError as e: print(e)
import collections
d=collections.deque([1,2,3],maxlen=2)
print(d)
P=collections.namedtuple('P','x y')
print(P(1,2), P(1,2).x, P._fields)
c=collections.Counter('abracadabra'); print(c.most_common(2), c)
dd=collections.defaultdict(list); dd['a'].append(1); print(dd)
od=collections.OrderedDict(a=1,b=2); od.move_to_end('a'); print(od)
from collections.abc import Mapping, Sequence
print(isinstance({},Mapping), isinstance([],Sequence), isinstance(d, Sequence))
import functools
@functools.lru_cache(maxsize=None)
def fib(n): return n if n<2 else fib(n-1)+fib(n-2)
print(fib(80), fib.cache_info())
print(functools.reduce(lambda a,b:a+b,[1,2,3]))
from dataclasses import dataclass, field
@dataclass(order=True)
class D:
    a:int
    b:list=field(default_factory=list)
print(D(1), D(1)<D(2), D.__doc__)
try: D()
except TypeError as e: print(e)
