"""Functions on functions, as Python 3.11's functools."""

from _pvm import cmp_to_key, lru_cache_wrapper as _lru_cache_wrapper, partial, reduce
from abc import get_cache_token

__all__ = [
    "update_wrapper", "wraps", "WRAPPER_ASSIGNMENTS", "WRAPPER_UPDATES", "total_ordering", "cache", "cmp_to_key",
    "lru_cache", "reduce", "partial", "partialmethod", "singledispatch", "singledispatchmethod", "cached_property",
]

GenericAlias = type(list[int])
_UnionType = type(int | str)
WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__")
WRAPPER_UPDATES = ("__dict__",)


_absent = object()


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    """Makes wrapper look like wrapped."""
    for name in assigned:
        value = getattr(wrapped, name, _absent)
        if value is not _absent:
            setattr(wrapper, name, value)
    for name in updated:
        getattr(wrapper, name).update(getattr(wrapped, name, {}))
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    """The decorator form of update_wrapper."""
    return partial(update_wrapper, wrapped=wrapped, assigned=assigned, updated=updated)


def _comparison(name, given, negated, ties):
    """The comparison name by way of the comparison given.

    negated: it is the opposite answer that counts. ties: what equal operands
    give, None if the answer says it already.
    """
    given_method = f"__{given}__"

    def compare(self, other):
        answer = getattr(type(self), given_method)(self, other)
        if answer is NotImplemented:
            return NotImplemented
        if negated:
            answer = not answer
        if ties is None:
            return answer
        return (answer or self == other) if ties else (answer and self != other)

    compare.__name__ = f"__{name}__"
    compare.__qualname__ = f"_{name}_from_{given}"
    return compare


def _comparisons(given, mirrored, sibling, opposite):
    """The three comparisons that follow from one, in the order in which a class gets them."""
    weak = given.endswith("e")
    return (_comparison(mirrored, given, True, weak), _comparison(sibling, given, False, not weak),
            _comparison(opposite, given, True, None))


# The best comparison to start from is the first.
_derived = {
    f"__{row[:2]}__": _comparisons(*row.split())
    for row in ("lt gt le ge", "le ge lt gt", "gt lt ge le", "ge le gt lt")
}


def total_ordering(cls):
    """Adds the missing ordering methods to a class that has one of them."""
    present = [name for name in _derived if getattr(cls, name, None) is not getattr(object, name, None)]
    if not present:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    for compare in _derived[present[0]]:
        if compare.__name__ not in present:
            setattr(cls, compare.__name__, compare)
    return cls


def _check_wrappable(func):
    if not (callable(func) or hasattr(func, "__get__")):
        raise TypeError(f"{func!r} is not callable or a descriptor")


def _wraps_abstract(self):
    return getattr(self.func, "__isabstractmethod__", False)


class partialmethod:
    """A method with some arguments given in advance."""

    def __init__(self, func, /, *args, **keywords):
        _check_wrappable(func)
        if isinstance(func, partialmethod):
            func, args, keywords = func.func, func.args + args, {**func.keywords, **keywords}
        self.func, self.args, self.keywords = func, args, keywords

    def __repr__(self):
        kind = self.__class__
        named = [f"{name}={value!r}" for name, value in self.keywords.items()]
        given = (f"{self.func}", ", ".join(map(repr, self.args)), ", ".join(named))
        return f"{kind.__module__}.{kind.__qualname__}({', '.join(given)})"

    __isabstractmethod__ = property(_wraps_abstract)
    __class_getitem__ = classmethod(GenericAlias)

    def _make_unbound_method(self):
        """A function that takes self or cls and puts the arguments behind it."""
        def _method(first, /, *more, **named):
            return self.func(first, *self.args, *more, **{**self.keywords, **named})

        _method.__isabstractmethod__, _method._partialmethod = self.__isabstractmethod__, self
        return _method

    def __get__(self, obj, cls=None):
        bind = getattr(self.func, "__get__", None)
        bound = self.func if bind is None else bind(obj, cls)
        if bound is self.func:
            return self._make_unbound_method().__get__(obj, cls)
        method = partial(bound, *self.args, **self.keywords)
        try:
            method.__self__ = bound.__self__
        except AttributeError:
            pass  # not every callable is bound to something
        return method


