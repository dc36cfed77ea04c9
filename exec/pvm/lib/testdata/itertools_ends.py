# What itertools pass on of the StopIteration that ends them.
import itertools

def stops_at_two(x):
    if x == 2:
        raise StopIteration("v%d" % x)
    return x * 10

def result_of(it):
    r = yield from it
    print("result", repr(r))

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
            raise StopIteration("c", 2)
        self.n -= 1
        return self.n

adaptors = {
    "chain": lambda s: itertools.chain([5], s),
    "chain.from_iterable": lambda s: itertools.chain.from_iterable(map(lambda x: [x], s)),
    "compress": lambda s: itertools.compress(s, [1, 1, 0, 1, 1]),
    "compress by": lambda s: itertools.compress([1, 1, 0, 1, 1], s),
    "dropwhile": lambda s: itertools.dropwhile(lambda x: x < 1, s),
    "takewhile": lambda s: itertools.takewhile(lambda x: x < 10, s),
    "takewhile to 1": lambda s: itertools.takewhile(lambda x: x < 1, s),
    "takewhile that stops": lambda s: itertools.takewhile(lambda x: stops_at_two(x) < 99, s),
    "filterfalse": lambda s: itertools.filterfalse(lambda x: stops_at_two(x) < 0, s),
    "starmap": lambda s: itertools.starmap(stops_at_two, zip(s)),
    "pairwise": itertools.pairwise,
    "islice": lambda s: itertools.islice(s, 1, None, 2),
    "islice from 9": lambda s: itertools.islice(s, 9, None),
    "islice to 1": lambda s: itertools.islice(s, 1),
    "accumulate": itertools.accumulate,
    "accumulate that stops": lambda s: itertools.accumulate(s, lambda a, b: stops_at_two(b)),
    "groupby": lambda s: map(lambda kg: (kg[0], list(kg[1])), itertools.groupby(s)),
    "groupby that stops": lambda s: map(lambda kg: kg[0], itertools.groupby(s, stops_at_two)),
    "tee": lambda s: itertools.tee(s)[0],
    "cycle": lambda s: itertools.islice(itertools.cycle(s), 5),
    "zip_longest": lambda s: itertools.zip_longest(s, [1]),
}
endless = "groupby", "groupby that stops", "cycle", "chain.from_iterable", "tee", "zip_longest"
for name, adaptor in adaptors.items():
    for source in (lambda: [0, 1, 2, 3], lambda: returning(3), lambda: Again(2), lambda: returning(0)):
        if isinstance(source(), Again) and name in endless:
            continue
        print(name, list(result_of(adaptor(source()))))
        it = iter(adaptor(source()))
        for i in range(7):
            try:
                print(next(it) if i < 6 else it.__next__(), end=" ")
            except StopIteration as e:
                print(e.args, e.value, end=" ")
        print(list(adaptor(source())))

# A source that asks for a pair itself.
class Reenters:
    def __init__(self, at):
        self.at, self.count = at, 0
    def __iter__(self):
        return self
    def __next__(self):
        self.count += 1
        if self.count in self.at:
            return next(self.it)
        return [self.count]

for at in ({1}, {2}, {3}, {1, 2}, {1, 3}, {1, 4}, {2, 3}, {1, 2, 3}, {1, 2, 3, 4}):
    source = Reenters(at)
    source.it = itertools.pairwise(source)
    print(at, next(source.it), next(source.it), next(source.it))
