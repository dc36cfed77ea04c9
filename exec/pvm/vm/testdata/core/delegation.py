# What ends an iterator, and what is thrown into a generator that delegates.

class Ended(StopIteration):
    pass

def stops_at_two(x):
    if x == 2:
        raise StopIteration("v%d" % x)
    return x * 10

def result_of(it):
    r = yield from it
    print("result", repr(r))

def run(g):
    out = []
    try:
        for x in g:
            out.append(x)
    except Exception as e:
        print(type(e).__name__, e)
    print(out)

def returning(n):
    yield from range(n)
    return "ret%d" % n

class Again:
    """Goes on after its end."""
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        return self
    def __next__(self):
        if self.n == 0:
            self.n = 2
            raise Ended("c", 2)
        self.n -= 1
        return self.n

class Seq:
    def __getitem__(self, i):
        if i == 2:
            raise StopIteration("s")
        return i
    def __len__(self):
        return 4

adaptors = {
    "map": lambda s: map(stops_at_two, s),
    "filter": lambda s: filter(stops_at_two, s),
    "enumerate": enumerate,
    "zip": lambda s: zip([1, 2, 3, 4, 5], s),
    "zip of two": lambda s: zip(s, [1]),
    "strict zip": lambda s: zip(s, [1, 2], strict=True),
    "map of map": lambda s: map(str, map(stops_at_two, s)),
    "iter with a sentinel": lambda s: iter(lambda s=iter(s): next(s), 99),
    "iter": iter,
    "reversed": lambda s: reversed(list(s)),
}
sources = [lambda: [0, 1, 2, 3], lambda: returning(3), lambda: Again(2), lambda: returning(0), lambda: iter([])]
for name, adaptor in adaptors.items():
    for source in sources:
        print(name)
        run(result_of(adaptor(source())))
        it = iter(adaptor(source()))
        for i in range(7):
            try:
                print(next(it) if i < 6 else it.__next__(), end=" ")
            except StopIteration as e:
                print(type(e).__name__, e.args, e.value, end=" ")
            except Exception as e:
                print(type(e).__name__, e)
        print()
        try:
            print(list(adaptor(source())))
            a, *b = adaptor(source())
            print(a, b)
        except Exception as e:
            print(type(e).__name__, e)
run(result_of(Seq()))
run(result_of(reversed(Seq())))

class Marked(map):
    def __next__(self):
        return "m", super().__next__()

run(Marked(stops_at_two, [0, 1, 2, 3]))
run(result_of(Marked(stops_at_two, [0, 1, 2, 3])))
print(list(Marked(stops_at_two, [0, 1])), next(Marked(stops_at_two, [0])))

# --- throw

class Delegate:
    def __init__(self, *items):
        self.it = iter(items)
    def __iter__(self):
        return self
    def __next__(self):
        return next(self.it)
    def throw(self, *args):
        print("throw", args)
        if args[0] == "stop":
            raise StopIteration(args)
        if args[0] == "error":
            raise KeyError("k")
        return "thrown"
    def close(self):
        print("close")

def outer(it):
    while True:
        try:
            r = yield from it
            print("r", r)
            return r
        except Exception as e:
            print("outer", type(e).__name__, e)
            yield "caught"

def attempt(fn, *args):
    try:
        print("->", fn(*args))
    except BaseException as e:
        print("!", type(e).__name__, e)

throws = [
    (5,), ("stop",), ("error",), (None,), (int,), ([],), (5, 6, 7),
    (ValueError,), (ValueError, "x"), (ValueError, None, None), (ValueError, (1, 2)), (ValueError, KeyError("z")),
    (LookupError, KeyError("z")), (ValueError("i"),), (ValueError("i"), "x"), (ValueError, "x", "tb"),
    (GeneratorExit,), (GeneratorExit("g"),),
]
delegates = [
    lambda: Delegate(1, 2, 3), lambda: iter([1, 2, 3]), lambda: outer(Delegate(4, 5, 6)), lambda: outer(iter([7, 8, 9])),
    lambda: map(str, [1, 2, 3]),
]
for args in throws:
    for delegate in delegates:
        g = outer(delegate())
        print(repr(args), next(g))
        attempt(g.throw, *args)
        attempt(next, g, "end")
        attempt(g.close)
    g = outer([1])
    attempt(g.throw, *args)
    print(list(g))

class Lookup(Delegate):
    def __getattribute__(self, name):
        if name == "throw":
            raise KeyError(name)
        return object.__getattribute__(self, name)

g = outer(Lookup(1, 2, 3))
print(next(g))
attempt(g.throw, ValueError)
print(next(g))
g.close()

# What is thrown leaves the names of the generator alone.
def keeps(a, b=2):
    try:
        a = yield from [1]
    except ValueError:
        print(a, b)
    try:
        b = yield 3
    except ValueError:
        print(a, b)
    yield 4

g = keeps("a")
print(next(g), g.throw(ValueError), g.throw(ValueError))
