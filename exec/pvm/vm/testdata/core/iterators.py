# not caught
# Loops over objects with a __next__ of their own: how they end, what they raise
# and from where, and how deep they go.
class Count:
    def __init__(self, n, fail=None):
        self.n, self.fail = n, fail
    def __iter__(self):
        return self
    def __next__(self):
        if self.n == 0:
            if self.fail:
                raise self.fail
            raise StopIteration("done")
        self.n -= 1
        return self.n


class Any(Count):
    def __next__(self, *more, key=3):
        return (super().__next__(), more, key)


class Lazy(Count):
    def __next__(self):
        yield self.n


class Bad(Count):
    def __next__(self, need):
        return need


class Own(StopIteration):
    pass


print([x for x in Count(5)], list(Any(2)), tuple(Count(0)))
for i in Count(3):
    for j in Count(i):
        print(i, j)
    else:
        print("else", i)
for x in Lazy(1):
    print(next(x))
    break
for it in (Count(2, ValueError("v")), Bad(1), Count(1, Own("own")), Count(1, KeyError)):
    try:
        for x in it:
            print("item", x)
        print("ended")
    except Exception as e:
        print(type(e).__name__, e, e.__context__)


class Nested:
    def __init__(self, depth):
        self.depth, self.left = depth, 2
    def __iter__(self):
        return self
    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        total = 0
        if self.depth:
            for x in Nested(self.depth - 1):
                total += x
        return total + 1


def through(it):
    try:
        for x in it:
            yield x
    finally:
        print("closed")


print(sum(Nested(7)), list(through(Count(3))), sum(through(Nested(3))))


class Endless:
    def __iter__(self):
        return self
    def __next__(self):
        for x in Endless():
            return x


try:
    for x in Endless():
        pass
except RecursionError as e:
    print("RecursionError")


class Handling(Count):
    def __next__(self):
        try:
            return super().__next__()
        except StopIteration:
            try:
                raise KeyError("inner")
            except KeyError:
                raise StopIteration


try:
    raise TypeError("outer")
except TypeError:
    for x in Handling(2):
        print(x)
    try:
        raise
    except TypeError as e:
        print("again", e, e.__context__)

a = b = [1]
a += [2]
a += (3,)
a += "xy"
a += Count(2)
a += a
print(a is b, a)
try:
    a += 5
except TypeError as e:
    print(e)
try:
    a += Count(3, ValueError("half"))
except ValueError as e:
    print(e, a[-3:])


class L(list):
    def __iadd__(self, other):
        return ("own", other)


c = L([1])
c += [2]
print(c)


def uncaught():
    for x in Count(1, ZeroDivisionError("through")):
        pass


uncaught()
