"""Enumerations with the behaviour of Python 3.11's enum."""

from _pvm import caller as _caller, own as _own

__all__ = [
    "EnumType", "EnumMeta", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum",
    "auto", "unique", "property", "verify", "member", "nonmember",
    "FlagBoundary", "STRICT", "CONFORM", "EJECT", "KEEP",
    "global_flag_repr", "global_enum_repr", "global_str", "global_enum",
    "EnumCheck", "CONTINUOUS", "NAMED_FLAGS", "UNIQUE",
]

_builtin_property = property
_MappingProxy = type(type.__dict__)
Enum = Flag = ReprEnum = EJECT = KEEP = None


class _Missing:
    def __repr__(self):
        return "_auto_null"


_auto_null = _Missing()


def _is_descriptor(obj):
    return hasattr(obj, "__get__") or hasattr(obj, "__set__") or hasattr(obj, "__delete__")


def _is_dunder(name):
    return len(name) > 4 and name[:2] == name[-2:] == "__" and name[2] != "_" and name[-3] != "_"


def _is_sunder(name):
    return len(name) > 2 and name[0] == name[-1] == "_" and name[1:2] != "_" and name[-2:-1] != "_"


def _is_private(class_name, name):
    pattern = "_" + class_name + "__"
    return (len(name) > len(pattern) and name.startswith(pattern)
            and name[len(pattern):len(pattern) + 1] != "_" and (name[-1] != "_" or name[-2] != "_"))


def _is_single_bit(num):
    return num != 0 and num & (num - 1) == 0


def _bits(num):
    while num:
        low = num & (~num + 1)
        yield low
        num ^= low


class nonmember:
    """Keeps a value of the body from becoming a member."""

    def __init__(self, value):
        self.value = value


class member:
    """Makes a value of the body a member though it would not be one."""

    def __init__(self, value):
        self.value = value


class auto:
    """Stands for the next value, or for part of one in an expression."""

    def __init__(self, value=_auto_null):
        self.value = value

    def __repr__(self):
        return "auto(%r)" % (self.value,)


class property:
    """A property of members that does not hide a member of the same name."""

    member = None

    def __init__(self, fget=None, fset=None, fdel=None, doc=None):
        self.fget, self.fset, self.fdel = fget, fset, fdel
        self.__doc__ = fget.__doc__ if doc is None and fget is not None else doc
        self.name = self.clsname = None

    @_builtin_property
    def __isabstractmethod__(self):
        return bool(getattr(self.fget, "__isabstractmethod__", False))

    def __get__(self, instance, ownerclass=None):
        if instance is None:
            if self.member is not None:
                return self.member
            raise AttributeError("%r has no attribute %r" % (ownerclass, self.name))
        if self.fget is None:
            if self.member is not None:
                return self.member
            raise AttributeError("%r has no attribute %r" % (ownerclass, self.name))
        return self.fget(instance)

    def __set__(self, instance, value):
        if self.fset is None:
            raise AttributeError("<enum %r> cannot set attribute %r" % (self.clsname, self.name))
        return self.fset(instance, value)

    def __delete__(self, instance):
        if self.fdel is None:
            raise AttributeError("<enum %r> cannot delete attribute %r" % (self.clsname, self.name))
        return self.fdel(instance)

    def getter(self, fget):
        return self._with(fget, self.fset, self.fdel)

    def setter(self, fset):
        return self._with(self.fget, fset, self.fdel)

    def deleter(self, fdel):
        return self._with(self.fget, self.fset, fdel)

    def _with(self, fget, fset, fdel):
        out = type(self)(fget, fset, fdel, self.__doc__)
        out.name, out.clsname = self.name, self.clsname
        return out

    def __set_name__(self, ownerclass, name):
        self.name = name
        self.clsname = ownerclass.__name__


