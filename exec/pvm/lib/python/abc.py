"""Abstract base classes, as Python 3.11's abc."""

from _pvm import (
    abc_instancecheck as _instancecheck, abc_new as _new, abc_register as _register,
    abc_subclasscheck as _subclasscheck, abc_token as get_cache_token, abc_update as update_abstractmethods,
)

__all__ = [
    "ABC", "ABCMeta", "abstractmethod", "abstractclassmethod", "abstractstaticmethod", "abstractproperty",
    "get_cache_token", "update_abstractmethods",
]


def abstractmethod(funcobj):
    """Marks a method that a subclass must define."""
    funcobj.__isabstractmethod__ = True
    return funcobj


class abstractclassmethod(classmethod):
    __isabstractmethod__ = True

    def __init__(self, callable):
        super().__init__(abstractmethod(callable))


class abstractstaticmethod(staticmethod):
    def __init__(self, callable):
        super().__init__(abstractmethod(callable))

    __isabstractmethod__ = True


class abstractproperty(property):
    __isabstractmethod__ = True


class ABCMeta(type):
    """Metaclass of abstract base classes: virtual subclasses and abstract methods."""

    __new__ = _new
    register = _register
    __instancecheck__ = _instancecheck
    __subclasscheck__ = _subclasscheck


class ABC(metaclass=ABCMeta):
    """A class whose metaclass is ABCMeta."""

    __slots__ = ()
