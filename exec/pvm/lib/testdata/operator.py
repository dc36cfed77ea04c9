import operator as o
def t(f, *a, **k):
    try:
        print(f.__name__ if hasattr(f, '__name__') else f, a, k, f(*a, **k))
    except Exception as e:
        print(f.__name__ if hasattr(f, '__name__') else f, a, k, type(e).__name__, e)
print(o.__all__)
print([n for n in dir(o) if n.startswith('__') and n not in ('__builtins__', '__cached__', '__doc__', '__file__', '__loader__', '__package__', '__spec__')])
for n in o.__all__:
    f = getattr(o, n)
    print(n, f.__name__, getattr(o, '__%s__' % n.rstrip('_'), f) is f)
pairs = [(5, 3), (5, 0), (-7, 2), (2.5, 4), ('a', 3), ('a', 'b'), ([1], [2]), ([1], 2), ((1,), (2,)), ({1}, {2}), ({1: 2}, {3: 4}), (None, 1), (True, False), ('%d', 5), (2, -1), (1, 'a'), (b'a', b'b')]
two = [getattr(o, n) for n in o.__all__ if n not in ('abs', 'index', 'inv', 'invert', 'neg', 'not_', 'pos', 'truth', 'is_', 'is_not', 'attrgetter', 'itemgetter', 'methodcaller', 'setitem', 'delitem', 'call', 'length_hint')]
for f in two:
    for a, b in pairs:
        t(f, a, b)
class V:
    def __init__(self, x): self.x = x
    def __repr__(self): return 'V(%r)' % (self.x,)
for n in 'add sub mul matmul truediv floordiv mod pow lshift rshift and or xor'.split():
    def plain(self, other, n=n): return n, self, other
    def inplace(self, other, n=n): return 'i' + n, self, other
    setattr(V, '__%s__' % n, plain); setattr(V, '__i%s__' % n, inplace)
for n in 'add sub mul matmul truediv floordiv mod pow lshift rshift and_ or_ xor'.split():
    t(getattr(o, n), V(1), V(2)); t(getattr(o, 'i' + n.rstrip('_')), V(1), 2)
for f in [o.abs, o.index, o.inv, o.invert, o.neg, o.not_, o.pos, o.truth]:
    for v in [5, -5, 2.5, True, 'a', [], None, 10**30, V(1)]:
        t(f, v)
class I:
    def __repr__(self): return 'I()'
    def __index__(self): return 7
    def __abs__(self): return 'abs'
    def __neg__(self): return 'neg'
    def __invert__(self): return 'invert'
    def __bool__(self): return False
for f in [o.abs, o.index, o.inv, o.neg, o.not_, o.truth]: t(f, I())
x = []
print(o.is_(x, x), o.is_(x, []), o.is_not(x, x), o.is_not(None, x), o.is_(None, None))
l = [1, 2, 3]
print(o.setitem(l, 0, 9), o.delitem(l, 1), l, o.setitem(l, slice(0, 1), [7, 8]), l, o.getitem(l, slice(1)))
for f, a in [(o.setitem, (1, 2, 3)), (o.setitem, (l, 'a', 3)), (o.setitem, (l, 99, 3)), (o.delitem, ('ab', 0)), (o.delitem, (l, 99)), (o.delitem, ({}, 1)), (o.getitem, ({}, 1)), (o.getitem, (1, 2))]:
    t(f, *a)
class Seq:
    def __repr__(self): return 'Seq()'
    def __init__(self, items): self.items = items
    def __getitem__(self, i): return self.items[i]
    def __add__(self, other): return ('+', self.items, other)
    def __len__(self): return len(self.items)
for a, b in [(Seq([1]), Seq([2])), (Seq([1]), 1), (1, Seq([1])), (Seq([1]), [2]), ({}, Seq([1])), ([1], Seq([1]))]:
    try: print(o.concat(a, b))
    except TypeError as e: print(e)
