"""Classes made of their annotations, as Python 3.11's dataclasses."""

from _pvm import abc_update as _update_abstractmethods, caller as _caller, field_init as _field_init
from _pvm import field_method as _field_method, is_keyword as _is_keyword, own as _own, repr_guard as _repr_guard, same as _same

__all__ = [
    "dataclass", "field", "Field", "FrozenInstanceError", "InitVar", "KW_ONLY", "MISSING", "fields", "asdict",
    "astuple", "make_dataclass", "replace", "is_dataclass",
]

GenericAlias = type(list[int])
_MappingProxy = type(type.__dict__)
_Member = None


class FrozenInstanceError(AttributeError):
    pass


class _MISSING_TYPE:
    pass


class _KW_ONLY_TYPE:
    pass


class _Named:
    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


_HAS_DEFAULT_FACTORY = _Named("<factory>")
MISSING = _MISSING_TYPE()
KW_ONLY = _KW_ONLY_TYPE()
_FIELD = _Named("_FIELD")
_FIELD_CLASSVAR = _Named("_FIELD_CLASSVAR")
_FIELD_INITVAR = _Named("_FIELD_INITVAR")
_EMPTY_METADATA = _MappingProxy({})
_FIELDS = "__dataclass_fields__"
_PARAMS = "__dataclass_params__"
_POST_INIT_NAME = "__post_init__"


class InitVar:
    __slots__ = ("type",)

    def __init__(self, type):
        self.type = type

    def __repr__(self):
        if isinstance(self.type, type) and not isinstance(self.type, GenericAlias):
            return f"dataclasses.InitVar[{self.type.__name__}]"
        return f"dataclasses.InitVar[{self.type!r}]"

    def __class_getitem__(cls, type):
        return InitVar(type)


class Field:
    __slots__ = (
        "name", "type", "default", "default_factory", "repr", "hash", "init", "compare", "metadata", "kw_only",
        "_field_type",
    )
    _shown = ("name", "type", "default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only")

    def __init__(self, default, default_factory, init, repr, hash, compare, metadata, kw_only):
        notes = _MappingProxy(metadata) if metadata is not None else _EMPTY_METADATA
        given = (None, None, default, default_factory, repr, hash, init, compare, notes, kw_only, None)
        for slot, value in zip(Field.__slots__, given):
            setattr(self, slot, value)

    @_repr_guard
    def __repr__(self):
        return "Field(%s,_field_type=%s)" % (_listed(self, Field._shown, ","), self._field_type)

    def __set_name__(self, owner, name):
        # A default that is a descriptor learns its name, as it would in the class body.
        told = getattr(type(self.default), "__set_name__", None)
        if told is not None:
            told(self.default, owner, name)

    __class_getitem__ = classmethod(GenericAlias)


class _DataclassParams:
    __slots__ = ("init", "repr", "eq", "order", "unsafe_hash", "frozen")

    def __init__(self, *given):
        for slot, value in zip(_DataclassParams.__slots__, given):
            setattr(self, slot, value)

    def __repr__(self):
        return "_DataclassParams(%s)" % _listed(self, _DataclassParams.__slots__, ",")


def _listed(obj, names, between):
    return between.join("%s=%r" % (name, getattr(obj, name)) for name in names)


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None,
          kw_only=MISSING):
    """Says more about a field than its annotation and default can."""
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def _typing_loaded():
    from _pvm import loaded
    return loaded("typing")


def _named_type(annotation, cls, bare, qualified):
    """Whether an annotation that is text means bare (of typing or dataclasses): a
    name, or module.name, where the class's module has it."""
    from _pvm import module_names
    names = module_names(cls.__module__)
    head, rest = _word(annotation)
    if not head or names is None:
        return False
    if not rest.lstrip().startswith("."):
        return names.get(head) is bare
    tail, _ = _word(rest.lstrip()[1:])
    return tail == qualified and head in names and getattr(names[head], tail, None) is bare


def _word(text):
    """The name that text begins with, and what follows."""
    text = text.lstrip()
    end = 0
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return text[:end], text[end:]


def _kind_of(cls, annotation):
    """_FIELD, _FIELD_CLASSVAR, _FIELD_INITVAR or KW_ONLY."""
    typing = _typing_loaded()
    if typing is not None:
        class_var = typing.ClassVar
        if annotation is class_var or typing.get_origin(annotation) is class_var:
            return _FIELD_CLASSVAR
        if isinstance(annotation, str) and _named_type(annotation, cls, class_var, "ClassVar"):
            return _FIELD_CLASSVAR
    if annotation is InitVar or type(annotation) is InitVar:
        return _FIELD_INITVAR
    if annotation is KW_ONLY:
        return KW_ONLY
    if isinstance(annotation, str):
        if _named_type(annotation, cls, InitVar, "InitVar"):
            return _FIELD_INITVAR
        if _named_type(annotation, cls, KW_ONLY, "KW_ONLY"):
            return KW_ONLY
    return _FIELD


