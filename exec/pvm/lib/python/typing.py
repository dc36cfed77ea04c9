"""Types for annotations, as Python 3.11's typing."""

from _pvm import caller as _caller, evaluate as _evaluate, function_names as _function_names, loaded as _loaded
from _pvm import abc_nested as _nested_check, module_names as _module_names, new_class as _new_class, remember as _remember

__all__ = [
    "Annotated", "Any", "Callable", "ClassVar", "Concatenate", "Final", "ForwardRef", "Generic", "Literal", "Optional",
    "ParamSpec", "Protocol", "Tuple", "Type", "TypeVar", "TypeVarTuple", "Union", "AbstractSet", "ByteString",
    "Container", "Hashable", "ItemsView", "Iterable", "Iterator", "KeysView", "Mapping", "MappingView",
    "MutableMapping", "MutableSequence", "MutableSet", "Sequence", "Sized", "ValuesView", "Awaitable",
    "AsyncIterator", "AsyncIterable", "Coroutine", "Collection", "AsyncGenerator", "Reversible", "SupportsAbs",
    "SupportsBytes", "SupportsFloat", "SupportsIndex", "SupportsInt", "SupportsRound", "ChainMap", "Counter", "Deque",
    "Dict", "DefaultDict", "List", "OrderedDict", "Set", "FrozenSet", "NamedTuple", "TypedDict", "Generator",
    "Match", "Pattern", "AnyStr", "assert_type", "assert_never", "cast", "clear_overloads", "dataclass_transform",
    "final", "get_args", "get_origin", "get_overloads", "get_type_hints", "is_typeddict", "LiteralString", "Never",
    "NewType", "no_type_check", "no_type_check_decorator", "NoReturn", "NotRequired", "overload", "ParamSpecArgs",
    "ParamSpecKwargs", "Required", "reveal_type", "runtime_checkable", "Self", "Text", "TYPE_CHECKING", "TypeAlias",
    "TypeGuard", "Unpack",
]

GenericAlias = type(list[int])
_UnionType = type(int | str)
_NoneType = type(None)
_Function = type(lambda: None)
_Native = type(len)
TYPE_CHECKING = False
Text = str


def _refuses(text):
    """A method that raises TypeError, whatever it is called with."""
    def method(self, *rest, **named):
        raise TypeError(text.format(self=self, kind=type(self).__name__))
    return method


def _compared(kind, key):
    """__eq__ and __hash__ of a class whose instances are what key says; kind(self) is what they may be equal to."""
    def same(self, that):
        return key(self) == key(that) if isinstance(that, kind(self)) else NotImplemented

    def digest(self):
        return hash(key(self))

    return same, digest


def _in_tuple(given):
    return given if isinstance(given, tuple) else (given,)


def _starred(self):
    yield Unpack[self]


class _Joins:
    """What | makes a Union of."""

    def __ror__(self, first):
        return Union[first, self]

    def __or__(self, second):
        return Union[self, second]


class _AnyMeta(type):
    def __repr__(self):
        return super().__repr__() if self is not Any else "typing.Any"

    def __instancecheck__(self, thing):
        if self is not Any:
            return super().__instancecheck__(thing)
        raise TypeError("typing.Any cannot be used with isinstance()")


class Any(metaclass=_AnyMeta):
    """Compatible with every type."""

    def __new__(cls, *args, **kwargs):
        if cls is not Any:
            return super().__new__(cls, *args, **kwargs)
        raise TypeError("Any cannot be instantiated")


def _type_repr(obj):
    if isinstance(obj, GenericAlias):
        return repr(obj)
    if isinstance(obj, type):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        return f"{obj.__module__}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, (_Function, _Native)):
        return obj.__name__
    if isinstance(obj, tuple):
        return "[" + ", ".join(_type_repr(t) for t in obj) + "]"
    return repr(obj)


def _type_convert(arg, module=None, *, allow_special_forms=False):
    if isinstance(arg, str):
        return ForwardRef(arg, module=module, is_class=allow_special_forms)
    return _NoneType if arg is None else arg


def _type_check(arg, msg, is_argument=True, module=None, *, allow_special_forms=False):
    arg = _type_convert(arg, module=module, allow_special_forms=allow_special_forms)
    if isinstance(arg, _GenericAlias) and arg.__origin__ in (Generic, Protocol):
        raise TypeError(f"{arg} is not valid as type argument")
    if isinstance(arg, _GenericAlias) and not allow_special_forms and arg.__origin__ in (ClassVar, Final):
        raise TypeError(f"{arg} is not valid as type argument")
    if arg in (Any, LiteralString, NoReturn, Never, Self, TypeAlias) if _hashable_form(arg) else False:
        return arg
    if allow_special_forms and _hashable_form(arg) and arg in (ClassVar, Final):
        return arg
    if isinstance(arg, _SpecialForm) or arg is Generic or arg is Protocol:
        raise TypeError(f"Plain {arg} is not valid as type argument")
    if type(arg) is not tuple:
        return arg
    raise TypeError(f"{msg} Got {arg!r:.100}.")


def _hashable_form(arg):
    return arg is Any or isinstance(arg, _SpecialForm)


def _is_param_expr(arg):
    return arg is ... or isinstance(arg, (tuple, list, ParamSpec, _ConcatenateGenericAlias))


def _variables_of(t):
    """The type variables in one argument, in order."""
    if isinstance(t, type) and not isinstance(t, GenericAlias):
        return ()
    if isinstance(t, tuple):
        return _collect_parameters(t)
    return (t,) if isinstance(t, (TypeVar, ParamSpec, TypeVarTuple)) else getattr(t, "__parameters__", ())


def _collect_parameters(args):
    found = []
    for arg in args:
        for variable in _variables_of(arg):
            if variable not in found:
                found.append(variable)
    return tuple(found)


def _check_generic(cls, parameters, elen):
    given = len(parameters)
    if elen == 0:
        raise TypeError(f"{cls} is not a generic class")
    if given != elen:
        many = "many" if given > elen else "few"
        raise TypeError(f"Too {many} arguments for {cls}; actual {given}, expected {elen}")


def _deduplicate(params):
    out = []
    for p in params:
        if not any(_equal_type(p, q) for q in out):
            out.append(p)
    return out


def _equal_type(a, b):
    return a is b or a == b


class _Sealed:
    """A class of typing that no program's class has as its base."""

    def __init_subclass__(cls, **rest):
        if cls.__module__ != "typing":
            raise TypeError("Cannot subclass special typing classes")


