"""The abstract base classes of collections.abc."""

from _pvm import abc_methods as _check_methods
from abc import ABCMeta, abstractmethod

__all__ = [
    "Awaitable", "Coroutine", "AsyncIterable", "AsyncIterator", "AsyncGenerator", "Hashable", "Iterable", "Iterator",
    "Generator", "Reversible", "Sized", "Container", "Callable", "Collection", "Set", "MutableSet", "Mapping",
    "MutableMapping", "MappingView", "KeysView", "ItemsView", "ValuesView", "Sequence", "MutableSequence", "ByteString",
]

__name__ = "collections.abc"
GenericAlias = type(list[int])


# What a lookup gives for a key that is not there.
_ABSENT = object()


def _fail(error):
    raise error


# Bodies of abstract methods by the names of their parameters: each raises the error
# that it was made for.
_FAILING = {
    "": lambda error: lambda self: _fail(error),
    "value": lambda error: lambda self, value: _fail(error),
    "key": lambda error: lambda self, key: _fail(error),
    "key value": lambda error: lambda self, key, value: _fail(error),
    "index": lambda error: lambda self, index: _fail(error),
    "index value": lambda error: lambda self, index, value: _fail(error),
}


def _failing(error, parameters=""):
    return abstractmethod(_FAILING[parameters](error))


def _adopt(made):
    """Gives the functions of a class's namespace the names under which they stand there."""
    for name, member in list(made.__dict__.items()):
        member = getattr(member, "__func__", member)
        if isinstance(member, _FUNCTION) and ("<" in member.__qualname__ or "." not in member.__qualname__):
            member.__name__ = name
            member.__qualname__ = made.__name__ + "." + name
    return made


_FUNCTION = type(_adopt)


def _protocol(name, bases, *implied, **members):
    """An abstract class of which every class with the implied methods is a subclass."""
    def hook(cls, C):
        return _check_methods(C, *implied) if cls is made else NotImplemented

    members.update(
        __module__=__name__, __qualname__=name, __slots__=(), __subclasshook__=classmethod(hook),
    )
    made = ABCMeta(name, bases, members)
    return _adopt(made)


def _generic(name, bases, *implied, **members):
    """A protocol that takes types in brackets."""
    return _protocol(name, bases, *implied, __class_getitem__=classmethod(GenericAlias), **members)


def _raise_into(typ, val, tb):
    """What the abstract throw does: raises what it was given."""
    if val is not None:
        raise val
    raise typ if tb is None else typ()


def _throwing():
    return abstractmethod(lambda self, typ, val=None, tb=None: _raise_into(typ, val, tb))


def _closing(kind):
    def close(self):
        try:
            self.throw(GeneratorExit)
        except (StopIteration, GeneratorExit):
            return
        raise RuntimeError(kind + " ignored GeneratorExit")

    return close


class _CallableGenericAlias(GenericAlias):
    """Callable[[int], str], whose arguments are flat."""

    __slots__ = ()

    def __new__(cls, origin, args):
        if not isinstance(args, tuple) or len(args) != 2:
            raise TypeError("Callable must be used as Callable[[arg, ...], result].")
        params, result = args
        if not isinstance(params, (tuple, list)):
            if not _stands_for_parameters(params):
                raise TypeError(f"Expected a list of types, an ellipsis, ParamSpec, or Concatenate. Got {params}")
            params = (params,)
        return super().__new__(cls, origin, (*params, result))

    def __repr__(self):
        *params, result = map(_shown, self.__args__)
        if len(params) == 1 and _stands_for_parameters(self.__args__[0]):
            return super().__repr__()
        return f"collections.abc.Callable[[{', '.join(params)}], {result}]"

    def __getitem__(self, item):
        item = item if isinstance(item, tuple) else (item,)
        own = self.__parameters__
        if len(own) == 1 and _stands_for_parameters(own[0]) and item and not _stands_for_parameters(item[0]):
            item = (item,)
        *params, result = super().__getitem__(item).__args__
        if len(params) == 1 and isinstance(params[0], (tuple, list)):
            params = params[0]
        elif len(params) == 1 and _stands_for_parameters(params[0]):
            params = params[0]
        return _CallableGenericAlias(self.__origin__, (params, result))


