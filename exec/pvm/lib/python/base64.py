"""Base16, base32, base64, base85 and Ascii85, as Python 3.11's base64.

The exception of malformed input is binascii.Error, which programs reach as
base64.binascii.Error: there is no module binascii to import.
"""

from _pvm import (
    a85_decode as _a85_decode, a85_encode as _a85_encode, b16_decode as _b16_decode, b16_encode as _b16_encode,
    b32_decode as _b32_decode, b32_encode as _b32_encode, b64_decode as _b64_decode, b64_encode as _b64_encode,
    b64_lines as _b64_lines, b85_decode as _b85_decode, b85_encode as _b85_encode, binascii,
)

__all__ = [
    "encode", "decode", "encodebytes", "decodebytes", "b64encode", "b64decode", "b32encode", "b32decode", "b32hexencode",
    "b32hexdecode", "b16encode", "b16decode", "b85encode", "b85decode", "a85encode", "a85decode", "standard_b64encode",
    "standard_b64decode", "urlsafe_b64encode", "urlsafe_b64decode",
]

bytes_types = (bytes, bytearray)
MAXLINESIZE = 76
MAXBINSIZE = 57

_Error = binascii.Error
_to_urlsafe = bytes.maketrans(b"+/", b"-_")
_from_urlsafe = bytes.maketrans(b"-_", b"+/")


def _encoded(s):
    """The bytes of what is to be decoded: bytes, or text in ASCII."""
    if isinstance(s, str):
        try:
            return s.encode("ascii")
        except UnicodeEncodeError:
            raise ValueError("string argument should contain only ASCII characters")
    if isinstance(s, bytes_types):
        return s
    raise TypeError(f"argument should be a bytes-like object or ASCII string, not {s.__class__.__name__!r}")


def b64encode(s, altchars=None):
    """Base64 of s; altchars stand for + and /."""
    encoded = _b64_encode(s)
    if altchars is None:
        return encoded
    assert len(altchars) == 2, repr(altchars)
    return encoded.translate(bytes.maketrans(b"+/", altchars))


def b64decode(s, altchars=None, validate=False):
    """What the base64 text s holds; validate refuses what is not of the alphabet."""
    s = _encoded(s)
    if altchars is not None:
        altchars = _encoded(altchars)
        assert len(altchars) == 2, repr(altchars)
        s = s.translate(bytes.maketrans(altchars, b"+/"))
    return _b64_decode(_Error, s, validate)


def standard_b64encode(s):
    """Base64 of s."""
    return _b64_encode(s)


def standard_b64decode(s):
    """What the base64 text s holds."""
    return b64decode(s)


def urlsafe_b64encode(s):
    """Base64 of s with - and _ for + and /."""
    return _b64_encode(s).translate(_to_urlsafe)


def urlsafe_b64decode(s):
    """What the base64 text s holds, with - and _ for + and /."""
    return b64decode(_encoded(s).translate(_from_urlsafe))


def b32encode(s):
    """Base32 of s."""
    return _b32_encode(s, False)


def b32hexencode(s):
    """Base32 of s in the alphabet that sorts as the bytes do."""
    return _b32_encode(s, True)


def _b32decode(s, extended, casefold, map01=None):
    s = _encoded(s)
    if len(s) % 8:
        raise _Error("Incorrect padding")
    if map01 is not None:
        map01 = _encoded(map01)
        assert len(map01) == 1, repr(map01)
        s = s.translate(bytes.maketrans(b"01", b"O" + map01))
    if casefold:
        s = s.upper()
    digits = s.rstrip(b"=")
    return _b32_decode(_Error, digits, len(s) - len(digits), extended)


def b32decode(s, casefold=False, map01=None):
    """What the base32 text s holds; map01 is the letter that 1 stands for, and 0 then for O."""
    return _b32decode(s, False, casefold, map01)


def b32hexdecode(s, casefold=False):
    """What the text s holds in the alphabet of b32hexencode."""
    return _b32decode(s, True, casefold)


def b16encode(s):
    """Base16 of s, in capitals."""
    return _b16_encode(s)


def b16decode(s, casefold=False):
    """What the base16 text s holds."""
    s = _encoded(s)
    return _b16_decode(_Error, s.upper() if casefold else s)


def _lines(text, width, adobe):
    """Lines of so many characters, the last with room for the end of Adobe's form."""
    width = max(2 if adobe else 1, width)
    lines = [text[i:i + width] for i in range(0, len(text), width)]
    if adobe and len(lines[-1]) + 2 > width:
        lines.append(b"")
    return b"\n".join(lines)


def a85encode(b, *, foldspaces=False, wrapcol=0, pad=False, adobe=False):
    """Ascii85 of b."""
    text = _a85_encode(b, pad, foldspaces)
    if adobe:
        text = b"<~" + text
    if wrapcol:
        text = _lines(text, wrapcol, adobe)
    return text + b"~>" if adobe else text


def a85decode(b, *, foldspaces=False, adobe=False, ignorechars=b" \t\n\r\v"):
    """What the Ascii85 text b holds."""
    b = _encoded(b)
    if adobe:
        if not b.endswith(b"~>"):
            raise ValueError("Ascii85 encoded byte sequences must end with b'~>'")
        b = b[2:-2] if b.startswith(b"<~") else b[:-2]
    return _a85_decode(ValueError, b, foldspaces, ignorechars)


def b85encode(b, pad=False):
    """Base85 of b."""
    return _b85_encode(b, pad)


def b85decode(b):
    """What the base85 text b holds."""
    return _b85_decode(ValueError, _encoded(b))


def encodebytes(s):
    """Base64 of s in lines of 76."""
    return _b64_lines(s)


def decodebytes(s):
    """What lines of base64 hold."""
    if not isinstance(s, bytes_types):
        raise TypeError(f"expected bytes-like object, not {s.__class__.__name__}")
    return _b64_decode(_Error, s, False)


def encode(input, output):
    """Base64 of an open file, in lines of 76."""
    while s := input.read(MAXBINSIZE):
        while len(s) < MAXBINSIZE and (more := input.read(MAXBINSIZE - len(s))):
            s += more
        output.write(_b64_lines(s))


def decode(input, output):
    """What the lines of an open file hold."""
    while line := input.readline():
        output.write(_b64_decode(_Error, line, False))
