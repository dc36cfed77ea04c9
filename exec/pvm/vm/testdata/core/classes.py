class Base:
    n = 0
    def __init__(self): self.log = []
    def hi(self): return 'base'
    @property
    def p(self): return self._p
    @p.setter
    def p(self, v): self._p = v
    @classmethod
    def cm(cls): return cls.__name__
    @staticmethod
    def sm(x): return x
class D(Base):
    def __init__(self, *a):
        super().__init__()
        self.a = a
    def hi(self): return 'd+' + super().hi()
d = D(1, 2)
d.p = 5
print(d.p, d.hi(), D.cm(), d.sm(3), d.a, d.log)
class Meta(type):
    def __call__(cls, *a):
        print('meta call', a)
        return super().__call__(*a)
    def __new__(m, name, bases, ns, **kw):
        print('new', name, kw)
        return super().__new__(m, name, bases, ns)
    def __init__(cls, name, bases, ns, **kw): super().__init__(name, bases, ns)
class M(metaclass=Meta, opt=1):
    def __init__(self, x): self.x = x
print(M(4).x)
class S:
    __slots__ = ('a', 'b')
s = S(); s.a = 1
print(s.a)
try: s.c = 1
except AttributeError as e: print(e)
class V:
    def __init__(self, x): self.x = x
    def __add__(self, o): return V(self.x + (o.x if isinstance(o, V) else o))
    def __radd__(self, o): return V(o + self.x)
    def __eq__(self, o): return self.x == o.x
    def __lt__(self, o): return self.x < o.x
    def __repr__(self): return f'V({self.x})'
    def __getitem__(self, i): return i
    def __len__(self): return self.x
    def __contains__(self, i): return i == self.x
    def __bool__(self): return self.x != 0
    def __hash__(self): return hash(self.x)
    def __iadd__(self, o): self.x += o; return self
print(V(1) + V(2), V(1) + 5, 5 + V(1), V(1) == V(1), V(1) < V(2), sorted([V(3), V(1)]), V(3)[2:4], len(V(4)), 4 in V(4), bool(V(0)), {V(1): 2}[V(1)])
v = V(1); v += 3; print(v)
try: V(1) + 'a' 
except TypeError as e: print(e)
class Sub:
    def __init_subclass__(cls, **kw): print('sub', cls.__name__, kw)
    def __set_name__(self, o, n): print('set_name', o.__name__, n)
class Sub2(Sub, k=1):
    z = Sub()
class G:
    def __getattr__(self, n): return 'dyn ' + n
print(G().foo)
class A: 
    def f(self): return 'A'
class B(A):
    def f(self): return 'B' + super().f()
class C(A):
    def f(self): return 'C' + super().f()
class E(B, C):
    def f(self): return 'E' + super().f()
print(E().f(), [c.__name__ for c in E.__mro__])
for i in range(40):
    e = E(); e.v = i; e.w = e.v + 1
print(e.v, e.w)
class Cnt:
    def __init__(self): self.n = 0
    def inc(self): self.n += 1; return self
c = Cnt()
for i in range(100): c.inc()
print(c.n)
Cnt.inc = lambda self: setattr(self, 'n', -1)
for i in range(3): c.inc()
print(c.n)
def bad(self): return 5
try:
    type('X', (), {'__init__': bad})()
except TypeError as e: print(e)
x = 1
class N:
    y = x
    x = 2
    z = [x for _ in range(2)]
print(N.y, N.x, N.z)
print(type(d).__name__, isinstance(d, Base), issubclass(D, Base))