class _SpecialForm(_Joins, _Sealed):
    """A name that means something in annotations, with or without a subscript."""

    def __init__(self, getitem):
        self._name, self.__doc__ = getitem.__name__, getitem.__doc__
        self._getitem = getitem

    def __getattr__(self, item):
        if item not in ("__name__", "__qualname__"):
            raise AttributeError(item)
        return self._name

    def __getitem__(self, parameters):
        return self._getitem(self, parameters)

    def __repr__(self):
        return f"typing.{self._name}"

    __call__ = _refuses("Cannot instantiate {self!r}")
    __mro_entries__ = _refuses("Cannot subclass {self!r}")
    __instancecheck__ = _refuses("{self} cannot be used with isinstance()")
    __subclasscheck__ = _refuses("{self} cannot be used with issubclass()")


_bare = _refuses("{self} is not subscriptable")


def _form(name, getitem=_bare):
    form = _SpecialForm(getitem)
    form._name = name
    return form


def _form_of_one(name, text="typing.{} accepts only single type."):
    """A form whose subscript is one type."""
    def getitem(self, parameters):
        alias = _UnpackGenericAlias if name == "Unpack" else _GenericAlias
        return alias(self, (_type_check(parameters, text.format(name)),))
    return _form(name, getitem)


NoReturn = _form("NoReturn")
Never = _form("Never")
Self = _form("Self")
LiteralString = _form("LiteralString")
TypeAlias = _form("TypeAlias")
ClassVar = _form_of_one("ClassVar")
Final = _form_of_one("Final")
Required = _form_of_one("Required", "{} accepts only a single type.")
NotRequired = _form_of_one("NotRequired", "{} accepts only a single type.")
TypeGuard = _form_of_one("TypeGuard")
Unpack = _form_of_one("Unpack")


@_SpecialForm
def Union(self, parameters):
    if parameters == ():
        raise TypeError("Cannot take a Union of no types.")
    flat, msg = [], "Union[arg, ...]: each arg must be a type."
    for p in _in_tuple(parameters):
        p = _type_check(p, msg)
        if isinstance(p, (_UnionGenericAlias, _UnionType)):
            flat.extend(p.__args__)
        else:
            flat.append(p)
    parameters = tuple(_deduplicate(flat))
    if len(parameters) == 1:
        return parameters[0]
    optional = len(parameters) == 2 and _NoneType in [p for p in parameters if isinstance(p, type)]
    return _UnionGenericAlias(self, parameters, name="Optional" if optional else None)


@_SpecialForm
def Optional(self, parameters):
    return Union[_type_check(parameters, f"{self} requires a single type."), _NoneType]


@_SpecialForm
def Literal(self, parameters):
    flat = []
    for p in _in_tuple(parameters):
        if isinstance(p, _LiteralGenericAlias):
            flat.extend(p.__args__)
        else:
            flat.append(p)
    unique = []
    try:
        seen = set()
        for p in flat:
            key = (p, type(p))
            if key not in seen:
                seen.add(key)
                unique.append(p)
    except TypeError:
        unique = flat
    return _LiteralGenericAlias(self, tuple(unique))


@_SpecialForm
def Concatenate(self, parameters):
    if parameters == ():
        raise TypeError("Cannot take a Concatenate of no types.")
    parameters = _in_tuple(parameters)
    if not (parameters[-1] is ... or isinstance(parameters[-1], ParamSpec)):
        raise TypeError("The last parameter to Concatenate should be a ParamSpec variable or ellipsis.")
    msg = "Concatenate[arg, ...]: each arg must be a type."
    return _ConcatenateGenericAlias(self, (*(_type_check(p, msg) for p in parameters[:-1]), parameters[-1]))


def _reference_key(reference, second):
    return reference.__forward_arg__, getattr(reference, second)


class ForwardRef(_Joins, _Sealed):
    """A type named by text."""

    def __init__(self, arg, is_argument=True, module=None, *, is_class=False):
        if not isinstance(arg, str):
            raise TypeError(f"Forward reference must be a string -- got {arg!r}")
        self.__forward_arg__, self.__forward_module__ = arg, module
        self.__forward_is_argument__, self.__forward_is_class__ = is_argument, is_class
        self.__forward_evaluated__, self.__forward_value__ = False, None

    def _evaluate(self, globalns, localns, recursive_guard):
        if self.__forward_arg__ in recursive_guard:
            return self
        if self.__forward_module__ is not None:
            globalns = _module_names(self.__forward_module__) or globalns
        value = _evaluate(self.__forward_arg__, globalns or {}, localns or {})
        value = _type_check(value, "Forward references must evaluate to types.",
                            allow_special_forms=self.__forward_is_class__ or not self.__forward_is_argument__)
        value = _eval_type(value, globalns, localns, recursive_guard | {self.__forward_arg__})
        self.__forward_value__ = value
        self.__forward_evaluated__ = True
        return value

    def __eq__(self, that):
        if isinstance(that, ForwardRef):
            known = self.__forward_evaluated__ and that.__forward_evaluated__
            second = "__forward_value__" if known else "__forward_module__"
            return _reference_key(self, second) == _reference_key(that, second)
        return NotImplemented

    def __hash__(self):
        return hash(_reference_key(self, "__forward_module__"))

    def __repr__(self):
        module = "" if self.__forward_module__ is None else f", module={self.__forward_module__!r}"
        return f"ForwardRef({self.__forward_arg__!r}{module})"


def _eval_type(t, globalns, localns, recursive_guard=frozenset()):
    if isinstance(t, ForwardRef):
        return t._evaluate(globalns, localns, recursive_guard)
    if isinstance(t, (_GenericAlias, GenericAlias, _UnionType)):
        args = tuple(_eval_type(ForwardRef(a) if isinstance(a, str) and isinstance(t, GenericAlias) else a,
                                globalns, localns, recursive_guard) for a in t.__args__)
        if args == t.__args__:
            return t
        if isinstance(t, GenericAlias):
            return GenericAlias(t.__origin__, args)
        if isinstance(t, _UnionType):
            out = args[0]
            for a in args[1:]:
                out = out | a
            return out
        return t.copy_with(args)
    return t


def _describe(variable, name, bound, covariant, contravariant):
    variable.__name__, variable.__bound__ = name, bound
    if bound is not None:
        variable.__bound__ = _type_check(bound, "Bound must be a type.")
    variable.__covariant__, variable.__contravariant__ = bool(covariant), bool(contravariant)