class _EnumDict(dict):
    """The namespace of the body: tells members from the rest as they come."""

    def __init__(self):
        super().__init__()
        self._member_names = {}
        self._last_values = []
        self._ignore = []
        self._auto_called = False
        self._generate = None

    def __setitem__(self, key, value):
        if _is_private(self._cls_name, key):
            pass
        elif _is_sunder(key):
            value = self._sunder(key, value)
        elif _is_dunder(key):
            if key == "__order__":
                key = "_order_"
        elif key in self._member_names:
            raise TypeError("%r already defined as %r" % (key, self[key]))
        elif key in self._ignore:
            pass
        elif isinstance(value, nonmember):
            value = value.value
        elif _is_descriptor(value):
            pass
        else:
            if key in self:
                raise TypeError("%r already defined as %r" % (key, self[key]))
            if isinstance(value, member):
                value = value.value
            value = self._resolve(key, value)
            self._member_names[key] = None
            self._last_values.append(value)
        super().__setitem__(key, value)

    def _sunder(self, key, value):
        if key not in ("_order_", "_generate_next_value_", "_numeric_repr_", "_missing_", "_ignore_", "_iter_member_",
                       "_iter_member_by_value_", "_iter_member_by_def_"):
            raise ValueError("_sunder_ names, such as %r, are reserved for future Enum use" % (key,))
        if key == "_generate_next_value_":
            if self._auto_called:
                raise TypeError("_generate_next_value_ must be defined before members")
            self._generate = value.__func__ if isinstance(value, staticmethod) else value
        elif key == "_ignore_":
            value = value.replace(",", " ").split() if isinstance(value, str) else list(value)
            self._ignore = value
            already = set(value) & set(self._member_names)
            if already:
                raise ValueError("_ignore_ cannot specify already set names: %r" % (already,))
        return value

    def _resolve(self, key, value):
        single = isinstance(value, auto)
        parts = (value,) if single else value
        if not single and not (isinstance(value, tuple) and any(isinstance(v, auto) for v in value)):
            return value
        out = []
        for part in parts:
            if isinstance(part, auto):
                if part.value == _auto_null:
                    self._auto_called = True
                    part.value = self._generate(key, 1, len(self._member_names), self._last_values[:])
                part = part.value
                self._last_values.append(part)
            out.append(part)
        if single:
            return out[0]
        return type(value)(out) if type(value) is tuple else type(value)(*out)

    def update(self, members, **more_members):
        items = members.items() if hasattr(members, "keys") else members
        for name, value in items:
            self[name] = value
        for name, value in more_members.items():
            self[name] = value


