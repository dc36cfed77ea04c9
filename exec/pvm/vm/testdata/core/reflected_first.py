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