t(o.indexOf, Seq([4, 3, 2, 1]).items, 3); t(o.indexOf, [4, 3], 5); t(o.indexOf, 5, 5); t(o.countOf, 5, 5); t(o.countOf, [1, True, 1.0, 2], 1); t(o.countOf, 'aab', 'a'); print(o.indexOf(iter([1, 2]), 2))
class H:
    def __init__(self, v): self.v = v
    def __length_hint__(self):
        if isinstance(self.v, type): raise self.v
        return self.v
for v in [2, -1, 'a', None, NotImplemented, TypeError, ValueError, 10 ** 5, True]:
    try: print(o.length_hint(H(v), 4))
    except Exception as e: print(type(e).__name__, e)
class L:
    def __len__(self): raise TypeError('no')
    def __length_hint__(self): return 3
class N:
    def __len__(self): return -1
for v in [L(), N(), [1, 2], iter([1, 2, 3]), 5, 'abc', range(10 ** 6)]:
    try: print(o.length_hint(v), o.length_hint(v, 9))
    except Exception as e: print(type(e).__name__, e)
for d in ['a', 2.5, None, -3, True, I()]:
    try: print(o.length_hint(5, d))
    except Exception as e: print(type(e).__name__, e)
t(o.call, len, [1, 2]); t(o.call, dict, a=1); t(o.call); t(o.call, 5); t(o.call, o.call, o.call, max, 3, 4)
t(o.add, 1); t(o.add, 1, 2, 3); t(o.add, a=1, b=2); t(o.neg); t(o.length_hint); t(o.setitem, 1)
class A:
    def __init__(self, **k): self.__dict__.update(k)
    def m(self, *a, **k): return a, k
    def __getattr__(self, n): raise AttributeError('nothing called ' + n)
a = A(b=A(c=5, d=6), e=7)
for names in [('e',), ('b.c',), ('b.c', 'e'), ('b.c', 'b.d', 'e'), ('x',), ('b.x',), ('.b',), ('b.',), ('',), ('b..c',), (5,), ('e', 5), ()]:
    try:
        g = o.attrgetter(*names)
        print(g, g(a))
    except Exception as e: print(names, type(e).__name__, e)
for items in [(0,), (0, 1), (slice(1),), ('a',), (5,), (), (-1, 0, 1)]:
    try:
        g = o.itemgetter(*items)
        print(g, g([1, 2, 3]))
    except Exception as e: print(items, type(e).__name__, e)
print(o.itemgetter('a', 'b')({'a': 1, 'b': 2}), o.itemgetter(0)('xyz'))
for args, kw in [(('m',), {}), (('m', 1, 2), {}), (('m', 1), {'k': 2}), (('m',), {'k': 2, 'l': [3]}), (('x',), {}), ((5,), {}), ((), {}), ((), {'name': 'm'}), (('m',), {'self': 1, 'name': 2})]:
    try:
        g = o.methodcaller(*args, **kw)
        print(g, g(a))
    except Exception as e: print(args, kw, type(e).__name__, e)
for g in [o.itemgetter(1), o.attrgetter('a'), o.methodcaller('a')]:
    for args, kw in [((), {}), ((1, 2), {}), ((), {'x': 1}), ((1,), {'x': 1})]:
        try: print(g(*args, **kw))
        except Exception as e: print(type(e).__name__, e)
    print(type(g), type(g).__name__, type(g).__module__, g == g, callable(g))
for c in [o.itemgetter, o.attrgetter]:
    try: c('a', x=1)
    except TypeError as e: print(e)
l = []
g = o.itemgetter(l); l.append(g); print(g)
l = []
g = o.methodcaller('x', l, y=l); l.append(g); print(g)
print(sorted([(2, 'b'), (1, 'c'), (1, 'a')], key=o.itemgetter(1)), sorted([3, 1, 2], key=o.neg), list(map(o.methodcaller('upper'), ['a', 'b'])))
from functools import reduce
from operator import mul, itemgetter, __add__
print(reduce(mul, range(1, 30)), __add__(1, 2), max({'a': 3, 'b': 5}.items(), key=itemgetter(1)))