class EnumType(type):
    """The class of enumerations."""

    @classmethod
    def __prepare__(metacls, cls, bases, **kwds):
        metacls._check_for_existing_members_(cls, bases)
        namespace = _EnumDict()
        namespace._cls_name = cls
        member_type, first_enum = metacls._get_mixins_(cls, bases)
        if first_enum is not None:
            dict.__setitem__(namespace, "_generate_next_value_", getattr(first_enum, "_generate_next_value_", None))
            namespace._generate = first_enum._generate_next_value_
        return namespace

    def __new__(metacls, cls, bases, classdict, *, boundary=None, _simple=False, **kwds):
        if _simple or not isinstance(classdict, _EnumDict):
            return super().__new__(metacls, cls, bases, classdict, **kwds)
        classdict.setdefault("_ignore_", []).append("_ignore_")
        for key in classdict["_ignore_"]:
            classdict.pop(key, None)
        names = [n for n in classdict._member_names if n in classdict]
        invalid = set(names) & {"mro", ""}
        if invalid:
            raise ValueError("invalid enum member name(s) %s" % ",".join(repr(n) for n in invalid))
        order = classdict.pop("_order_", None)
        if isinstance(order, str):
            order = order.replace(",", " ").split()
        member_type, first_enum = metacls._get_mixins_(cls, bases)
        new, save_new, use_args = metacls._find_new_(classdict, member_type, first_enum)
        values = {n: classdict[n] for n in names}
        body = {k: v for k, v in classdict.items() if k not in values}
        generate = body.get("_generate_next_value_")
        if generate is not None and not isinstance(generate, staticmethod):
            body["_generate_next_value_"] = staticmethod(generate)
        body["_new_member_"] = new
        body["_use_args_"] = use_args
        body["_member_names_"] = []
        body["_member_map_"] = {}
        body["_value2member_map_"] = {}
        body["_unhashable_values_"] = []
        body["_member_type_"] = member_type
        body["_boundary_"] = boundary or getattr(first_enum, "_boundary_", None)
        body["_flag_mask_"] = body["_all_bits_"] = body["_singles_mask_"] = 0
        body["_inverted_"] = None
        body["_value_repr_"] = metacls._find_data_repr_(cls, bases)
        enum_class = super().__new__(metacls, cls, bases, body, **kwds)
        metacls._mixed_text(enum_class, classdict, member_type, first_enum, ReprEnum is not None and ReprEnum in bases)
        enum_class._sort_key = None
        for name, value in values.items():
            metacls._add_member(enum_class, name, value, new, use_args, member_type)
        if Flag is not None and issubclass(enum_class, Flag):
            metacls._finish_flag(enum_class, classdict, order)
        if save_new:
            enum_class.__new_member__ = new
        if Enum is not None:
            enum_class.__new__ = Enum.__new__
        metacls._check_order(enum_class, order)
        return enum_class

    @staticmethod
    def _mixed_text(cls, classdict, member_type, first_enum, plain):
        """Chooses between the texts of the data type and those of the enumeration."""
        own = [name for name in ("__repr__", "__str__", "__format__") if name in classdict]
        if plain and "__format__" not in own:
            type.__setattr__(cls, "__format__", member_type.__format__)
            own.append("__format__")
        if plain and "__str__" not in own:
            method = member_type.__str__
            if method is object.__str__:
                method = member_type.__repr__
            type.__setattr__(cls, "__str__", method)
            own.append("__str__")
        if first_enum is None:
            return
        for name in ("__repr__", "__str__", "__format__"):
            if name in own:
                continue
            if getattr(cls, name) in (getattr(member_type, name), getattr(object, name)):
                type.__setattr__(cls, name, getattr(first_enum, name))

    def _add_member(cls, name, value, new, use_args, member_type):
        args = value if isinstance(value, tuple) else (value,)
        if member_type is tuple:
            args = (args,)
        if not use_args:
            instance = new(cls)
        else:
            instance = new(cls, *args)
        if not hasattr(instance, "_value_"):
            if member_type is object:
                instance._value_ = value
            else:
                try:
                    instance._value_ = member_type(*args)
                except Exception as exc:
                    raise TypeError("_value_ not set in __new__, unable to create it") from exc
        value = instance._value_
        instance._name_ = name
        instance.__objclass__ = cls
        instance._sort_order_ = len(cls._member_names_)
        instance.__init__(*args)
        found = None
        try:
            found = cls._value2member_map_.get(value)
        except TypeError:
            for existing in cls._member_map_.values():
                if existing._value_ == value:
                    found = existing
                    break
        if found is None:
            flagged = Flag is not None and issubclass(cls, Flag)
            if not flagged or isinstance(value, int) and _is_single_bit(value):
                cls._member_names_.append(name)
            elif not isinstance(value, int):
                cls._member_names_.append(name)
            if flagged and isinstance(value, int):
                cls._flag_mask_ |= value
                if _is_single_bit(value):
                    cls._singles_mask_ |= value
                cls._all_bits_ = 2 ** (cls._flag_mask_.bit_length()) - 1
            try:
                cls._value2member_map_.setdefault(value, instance)
            except TypeError:
                cls._unhashable_values_.append(value)
        else:
            instance = found
        cls._member_map_[name] = instance
        EnumType._publish(cls, name, instance)

    def _publish(cls, name, instance):
        for base in cls.__mro__[1:]:
            attr = _own(base, name)
            if isinstance(attr, (property, _builtin_property)):
                redirect = property(attr.fget, attr.fset, attr.fdel)
                redirect.member = instance
                redirect.__set_name__(cls, name)
                type.__setattr__(cls, name, redirect)
                return
        type.__setattr__(cls, name, instance)

    def _finish_flag(cls, classdict, order):
        for name in ("__or__", "__and__", "__xor__", "__ror__", "__rand__", "__rxor__", "__invert__"):
            if name not in classdict:
                type.__setattr__(cls, name, getattr(Flag, name))
        names = cls._member_names_
        if names != sorted(names, key=lambda n: cls._member_map_[n]._value_) and all(
                isinstance(cls._member_map_[n]._value_, int) for n in names):
            cls._iter_member_ = cls._iter_member_by_def_

    def _check_order(cls, order):
        if order is None:
            return
        if Flag is not None and issubclass(cls, Flag):
            wanted = [o for o in order if o not in cls._member_map_ or o in cls._member_names_]
        else:
            wanted = [o for o in order if o not in cls._member_map_ or o in cls._member_names_]
        if wanted != cls._member_names_:
            raise TypeError("member order does not match _order_:\n  %r\n  %r" % (cls._member_names_, wanted))

    def __bool__(cls):
        return True

    def __call__(cls, value, names=None, *, module=None, qualname=None, type=None, start=1, boundary=None):
        if names is None:
            return cls.__new__(cls, value)
        return cls._create_(value, names, module=module, qualname=qualname, type=type, start=start, boundary=boundary)

    def __contains__(cls, member):
        if not isinstance(member, Enum):
            raise TypeError("unsupported operand type(s) for 'in': '%s' and '%s'" % (type(member).__qualname__, cls.__class__.__qualname__))
        return isinstance(member, cls) and member._name_ in cls._member_map_

    def __delattr__(cls, attr):
        if attr in cls._member_map_:
            raise AttributeError("%r cannot delete member %r." % (cls.__name__, attr))
        super().__delattr__(attr)

    def __dir__(cls):
        interesting = ["__class__", "__contains__", "__doc__", "__getitem__", "__iter__", "__len__", "__members__",
                       "__module__", "__name__", "__qualname__"] + cls._member_names_
        if cls._new_member_ is not object.__new__:
            interesting.append("__new__")
        interesting.append("__init_subclass__")
        if cls._member_type_ is not object:
            interesting.extend(dir(cls._member_type_))
        return sorted(set(interesting))

    def __getitem__(cls, name):
        return cls._member_map_[name]

    def __iter__(cls):
        return (cls._member_map_[name] for name in cls._member_names_)

    def __len__(cls):
        return len(cls._member_names_)

    @_builtin_property
    def __members__(cls):
        return _MappingProxy(cls._member_map_)

    def __repr__(cls):
        if Flag is not None and issubclass(cls, Flag):
            return "<flag %r>" % cls.__name__
        return "<enum %r>" % cls.__name__

    def __reversed__(cls):
        return (cls._member_map_[name] for name in reversed(cls._member_names_))

    def __setattr__(cls, name, value):
        if name in _own(cls, "_member_map_", {}):
            raise AttributeError("cannot reassign member %r" % (name,))
        super().__setattr__(name, value)

    def _create_(cls, class_name, names, *, module=None, qualname=None, type=None, start=1, boundary=None):
        metacls = cls.__class__
        bases = (cls,) if type is None else (type, cls)
        _, first_enum = cls._get_mixins_(class_name, bases)
        classdict = metacls.__prepare__(class_name, bases)
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        if isinstance(names, (tuple, list)) and names and isinstance(names[0], str):
            original, names, last = names, [], []
            for count, name in enumerate(original):
                value = first_enum._generate_next_value_(name, start, count, last[:])
                last.append(value)
                names.append((name, value))
        for item in names:
            if isinstance(item, str):
                name, value = item, names[item]
            else:
                name, value = item
            classdict[name] = value
        classdict["__module__"] = module if module is not None else _caller()
        if qualname is not None:
            classdict["__qualname__"] = qualname
        return metacls.__new__(metacls, class_name, bases, classdict, boundary=boundary)

    @classmethod
    def _check_for_existing_members_(mcls, class_name, bases):
        for chain in bases:
            for base in chain.__mro__:
                if isinstance(base, EnumType) and base._member_names_:
                    raise TypeError("<enum %r> cannot extend %r" % (class_name, base))

    @classmethod
    def _get_mixins_(mcls, class_name, bases):
        if not bases:
            return object, Enum
        first_enum = bases[-1]
        if not isinstance(first_enum, EnumType):
            raise TypeError("new enumerations should be created as `EnumName([mixin_type, ...] [data_type,] enum_type)`")
        return mcls._find_data_type_(class_name, bases) or object, first_enum

    @classmethod
    def _find_data_type_(mcls, class_name, bases):
        found = []
        for chain in bases:
            candidate = None
            for base in chain.__mro__:
                if base is object:
                    continue
                if isinstance(base, EnumType):
                    if base._member_type_ is not object:
                        if base._member_type_ not in found:
                            found.append(base._member_type_)
                        break
                elif _own(base, "__new__", _auto_null) is not _auto_null or _own(base, "__dataclass_fields__", _auto_null) is not _auto_null:
                    pick = candidate or base
                    if pick not in found:
                        found.append(pick)
                    break
                else:
                    candidate = candidate or base
        if len(found) > 1:
            raise TypeError("too many data types for %r: %r" % (class_name, set(found)))
        return found[0] if found else None

    @classmethod
    def _find_data_repr_(mcls, class_name, bases):
        for chain in bases:
            for base in chain.__mro__:
                if base is object:
                    continue
                if isinstance(base, EnumType):
                    return base._value_repr_
                if _own(base, "__repr__", _auto_null) is not _auto_null:
                    return _own(base, "__repr__")
        return None

    @classmethod
    def _find_new_(mcls, classdict, member_type, first_enum):
        new = classdict.get("__new__", None)
        save_new = first_enum is not None and new is not None
        if new is None:
            for method in ("__new_member__", "__new__"):
                for possible in (member_type, first_enum):
                    target = getattr(possible, method, None)
                    if target not in (None, None.__new__, object.__new__, Enum.__new__ if Enum is not None else None):
                        new = target
                        break
                if new is not None:
                    break
            else:
                new = object.__new__
        elif isinstance(new, staticmethod):
            new = new.__func__
        return new, save_new, not (first_enum is None or new in (Enum.__new__, object.__new__))