def _cache_info_class():
    global _CacheInfo
    if _CacheInfo is None:
        from collections import namedtuple
        _CacheInfo = namedtuple("CacheInfo", ["hits", "misses", "maxsize", "currsize"])
        _CacheInfo.__module__ = "functools"
    return _CacheInfo


_CacheInfo = None


def lru_cache(maxsize=128, typed=False):
    """Remembers the results of the last maxsize different calls."""
    def decorating_function(user_function):
        remembering = _lru_cache_wrapper(user_function, maxsize, typed, _cache_info_class)
        remembering.cache_parameters = lambda: {"maxsize": maxsize, "typed": typed}
        return update_wrapper(remembering, user_function)

    if isinstance(maxsize, int):
        maxsize = max(maxsize, 0)
    elif callable(maxsize) and isinstance(typed, bool):
        # @lru_cache without parentheses: what came is the function.
        function, maxsize = maxsize, 128
        return decorating_function(function)
    elif maxsize is not None:
        raise TypeError("Expected first argument to be an integer, a callable, or None")
    return decorating_function


def cache(user_function, /):
    """Remembers the results of all calls."""
    return lru_cache(maxsize=None)(user_function)


def _merge(orders):
    """One order out of several, by C3: next comes the first head that is in no tail."""
    merged = []
    while orders := [order for order in orders if order]:
        for head, *_ in orders:
            if not any(head in order[1:] for order in orders):
                break
        else:
            raise RuntimeError("Inconsistent hierarchy")
        merged.append(head)
        orders = [order[1:] if order[0] is head else order for order in orders]
    return merged


def _linearize(cls, abcs):
    """The method resolution order of cls with those of abcs in it that it is a virtual subclass of.

    An abstract class goes to the class that brings it in: the one that is its
    subclass with no base that is. There it stands behind the last abstract base.
    """
    bases = cls.__bases__
    new = [a for a in abcs if issubclass(cls, a) and not any(issubclass(base, a) for base in bases)]
    inherited = [a for a in abcs if a not in new]
    split = max((n for n, base in enumerate(bases, 1) if hasattr(base, "__abstractmethods__")), default=0)
    groups = [list(bases[:split]), new, list(bases[split:])]
    return _merge([[cls], *[_linearize(base, inherited) for group in groups for base in group], *groups])


def _subclasses(typ):
    from _pvm import subclasses
    return subclasses(typ)


def _dispatch_order(cls, types):
    """The classes to try for cls: its own, and the abstract ones among types that it counts for."""
    own = set(cls.__mro__)

    def counts_for(typ):
        return typ not in own and issubclass(cls, typ)

    virtual = [t for t in types if hasattr(t, "__mro__") and not isinstance(t, GenericAlias) and counts_for(t)]
    # The bases of another one come with it.
    leaves = [t for t in virtual if not any(t != v and t in v.__mro__ for v in virtual)]
    wanted = set(leaves)
    abcs = []
    for leaf in leaves:
        # The subclasses that cls counts for too say in which order leaves come, the ones that say most first.
        chains = [[c for c in sub.__mro__ if c in wanted] for sub in _subclasses(leaf) if counts_for(sub)]
        if not chains:
            abcs.append(leaf)
        for chain in sorted(chains, key=len, reverse=True):
            abcs += [c for c in chain if c not in abcs]
    return _linearize(cls, abcs)


def _implementation(cls, registry):
    """What registry has for cls: that of the first class in order, if the second has no equal claim."""
    order = iter(_dispatch_order(cls, registry))
    match = next((t for t in order if t in registry), None)
    rival = next(order, None)
    if rival in registry and not {match, rival} & set(cls.__mro__) and not issubclass(match, rival):
        raise RuntimeError(f"Ambiguous dispatch: {match} or {rival}")
    return registry.get(match)


def _union_members(cls):
    """The members of a union type, None for anything else."""
    if isinstance(cls, _UnionType):
        return cls.__args__
    from typing import Union, get_origin
    return cls.__args__ if get_origin(cls) is Union else None