def _get_field(cls, name, annotation, kind, default_kw_only):
    default = getattr(cls, name, MISSING)
    if isinstance(default, Field):
        f = default
    else:
        if _is_member(default):
            default = MISSING
        f = Field(default, MISSING, True, True, None, True, None, MISSING)
    f.name = name
    f.type = annotation
    f._field_type = kind
    if kind is not _FIELD and f.default_factory is not MISSING:
        raise TypeError(f"field {f.name} cannot have a default factory")
    if kind is _FIELD_CLASSVAR:
        if f.kw_only is not MISSING:
            raise TypeError(f"field {f.name} is a ClassVar but specifies kw_only")
    elif f.kw_only is MISSING:
        f.kw_only = default_kw_only
    if kind is _FIELD and f.default.__class__.__hash__ is None:
        raise ValueError(f"mutable default {type(f.default)} for field {f.name} is not allowed: use default_factory")
    return f


class _Slotted:
    __slots__ = ("slot",)


_Member = type(_Slotted.slot)


def _is_member(value):
    return isinstance(value, _Member)


def _named(cls, fn):
    """fn under the class's name. Its text is put together of checked names."""
    fn.__qualname__ = f"{cls.__qualname__}.{fn.__name__}"
    return fn


# How a parameter of __init__ begins and what a line of it assigns.
_REQUIRED, _DEFAULT, _FACTORY = 1, 2, 3
_GIVEN, _GIVEN_OR_MADE, _MADE, _CONSTANT = 1, 2, 3, 4


def _init_spec(f, slots):
    """A field of __init__: name, parameter, assigned value, default."""
    param = value = 0
    default = None
    if f.init:
        param = _REQUIRED
        value = _GIVEN
    if f.default is not MISSING:
        default = f.default
        if f.init:
            param = _DEFAULT
        elif slots:
            value = _CONSTANT
    if f.default_factory is not MISSING:
        default = f.default_factory
        if f.init:
            param, value = _FACTORY, _GIVEN_OR_MADE
        else:
            value = _MADE
    if f._field_type is _FIELD_INITVAR:
        value = 0
    return f.name, param, value, default


def _init_fn(cls, std, kw_only, frozen, has_post_init, self_name, slots):
    fields = std + kw_only
    seen_default = False
    for f in std:
        if f.init:
            if not (f.default is MISSING and f.default_factory is MISSING):
                seen_default = True
            elif seen_default:
                raise TypeError(f"non-default argument {f.name!r} follows default argument")
    names = {"_HAS_DEFAULT_FACTORY": _HAS_DEFAULT_FACTORY, "_same": _same, "_object_setattr": object.__setattr__}
    post = None
    if has_post_init:
        post = [f.name for f in fields if f._field_type is _FIELD_INITVAR]
    fn = _named(cls, _field_init(
        cls.__module__, self_name, [_init_spec(f, slots) for f in std], [_init_spec(f, slots) for f in kw_only],
        frozen, post, names))
    annotations = {f.name: f.type for f in fields if f.init}
    annotations["return"] = None
    fn.__annotations__ = annotations
    return fn


def _field_fn(cls, name, fields, names):
    return _named(cls, _field_method(cls.__module__, name, [f.name for f in fields], names))


def _repr_fn(cls, fields):
    return _repr_guard(_field_fn(cls, "__repr__", fields, {}))


def _frozen_fns(cls, fields):
    names = {"cls": cls, "FrozenInstanceError": FrozenInstanceError, "names": tuple(f.name for f in fields)}
    return _field_fn(cls, "__setattr__", (), names), _field_fn(cls, "__delattr__", (), names)


def _hash_fn(cls, fields):
    return _field_fn(cls, "__hash__", [f for f in fields if (f.compare if f.hash is None else f.hash)], {})


def _set_new_attribute(cls, name, value):
    if _own(cls, name, MISSING) is not MISSING:
        return True
    setattr(cls, name, value)
    return False