EnumMeta = EnumType


class Enum(metaclass=EnumType):
    """A set of names bound to values that never change."""

    @classmethod
    def __signature__(cls):
        return "(value)" if cls._member_names_ else "(new_class_name, /, names, *, module=None, qualname=None, type=None, start=1, boundary=None)"

    def __new__(cls, value):
        if type(value) is cls:
            return value
        try:
            return cls._value2member_map_[value]
        except KeyError:
            pass
        except TypeError:
            for found in cls._member_map_.values():
                if found._value_ == value:
                    return found
        if not cls._member_map_:
            raise TypeError("%r has no members defined" % (cls,))
        failure = None
        try:
            result = cls._missing_(value)
        except Exception as exc:
            failure, result = exc, None
        if isinstance(result, cls):
            return result
        if Flag is not None and issubclass(cls, Flag) and cls._boundary_ is EJECT and isinstance(result, int):
            return result
        invalid = ValueError("%r is not a valid %s" % (value, cls.__qualname__))
        if result is None and failure is None:
            raise invalid
        if failure is None:
            failure = TypeError("error in %s._missing_: returned %r instead of None or a valid member" % (cls.__name__, result))
        if not isinstance(failure, ValueError):
            failure.__context__ = invalid
        raise failure

    def __init__(self, *args, **kwds):
        pass

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        if not last_values:
            return start
        numbers = []
        for value in last_values:
            try:
                value + 0
            except TypeError:
                continue
            numbers.append(value)
        if not numbers:
            return start
        return max(numbers) + 1

    @classmethod
    def _missing_(cls, value):
        return None

    def __repr__(self):
        text = self.__class__._value_repr_ or repr
        return "<%s.%s: %s>" % (self.__class__.__name__, self._name_, text(self._value_))

    def __str__(self):
        return "%s.%s" % (self.__class__.__name__, self._name_)

    def __dir__(self):
        names = {"__class__", "__doc__", "__eq__", "__hash__", "__module__", "name", "value"}
        if self.__class__._member_type_ is not object:
            names |= set(object.__dir__(self))
        for name in getattr(self, "__dict__", []):
            if name[0] != "_" and name not in self._member_map_:
                names.add(name)
        for cls in self.__class__.mro():
            for name, obj in cls.__dict__.items():
                if name[0] == "_":
                    continue
                if isinstance(obj, property):
                    if obj.fget is not None or name not in self._member_map_:
                        names.add(name)
                    else:
                        names.discard(name)
                elif name not in self._member_map_:
                    names.add(name)
        return sorted(names)

    def __format__(self, format_spec):
        return str.__format__(str(self), format_spec)

    def __hash__(self):
        return hash(self._name_)

    def __deepcopy__(self, memo):
        return self

    def __copy__(self):
        return self

    @property
    def name(self):
        return self._name_

    @property
    def value(self):
        return self._value_


