"""Containers beside the builtin ones, as Python 3.11's collections."""

from _pvm import (
    OrderedDict, caller as _caller, count_elements as _count_elements, defaultdict, deque,
    is_identifier as _is_identifier, is_keyword as _is_keyword, remember as _remember, tuple_new as _named_new,
    tuplegetter as _tuplegetter,
)

__all__ = [
    "ChainMap", "Counter", "OrderedDict", "UserDict", "UserList", "UserString", "defaultdict", "deque", "namedtuple",
]

_user = ("ChainMap", "UserDict", "UserList", "UserString")


def __getattr__(name):
    if name in _user:
        import _collections_user
        value = getattr(_collections_user, name)
    elif name == "abc":
        import collections.abc
        return collections.abc
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _remember(name, value)
    return value


def _field_names(typename, field_names, rename):
    if isinstance(field_names, str):
        field_names = field_names.replace(",", " ").split()
    field_names = list(map(str, field_names))
    typename = str(typename)
    if rename:
        seen = set()
        for index, name in enumerate(field_names):
            if not _is_identifier(name) or _is_keyword(name) or name.startswith("_") or name in seen:
                field_names[index] = f"_{index}"
            seen.add(name)
    for name in [typename] + field_names:
        if type(name) is not str:
            raise TypeError("Type names and field names must be strings")
        if not _is_identifier(name):
            raise ValueError(f"Type names and field names must be valid identifiers: {name!r}")
        if _is_keyword(name):
            raise ValueError(f"Type names and field names cannot be a keyword: {name!r}")
    seen = set()
    for name in field_names:
        if name.startswith("_") and not rename:
            raise ValueError(f"Field names cannot start with an underscore: {name!r}")
        if name in seen:
            raise ValueError(f"Encountered duplicate field name: {name!r}")
        seen.add(name)
    return typename, tuple(field_names)


_tuple_new = tuple.__new__


def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    """A subclass of tuple whose items have names."""
    typename, field_names = _field_names(typename, field_names, rename)
    field_defaults = {}
    if defaults is not None:
        defaults = tuple(defaults)
        if len(defaults) > len(field_names):
            raise TypeError("Got more default values than field names")
        field_defaults = dict(zip(field_names[len(field_names) - len(defaults):], defaults))
    num_fields = len(field_names)
    arg_list = ", ".join(field_names)
    __new__ = _named_new(typename, field_names)
    __new__.__doc__ = f"Create new instance of {typename}({arg_list})"
    if defaults is not None:
        __new__.__defaults__ = defaults

    def _make(cls, iterable):
        result = _tuple_new(cls, iterable)
        if len(result) != num_fields:
            raise TypeError(f"Expected {num_fields} arguments, got {len(result)}")
        return result

    _make.__doc__ = f"Make a new {typename} object from a sequence or iterable"

    def _replace(self, /, **kwds):
        result = self._make(map(kwds.pop, field_names, self))
        if kwds:
            raise ValueError(f"Got unexpected field names: {list(kwds)!r}")
        return result

    _replace.__doc__ = f"Return a new {typename} object replacing specified fields with new values"
    repr_fmt = "(" + ", ".join(f"{name}=%r" for name in field_names) + ")"

    def __repr__(self):
        "Return a nicely formatted representation string"
        return self.__class__.__name__ + repr_fmt % tuple(self)

    def _asdict(self):
        "Return a new dict which maps field names to their values."
        return dict(zip(self._fields, self))

    for method in (__new__, _make, _replace, __repr__, _asdict):
        method.__qualname__ = f"{typename}.{method.__name__}"
    class_namespace = {
        "__doc__": f"{typename}({arg_list})",
        "__slots__": (),
        "_fields": field_names,
        "_field_defaults": field_defaults,
        "__new__": __new__,
        "_make": classmethod(_make),
        "_replace": _replace,
        "__repr__": __repr__,
        "_asdict": _asdict,
        "__match_args__": field_names,
    }
    for index, name in enumerate(field_names):
        class_namespace[name] = _tuplegetter(name, index, f"Alias for field number {index}")
    class_namespace["__module__"] = _caller() if module is None else module
    return type(typename, (tuple,), class_namespace)