class _Variable(_Joins, _Sealed):
    __mro_entries__ = _refuses("Cannot subclass an instance of {kind}")

    def __repr__(self):
        sign = "+" if self.__covariant__ else "-" if self.__contravariant__ else "~"
        return sign + self.__name__


class TypeVar(_Variable):
    """A type variable."""

    def __init__(self, name, *constraints, bound=None, covariant=False, contravariant=False):
        if covariant and contravariant:
            raise ValueError("Bivariant types are not supported.")
        if constraints:
            if bound is not None:
                raise TypeError("Constraints cannot be combined with bound=...")
            if len(constraints) < 2:
                raise TypeError("A single constraint is not allowed")
        self.__constraints__ = tuple([
            _type_check(t, "TypeVar(name, constraint, ...): constraints must be types.") for t in constraints])
        _describe(self, name, bound, covariant, contravariant)
        self.__module__ = _caller()

    def __typing_subst__(self, arg):
        given = _type_check(arg, "Parameters to generic types must be types.")
        if not (isinstance(given, _UnpackGenericAlias) or isinstance(given, GenericAlias) and given.__unpacked__):
            return given
        raise TypeError(f"{given} is not valid as type argument")


class _ParamSpecPart(_Sealed):
    """P.args or P.kwargs."""

    def __init__(self, origin):
        self.__origin__ = origin

    __eq__, __hash__ = _compared(type, lambda part: part.__origin__)

    def __repr__(self):
        return f"{self.__origin__.__name__}.{self._part}"


class ParamSpecArgs(_ParamSpecPart):
    _part = "args"


class ParamSpecKwargs(_ParamSpecPart):
    _part = "kwargs"


class ParamSpec(_Variable):
    """A variable for the parameters of a callable."""

    def __init__(self, name, *, bound=None, covariant=False, contravariant=False):
        _describe(self, name, bound, covariant, contravariant)
        self.__module__ = _caller()

    args = property(lambda self: ParamSpecArgs(self))
    kwargs = property(lambda self: ParamSpecKwargs(self))

    def __typing_subst__(self, arg):
        if isinstance(arg, (list, tuple)):
            return tuple(_type_check(a, "Expected a type.") for a in arg)
        if not _is_param_expr(arg):
            raise TypeError(f"Expected a list of types, an ellipsis, ParamSpec, or Concatenate. Got {arg}")
        return arg

    def __typing_prepare_subst__(self, alias, given):
        place = alias.__parameters__.index(self)
        if place >= len(given):
            raise TypeError(f"Too few arguments for {alias}")
        if len(alias.__parameters__) == 1 and not _is_param_expr(given[0]):
            return (given,)  # Z[int, str] is Z[[int, str]]
        listed = list(given)
        if isinstance(listed[place], list):
            listed[place] = tuple(listed[place])
        return tuple(listed)


class TypeVarTuple(_Sealed):
    """A variable for any number of types."""

    def __init__(self, name):
        self.__name__ = name
        self.__module__ = _caller()

    def __repr__(self):
        return self.__name__

    __iter__ = _starred
    __mro_entries__ = _refuses("Cannot subclass an instance of {kind}")
    __typing_subst__ = _refuses("Substitution of bare TypeVarTuple is not supported")

    def __typing_prepare_subst__(self, alias, given):
        """The arguments with those that fall to this variable in a tuple."""
        wanted = alias.__parameters__
        before = wanted.index(self)
        after = len(wanted) - before - 1
        if any(isinstance(other, TypeVarTuple) for other in wanted[before + 1:]):
            raise TypeError(f"More than one TypeVarTuple parameter in {alias}")
        left, right, fill, seen = before, after, None, False
        for i, arg in enumerate(given):
            inner = _open_tuple(arg)
            if inner is None:
                continue
            if seen:
                raise TypeError("More than one unpacked arbitrary-length tuple argument")
            seen, fill = True, inner
            left, right = min(before, i), min(after, len(given) - i - 1)
        if not seen and before + after > len(given):
            raise TypeError(f"Too few arguments for {alias}; actual {len(given)}, expected at least {before + after}")
        end = len(given) - right
        return (*given[:left], *[fill] * (before - left), given[left:end], *[fill] * (after - right), *given[end:])


def _open_tuple(arg):
    """int of *tuple[int, ...], None of anything else."""
    if isinstance(arg, type) and not isinstance(arg, GenericAlias):
        return None
    inner = getattr(arg, "__typing_unpacked_tuple_args__", None)
    return inner[0] if inner and len(inner) == 2 and inner[1] is ... else None


def _spread(given):
    """The arguments with *tuple[int, str] as int, str."""
    out = []
    for arg in given:
        inner = None
        if not isinstance(arg, type) or isinstance(arg, GenericAlias):
            inner = getattr(arg, "__typing_unpacked_tuple_args__", None)
        if inner is None or inner and inner[-1] is ...:
            out.append(arg)
        else:
            out.extend(inner)
    return tuple(out)


def _is_dunder(attr):
    return attr.startswith("__") and attr.endswith("__")


class _BaseGenericAlias(_Joins, _Sealed):
    def __init__(self, origin, *, inst=True, name=None):
        self.__origin__, self._name, self._inst = origin, name, inst

    def __call__(self, *args, **kwargs):
        if not self._inst:
            raise TypeError(f"Type {self._name} cannot be instantiated; use {self.__origin__.__name__}() instead")
        made = self.__origin__(*args, **kwargs)
        try:
            made.__orig_class__ = self
        except AttributeError:
            return made
        return made

    def __mro_entries__(self, bases):
        entries = () if self.__origin__ in bases else (self.__origin__,)
        for later in bases[_index_of(bases, self) + 1:]:
            if isinstance(later, _BaseGenericAlias) or isinstance(later, type) and issubclass(later, Generic):
                return entries
        return (*entries, Generic)

    def __getattr__(self, attr):
        if not _is_dunder(attr):
            return getattr(self.__origin__, attr)
        if attr not in ("__name__", "__qualname__"):
            raise AttributeError(attr)
        return self._name or self.__origin__.__name__

    def __setattr__(self, attr, val):
        if not _is_dunder(attr) and attr not in ("_name", "_inst", "_nparams", "_getitem"):
            setattr(self.__origin__, attr, val)
        else:
            super().__setattr__(attr, val)

    __subclasscheck__ = _refuses("Subscripted generics cannot be used with class and instance checks")

    def __instancecheck__(self, thing):
        return self.__subclasscheck__(type(thing))