class ReprEnum(Enum):
    """Changes only repr: str and format are those of the data type."""


class IntEnum(int, ReprEnum):
    """Members are ints."""


class StrEnum(str, ReprEnum):
    """Members are strings; auto() is the name in lower case."""

    def __new__(cls, *values):
        if len(values) > 3:
            raise TypeError("too many arguments for str(): %r" % (values,))
        if len(values) == 1 and not isinstance(values[0], str):
            raise TypeError("%r is not a string" % (values[0],))
        if len(values) >= 2 and not isinstance(values[1], str):
            raise TypeError("encoding must be a string, not %r" % (values[1],))
        if len(values) == 3 and not isinstance(values[2], str):
            raise TypeError("errors must be a string, not %r" % (values[2],))
        value = str(*values)
        instance = str.__new__(cls, value)
        instance._value_ = value
        return instance

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        return name.lower()


class FlagBoundary(StrEnum):
    """What happens to bits that no member names."""

    STRICT = auto()
    CONFORM = auto()
    EJECT = auto()
    KEEP = auto()


STRICT, CONFORM, EJECT, KEEP = FlagBoundary


class Flag(Enum, boundary=STRICT):
    """Members combine by |, &, ^ and ~."""

    _numeric_repr_ = repr

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        if not last_values:
            return start if start is not None else 1
        last = max(last_values)
        try:
            high = last.bit_length() - 1
        except Exception:
            raise TypeError("invalid flag value %r" % last) from None
        return 2 ** (high + 1)

    @classmethod
    def _iter_member_by_value_(cls, value):
        for bit in _bits(value & cls._flag_mask_):
            yield cls._value2member_map_.get(bit)

    _iter_member_ = _iter_member_by_value_

    @classmethod
    def _iter_member_by_def_(cls, value):
        yield from sorted(cls._iter_member_by_value_(value), key=lambda m: m._sort_order_)

    @classmethod
    def _missing_(cls, value):
        if not isinstance(value, int):
            raise ValueError("%r is not a valid %s" % (value, cls.__qualname__))
        flag_mask, all_bits = cls._flag_mask_, cls._all_bits_
        negative = None
        if not ~all_bits <= value <= all_bits or value & (all_bits ^ flag_mask):
            if cls._boundary_ is STRICT:
                width = max(value.bit_length(), flag_mask.bit_length())
                raise ValueError("%r invalid value %r\n    given %s\n  allowed %s" % (cls, value, _bin(value, width), _bin(flag_mask, width)))
            elif cls._boundary_ is CONFORM:
                value = value & flag_mask
            elif cls._boundary_ is EJECT:
                return value
            elif cls._boundary_ is KEEP:
                if value < 0:
                    value = max(all_bits + 1, 2 ** value.bit_length()) + value
            else:
                raise ValueError("%r unknown flag boundary %r" % (cls, cls._boundary_))
        if value < 0:
            negative = value
            value = all_bits + 1 + value
        unknown = value & ~flag_mask
        singles = value & cls._singles_mask_
        if unknown and cls._boundary_ is not KEEP:
            raise ValueError("%s(%r) -->  unknown values %r [%s]" % (cls.__name__, value, unknown, bin(unknown)))
        if cls._member_type_ is object:
            pseudo = object.__new__(cls)
        else:
            pseudo = cls._member_type_.__new__(cls, value)
        if not hasattr(pseudo, "_value_"):
            pseudo._value_ = value
        members, rest = [], value
        if singles or unknown or not value:
            for m in cls._iter_member_(value & cls._singles_mask_):
                members.append(m)
                rest &= ~m._value_
        if rest and value:
            members.extend(m for m in cls._member_map_.values()
                           if m not in members and m._value_ and m._value_ & rest and m._value_ & value == m._value_)
        if value & ~cls._singles_mask_ and not unknown and not members:
            pass
        if not members:
            pseudo._name_ = None
        else:
            pseudo._name_ = "|".join(m._name_ for m in members)
            if unknown:
                pseudo._name_ += "|%s" % cls._numeric_repr_(unknown)
        pseudo = cls._value2member_map_.setdefault(value, pseudo)
        if negative is not None:
            cls._value2member_map_[negative] = pseudo
        return pseudo

    def __contains__(self, other):
        if not isinstance(other, self.__class__):
            raise TypeError("unsupported operand type(s) for 'in': %r and %r" % (type(other).__qualname__, self.__class__.__qualname__))
        return other._value_ & self._value_ == other._value_

    def __iter__(self):
        yield from self._iter_member_(self._value_)

    def __len__(self):
        return self._value_.bit_count()

    def __repr__(self):
        name, cls = self.__class__.__name__, self.__class__
        text = cls._value_repr_ or repr
        if self._name_ is None:
            return "<%s: %s>" % (name, text(self._value_))
        return "<%s.%s: %s>" % (name, self._name_, text(self._value_))

    def __str__(self):
        name = self.__class__.__name__
        if self._name_ is None:
            return "%s(%s)" % (name, self.__class__._numeric_repr_(self._value_))
        return "%s.%s" % (name, self._name_)

    def __bool__(self):
        return bool(self._value_)

    def _other(self, other):
        if isinstance(other, self.__class__):
            return other._value_
        if self._member_type_ is not object and isinstance(other, self._member_type_):
            return other
        return NotImplemented

    def __invert__(self):
        if self._inverted_ is None:
            rest = ~self._value_
            if self._boundary_ is not EJECT and self._boundary_ is not KEEP:
                rest &= self._singles_mask_
            self._inverted_ = type(self)(rest)
        return self._inverted_