def _stands_for_parameters(given):
    """Whether given may be where Callable wants a list of types."""
    kind = type(given)
    return (given is Ellipsis or isinstance(given, (tuple, list))
            or kind.__module__ == "typing" and kind.__name__ in ("ParamSpec", "_ConcatenateGenericAlias"))


def _shown(given):
    if isinstance(given, type) and not isinstance(given, GenericAlias):
        return given.__qualname__ if given.__module__ == "builtins" else f"{given.__module__}.{given.__qualname__}"
    return "..." if given is Ellipsis else repr(given)


Hashable = _protocol("Hashable", (), "__hash__", __hash__=abstractmethod(lambda self: 0))
Sized = _protocol("Sized", (), "__len__", __len__=abstractmethod(lambda self: 0))
Container = _generic("Container", (), "__contains__", __contains__=abstractmethod(lambda self, x: False))
Callable = _protocol(
    "Callable", (), "__call__",
    __call__=abstractmethod(lambda self, *args, **kwds: False), __class_getitem__=classmethod(_CallableGenericAlias),
)

Iterable = _generic("Iterable", (), "__iter__", __iter__=abstractmethod(lambda self: (yield from ())))
Reversible = _protocol(
    "Reversible", (Iterable,), "__reversed__", "__iter__", __reversed__=abstractmethod(lambda self: (yield from ())),
)
Iterator = _protocol(
    "Iterator", (Iterable,), "__iter__", "__next__", __next__=_failing(StopIteration), __iter__=lambda self: self,
)
Generator = _protocol(
    "Generator", (Iterator,), "__iter__", "__next__", "send", "throw", "close",
    __next__=lambda self: self.send(None), send=_failing(StopIteration, "value"), throw=_throwing(),
    close=_closing("generator"),
)
Collection = _protocol("Collection", (Sized, Iterable, Container), "__len__", "__iter__", "__contains__")

Awaitable = _generic("Awaitable", (), "__await__", __await__=abstractmethod(lambda self: (yield)))
Coroutine = _protocol(
    "Coroutine", (Awaitable,), "__await__", "send", "throw", "close",
    send=_failing(StopIteration, "value"), throw=_throwing(), close=_closing("coroutine"),
)


async def _anext(self):
    raise StopAsyncIteration


async def _anext_sent(self):
    return await self.asend(None)


async def _asend(self, value):
    raise StopAsyncIteration


async def _athrow(self, typ, val=None, tb=None):
    _raise_into(typ, val, tb)


async def _aclose(self):
    try:
        await self.athrow(GeneratorExit)
    except (StopAsyncIteration, GeneratorExit):
        return
    raise RuntimeError("asynchronous generator ignored GeneratorExit")


AsyncIterable = _generic("AsyncIterable", (), "__aiter__", __aiter__=abstractmethod(lambda self: AsyncIterator()))
AsyncIterator = _protocol(
    "AsyncIterator", (AsyncIterable,), "__anext__", "__aiter__",
    __anext__=abstractmethod(_anext), __aiter__=lambda self: self,
)
AsyncGenerator = _protocol(
    "AsyncGenerator", (AsyncIterator,), "__aiter__", "__anext__", "asend", "athrow", "aclose",
    __anext__=_anext_sent, asend=abstractmethod(_asend), athrow=abstractmethod(_athrow), aclose=_aclose,
)


def _same(a, b):
    """Identical or equal, as containers compare."""
    return a in (b,)


def _find(mapping, key, absent):
    try:
        return mapping[key]
    except KeyError:
        return absent


def _first(collection):
    try:
        return next(iter(collection))
    except StopIteration:
        raise KeyError from None


def _drain(take, empty):
    """Takes until there is nothing left, which is when the error comes."""
    try:
        while True:
            take()
    except empty:
        return


def _within(few, many):
    for member in few:
        if member not in many:
            return False
    return True


def _relation(holds):
    """A comparison of sets; what is no set is left to the other operand."""
    return lambda self, other: holds(self, other) if isinstance(other, Set) else NotImplemented