def _index_of(bases, alias):
    for i, b in enumerate(bases):
        if b is alias:
            return i
    return len(bases)


class _GenericAlias(_BaseGenericAlias):
    def __init__(self, origin, args, *, inst=True, name=None):
        super().__init__(origin, name=name, inst=inst)
        self.__args__ = _in_tuple(args)
        self.__parameters__ = _collect_parameters(self.__args__)
        if not name:
            self.__module__ = getattr(origin, "__module__", "typing")

    __eq__, __hash__ = _compared(lambda alias: _GenericAlias, lambda alias: (alias.__origin__, alias.__args__))
    __iter__ = _starred

    def __getitem__(self, args):
        if self.__origin__ in (Generic, Protocol):
            raise TypeError(f"Cannot subscript already-subscripted {self}")
        if not self.__parameters__:
            raise TypeError(f"{self} is not a generic class")
        new = tuple([_type_convert(a) for a in _in_tuple(args)])
        return self.copy_with(tuple(_substitute(self, new)))

    def copy_with(self, args):
        return self.__class__(self.__origin__, args, name=self._name, inst=self._inst)

    def __repr__(self):
        name = "typing." + self._name if self._name else _type_repr(self.__origin__)
        args = ", ".join([_type_repr(a) for a in self.__args__]) if self.__args__ else "()"
        return f"{name}[{args}]"

    def __mro_entries__(self, bases):
        origin = self.__origin__
        if isinstance(origin, _SpecialForm):
            raise TypeError(f"Cannot subclass {self!r}")
        if self._name:
            return super().__mro_entries__(bases)
        if origin is Generic and (Protocol in bases or any(
                isinstance(later, _BaseGenericAlias) and later is not self
                for later in bases[_index_of(bases, self) + 1:])):
            return ()
        return (origin,)


def _prepared(alias, given):
    """What stands in brackets, one for each parameter of alias."""
    parameters = alias.__parameters__
    for p in parameters:
        if isinstance(p, (ParamSpec, TypeVarTuple)):
            given = p.__typing_prepare_subst__(alias, given)
    if len(given) != len(parameters):
        many = "many" if len(given) > len(parameters) else "few"
        raise TypeError(f"Too {many} arguments for {alias}; actual {len(given)}, expected {len(parameters)}")
    return given


def _substitute(alias, given):
    """The arguments of a generic with its parameters replaced."""
    mapping = dict(zip(alias.__parameters__, _prepared(alias, _spread(given))))
    callable_ = getattr(alias.__origin__, "__name__", "") == "Callable"
    return _replaced(alias.__args__, mapping, callable_)


def _replaced(args, mapping, callable_=False):
    out = []
    for old in args:
        new = _replaced_one(old, mapping)
        if isinstance(old, tuple):
            out.append(tuple(_replaced(old, mapping)))
        elif isinstance(new, tuple) and (callable_ or getattr(old, "__typing_is_unpacked_typevartuple__", False)):
            out.extend(new)
        else:
            out.append(new)
    return out


def _replaced_one(old, mapping):
    if isinstance(old, (TypeVar, ParamSpec, TypeVarTuple)):
        return old.__typing_subst__(mapping[old])
    if isinstance(old, type) and not isinstance(old, GenericAlias):
        return old
    given = []
    for p in getattr(old, "__parameters__", ()):
        if isinstance(p, TypeVarTuple):
            given.extend(mapping[p])
        else:
            given.append(mapping[p])
    return old[tuple(given)] if given or getattr(old, "__parameters__", ()) else old


class _SpecialGenericAlias(_BaseGenericAlias):
    def __init__(self, origin, nparams, *, inst=True, name=None):
        super().__init__(origin, inst=inst, name=name or origin.__name__)
        self._nparams = nparams
        self.__doc__ = f"A generic version of {origin.__module__}.{origin.__qualname__}."

    def __getitem__(self, params):
        checked = tuple([_type_check(p, "Parameters to generic types must be types.") for p in _in_tuple(params)])
        _check_generic(self, checked, self._nparams)
        return self.copy_with(checked)

    def __repr__(self):
        return f"typing.{self._name}"

    def copy_with(self, params):
        return _GenericAlias(self.__origin__, params, inst=self._inst, name=self._name)

    def __subclasscheck__(self, cls):
        if isinstance(cls, _GenericAlias):
            return super().__subclasscheck__(cls)
        return issubclass(cls.__origin__ if isinstance(cls, _SpecialGenericAlias) else cls, self.__origin__)


class _CallableGenericAlias(_GenericAlias):
    def __repr__(self):
        args = self.__args__
        if len(args) == 2 and _is_param_expr(args[0]):
            return super().__repr__()
        return f"typing.Callable[[{', '.join([_type_repr(a) for a in args[:-1]])}], {_type_repr(args[-1])}]"


class _CallableType(_SpecialGenericAlias):
    def copy_with(self, params):
        return _CallableGenericAlias(self.__origin__, params, name=self._name, inst=self._inst)

    def __getitem__(self, params):
        if not isinstance(params, tuple) or len(params) != 2:
            raise TypeError("Callable must be used as Callable[[arg, ...], result].")
        args, result = params
        msg = "Callable[args, result]: result must be a type."
        result = _type_check(result, msg)
        if args is ...:
            return self.copy_with((..., result))
        if isinstance(args, list):
            args = tuple(args)
        if not isinstance(args, tuple):
            if not _is_param_expr(args):
                raise TypeError(f"Callable[args, result]: args must be a list. Got {args}")
            return self.copy_with((args, result))
        return self.copy_with(tuple(_type_convert(a) for a in args) + (result,))


class _TupleType(_SpecialGenericAlias):
    def __getitem__(self, params):
        items = _in_tuple(params)
        msg, end = "Tuple[t0, t1, ...]: each t must be a type.", ()
        if len(items) > 1 and items[-1] is ...:
            msg, end, items = "Tuple[t, ...]: t must be a type.", (...,), items[:-1]
        return self.copy_with(tuple([_type_check(item, msg) for item in items]) + end)


class _UnionGenericAlias(_GenericAlias):
    __eq__, __hash__ = _compared(lambda alias: (_UnionGenericAlias, _UnionType), lambda alias: frozenset(alias.__args__))

    def __repr__(self):
        args = self.__args__
        if len(args) == 2 and (args[0] is _NoneType or args[1] is _NoneType):
            return f"typing.Optional[{_type_repr(args[1] if args[0] is _NoneType else args[0])}]"
        return "typing.Union[" + ", ".join([_type_repr(a) for a in args]) + "]"

    def __subclasscheck__(self, cls):
        return any(issubclass(cls, member) for member in self.__args__)

    def copy_with(self, params):
        return Union[params]