def _hash_action(cls, fields, unsafe_hash, eq, frozen, has_explicit_hash):
    if unsafe_hash:
        if has_explicit_hash:
            raise TypeError(f"Cannot overwrite attribute __hash__ in class {cls.__name__}")
        cls.__hash__ = _hash_fn(cls, fields)
    elif eq and not has_explicit_hash:
        if frozen:
            cls.__hash__ = _hash_fn(cls, fields)
        else:
            cls.__hash__ = None


def _inherited(cls):
    """The fields of the bases, and whether any or all of those are frozen."""
    fields, any_frozen, has_bases = {}, False, False
    for b in cls.__mro__[-1:0:-1]:
        base_fields = getattr(b, _FIELDS, None)
        if base_fields is not None:
            has_bases = True
            for f in base_fields.values():
                fields[f.name] = f
            if getattr(b, _PARAMS).frozen:
                any_frozen = True
    return fields, any_frozen, has_bases


def _own_fields(cls, kw_only):
    annotations = _own(cls, "__annotations__", {})
    found, seen = [], False
    for name, annotation in annotations.items():
        kind = _kind_of(cls, annotation)
        if kind is KW_ONLY:
            if seen:
                raise TypeError(f"{name!r} is KW_ONLY, but KW_ONLY has already been specified")
            seen = kw_only = True
        else:
            found.append(_get_field(cls, name, annotation, kind, kw_only))
    for f in found:
        if isinstance(getattr(cls, f.name, None), Field):
            if f.default is MISSING:
                delattr(cls, f.name)
            else:
                setattr(cls, f.name, f.default)
    for name, value in cls.__dict__.items():
        if isinstance(value, Field) and name not in annotations:
            raise TypeError(f"{name!r} is a field but has no type annotation")
    return found


def _process_class(cls, init, repr, eq, order, unsafe_hash, frozen, match_args, kw_only, slots, weakref_slot):
    own = cls.__dict__
    fields, any_frozen, has_bases = _inherited(cls)
    params = _DataclassParams(init, repr, eq, order, unsafe_hash, frozen)
    setattr(cls, _PARAMS, params)
    found = _own_fields(cls, kw_only)
    for f in found:
        fields[f.name] = f
    if has_bases:
        if any_frozen and not frozen:
            raise TypeError("cannot inherit non-frozen dataclass from a frozen one")
        if not any_frozen and frozen:
            raise TypeError("cannot inherit frozen dataclass from a non-frozen one")
    setattr(cls, _FIELDS, fields)
    own = cls.__dict__
    class_hash = own.get("__hash__", MISSING)
    has_explicit_hash = not (class_hash is MISSING or (class_hash is None and "__eq__" in own))
    if order and not eq:
        raise ValueError("eq must be true if order is true")
    all_init = [f for f in fields.values() if f._field_type in (_FIELD, _FIELD_INITVAR)]
    std = [f for f in all_init if f.init and not f.kw_only or not f.init and not f.kw_only]
    kws = [f for f in all_init if f.kw_only]
    if init:
        self_name = "__dataclass_self__" if "self" in fields else "self"
        _set_new_attribute(cls, "__init__", _init_fn(
            cls, std, kws, frozen, hasattr(cls, _POST_INIT_NAME), self_name, slots))
    field_list = [f for f in fields.values() if f._field_type is _FIELD]
    compared = [f for f in field_list if f.compare]
    if repr:
        _set_new_attribute(cls, "__repr__", _repr_fn(cls, [f for f in field_list if f.repr]))
    if eq:
        _set_new_attribute(cls, "__eq__", _field_fn(cls, "__eq__", compared, {}))
    if order:
        for name in ("__lt__", "__le__", "__gt__", "__ge__"):
            if _set_new_attribute(cls, name, _field_fn(cls, name, compared, {})):
                raise TypeError(f"Cannot overwrite attribute {name} in class {cls.__name__}. Consider using functools.total_ordering")
    if frozen:
        for fn in _frozen_fns(cls, field_list):
            if _set_new_attribute(cls, fn.__name__, fn):
                raise TypeError(f"Cannot overwrite attribute {fn.__name__} in class {cls.__name__}")
    _hash_action(cls, field_list, unsafe_hash, eq, frozen, has_explicit_hash)
    if not own.get("__doc__"):
        cls.__doc__ = cls.__name__ + _signature(std, kws, init)
    if match_args:
        _set_new_attribute(cls, "__match_args__", tuple(f.name for f in std if f.init))
    if weakref_slot and not slots:
        raise TypeError("weakref_slot is True but slots is False")
    if slots:
        cls = _add_slots(cls, frozen, weakref_slot)
    _update_abstractmethods(cls)
    return cls


