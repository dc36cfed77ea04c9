def f(a, b=2, *args, c, d=4, **kw):
    return a, b, args, c, d, kw
print(f(1, c=3))
print(f(1, 5, 6, 7, c=3, e=9))
print(f(*[1, 2, 3], **{'c': 1, 'z': 2}))
def g(a, b, /, c, *, d): return (a, b, c, d)
print(g(1, 2, 3, d=4), g(1, 2, c=3, d=4))
def attempt(fn, *a, **k):
    try:
        print(fn(*a, **k))
    except TypeError as e:
        print('TypeError:', e)
attempt(g, 1, 2)
attempt(g, 1, b=2, c=3, d=4)
attempt(g, 1, 2, 3, 4, 5)
attempt(g, 1, 2, 3, d=1, e=2)
attempt(g, 1, 2, 3, c=1, d=1)
attempt(f)
attempt(f, 1)
attempt(lambda: 0, 1)
attempt(lambda x, y=1: 0)
attempt(lambda x, y=1: 0, 1, 2, 3)
attempt(lambda x, y, z: 0)
def kwonly(*, a, b): pass
attempt(kwonly)
attempt(kwonly, 1, a=1)
attempt(kwonly, a=1)
attempt(5)
class A:
    def __init__(self, x): self.x = x
    def m(self, y=1): return self.x + y
    def __call__(self, *a): return ('called', a)
a = A(10)
print(a.m(), a.m(5), A.m(a, 7), a(1, 2))
attempt(A)
attempt(a.m, 1, 2)
m = a.m
print(m(3))
def deco(fn):
    def inner(*a, **k):
        return ['deco', fn(*a, **k)]
    return inner
@deco
def h(x): return x * 2
print(h(4))
def make():
    n = 0
    def inc():
        nonlocal n
        n += 1
        return n
    return inc
c = make()
print(c(), c(), c())
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(15))
def deep(n): return 0 if n == 0 else 1 + deep(n - 1)
print(deep(200))
print((lambda *a, **k: (a, k))(1, *[2, 3], x=1, **{'y': 2}))
print(h.__name__, fib.__name__, A.m.__qualname__, make.__defaults__, f.__defaults__, f.__kwdefaults__)
def ann(x: int, y: 'str' = 'q') -> bool: return True
print(ann.__annotations__)
ann.attr = 5
print(ann.attr, ann.__dict__)
