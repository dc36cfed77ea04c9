"""HMAC (RFC 2104), as Python 3.11's hmac, over the hashes of hashlib."""

import hashlib as _hashlib
from _pvm import compare_digest

trans_5C = bytes(x ^ 0x5C for x in range(256))
trans_36 = bytes(x ^ 0x36 for x in range(256))
digest_size = None


def _constructor(digestmod):
    """What makes a hash: digestmod itself, hashlib.new by that name, or a module's new."""
    if callable(digestmod):
        return digestmod
    if isinstance(digestmod, str):
        return lambda data=b"": _hashlib.new(digestmod, data)
    return lambda data=b"": digestmod.new(data)


def _keyed(make, key, blocksize):
    """The two hashes with the key in them, and the bytes of a block of them."""
    outer, inner = make(), make()
    size = getattr(inner, "block_size", blocksize)
    if size < 16:
        size = blocksize
    if len(key) > size:
        key = make(key).digest()
    key = key.ljust(size, b"\0")
    outer.update(key.translate(trans_5C))
    inner.update(key.translate(trans_36))
    return outer, inner, size


class HMAC:
    """A code in progress."""

    blocksize = 64
    __slots__ = ("_inner", "_outer", "block_size", "digest_size")

    def __init__(self, key, msg=None, digestmod=""):
        if not isinstance(key, (bytes, bytearray)):
            raise TypeError(f"key: expected bytes or bytearray, but got {type(key).__name__!r}")
        if not digestmod:
            raise TypeError("Missing required parameter 'digestmod'.")
        self._outer, self._inner, self.block_size = _keyed(_constructor(digestmod), key, self.blocksize)
        self.digest_size = self._inner.digest_size
        if msg is not None:
            self.update(msg)

    @property
    def name(self):
        return f"hmac-{self._inner.name}"

    def update(self, msg):
        """Adds to the message."""
        self._inner.update(msg)

    def copy(self):
        """A code that goes on apart from this one."""
        other = self.__class__.__new__(self.__class__)
        other._inner, other._outer = self._inner.copy(), self._outer.copy()
        other.block_size, other.digest_size = self.block_size, self.digest_size
        return other

    def _current(self):
        outer = self._outer.copy()
        outer.update(self._inner.digest())
        return outer

    def digest(self):
        """The code of the message so far."""
        return self._current().digest()

    def hexdigest(self):
        """The same in hexadecimal digits."""
        return self._current().hexdigest()


def new(key, msg=None, digestmod=""):
    """Begins a code."""
    return HMAC(key, msg, digestmod)


def digest(key, msg, digest):
    """The code of one message."""
    for data in (key, msg):
        if not isinstance(data, (bytes, bytearray)):
            raise TypeError(f"a bytes-like object is required, not {type(data).__name__!r}")
    outer, inner, _ = _keyed(_constructor(digest), key, 64)
    inner.update(msg)
    outer.update(inner.digest())
    return outer.digest()