def _annotation_text(annotation):
    if isinstance(annotation, type) and not isinstance(annotation, GenericAlias):
        if annotation.__module__ in ("builtins", "__main__"):
            return annotation.__qualname__
        return annotation.__module__ + "." + annotation.__qualname__
    return repr(annotation).replace("typing.", "")


def _signature(std, kw_only, init):
    """The signature of __init__ as it stands in the docstring."""
    if not init:
        return "()"
    parts = []
    for f in std + kw_only:
        if not f.init:
            continue
        if f.kw_only and "*" not in parts:
            parts.append("*")
        text = f"{f.name}: {_annotation_text(f.type)}"
        if f.default is not MISSING:
            text += f" = {f.default!r}"
        elif f.default_factory is not MISSING:
            text += " = <factory>"
        parts.append(text)
    return "(" + ", ".join(parts) + ")"


def _slots_of(cls):
    slots = _own(cls, "__slots__")
    if slots is None:
        return
    if isinstance(slots, str):
        yield slots
    elif hasattr(slots, "__next__"):
        raise TypeError(f"Slots of '{cls.__name__}' cannot be determined")
    else:
        yield from slots


def _add_slots(cls, is_frozen, weakref_slot):
    if "__slots__" in cls.__dict__:
        raise TypeError(f"{cls.__name__} already specifies __slots__")
    cls_dict = dict(cls.__dict__)
    field_names = tuple(f.name for f in fields(cls))
    inherited = {name for c in cls.__mro__[1:-1] for name in _slots_of(c)}
    slots = tuple(n for n in field_names + (("__weakref__",) if weakref_slot else ()) if n not in inherited)
    cls_dict["__slots__"] = slots
    for name in field_names:
        cls_dict.pop(name, None)
    cls_dict.pop("__dict__", None)
    cls_dict.pop("__weakref__", None)
    qualname = getattr(cls, "__qualname__", None)
    cls = type(cls)(cls.__name__, cls.__bases__, cls_dict)
    if qualname is not None:
        cls.__qualname__ = qualname
    return cls


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False,
              match_args=True, kw_only=False, slots=False, weakref_slot=False):
    """Adds the methods that a class's annotated fields call for."""
    def wrap(cls):
        return _process_class(cls, init, repr, eq, order, unsafe_hash, frozen, match_args, kw_only, slots, weakref_slot)

    if cls is None:
        return wrap
    return wrap(cls)


def fields(class_or_instance):
    """The fields of a dataclass or of an instance of one."""
    try:
        found = getattr(class_or_instance, _FIELDS)
    except AttributeError:
        raise TypeError("must be called with a dataclass type or instance") from None
    return tuple(f for f in found.values() if f._field_type is _FIELD)


def _is_dataclass_instance(obj):
    return hasattr(type(obj), _FIELDS)


def is_dataclass(obj):
    """Whether obj is a dataclass or an instance of one."""
    cls = obj if isinstance(obj, type) else type(obj)
    return hasattr(cls, _FIELDS)


_ATOMS = (type(None), bool, int, float, str, bytes, type, range, type(...), type(NotImplemented), type(len), type(lambda: 0))


def _copy(value, memo):
    """A deep copy, as the copy module makes it."""
    if isinstance(value, _ATOMS):
        return value
    key = _identity(value)
    if key in memo:
        return memo[key][0]
    cls = type(value)
    copier = getattr(cls, "__deepcopy__", None)
    if copier is not None:
        out = copier(value, memo)
    elif cls is list:
        out = []
        memo[key] = (out, value)
        out.extend(_copy(v, memo) for v in value)
    elif cls is dict:
        out = {}
        memo[key] = (out, value)
        for k, v in value.items():
            out[_copy(k, memo)] = _copy(v, memo)
    elif cls in (tuple, set, frozenset):
        out = cls(_copy(v, memo) for v in value)
    elif cls is bytearray:
        out = bytearray(value)
    else:
        out = _copy_object(cls, value, memo, key)
    memo[key] = (out, value)
    return out


def _copy_object(cls, value, memo, key):
    if isinstance(value, (list, dict, set, frozenset, tuple)):
        if isinstance(value, dict):
            out = cls.__new__(cls)
            memo[key] = (out, value)
            for k, v in value.items():
                dict.__setitem__(out, _copy(k, memo), _copy(v, memo))
        elif isinstance(value, tuple):
            out = tuple.__new__(cls, (_copy(v, memo) for v in value))
        else:
            out = cls(_copy(v, memo) for v in value)
    else:
        out = object.__new__(cls)
    memo[key] = (out, value)
    for name, v in getattr(value, "__dict__", {}).items():
        object.__setattr__(out, name, _copy(v, memo))
    for k in cls.__mro__:
        for name in _slots_of(k):
            if name in ("__dict__", "__weakref__"):
                continue
            if name.startswith("__") and not name.endswith("__"):
                name = "_" + k.__name__.lstrip("_") + name
            try:
                v = object.__getattribute__(value, name)
            except AttributeError:
                continue
            object.__setattr__(out, name, _copy(v, memo))
    return out