def _set_operation(combine):
    """An operation of sets whose other operand may be anything iterable, made a set first."""
    def operate(self, other):
        if isinstance(other, Set):
            return combine(self, other)
        if isinstance(other, Iterable):
            return combine(self, self._from_iterable(other))
        return NotImplemented

    return operate


def _merge_operation(members):
    """An operation that goes through any iterable as it is."""
    return lambda self, other: (
        self._from_iterable(members(self, other)) if isinstance(other, Iterable) else NotImplemented
    )


def _chained(first, second):
    yield from first
    yield from second


@_adopt
class Set(Collection):
    __slots__ = ()

    _from_iterable = classmethod(lambda cls, it: cls(it))

    __eq__ = _relation(lambda a, b: len(a) == len(b) and a.__le__(b))
    __le__ = _relation(lambda a, b: len(a) <= len(b) and _within(a, b))
    __ge__ = _relation(lambda a, b: len(a) >= len(b) and _within(b, a))
    __lt__ = _relation(lambda a, b: len(a) < len(b) and a.__le__(b))
    __gt__ = _relation(lambda a, b: len(a) > len(b) and a.__ge__(b))

    __and__ = __rand__ = _merge_operation(lambda own, others: (x for x in others if x in own))
    __or__ = __ror__ = _merge_operation(_chained)
    __xor__ = __rxor__ = _set_operation(lambda a, b: (a - b) | (b - a))
    __sub__ = _set_operation(lambda a, b: a._from_iterable(x for x in a if x not in b))
    __rsub__ = _set_operation(lambda a, b: a._from_iterable(x for x in b if x not in a))

    def isdisjoint(self, other):
        return not any(member in self for member in other)

    def _hash(self):
        """The hash of the elements without regard to order, in 64 bits."""
        mask = 18446744073709551615
        n = len(self)
        h = (1927868237 * (n + 1)) & mask
        for x in self:
            hx = hash(x)
            h ^= (hx ^ (hx << 16) ^ 89869747) * 3644798167
            h &= mask
        h ^= (h >> 11) ^ (h >> 25)
        h = (h * 69069 + 907133923) & mask
        if h > 9223372036854775807:
            h -= mask + 1
        return 590923713 if h == -1 else h


@_adopt
class MutableSet(Set):
    __slots__ = ()

    add = _failing(NotImplementedError, "value")
    discard = _failing(NotImplementedError, "value")

    def remove(self, value):
        if value in self:
            self.discard(value)
        else:
            raise KeyError(value)

    def pop(self):
        taken = _first(self)
        self.discard(taken)
        return taken

    def clear(self):
        _drain(self.pop, KeyError)

    def __ior__(self, it):
        add = self.add
        for member in it:
            add(member)
        return self

    def __iand__(self, it):
        for surplus in self - it:
            self.discard(surplus)
        return self

    def __isub__(self, it):
        if self is it:
            self.clear()
            return self
        for member in it:
            self.discard(member)
        return self

    def __ixor__(self, it):
        if self is it:
            self.clear()
            return self
        for member in it if isinstance(it, Set) else self._from_iterable(it):
            change = self.discard if member in self else self.add
            change(member)
        return self


@_adopt
class Mapping(Collection):
    __slots__ = ()
    __abc_tpflags__ = 1 << 6
    __reversed__ = None

    __getitem__ = _failing(KeyError, "key")

    def __contains__(self, key):
        return _find(self, key, _ABSENT) is not _ABSENT

    def __eq__(self, other):
        return dict(self.items()) == dict(other.items()) if isinstance(other, Mapping) else NotImplemented

    def get(self, key, default=None):
        return _find(self, key, default)

    keys = lambda self: KeysView(self)
    values = lambda self: ValuesView(self)
    items = lambda self: ItemsView(self)


@_adopt
class MappingView(Sized):
    __slots__ = ("_mapping",)
    __class_getitem__ = classmethod(GenericAlias)

    def __init__(self, mapping):
        self._mapping = mapping

    def __repr__(self):
        return f"{self.__class__.__name__}({self._mapping!r})"

    __len__ = lambda self: len(self._mapping)


