import dataclasses
from dataclasses import *
from typing import ClassVar, Any


def attempt(fn):
    try:
        print(fn())
    except Exception as e:
        print(type(e).__name__, e)


@dataclass
class A:
    x: int
    y: str = "a"
    z: list = field(default_factory=list)
    n: ClassVar[int] = 3


print(A(1), A(1) == A(1), A(1) == A(2), A.n, A.__match_args__, [f.name for f in fields(A)])
attempt(lambda: A())
attempt(lambda: A(1, 2, 3, 4))
attempt(lambda: A(1, q=2))
attempt(lambda: hash(A(1)))
attempt(lambda: A(1) < A(2))


@dataclass(frozen=True, order=True)
class P:
    a: int
    b: int = field(default=0, compare=False, repr=False)


p = P(1, 2)
print(p, hash(p) == hash(P(1, 5)), P(1) < P(2), sorted([P(3), P(1)]), {p: 1}[P(1)])
attempt(lambda: setattr(p, "a", 3))
attempt(lambda: delattr(p, "a"))
attempt(lambda: setattr(p, "c", 3))


@dataclass
class B(A):
    w: int = field(default=9, kw_only=True)
    v: InitVar[int] = 5

    def __post_init__(self, v):
        self.total = self.x + v


b = B(1, w=2, v=7)
print(b, b.total, replace(b, x=5, v=1).total)
print(asdict(b), astuple(b))
attempt(lambda: replace(b, q=1))


@dataclass(slots=True)
class S:
    a: int
    b: int = 2


s = S(1)
print(s, S.__slots__, hasattr(s, "__dict__"))
attempt(lambda: setattr(s, "q", 1))


@dataclass(kw_only=True)
class K:
    a: int
    b: int = 2


print(K(a=1))
attempt(lambda: K(1))


@dataclass
class L:
    a: int
    _: KW_ONLY
    b: int = 2


print(L(1, b=3), L.__doc__)
C = make_dataclass("C", [("x", int), ("y", int, field(default=5)), "z"], bases=(), namespace={"twice": lambda self: self.x * 2}) if False else make_dataclass("C", [("x", int), ("y", int, field(default=5))], namespace={"twice": lambda self: self.x * 2})
print(C(3), C(3).twice(), is_dataclass(C), is_dataclass(C(1)), is_dataclass(3))


def mutable():
    @dataclass
    class M:
        a: list = []


attempt(mutable)


def order():
    @dataclass
    class M:
        a: int = 1
        b: int


attempt(order)
match A(1, "q"):
    case A(x, "q"):
        print("matched", x)


@dataclass
class Node:
    value: int
    next: "Node" = None


n = Node(1)
n.next = n
print(n)
print(Node(1, Node(2)), asdict(Node(1, Node(2))))
print(A.__init__.__qualname__, A.__eq__.__name__, A.__doc__)


@dataclass(eq=False)
class NoEq:
    a: int


print(NoEq(1) == NoEq(1))


@dataclass(unsafe_hash=True)
class UH:
    a: int
    b: int = field(hash=False, default=1)


print(hash(UH(1, 2)) == hash(UH(1, 3)))
attempt(lambda: asdict(3))
attempt(lambda: fields(3))


@dataclass
class Text:
    a: "int"
    b: "ClassVar[int]" = 3
    c: "InitVar[int]" = 4


print(Text(1), [f.name for f in fields(Text)])