class Counter(dict):
    """Counts hashable items: a dict from items to counts."""

    def __init__(self, iterable=None, /, **kwds):
        super().__init__()
        self.update(iterable, **kwds)

    def __missing__(self, key):
        return 0

    def total(self):
        return sum(self.values())

    def most_common(self, n=None):
        if n is None:
            return sorted(self.items(), key=_count_of, reverse=True)
        if n == 1:
            best = max(self.items(), key=_count_of, default=None)
            return [] if best is None else [best]
        if n <= 0:
            return []
        return sorted(self.items(), key=_count_of, reverse=True)[:n]

    def elements(self):
        for elem, count in self.items():
            for _ in range(count):
                yield elem

    @classmethod
    def fromkeys(cls, iterable, v=None):
        raise NotImplementedError("Counter.fromkeys() is undefined.  Use Counter(iterable) instead.")

    def update(self, iterable=None, /, **kwds):
        for source in (iterable, kwds or None):
            if source is None:
                continue
            if not _is_mapping(source):
                _count_elements(self, source)
            elif len(self) == 0:
                dict.update(self, source)
            else:
                self._tally(source, 1)

    def subtract(self, iterable=None, /, **kwds):
        for source in (iterable, kwds or None):
            if source is None:
                continue
            if _is_mapping(source):
                self._tally(source, -1)
            else:
                for key in source:
                    self[key] = self.get(key, 0) - 1

    def _tally(self, counts, sign):
        for key, n in counts.items():
            self[key] = n + self.get(key, 0) if sign > 0 else self.get(key, 0) - n

    def copy(self):
        return type(self)(self)

    def __delitem__(self, key):
        # Deleting what was never counted is no error.
        if dict.__contains__(self, key):
            dict.__delitem__(self, key)

    def __repr__(self):
        name = type(self).__name__
        if len(self) == 0:
            return name + "()"
        try:
            shown = dict(self.most_common())
        except TypeError:
            shown = dict(self)
        return "%s(%r)" % (name, shown)

    def __pos__(self):
        return _keep(self.items())

    def __neg__(self):
        return _keep((key, 0 - n) for key, n in self.items())


def _keep(pairs):
    """A Counter of the pairs whose count is above zero."""
    kept = Counter()
    for key, n in pairs:
        if n > 0:
            kept[key] = n
    return kept


def _greater(x, y):
    return y if x < y else x


def _lesser(x, y):
    return x if x < y else y


def _counter_methods():
    """The operators of Counter. Multiset arithmetic meets every key of the left
    side, then those of the right side alone, a missing one counting zero."""

    def arithmetic(name, combine):
        def method(self, other):
            if not isinstance(other, Counter):
                return NotImplemented
            left = ((key, combine(n, other[key])) for key, n in self.items())
            right = ((key, combine(0, n)) for key, n in other.items() if key not in self)
            kept = _keep(left)
            for key, n in _keep(right).items():
                kept[key] = n
            return kept
        return name, method

    def in_place(name, combine):
        def method(self, other):
            for key, n in list(other.items()) if other is self else other.items():
                self[key] = combine(self[key], n)
            return _drop_spent(self)
        return name, method

    def comparison(name, holds):
        def method(self, other):
            if not isinstance(other, Counter):
                return NotImplemented
            return holds(self, other)
        return name, method

    def everywhere(test):
        return lambda x, y: all(test(x[key], y[key]) for side in (x, y) for key in side)

    same = everywhere(lambda a, b: a == b)
    below = everywhere(lambda a, b: a <= b)
    above = everywhere(lambda a, b: a >= b)
    table = [
        comparison("__eq__", same),
        comparison("__ne__", lambda x, y: not same(x, y)),
        comparison("__le__", below),
        comparison("__ge__", above),
        comparison("__lt__", lambda x, y: below(x, y) and not same(x, y)),
        comparison("__gt__", lambda x, y: above(x, y) and not same(x, y)),
        arithmetic("__add__", lambda a, b: a + b),
        arithmetic("__sub__", lambda a, b: a - b),
        arithmetic("__or__", _greater),
        arithmetic("__and__", _lesser),
        in_place("__iadd__", lambda a, b: a + b),
        in_place("__isub__", lambda a, b: a - b),
        in_place("__ior__", _greater),
    ]
    for name, method in table:
        method.__name__, method.__qualname__ = name, "Counter." + name
        setattr(Counter, name, method)


def _drop_spent(counter):
    for key in [key for key, n in counter.items() if not n > 0]:
        del counter[key]
    return counter


def _counter_iand(self, other):
    for key, n in self.items():
        self[key] = _lesser(n, other[key])
    return _drop_spent(self)


_counter_methods()
_counter_iand.__name__, _counter_iand.__qualname__ = "__iand__", "Counter.__iand__"
Counter.__iand__ = _counter_iand
Counter.__hash__ = None


def _count_of(item):
    return item[1]


def _is_mapping(obj):
    if isinstance(obj, dict):
        return True
    if isinstance(obj, (str, list, tuple)):
        return False
    from _collections_abc import Mapping
    return isinstance(obj, Mapping)
