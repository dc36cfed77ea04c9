# Alters whatever can be reached of the library's modules, by every route.
import abc, base64, cbor2, collections, collections.abc, dataclasses, decimal, enum, functools, hashlib, hmac, itertools, json, math, operator, re, string, struct, typing
PART, OF = 0, 1  # of what is found, the test's to say
MODULES = [abc, collections, collections.abc, dataclasses, enum, functools, typing, decimal, hashlib, itertools, json, math, re, struct, base64, cbor2, hmac, operator, string]
try:
    import cowboy_sdk
    MODULES.append(cowboy_sdk)
except RuntimeError:
    pass

seen = {}
found = []


def reach(x):
    try:
        key = object.__hash__(x)
    except BaseException:
        return
    if key in seen or isinstance(x, (int, str, float, bytes)) or x is None:
        return
    seen[key] = x
    found.append(x)


def parts(x):
    for name in ATTRIBUTES:
        try:
            yield getattr(x, name)
        except BaseException:
            pass
    try:
        names = dir(x)
    except BaseException:
        names = []
    for name in names:
        try:
            yield getattr(x, name)
        except BaseException:
            pass
    try:
        space = x.__dict__
        for k in list(space):
            yield space[k]
    except BaseException:
        pass
    if isinstance(x, dict):
        yield from list(dict.values(x))
        yield from list(dict.keys(x))
    elif isinstance(x, (list, tuple, set, frozenset)):
        yield from list(x)


ATTRIBUTES = [
    "__dict__", "__defaults__", "__kwdefaults__", "__annotations__", "__closure__", "__wrapped__", "__func__", "__self__",
    "__bases__", "__mro__", "__class__", "fget", "fset", "fdel", "__members__", "_member_map_", "_value2member_map_",
    "_member_names_", "cell_contents", "__orig_bases__", "__abstractmethods__", "__all__", "__getattr__",
]
for m in MODULES:
    reach(m)
i = 0
while i < min(len(found), 1200):
    for p in parts(found[i]):
        reach(p)
    i += 1

done = 0


def attempt(fn):
    global done
    try:
        fn()
        done += 1
    except BaseException:
        pass


class Mine:
    pass


NEW = ["__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__", "__annotations__", "__call__",
       "__dict__", "__class__", "__eq__", "__hash__", "__len__", "__instancecheck__", "__subclasshook__", "altered", "register"]
EXTRA = ["text", (1, 2), {"a": 1}, Mine]


def note(x):
    e = ValueError()
    e.__notes__ = x
    e.add_note("altered")


def failing():
    yield from ()
    raise ValueError


def change(x):
    if x is found or x is seen or x is MODULES or x is NEW or x is EXTRA or x is ATTRIBUTES:
        return
    if isinstance(x, list):
        attempt(lambda: x.extend(iter(range(100, 0))))
        attempt(lambda: x.extend(failing()))
        attempt(lambda: note(x))
        attempt(lambda: x.append("altered"))
        attempt(lambda: x.insert(0, "first"))
        attempt(lambda: x.reverse())
        attempt(lambda: x.extend([1, 2, 3]))
        attempt(lambda: len(x) < 50 and x.__imul__(2))
        attempt(lambda: x.sort(key=str))
        attempt(lambda: x.__setitem__(0, "set"))
        attempt(lambda: x.__setitem__(slice(0, 2), [9]))
        attempt(lambda: x.__delitem__(slice(0, None, 2)))
        attempt(lambda: x.pop())
        attempt(lambda: x.remove("first"))
        attempt(lambda: x.clear())
    if isinstance(x, dict):
        attempt(lambda: dict.__setitem__(x, "altered", Mine))
        attempt(lambda: dict.setdefault(x, "more", Mine))
        attempt(lambda: dict.update(x, {"k": 1}, z=2))
        attempt(lambda: dict.__ior__(x, {"q": 1}))
        attempt(lambda: dict.popitem(x))
        attempt(lambda: dict.__setitem__(x, next(iter(dict.keys(x))), "changed"))
        attempt(lambda: dict.pop(x, next(iter(dict.keys(x)))))
        attempt(lambda: dict.clear(x))
    if isinstance(x, set):
        attempt(lambda: x.add("altered"))
        attempt(lambda: x.update([1]))
        attempt(lambda: x.pop())
        attempt(lambda: x.clear())
    attempt(lambda: hash(x))
    attempt(lambda: repr(x))
    if isinstance(x, type):
        attempt(lambda: x.register(Mine))
        attempt(lambda: type("Below", (x,), {}))
        attempt(lambda: type(x)("Below", (x,), {"__slots__": ()}))
        attempt(lambda: isinstance(Mine(), x))
        attempt(lambda: issubclass(Mine, x))
        attempt(lambda: x[int])
        attempt(lambda: x.__annotations__)
        attempt(lambda: x("text"))
        attempt(lambda: x())
    for name in ("cache_clear", "_clear_cache", "cache_info"):
        attempt(lambda: getattr(x, name)())
    attempt(lambda: type("Taken", (), {"__classcell__": x}))
    attempt(lambda: x.__set_name__(Mine, "altered"))
    attempt(lambda: x.register(int, lambda *a: 7))
    for name in NEW:
        for v in EXTRA:
            attempt(lambda: setattr(x, name, v))
            attempt(lambda: type.__setattr__(x, name, v))
    try:
        names = dir(x)
    except BaseException:
        names = []
    for name in names:
        attempt(lambda: setattr(x, name, Mine))
        if len(name) % 2:
            attempt(lambda: delattr(x, name))
            attempt(lambda: type.__delattr__(x, name))
            attempt(lambda: object.__delattr__(x, name))


# What this program itself needs comes last.
for x in found[PART::OF]:
    if x is not type and x is not object:
        try:
            change(x)
        except BaseException:
            pass
print(len(found) > 1000, done > 10000 // OF)