def _flag_operator(name, reflected, combine):
    """Gives Flag a bit operator for members and, with a data type, its values."""

    def operator(self, other):
        bits = self._other(other)
        return NotImplemented if bits is NotImplemented else type(self)(combine(self._value_, bits))

    operator.__name__, operator.__qualname__ = name, "Flag." + name
    type.__setattr__(Flag, name, operator)
    type.__setattr__(Flag, reflected, operator)


_flag_operator("__or__", "__ror__", lambda x, y: x | y)
_flag_operator("__and__", "__rand__", lambda x, y: x & y)
_flag_operator("__xor__", "__rxor__", lambda x, y: x ^ y)


def _bin(num, width):
    """Two's complement with a sign digit: 0b1 1010."""
    ceiling = 2 ** num.bit_length()
    text = "0b0" + bin(num + ceiling)[3:] if num >= 0 else bin(~num ^ (ceiling - 1) + ceiling)
    sign, digits = text[:3], text[3:]
    if len(digits) < width:
        digits = (sign[-1] * width + digits)[-width:]
    return "%s %s" % (sign, digits)


class IntFlag(int, ReprEnum, Flag, boundary=KEEP):
    """Flags that are ints."""


def unique(enumeration):
    """Refuses an enumeration in which two names have one value."""
    duplicates = [(name, m.name) for name, m in enumeration.__members__.items() if name != m.name]
    if duplicates:
        details = ", ".join("%s -> %s" % (alias, name) for alias, name in duplicates)
        raise ValueError("duplicate values found in %r: %s" % (enumeration, details))
    return enumeration