class _LiteralGenericAlias(_GenericAlias):
    __eq__, __hash__ = _compared(
        lambda alias: _LiteralGenericAlias, lambda alias: frozenset([(value, type(value)) for value in alias.__args__]))

    def __repr__(self):
        return f"typing.Literal[{', '.join(_type_repr(a) for a in self.__args__)}]"


class _ConcatenateGenericAlias(_GenericAlias):
    def copy_with(self, params):
        first, last = params[:-1], params[-1]
        if isinstance(last, (list, tuple)):
            return (*first, *last)
        if isinstance(last, _ConcatenateGenericAlias):
            params = (*first, *last.__args__)
        return super().copy_with(params)


class _UnpackGenericAlias(_GenericAlias):
    def __repr__(self):
        return "*" + repr(self.__args__[0])

    def __getitem__(self, args):
        return args if self.__typing_is_unpacked_typevartuple__ else super().__getitem__(args)

    @property
    def __typing_is_unpacked_typevartuple__(self):
        return isinstance(self.__args__[0], TypeVarTuple)

    @property
    def __typing_unpacked_tuple_args__(self):
        inner = self.__args__[0]
        return inner.__args__ if isinstance(inner, _GenericAlias) else None


class _AnnotatedAlias(_GenericAlias):
    def __init__(self, origin, metadata):
        inner, before = origin, ()
        if isinstance(origin, _AnnotatedAlias):
            inner, before = origin.__origin__, origin.__metadata__
        super().__init__(inner, inner)
        self.__metadata__ = before + metadata

    __eq__, __hash__ = _compared(lambda alias: _AnnotatedAlias, lambda alias: (alias.__origin__, alias.__metadata__))

    def __repr__(self):
        return f"typing.Annotated[{_type_repr(self.__origin__)}, {', '.join(repr(a) for a in self.__metadata__)}]"

    def copy_with(self, params):
        return _AnnotatedAlias(params[0], self.__metadata__)


class Annotated:
    """A type with metadata."""

    __slots__ = ()
    __new__ = _refuses("Type Annotated cannot be instantiated.")

    def __class_getitem__(cls, params):
        if not isinstance(params, tuple) or len(params) < 2:
            raise TypeError("Annotated[...] should be used with at least two arguments (a type and an annotation).")
        if isinstance(params[0], _UnpackGenericAlias):
            raise TypeError("Annotated[...] should not be used with an unpacked TypeVarTuple")
        origin = _type_check(params[0], "Annotated[t, ...]: t must be a type.", allow_special_forms=True)
        return _AnnotatedAlias(origin, tuple(params[1:]))

    def __init_subclass__(cls, *args, **kwargs):
        raise TypeError(f"Cannot subclass {cls.__module__}.Annotated")


class Generic:
    """Base of classes with type variables."""

    __slots__ = ()
    _is_protocol = False

    def __class_getitem__(cls, params):
        params = tuple([_type_convert(p) for p in _in_tuple(params)])
        if cls in (Generic, Protocol):
            if not params:
                raise TypeError(f"Parameter list to {cls.__qualname__}[...] cannot be empty")
            for p in params:
                if not (isinstance(p, (TypeVar, ParamSpec))
                        or isinstance(p, _UnpackGenericAlias) and isinstance(p.__args__[0], TypeVarTuple)):
                    raise TypeError(f"Parameters to {cls.__name__}[...] must all be type variables or parameter specification variables.")
            if len(set(params)) != len(params):
                raise TypeError(f"Parameters to {cls.__name__}[...] must all be unique")
            return _GenericAlias(cls, params)
        own = getattr(cls, "__parameters__", ())
        if not own:
            raise TypeError(f"{cls} is not a generic class")
        args = []
        for p, given in zip(own, _prepared(cls, params)):
            if isinstance(p, TypeVarTuple):
                args.extend(given)
            else:
                args.append(given)
        return _GenericAlias(cls, tuple(args))

    def __init_subclass__(cls, *args, **kwargs):
        super().__init_subclass__(*args, **kwargs)
        own = cls.__dict__
        if "__orig_bases__" in own:
            error = Generic in own["__orig_bases__"]
        else:
            error = Generic in cls.__bases__ and cls.__name__ != "Protocol" and type(cls) is not _TypedDictMeta
        if error:
            raise TypeError("Cannot inherit from plain Generic")
        tvars = ()
        if "__orig_bases__" in own:
            tvars = _collect_parameters(own["__orig_bases__"])
            gvars = None
            for base in own["__orig_bases__"]:
                if isinstance(base, _GenericAlias) and base.__origin__ is Generic:
                    if gvars is not None:
                        raise TypeError("Cannot inherit from Generic[...] multiple types.")
                    gvars = base.__parameters__
            if gvars is not None:
                missing = [t for t in tvars if t not in gvars]
                if missing:
                    s_vars = ", ".join(str(t) for t in tvars if t in missing)
                    s_args = ", ".join(str(g) for g in gvars)
                    raise TypeError(f"Some type variables ({s_vars}) are not listed in Generic[{s_args}]")
                tvars = gvars
        cls.__parameters__ = tuple(tvars)


_plain_attributes = frozenset([
    "__parameters__", "__orig_bases__", "__orig_class__", "_is_protocol", "_is_runtime_protocol", "__abstractmethods__",
    "__annotations__", "__dict__", "__doc__", "__init__", "__module__", "__new__", "__slots__", "__subclasshook__",
    "__weakref__", "__class_getitem__", "__final__", "_abc_impl", "__match_args__", "__qualname__", "__hash__", "__init_subclass__",
])


def _protocol_attrs(cls):
    attrs = {}
    for base in cls.__mro__[:-1]:
        if base.__name__ in ("Protocol", "Generic"):
            continue
        for attr in list(base.__dict__.keys()) + list(base.__dict__.get("__annotations__", {}).keys()):
            if attr == "__hash__" and base.__dict__.get("__hash__") is None:
                continue
            if not attr.startswith("_abc_") and attr not in _plain_attributes or attr == "__hash__":
                attrs[attr] = None
    return list(attrs)


def _callable_members_only(cls):
    return all(callable(getattr(cls, attr, None)) for attr in _protocol_attrs(cls))