def _identity(value):
    from _pvm import identity
    return identity(value)


def asdict(obj, *, dict_factory=dict):
    """The fields of an instance as a dict, dataclasses inside as well."""
    if not _is_dataclass_instance(obj):
        raise TypeError("asdict() should be called on dataclass instances")
    return _asdict_inner(obj, dict_factory)


def _asdict_inner(obj, dict_factory):
    if _is_dataclass_instance(obj):
        return dict_factory([(f.name, _asdict_inner(getattr(obj, f.name), dict_factory)) for f in fields(obj)])
    if isinstance(obj, tuple) and hasattr(obj, "_fields"):
        return type(obj)(*[_asdict_inner(v, dict_factory) for v in obj])
    if isinstance(obj, (list, tuple)):
        return type(obj)(_asdict_inner(v, dict_factory) for v in obj)
    if isinstance(obj, dict):
        return type(obj)((_asdict_inner(k, dict_factory), _asdict_inner(v, dict_factory)) for k, v in obj.items())
    return _copy(obj, {})


def astuple(obj, *, tuple_factory=tuple):
    """The fields of an instance as a tuple, dataclasses inside as well."""
    if not _is_dataclass_instance(obj):
        raise TypeError("astuple() should be called on dataclass instances")
    return _astuple_inner(obj, tuple_factory)


def _astuple_inner(obj, tuple_factory):
    if _is_dataclass_instance(obj):
        return tuple_factory([_astuple_inner(getattr(obj, f.name), tuple_factory) for f in fields(obj)])
    if isinstance(obj, tuple) and hasattr(obj, "_fields"):
        return type(obj)(*[_astuple_inner(v, tuple_factory) for v in obj])
    if isinstance(obj, (list, tuple)):
        return type(obj)(_astuple_inner(v, tuple_factory) for v in obj)
    if isinstance(obj, dict):
        return type(obj)((_astuple_inner(k, tuple_factory), _astuple_inner(v, tuple_factory)) for k, v in obj.items())
    return _copy(obj, {})


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, init=True, repr=True, eq=True, order=False,
                   unsafe_hash=False, frozen=False, match_args=True, kw_only=False, slots=False, weakref_slot=False):
    """A new dataclass from names, types and fields."""
    if namespace is None:
        namespace = {}
    seen, annotations, defaults = set(), {}, {}
    for item in fields:
        if isinstance(item, str):
            name, tp = item, "typing.Any"
        elif len(item) == 2:
            name, tp = item
        elif len(item) == 3:
            name, tp, defaults[name] = item[0], item[1], None
            defaults[name] = item[2]
        else:
            raise TypeError(f"Invalid field: {item!r}")
        if not isinstance(name, str) or not name.isidentifier():
            raise TypeError(f"Field names must be valid identifiers: {name!r}")
        if _is_keyword(name):
            raise TypeError(f"Field names must not be keywords: {name!r}")
        if name in seen:
            raise TypeError(f"Field name duplicated: {name!r}")
        seen.add(name)
        annotations[name] = tp
    body = {**namespace, **defaults, "__annotations__": annotations}
    from _pvm import new_class
    cls = new_class(cls_name, bases, body, "types")
    return dataclass(cls, init=init, repr=repr, eq=eq, order=order, unsafe_hash=unsafe_hash, frozen=frozen,
                     match_args=match_args, kw_only=kw_only, slots=slots, weakref_slot=weakref_slot)


def replace(obj, /, **changes):
    """A copy of an instance with some fields changed."""
    if not _is_dataclass_instance(obj):
        raise TypeError("replace() should be called on dataclass instances")
    for f in getattr(obj, _FIELDS).values():
        if f._field_type is _FIELD_CLASSVAR:
            continue
        if not f.init:
            if f.name in changes:
                raise ValueError(f"field {f.name} is declared with init=False, it cannot be specified with replace()")
            continue
        if f.name not in changes:
            if f._field_type is _FIELD_INITVAR and f.default is MISSING:
                raise ValueError(f"InitVar {f.name!r} must be specified with replace()")
            changes[f.name] = getattr(obj, f.name)
    return obj.__class__(**changes)
