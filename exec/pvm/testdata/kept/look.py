# Prints what there is to see of the library's modules.
import abc, base64, cbor2, collections, collections.abc, dataclasses, decimal, enum, functools, hashlib, hmac, itertools, json, math, operator, re, string, struct, typing
total = 0


def show(text):
    global total
    total = (total * 31 + len(text)) % 1000003
    print(text[:60])


for m in (abc, collections, collections.abc, dataclasses, enum, functools, typing, decimal, hashlib, itertools, json, math, re, struct, base64, cbor2, hmac, operator, string):
    for name in dir(m):
        x = getattr(m, name)
        show(name + " " + repr(x))
        if isinstance(x, type):
            show(repr(sorted(x.__dict__)))
            show(repr(x.__mro__))
        for a in ("__doc__", "__defaults__", "__kwdefaults__", "__annotations__", "__dict__"):
            try:
                show(repr(getattr(x, a)))
            except BaseException as e:
                show(type(e).__name__)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Perm(enum.Flag):
    R = 1
    W = 2


@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: typing.Optional[int] = None


@functools.lru_cache(maxsize=2)
def twice(n):
    return 2 * n


@functools.singledispatch
def kind(x):
    return "any"


@kind.register(collections.abc.Sequence)
def _(x):
    return "sequence"


class Mine:
    def __len__(self):
        return 1

    def __iter__(self):
        return iter(())

    def __contains__(self, x):
        return False


print(Color.RED, Color(2), Perm.R | Perm.W, Point(1) < Point(2, 3), twice(2), twice(2), twice.cache_info(), kind([]), kind(1))
print([isinstance(Mine(), getattr(collections.abc, k)) for k in collections.abc.__all__])
print(hash(Color), hash(typing.Any), hash(Mine), collections.namedtuple("P", "a b")(1, 2), collections.Counter("abca"))
print(typing.List[int], typing.Union[int, None], typing.get_type_hints(Point), abc.get_cache_token(), total)