@_adopt
class KeysView(MappingView, Set):
    __slots__ = ()

    _from_iterable = classmethod(lambda cls, it: set(it))
    __contains__ = lambda self, key: key in self._mapping
    __iter__ = lambda self: (yield from self._mapping)


@_adopt
class ItemsView(MappingView, Set):
    __slots__ = ()

    _from_iterable = classmethod(lambda cls, it: set(it))

    def __contains__(self, item):
        key, value = item
        found = _find(self._mapping, key, _ABSENT)
        return found is not _ABSENT and _same(found, value)

    def __iter__(self):
        mapping = self._mapping
        for key in mapping:
            yield key, mapping[key]


@_adopt
class ValuesView(MappingView, Collection):
    __slots__ = ()

    def __contains__(self, value):
        mapping = self._mapping
        return any(_same(mapping[key], value) for key in mapping)

    def __iter__(self):
        mapping = self._mapping
        for key in mapping:
            yield mapping[key]


@_adopt
class MutableMapping(Mapping):
    __slots__ = ()

    __setitem__ = _failing(KeyError, "key value")
    __delitem__ = _failing(KeyError, "key")

    def setdefault(self, key, default=None):
        try:
            value = self[key]
        except KeyError:
            value = self[key] = default
        return value

    def update(self, other=(), /, **kwds):
        if isinstance(other, Mapping):
            pairs = ((key, other[key]) for key in other)
        elif hasattr(other, "keys"):
            pairs = ((key, other[key]) for key in other.keys())
        else:
            pairs = other
        for source in (pairs, kwds.items()):
            for key, value in source:
                self[key] = value

    def pop(self, key, default=_ABSENT):
        try:
            value = self[key]
        except KeyError:
            if default is _ABSENT:
                raise
            value = default
        else:
            del self[key]
        return value

    def popitem(self):
        item = (key := _first(self)), self[key]
        del self[key]
        return item

    def clear(self):
        _drain(self.popitem, KeyError)


@_adopt
class Sequence(Reversible, Collection):
    __slots__ = ()
    __abc_tpflags__ = 1 << 5

    __getitem__ = _failing(IndexError, "index")

    def __contains__(self, value):
        return any(_same(item, value) for item in self)

    def __iter__(self):
        at = -1
        try:
            while True:
                at += 1
                yield self[at]
        except IndexError:
            pass

    def __reversed__(self):
        at = len(self)
        while at > 0:
            at -= 1
            yield self[at]

    def count(self, value):
        return sum(_same(item, value) for item in self)

    def index(self, value, start=0, stop=None):
        at = max(len(self) + start, 0) if start is not None and start < 0 else start
        end = stop + len(self) if stop is not None and stop < 0 else stop
        while end is None or at < end:
            try:
                item = self[at]
            except IndexError:
                break
            if _same(item, value):
                return at
            at += 1
        raise ValueError


class ByteString(Sequence):
    __slots__ = ()


@_adopt
class MutableSequence(Sequence):
    __slots__ = ()

    insert = _failing(IndexError, "index value")
    __setitem__ = _failing(IndexError, "index value")
    __delitem__ = _failing(IndexError, "index")

    def pop(self, index=-1):
        taken = self[index]
        del self[index]
        return taken

    def remove(self, value):
        at = self.index(value)
        del self[at]

    def clear(self):
        _drain(self.pop, IndexError)

    def append(self, value):
        self.insert(len(self), value)

    def extend(self, values):
        for item in list(values) if values is self else values:
            self.append(item)

    def __iadd__(self, values):
        self.extend(values)
        return self

    def reverse(self):
        high = len(self)
        for low in range(high // 2):
            high -= 1
            self[low], self[high] = self[high], self[low]


def _register_natives():
    from _pvm import deque
    natives = (
        (Set, frozenset), (MutableSet, set), (Mapping, type(type.__dict__)), (MutableMapping, dict),
        (KeysView, type({}.keys())), (ItemsView, type({}.items())), (ValuesView, type({}.values())),
        (Sequence, tuple), (Sequence, str), (Sequence, range), (ByteString, bytes), (ByteString, bytearray),
        (MutableSequence, list), (MutableSequence, bytearray), (MutableSequence, deque),
    )
    for abstract, native in natives:
        abstract.register(native)


_register_natives()