def _no_init_or_replace_init(self, *args, **kwargs):
    cls, stand_in = type(self), _no_init_or_replace_init
    if cls._is_protocol:
        raise TypeError("Protocols cannot be instantiated")
    if cls.__init__ is stand_in:
        own = [base.__dict__["__init__"] for base in cls.__mro__[1:]
               if base.__dict__.get("__init__", stand_in) is not stand_in]
        cls.__init__ = own[0] if own else object.__init__
        cls.__init__(self, *args, **kwargs)


def _answers(other, attr):
    """Whether the class other has what a protocol calls attr; None says that it has not."""
    for base in other.__mro__:
        if attr in base.__dict__:
            return base.__dict__[attr] is not None
        if attr in getattr(base, "__annotations__", {}) and getattr(other, "_is_protocol", False):
            return True
    return False


def _proto_hook(cls, other):
    if not cls.__dict__.get("_is_protocol", False):
        return NotImplemented
    if not getattr(cls, "_is_runtime_protocol", False):
        if _nested_check():
            return NotImplemented
        raise TypeError("Instance and class checks can only be used with @runtime_checkable protocols")
    if not _callable_members_only(cls):
        if _nested_check():
            return NotImplemented
        raise TypeError("Protocols with non-method members don't support issubclass()")
    if not isinstance(other, type):
        raise TypeError("issubclass() arg 1 must be a class")
    return all(_answers(other, attr) for attr in _protocol_attrs(cls)) or NotImplemented


def _has_all(cls, instance):
    """Whether instance has what the protocol asks for; None is no method."""
    missing = object()
    for attr in _protocol_attrs(cls):
        value = getattr(instance, attr, missing)
        if value is missing or value is None and callable(getattr(cls, attr, None)):
            return False
    return True


def _make_protocol():
    from abc import ABCMeta

    class _ProtocolMeta(ABCMeta):
        def __instancecheck__(cls, instance):
            if cls.__dict__.get("_is_protocol", False) and not getattr(cls, "_is_runtime_protocol", False) and cls is not Protocol:
                raise TypeError("Instance and class checks can only be used with @runtime_checkable protocols")
            if not cls.__dict__.get("_is_protocol", False) or _callable_members_only(cls):
                if ABCMeta.__instancecheck__(cls, instance):
                    return True
            if cls.__dict__.get("_is_protocol", False) and cls is not Protocol and _has_all(cls, instance):
                return True
            return ABCMeta.__instancecheck__(cls, instance)

    _ProtocolMeta.__module__ = "typing"

    class Protocol(Generic, metaclass=_ProtocolMeta):
        """Base of classes that say which methods a type has."""

        _is_runtime_protocol, _is_protocol = False, True
        __slots__ = ()

        def __init_subclass__(cls, *args, **kwargs):
            super().__init_subclass__(*args, **kwargs)
            if not cls.__dict__.get("_is_protocol", False):
                cls._is_protocol = any(b is Protocol for b in cls.__bases__)
            if "__subclasshook__" not in cls.__dict__:
                cls.__subclasshook__ = classmethod(_proto_hook)
            if not cls._is_protocol:
                return
            for base in cls.__bases__:
                if not (base in (object, Generic) or base.__module__ in ("collections.abc", "typing")
                        or isinstance(base, _ProtocolMeta) and base._is_protocol):
                    raise TypeError(f"Protocols can only inherit from other protocols, got {base!r}")
            if cls.__init__ is object.__init__ or cls.__init__ is Protocol.__init__:
                cls.__init__ = _no_init_or_replace_init

    Protocol.__qualname__ = "Protocol"
    return Protocol


Protocol = None
_no_init_or_replace_init.__name__ = "__init__"


def runtime_checkable(cls):
    """Lets isinstance ask a protocol."""
    if not (isinstance(cls, type) and issubclass(cls, Generic)) or not getattr(cls, "_is_protocol", False):
        raise TypeError(f"@runtime_checkable can be only applied to protocol classes, got {cls!r}")
    cls._is_runtime_protocol = True
    return cls


def cast(typ, val):
    """val, which the reader is told to be a typ."""
    return val


def assert_type(val, typ, /):
    return val


def reveal_type(obj, /):
    return obj


def assert_never(arg, /):
    value = repr(arg)
    if len(value) > 100:
        value = value[:100] + "..."
    raise AssertionError(f"Expected code to be unreachable, but got: {value}")


def get_origin(tp):
    """list of list[int], Union of Union[int, str]; None where there is none."""
    if isinstance(tp, _AnnotatedAlias):
        return Annotated
    if isinstance(tp, (_BaseGenericAlias, GenericAlias, ParamSpecArgs, ParamSpecKwargs)):
        return tp.__origin__
    if tp is Generic:
        return Generic
    if isinstance(tp, _UnionType):
        return _UnionType
    return None


def get_args(tp):
    """(int, str) of dict[int, str]."""
    if isinstance(tp, _AnnotatedAlias):
        return (tp.__origin__,) + tp.__metadata__
    if not isinstance(tp, (_GenericAlias, GenericAlias, _UnionType)):
        return ()
    args = tp.__args__
    if isinstance(tp, _UnionType) or not _flattened(tp, args):
        return args
    return list(args[:-1]), args[-1]


def _flattened(tp, args):
    origin = tp.__origin__
    return (getattr(origin, "__module__", "") == "collections.abc" and getattr(origin, "__name__", "") == "Callable"
            and not (len(args) == 2 and _is_param_expr(args[0])))


def is_typeddict(tp):
    return isinstance(tp, _TypedDictMeta)


def _strip_annotations(t):
    if isinstance(t, _AnnotatedAlias):
        return _strip_annotations(t.__origin__)
    if isinstance(t, _GenericAlias) and t.__origin__ in (Required, NotRequired):
        return _strip_annotations(t.__args__[0])
    if isinstance(t, (_GenericAlias, GenericAlias)):
        args = tuple(_strip_annotations(a) for a in t.__args__)
        if args == t.__args__:
            return t
        return GenericAlias(t.__origin__, args) if isinstance(t, GenericAlias) else t.copy_with(args)
    if isinstance(t, _UnionType):
        args = tuple(_strip_annotations(a) for a in t.__args__)
        if args == t.__args__:
            return t
        out = args[0]
        for a in args[1:]:
            out = out | a
        return out
    return t


_Module = type(_loaded("typing"))


