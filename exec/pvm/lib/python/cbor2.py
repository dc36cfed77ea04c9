"""The part of cbor2 that has one answer: dumps and loads in the chain's own form.

That form is what storage and messages have: RFC 8949's deterministic encoding with
floats of 64 bits, text in NFC, sets under tag 258 and no other tags but bignums.
loads takes nothing else.
"""

from _pvm import cbor_dumps as _cbor_dumps, cbor_loads as _cbor_loads

__all__ = [
    "dumps", "loads", "CBORError", "CBOREncodeError", "CBOREncodeTypeError", "CBOREncodeValueError", "CBORDecodeError",
    "CBORDecodeValueError", "CBORDecodeEOF",
]


class CBORError(Exception):
    """What this module raises."""


class CBOREncodeError(CBORError):
    """A value that cannot be written."""


class CBOREncodeTypeError(CBOREncodeError, TypeError):
    """A value of a type that has no encoding."""


class CBOREncodeValueError(CBOREncodeError, ValueError):
    """A value that is too long, too deep, or has two keys with one encoding."""


class CBORDecodeError(CBORError):
    """Bytes that are no value."""


class CBORDecodeValueError(CBORDecodeError, ValueError):
    """Bytes that are malformed, or another encoding than the canonical one."""


class CBORDecodeEOF(CBORDecodeError, EOFError):
    """Bytes that end too early."""


def dumps(obj, *, canonical=True):
    """The encoding of a value."""
    if canonical is not True:
        raise DeterminismError("cbor2 writes the canonical form only")
    return _cbor_dumps(CBOREncodeTypeError, CBOREncodeValueError, obj)


def loads(s):
    """The value of an encoding."""
    return _cbor_loads(CBORDecodeValueError, CBORDecodeEOF, s)
