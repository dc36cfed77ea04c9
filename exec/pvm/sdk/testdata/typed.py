"""Hashes typed data of wallets (EIP-712), as a contract that takes orders signed
elsewhere would."""
from cowboy_sdk import *

DOMAIN = [("name", "string"), ("version", "string"), ("chainId", "uint256"),
          ("verifyingContract", "address"), ("salt", "bytes32")]


def split(kind):
    """The base of a type, and the lengths of its arrays, outermost last."""
    sizes = []
    while kind.endswith("]"):
        kind, _, n = kind[:-1].rpartition("[")
        sizes.append(None if n == "" else int(n))
    return kind, sizes[::-1]


def needs(types, kind, seen):
    kind, _ = split(kind)
    if kind in types and kind not in seen:
        seen.append(kind)
        for field in types[kind]:
            needs(types, field["type"], seen)
    return seen


def encode_type(types, kind):
    first, *others = needs(types, kind, [])
    text = ""
    for k in [first] + sorted(others):
        text += k + "(" + ",".join(f["type"] + " " + f["name"] for f in types[k]) + ")"
    return text


def blob(text):
    if not text.startswith("0x"):
        raise ValueError("bytes begin with 0x")
    digits = text[2:]
    return bytes.fromhex("0" * (len(digits) % 2) + digits)


def number(value):
    if isinstance(value, str):
        value = int(value, 16 if value.startswith(("0x", "-0x")) else 10)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("not a number")
    return value


def word(types, kind, value):
    """What stands for a value in the encoding of its struct: 32 bytes."""
    base, sizes = split(kind)
    if sizes:
        if not isinstance(value, list) or sizes[-1] is not None and len(value) != sizes[-1]:
            raise ValueError("an array of another length")
        inner = base + "".join("[]" if n is None else "[%d]" % n for n in sizes[:-1])
        return keccak256(b"".join(word(types, inner, v) for v in value))
    if kind in types:
        return hash_struct(types, kind, value)
    if kind == "string":
        return keccak256(value.encode())
    if kind == "bytes":
        return keccak256(blob(value))
    if kind == "bool":
        return (1 if value else 0).to_bytes(32, "big")
    if kind == "address":
        return blob(value).rjust(32, b"\0") if len(value) == 42 else bad(kind)
    if kind.startswith("bytes") and kind[5:].isdigit():
        b = blob(value)
        return b.ljust(32, b"\0") if len(b) == int(kind[5:]) else bad(kind)
    for prefix, signed in ("uint", False), ("int", True):
        if kind.startswith(prefix) and kind[len(prefix):].isdigit():
            bits, n = int(kind[len(prefix):]), number(value)
            if not (-(1 << bits - 1) <= n < 1 << bits - 1 if signed else 0 <= n < 1 << bits):
                raise ValueError("a number out of range")
            return (n % (1 << 256)).to_bytes(32, "big")
    return bad(kind)


def bad(kind):
    raise ValueError("not a type, or a value of another: " + kind)


def encode_data(types, kind, value):
    out = keccak256(encode_type(types, kind).encode())
    for field in types[kind]:
        if field["name"] not in value:
            raise ValueError("no " + field["name"])
        out += word(types, field["type"], value[field["name"]])
    return out


def hash_struct(types, kind, value):
    if value is None:
        return b"\0" * 32
    return keccak256(encode_data(types, kind, value))


@public
def digest(msg):
    """Takes a document; returns encoding and digest in hex."""
    doc = msg.payload
    types, domain = doc["types"], doc["domain"]
    if "EIP712Domain" not in types:
        fields = [{"name": n, "type": t} for n, t in DOMAIN if domain.get(n) is not None]
        types = {**types, "EIP712Domain": fields}
    encoded = encode_data(types, doc["primaryType"], doc["message"])
    separator = hash_struct(types, "EIP712Domain", domain)
    return [encoded.hex(), eip712_digest(separator, keccak256(encoded)).hex()]