def get_type_hints(obj, globalns=None, localns=None, include_extras=False):
    """The annotations of a class, function or module, with text evaluated."""
    if getattr(obj, "__no_type_check__", None):
        return {}
    if isinstance(obj, type):
        hints = {}
        for base in reversed(obj.__mro__):
            names = globalns if globalns is not None else _module_names(base.__module__) or {}
            local = localns
            if localns is None and globalns is None:
                local = dict(base.__dict__)
            own = base.__dict__.get("__annotations__", {})
            for name, value in own.items() if isinstance(own, dict) else ():
                if value is None:
                    value = _NoneType
                if isinstance(value, str):
                    value = ForwardRef(value, is_argument=False, is_class=True)
                hints[name] = _eval_type(value, names, local)
        return hints if include_extras else {k: _strip_annotations(t) for k, t in hints.items()}
    if globalns is None:
        target = obj
        while hasattr(target, "__wrapped__"):
            target = target.__wrapped__
        if type(target) is _Module:
            globalns = _module_names(target.__name__) or {}
        else:
            target = getattr(target, "__func__", target)
            globalns = _function_names(target) or {}
    localns = globalns if localns is None else localns
    hints = getattr(obj, "__annotations__", None)
    if hints is None:
        if isinstance(obj, (_Function, _Native)):
            return {}
        raise TypeError("{!r} is not a module, class, method, or function.".format(obj))
    hints = dict(hints)
    for name, value in hints.items():
        if value is None:
            value = _NoneType
        if isinstance(value, str):
            value = ForwardRef(value, is_argument=True, is_class=False)
        hints[name] = _eval_type(value, globalns, localns)
    return hints if include_extras else {k: _strip_annotations(t) for k, t in hints.items()}



_overloads = {}


def _overload_dummy(*args, **kwds):
    raise NotImplementedError(
        "You should not call an overloaded function. A series of @overload-decorated functions outside a stub module "
        "should always be followed by an implementation that is not @overload-ed.")


def overload(func):
    """Marks one of several signatures of a function."""
    f = getattr(func, "__func__", func)
    key = (f.__module__, f.__qualname__)
    _overloads.setdefault(key, []).append(func)
    return _overload_dummy


def get_overloads(func):
    f = getattr(func, "__func__", func)
    return list(_overloads.get((f.__module__, f.__qualname__), []))


def clear_overloads():
    _overloads.clear()


def final(f):
    """Marks what must not be overridden or subclassed."""
    try:
        f.__final__ = True
    except (AttributeError, TypeError):
        pass
    return f


def no_type_check(arg):
    if isinstance(arg, type):
        for key in dir(arg):
            obj = getattr(arg, key)
            if not hasattr(obj, "__qualname__") or obj.__qualname__ != f"{arg.__qualname__}.{obj.__name__}":
                continue
            if isinstance(obj, _Function):
                obj.__no_type_check__ = True
            elif isinstance(obj, type):
                no_type_check(obj)
    try:
        arg.__no_type_check__ = True
    except TypeError:
        pass
    return arg


def no_type_check_decorator(decorator):
    def wrapped_decorator(*args, **kwds):
        return no_type_check(decorator(*args, **kwds))
    return wrapped_decorator


def dataclass_transform(*, eq_default=True, order_default=False, kw_only_default=False, field_specifiers=(), **kwargs):
    def decorator(cls_or_fn):
        cls_or_fn.__dataclass_transform__ = {
            "eq_default": eq_default, "order_default": order_default, "kw_only_default": kw_only_default,
            "field_specifiers": field_specifiers, "kwargs": kwargs,
        }
        return cls_or_fn
    return decorator


class NewType(_Joins):
    """A name for values of another type that a reader shall keep apart."""

    def __init__(self, name, tp):
        self.__qualname__ = name
        if "." in name:
            name = name.rpartition(".")[-1]
        self.__name__ = name
        self.__supertype__ = tp
        self.__module__ = _caller()

    def __call__(self, x, /):
        return x

    def __repr__(self):
        return f"{self.__module__}.{self.__qualname__}"

    def __mro_entries__(self, bases):
        mine = self.__name__

        class Dummy:
            def __init_subclass__(cls):
                raise TypeError(
                    f"Cannot subclass an instance of NewType. Perhaps you were looking for: "
                    f"`{cls.__name__} = NewType({cls.__name__!r}, {mine})`")

        return (Dummy,)


_special = frozenset(["__module__", "__name__", "__annotations__"])
_prohibited = frozenset([
    "__new__", "__init__", "__slots__", "__getnewargs__", "_fields", "_field_defaults", "_field_types", "_make",
    "_replace", "_asdict", "_source",
])


def _make_nmtuple(name, types, module, defaults=()):
    from collections import namedtuple
    fields = [n for n, t in types]
    types = {n: _type_check(t, f"field {n} annotation must be a type") for n, t in types}
    cls = namedtuple(name, fields, defaults=defaults, module=module)
    cls.__annotations__ = cls.__new__.__annotations__ = types
    return cls


class _NamedTupleMeta(type):
    def __new__(cls, typename, bases, ns):
        if "_NamedTuple" in ns:
            return super().__new__(cls, typename, bases, ns)
        for base in bases:
            if base is not _NamedTuple and base is not Generic:
                raise TypeError("can only inherit from a NamedTuple type and Generic")
        bases = tuple(tuple if base is _NamedTuple else base for base in bases)
        types = ns.get("__annotations__", {})
        defaults = []
        for name in types:
            if name in ns:
                defaults.append(name)
            elif defaults:
                raise TypeError(
                    f"Non-default namedtuple field {name} cannot follow default field{'s' if len(defaults) > 1 else ''} "
                    f"{', '.join(defaults)}")
        made = _make_nmtuple(typename, types.items(), ns["__module__"], [ns[n] for n in defaults])
        if Generic in bases:
            body = {k: v for k, v in made.__dict__.items() if k not in ("__dict__", "__weakref__", "__doc__")}
            body["__orig_bases__"] = ns.get("__orig_bases__", ())
            doc, notes = made.__doc__, made.__annotations__
            made = type(typename, bases, body)
            made.__doc__, made.__annotations__ = doc, notes
        for key in ns:
            if key in _prohibited:
                raise AttributeError("Cannot overwrite NamedTuple attribute " + key)
            if key not in _special and key not in made._fields:
                setattr(made, key, ns[key])
        return made


def NamedTuple(typename, fields=None, /, **kwargs):
    """A named tuple whose fields have types."""
    if fields is None:
        fields = kwargs.items()
    elif kwargs:
        raise TypeError("Either list of fields or keywords can be provided to NamedTuple, not both")
    return _make_nmtuple(typename, fields, module=_caller())


