def count(n):
    for i in range(n):
        yield i
print(list(count(5)), sum(count(10)))
def echo():
    r = None
    while True:
        r = yield r
        if r is None: return 'done'
g = echo()
print(next(g), g.send(1), g.send(2))
try:
    g.send(None)
except StopIteration as e:
    print('stop', e.value)
def outer():
    x = yield from inner()
    print('inner gave', x)
    yield x
def inner():
    try:
        yield 1
        yield 2
    except ValueError as e:
        print('caught', e)
        yield 99
    return 'res'
o = outer()
print(next(o))
print(o.throw(ValueError('v')))
print(next(o))
print(list(o))
def closing():
    try:
        yield 1
    finally:
        print('closed')
c = closing(); next(c); c.close(); c.close()
def bad():
    yield 1
    raise StopIteration(3)
try:
    list(bad())
except RuntimeError as e:
    print(e, repr(e.__cause__))
def ign():
    try:
        yield
    except GeneratorExit:
        yield
i = ign(); next(i)
try:
    i.close()
except RuntimeError as e: print(e)
print([x * y for x in range(3) for y in range(3) if x != y])
print({x: x * x for x in range(4)}, {x % 3 for x in range(9)})
print(list(x + 1 for x in (y for y in range(4))))
def tree(n):
    if n:
        yield from tree(n - 1)
        yield n
        yield from tree(n - 1)
print(list(tree(4)))
def rec():
    yield next(gg)
gg = rec()
try:
    next(gg)
except ValueError as e: print(e)
g2 = count(3)
for v in g2:
    print(v)
    break
print(next(g2), list(g2))
try:
    g3 = count(1); g3.send(5)
except TypeError as e: print(e)
class It:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def __next__(self):
        self.n += 1
        if self.n > 3: raise StopIteration
        return self.n
print(list(It()), [*It()], max(It()))
for a, (b, *c) in [(1, (2, 3, 4)), (5, (6,))]: print(a, b, c)
def handler_ctx():
    try:
        raise ValueError('in gen')
    except ValueError:
        yield 1
        try:
            raise KeyError('k')
        except KeyError as e:
            print(repr(e.__context__))
        yield 2
try:
    raise IndexError('outer')
except IndexError:
    h = handler_ctx(); next(h)
next(h)
