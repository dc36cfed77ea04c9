"""The canonical bytes of values, as the chain stores and sends them.

RFC 8949 core deterministic encoding: shortest heads, dicts sorted by the encoded
key, sets as tag 258, instances as tag 27 over class name and what
``__cowboy_serialize__`` answered, text in NFC.
"""

from __future__ import annotations

import math
import struct
import unicodedata
from typing import Any, Callable, Iterator

BYTES_MAX = 64 << 10
DEPTH_MAX = 64


def _head(major: int, n: int) -> bytes:
    top = major << 5
    if n < 24:
        return bytes([top | n])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if n < 1 << (8 * size):
            return bytes([top | code]) + n.to_bytes(size, "big")
    raise ValueError("length beyond 64 bits")


def _int(n: int) -> bytes:
    major, tag = 0, 2
    if n < 0:
        n, major, tag = -1 - n, 1, 3
    if n < 1 << 64:
        return _head(major, n)
    raw = n.to_bytes((n.bit_length() + 7) // 8, "big")
    return _head(6, tag) + _head(2, len(raw)) + raw


def encode(value: Any, most: int = BYTES_MAX) -> bytes:
    """The canonical bytes; TypeError for what has none, ValueError beyond most, 64 KiB."""
    out = _encode(value, DEPTH_MAX)
    if len(out) > most:
        raise ValueError(f"value is too long to serialize: more than {most} bytes")
    return out


def _encode(value: Any, depth: int) -> bytes:
    if depth < 0:
        raise ValueError("value is nested too deeply to serialize")
    kind = type(value)
    if kind not in (int, str, bytes, list, tuple, dict, set, frozenset, float, bool, bytearray, type(None)):
        method = getattr(kind, "__cowboy_serialize__", None)
        if method is not None:
            name = kind.__qualname__.encode()
            return _head(6, 27) + _head(4, 2) + _head(3, len(name)) + name + _encode(method(value), depth - 1)
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[value]
    if isinstance(value, int):
        return _int(int(value))
    if isinstance(value, float):
        return b"\xfb" + (b"\x7f\xf8" + bytes(6) if math.isnan(value) else struct.pack(">d", value))
    if isinstance(value, str):
        raw = unicodedata.normalize("NFC", value).encode()
        return _head(3, len(raw)) + raw
    if isinstance(value, (bytes, bytearray)):
        return _head(2, len(value)) + bytes(value)
    if isinstance(value, (list, tuple)):
        return _head(4, len(value)) + b"".join(_encode(v, depth - 1) for v in value)
    if isinstance(value, dict):
        pairs = sorted((_encode(k, depth - 1), _encode(v, depth - 1)) for k, v in value.items())
        return _head(5, len(pairs)) + b"".join(k + v for k, v in pairs)
    if isinstance(value, (set, frozenset)):
        items = sorted(_encode(v, depth - 1) for v in value)
        return _head(6, 258) + _head(4, len(items)) + b"".join(items)
    raise TypeError(f"Object of type {kind.__name__} is not serializable: it has no __cowboy_serialize__")


class _Reader:
    def __init__(self, data: bytes, classes: Callable[[str], Any]) -> None:
        self.data, self.pos, self.classes = data, 0, classes

    def take(self, n: int) -> bytes:
        out = self.data[self.pos:self.pos + n]
        if len(out) < n:
            raise ValueError("malformed value: it ends too early")
        self.pos += n
        return out

    def value(self, key: bool = False) -> Any:
        first = self.take(1)[0]
        major, info = first >> 5, first & 31
        if major == 7:
            if info == 27:
                return struct.unpack(">d", self.take(8))[0]
            return {20: False, 21: True, 22: None}[info]
        n = info if info < 24 else int.from_bytes(self.take(1 << (info - 24)), "big")
        if major < 2:
            return n if major == 0 else -1 - n
        if major == 2:
            return self.take(n)
        if major == 3:
            return self.take(n).decode()
        if major == 4:
            items = [self.value(key) for _ in range(n)]
            return tuple(items) if key else items
        if major == 5:
            return dict(self.pairs(n))
        return self.tagged(n, key)

    def pairs(self, n: int) -> Iterator[tuple[Any, Any]]:
        for _ in range(n):
            k = self.value(True)
            yield k, self.value()

    def tagged(self, tag: int, key: bool) -> Any:
        inner = self.value(key or tag == 258)
        if tag in (2, 3):
            n = int.from_bytes(inner, "big")
            return n if tag == 2 else -1 - n
        if tag == 258:
            return frozenset(inner) if key else set(inner)
        name, state = inner
        cls = self.classes(name)
        if cls is None:
            raise ValueError(f"no class '{name}'")
        return cls.__cowboy_deserialize__(state)


def decode(data: bytes, classes: Callable[[str], Any] = lambda name: None) -> Any:
    """The value of canonical bytes; classes finds a class of the program by its name."""
    return _Reader(data, classes).value()