_NamedTuple = _NamedTupleMeta("NamedTuple", (), {"_NamedTuple": True, "__module__": "typing"})
NamedTuple.__mro_entries__ = lambda bases: (_NamedTuple,)


class _TypedDictMeta(type):
    def __new__(cls, name, bases, ns, total=True):
        for base in bases:
            if type(base) is not _TypedDictMeta and base is not Generic:
                raise TypeError("cannot inherit from both a TypedDict type and a non-TypedDict base class")
        generic = (Generic,) if any(isinstance(b, type) and issubclass(b, Generic) for b in bases) else ()
        tp_dict = type.__new__(_TypedDictMeta, name, (*generic, dict), ns)
        annotations, required, optional = {}, {}, {}
        own = {n: _type_check(t, "TypedDict('Name', {f0: t0, f1: t1, ...}); each t must be a type",
                              module=tp_dict.__module__) for n, t in ns.get("__annotations__", {}).items()}
        for base in bases:
            annotations.update(base.__dict__.get("__annotations__", {}))
            for key in base.__dict__.get("__required_keys__", ()):
                required[key] = None
            for key in base.__dict__.get("__optional_keys__", ()):
                optional[key] = None
        annotations.update(own)
        for key, t in own.items():
            inner = t.__origin__ if isinstance(t, _AnnotatedAlias) else t
            origin = get_origin(inner)
            if origin is Required or origin is not NotRequired and total:
                required[key] = None
            else:
                optional[key] = None
        tp_dict.__annotations__ = annotations
        tp_dict.__required_keys__ = frozenset(required)
        tp_dict.__optional_keys__ = frozenset(optional)
        if not hasattr(tp_dict, "__total__"):
            tp_dict.__total__ = total
        return tp_dict

    def __call__(cls, *args, **kwargs):
        return dict(*args, **kwargs)

    def __subclasscheck__(cls, other):
        raise TypeError("TypedDict does not support instance and class checks")

    __instancecheck__ = __subclasscheck__


def TypedDict(typename, fields=None, /, *, total=True, **kwargs):
    """A dict whose keys have types."""
    if fields is None:
        fields = kwargs
    elif kwargs:
        raise TypeError("TypedDict takes either a dict or keyword arguments, but not both")
    ns = {"__annotations__": dict(fields), "__module__": _caller()}
    return _TypedDictMeta(typename, (), ns, total=total)


_TypedDict = type.__new__(_TypedDictMeta, "TypedDict", (), {"__module__": "typing"})
TypedDict.__mro_entries__ = lambda bases: (_TypedDict,)
AnyStr = TypeVar("AnyStr", bytes, str)
AnyStr.__module__ = "typing"
Tuple = _TupleType(tuple, -1, inst=False, name="Tuple")
List = _SpecialGenericAlias(list, 1, inst=False, name="List")
Dict = _SpecialGenericAlias(dict, 2, inst=False, name="Dict")
Set = _SpecialGenericAlias(set, 1, inst=False, name="Set")
FrozenSet = _SpecialGenericAlias(frozenset, 1, inst=False, name="FrozenSet")
Type = _SpecialGenericAlias(type, 1, inst=False, name="Type")

# Made when they are asked for: name, (class, number of parameters).
_abc_aliases = {
    "Hashable": ("Hashable", 0), "Awaitable": ("Awaitable", 1), "Coroutine": ("Coroutine", 3),
    "AsyncIterable": ("AsyncIterable", 1), "AsyncIterator": ("AsyncIterator", 1), "Iterable": ("Iterable", 1),
    "Iterator": ("Iterator", 1), "Reversible": ("Reversible", 1), "Sized": ("Sized", 0), "Container": ("Container", 1),
    "Collection": ("Collection", 1), "AbstractSet": ("Set", 1), "MutableSet": ("MutableSet", 1),
    "Mapping": ("Mapping", 2), "MutableMapping": ("MutableMapping", 2), "Sequence": ("Sequence", 1),
    "MutableSequence": ("MutableSequence", 1), "ByteString": ("ByteString", 0), "MappingView": ("MappingView", 1),
    "KeysView": ("KeysView", 1), "ItemsView": ("ItemsView", 2), "ValuesView": ("ValuesView", 1),
    "Generator": ("Generator", 3), "AsyncGenerator": ("AsyncGenerator", 2),
}
_collection_aliases = {
    "Deque": ("deque", 1), "DefaultDict": ("defaultdict", 2), "OrderedDict": ("OrderedDict", 2),
    "Counter": ("Counter", 1), "ChainMap": ("ChainMap", 2),
}
_supports = {
    "SupportsInt": ("__int__", int), "SupportsFloat": ("__float__", float), "SupportsBytes": ("__bytes__", bytes),
    "SupportsIndex": ("__index__", int), "SupportsAbs": ("__abs__", None), "SupportsRound": ("__round__", None),
}


def _make_supports(name):
    from abc import abstractmethod
    method, result = _supports[name]

    def operation(self, *args):
        pass

    operation.__name__ = method
    operation.__qualname__ = f"{name}.{method}"
    body = {"__slots__": (), method: abstractmethod(operation), "__module__": "typing"}
    proto = Protocol
    if result is None:
        return runtime_checkable(_new_class(name, (proto[TypeVar("T_co", covariant=True)],), body, "typing"))
    return runtime_checkable(_new_class(name, (proto,), body, "typing"))


def _make(name):
    if name == "Callable":
        import _collections_abc
        return _CallableType(_collections_abc.Callable, 2, name="Callable")
    if name in _abc_aliases:
        import _collections_abc
        origin, n = _abc_aliases[name]
        return _SpecialGenericAlias(getattr(_collections_abc, origin), n, name=name)
    if name in _collection_aliases:
        import collections
        origin, n = _collection_aliases[name]
        return _SpecialGenericAlias(getattr(collections, origin), n, name=name)
    if name in _supports:
        return _make_supports(name)
    if name in ("T", "KT", "VT", "T_co", "V_co", "VT_co", "T_contra", "CT_co", "P"):
        made = ParamSpec(name) if name == "P" else TypeVar(
            name, covariant=name.endswith("_co"), contravariant=name.endswith("_contra"))
        made.__module__ = "typing"
        return made
    if name in ("Pattern", "Match"):
        import re
        return _SpecialGenericAlias(getattr(re, name), 1, inst=False, name=name)
    raise AttributeError(f"module 'typing' has no attribute {name!r}")


def __getattr__(name):
    value = _make(name)
    _remember(name, value)
    return value


Protocol = _make_protocol()
