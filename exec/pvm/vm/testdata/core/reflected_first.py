# Order of operands and other small print that CPython's own tests look at.


class C:
    def __radd__(self, o):
        return ("radd", o)

    def __rmul__(self, o):
        return ("rmul", o)


print("a" + C(), b"a" + C(), bytearray(b"a") + C(), [1] + C(), (1,) + C(), "a" * C(), [1] * C())


def said(f):
    try:
        print(f())
    except (TypeError, RuntimeError) as e:
        print(type(e).__name__, e)


class Counted(int):
    seen = 0

    def __hash__(self):
        self.seen += 1
        return int.__hash__(self)


d = dict.fromkeys(map(Counted, range(10)))
dict.fromkeys(set(d))
dict.fromkeys(d, 1)
print(sum(k.seen for k in d))
said(lambda: int.__new__(bool, 0))
said(lambda: "abc".find("a", 1, 2, 3))
said(lambda: b"abc".startswith())
for base in (list, tuple, set, frozenset):
    said(lambda: type("Sub", (base,), {})(sequence=()))
print(type("A", (), {}).__module__, type("A", (), {}))


class Own(str):
    def __bytes__(self):
        return b"own"


print(bytes(Own("a")))


def grow():
    d = {0: 0, 1: 1}
    for k in d:
        del d[0]
        d[0] = 0


said(grow)
print(0 / -(10**40), 0 / -3, BaseException.__new__(IndexError), repr(KeyError("k")))


class Precise(float):
    def __init__(self, x, digits=None):
        self.digits = digits


print(Precise(2.5, digits=3).digits, Precise(1.5))

# The methods of sequences say what they want; the operators have other texts,
# and let the right operand try first, also with +=.
def attempt(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


class Countable:
    def __index__(self):
        return 2


class Declines:
    asked = 0

    def __radd__(self, other):
        Declines.asked += 1
        return NotImplemented

    __rmul__ = __radd__


class Answers(Countable):
    def __radd__(self, other):
        return "radd", other

    def __rmul__(self, other):
        return "rmul", other


class Longer(list):
    def __radd__(self, other):
        Declines.asked += 1
        return NotImplemented


def grown(v, w):
    v = v[:]
    v += w
    return v


def repeated(v, w):
    v = v[:]
    v *= w
    return v


for v in ([1], (1,), "x", b"x", bytearray(b"x")):
    for w in (1, 1.5, "a", [2], (2,), None, Countable(), Declines(), Answers(), Longer([3])):
        print(type(v).__name__, type(w).__name__)
        for f in (v.__add__, v.__mul__, v.__rmul__, lambda w: v + w, lambda w: v * w, lambda w: w * v, lambda w: grown(v, w), lambda w: repeated(v, w)):
            if isinstance(w, Longer) and f in (v.__mul__, v.__rmul__):
                continue
            attempt(lambda: f(w))
print(Declines.asked)
for v, n in ((-1, 0), (-1, 1), (0, 0), (-2, 0), (1, 0), (-128, 1), (-129, 1)):
    for signed in (True, False):
        attempt(lambda: v.to_bytes(n, "big", signed=signed))


def keywords(**k):
    return k


mixed = {-2: 0, "zz": 1}
attempt(lambda: dict(zz=1, **mixed))
attempt(lambda: keywords(zz=1, **mixed))
attempt(lambda: keywords(**mixed))
attempt(lambda: keywords(**mixed, **mixed))
attempt(lambda: keywords(**{1: 1}, **{2: 2}))