class EnumCheck(StrEnum):
    """What verify can check."""

    CONTINUOUS = "no skipped integer values"
    NAMED_FLAGS = "multi-flag aliases may not contain unnamed flags"
    UNIQUE = "one name per value"


CONTINUOUS, NAMED_FLAGS, UNIQUE = EnumCheck


class verify:
    """Checks an enumeration by the rules given."""

    def __init__(self, *checks):
        self.checks = checks

    def __call__(self, enumeration):
        for check in self.checks:
            if check is UNIQUE:
                duplicates = [(name, m.name) for name, m in enumeration.__members__.items() if name != m.name]
                if duplicates:
                    raise ValueError("aliases found in %r: %s" % (enumeration, ", ".join("%s -> %s" % d for d in duplicates)))
            elif check is CONTINUOUS:
                self._continuous(enumeration)
            elif check is NAMED_FLAGS:
                self._named(enumeration)
        return enumeration

    @staticmethod
    def _continuous(enumeration):
        values = set(e.value for e in enumeration)
        if len(values) < 2:
            return
        low, high = min(values), max(values)
        if issubclass(enumeration, Flag):
            missing = [2 ** i for i in range(low.bit_length(), high.bit_length() - 1) if 2 ** i not in values]
        else:
            missing = [i for i in range(low + 1, high) if i not in values]
        if missing:
            kind = "flag" if issubclass(enumeration, Flag) else "enum"
            raise ValueError(("invalid %s %r: missing values %s" % (kind, enumeration.__name__, ", ".join(str(m) for m in missing)))[:256])

    @staticmethod
    def _named(enumeration):
        names = enumeration._member_names_
        values = [m.value for m in enumeration]
        bad, total = [], 0
        for name, alias in enumeration._member_map_.items():
            if name in names or alias.value < 0:
                continue
            missed = [v for v in _bits(alias.value) if v not in values]
            if missed:
                bad.append(name)
                for v in missed:
                    total |= v
        if bad:
            if len(bad) == 1:
                alias = "alias %s is missing" % bad[0]
            else:
                alias = "aliases %s and %s are missing" % (", ".join(bad[:-1]), bad[-1])
            if _is_single_bit(total):
                value = "value 0x%x" % total
            else:
                value = "combined values of 0x%x" % total
            raise ValueError("invalid Flag %r: %s %s [use enum.show_flag_values(value) for details]" % (enumeration.__name__, alias, value))


def show_flag_values(value):
    return list(_bits(value))


def global_enum_repr(self):
    return "%s.%s" % (self.__class__.__module__.split(".")[-1], self._name_)


def global_flag_repr(self):
    module = self.__class__.__module__.split(".")[-1]
    if self._name_ is None:
        return "%s.%s(%r)" % (module, self.__class__.__name__, self._value_)
    return "|".join(name if name[0].isdigit() else "%s.%s" % (module, name) for name in self._name_.split("|"))


def global_str(self):
    if self._name_ is None:
        return "%s(%r)" % (self.__class__.__name__, self._value_)
    return self._name_


def global_enum(cls, update_str=False):
    if issubclass(cls, Flag):
        cls.__repr__ = global_flag_repr
    else:
        cls.__repr__ = global_enum_repr
    if not issubclass(cls, ReprEnum) or update_str:
        cls.__str__ = global_str
    return cls