def _dispatch_types(cls):
    """The classes that a registration for cls is for, None if cls is neither a class nor a union of classes."""
    types = (cls,) if isinstance(cls, type) else _union_members(cls)
    if types is None or not all(isinstance(t, type) for t in types):
        return None
    return types


def _annotated_type(func):
    """The annotation of the first argument of func, to register func for."""
    if not getattr(func, "__annotations__", {}):
        raise TypeError(
            f"Invalid first argument to `register()`: {func!r}. "
            "Use either `@register(some_class)` or plain `@register` on an annotated function.")
    from typing import get_type_hints
    name, cls = next(iter(get_type_hints(func).items()))
    if _dispatch_types(cls) is None:
        fault = "is not a class" if _union_members(cls) is None else "not all arguments are classes"
        raise TypeError(f"Invalid annotation for {name!r}. {cls!r} {fault}.")
    return cls


def singledispatch(func):
    """A function that chooses its implementation by the class of its first argument."""
    registry = {object: func}
    chosen = {}
    token = None  # of the abstract classes when chosen was begun; None while none is registered
    funcname = getattr(func, "__name__", "singledispatch function")

    def dispatch(cls):
        """dispatch(cls) -> the implementation that a call would use"""
        nonlocal token
        if token is not None and token != (now := get_cache_token()):
            chosen.clear()
            token = now
        if cls not in chosen:
            chosen[cls] = registry[cls] if cls in registry else _implementation(cls, registry)
        return chosen[cls]

    def register(cls, func=None):
        """register(cls, func) -> func; also a decorator"""
        nonlocal token
        types = _dispatch_types(cls)
        if types is None:
            if func is not None:
                raise TypeError(f"Invalid first argument to `register()`. {cls!r} is not a class or union type.")
            func, cls = cls, _annotated_type(cls)
            types = _dispatch_types(cls)
        elif func is None:
            return lambda f: register(cls, f)
        registry.update(dict.fromkeys(types, func))
        if token is None and hasattr(cls, "__abstractmethods__"):
            token = get_cache_token()
        chosen.clear()
        return func

    def wrapper(*args, **kw):
        if not args:
            raise TypeError(f"{funcname} requires at least 1 positional argument")
        return dispatch(args[0].__class__)(*args, **kw)

    wrapper.register, wrapper.dispatch = register, dispatch
    wrapper.registry = type(type.__dict__)(registry)
    wrapper._clear_cache = chosen.clear
    return update_wrapper(wrapper, func)


class singledispatchmethod:
    """singledispatch for methods: by the class of the first argument after self."""

    def __init__(self, func):
        _check_wrappable(func)
        self.dispatcher, self.func = singledispatch(func), func

    __isabstractmethod__ = property(_wraps_abstract)

    def register(self, cls, method=None):
        return self.dispatcher.register(cls, method)

    def __get__(self, obj, cls=None):
        def _method(*args, **kwargs):
            implementation = self.dispatcher.dispatch(args[0].__class__)
            return implementation.__get__(obj, cls)(*args, **kwargs)

        _method.__isabstractmethod__, _method.register = self.__isabstractmethod__, self.register
        return update_wrapper(_method, self.func)


class cached_property:
    """A property that is computed once for each instance."""

    def __init__(self, func):
        self.func, self.attrname, self.__doc__ = func, None, func.__doc__

    __class_getitem__ = classmethod(GenericAlias)

    def __set_name__(self, owner, name):
        known = self.attrname
        if known is None:
            self.attrname = name
        elif known != name:
            raise TypeError(
                f"Cannot assign the same cached_property to two different names ({known!r} and {name!r}).")

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        name = self.attrname
        if name is None:
            raise TypeError("Cannot use cached_property instance without calling __set_name__ on it.")
        try:
            store = instance.__dict__
        except AttributeError:
            raise TypeError(
                f"No '__dict__' attribute on {type(instance).__name__!r} instance "
                f"to cache {name!r} property.") from None
        value = store.get(name, _absent)
        if value is not _absent:
            return value
        value = self.func(instance)
        try:
            store[name] = value
        except TypeError:
            raise TypeError(
                f"The '__dict__' attribute on {type(instance).__name__!r} instance does not support item assignment "
                f"for caching {name!r} property.") from None
        return value
