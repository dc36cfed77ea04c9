"""Reads proofs of a node under CPython: CBOR, RLP and the Keccak Merkle-Patricia trie.

What comes in is not trusted: whatever does not verify is a ``Refused``. The signatures of
certificates are not checked here (``cowboy proof verify`` does); a header is what its bytes
say, and its hash is computed.
"""

from __future__ import annotations

import json
import struct
from typing import Any

from ._keccak import keccak256

EMPTY_ROOT = keccak256(b"\x80")
_DEPTH = 16  # of lists in what is read here


class Refused(Exception):
    """An answer of the node does not hold."""


def unhex(text: Any, size: int | None = None) -> bytes:
    """Bytes of hex with 0x, of a size where one is given."""
    if not isinstance(text, str) or not text.startswith("0x"):
        raise Refused(f"{text!r} is no hex")
    try:
        data = bytes.fromhex(text[2:])
    except ValueError as e:
        raise Refused(f"{text!r} is no hex") from e
    if size is not None and len(data) != size:
        raise Refused(f"{text!r} has not {size} bytes")
    return data


def parse(text: bytes) -> Any:
    """JSON of an answer."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as e:
        raise Refused(f"an answer is no JSON: {e}") from e


def read_cbor(data: bytes) -> Any:
    """The one item that canonical CBOR holds: integers from 0 on, binary64, bytes, texts, lists,
    maps, bool, None."""
    value, end = _item(data, 0, 0)
    if end != len(data):
        raise Refused("bytes behind a CBOR item")
    return value


def _item(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    if at >= len(data) or depth > _DEPTH:
        raise Refused("a CBOR item is cut off, or too deep")
    major, low = data[at] >> 5, data[at] & 31
    at += 1
    if major == 7 and low == 27 and at + 8 <= len(data):
        return struct.unpack(">d", data[at:at + 8])[0], at + 8
    if major == 7:
        if low not in (20, 21, 22):
            raise Refused("a CBOR item of another kind")
        return {20: False, 21: True, 22: None}[low], at
    size = {24: 1, 25: 2, 26: 4, 27: 8}.get(low, 0)
    if low > 27 or at + size > len(data):
        raise Refused("a CBOR head is malformed")
    n = int.from_bytes(data[at:at + size], "big") if size else low
    at += size
    if major == 0:
        return n, at
    if major in (2, 3):
        if at + n > len(data):
            raise Refused("a CBOR string is cut off")
        raw = data[at:at + n]
        return raw if major == 2 else raw.decode("utf-8", "replace"), at + n
    if major not in (4, 5) or n > len(data):
        raise Refused("a CBOR item of another kind")
    items = []
    for _ in range(n if major == 4 else 2 * n):
        value, at = _item(data, at, depth + 1)
        items.append(value)
    if major == 4:
        return items, at
    if any(not isinstance(key, (int, str, bytes)) for key in items[::2]):
        raise Refused("a key of a CBOR map is of another kind")
    return dict(zip(items[::2], items[1::2])), at


def write_cbor(value: Any) -> bytes:
    """The canonical bytes of what a genesis holds: texts, unsigned integers, bool, lists, objects."""
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return _head(0, value)
    if isinstance(value, str):
        raw = value.encode()
        return _head(3, len(raw)) + raw
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(write_cbor(v) for v in value)
    if isinstance(value, dict):
        pairs = sorted((write_cbor(k), write_cbor(v)) for k, v in value.items())
        return _head(5, len(pairs)) + b"".join(k + v for k, v in pairs)
    raise Refused(f"{value!r} is no part of a genesis")


def _head(major: int, n: int) -> bytes:
    if not 0 <= n < 1 << 64:
        raise Refused(f"{n} is outside 64 bits")
    if n < 24:
        return bytes([major << 5 | n])
    size = next(s for s in (1, 2, 4, 8) if n < 1 << 8 * s)
    return bytes([major << 5 | {1: 24, 2: 25, 4: 26, 8: 27}[size]]) + n.to_bytes(size, "big")


def read_rlp(data: bytes) -> Any:
    """The one item that RLP holds: bytes, or a list."""
    value, end = _rlp(data, 0, 0)
    if end != len(data):
        raise Refused("bytes behind an RLP item")
    return value


def _rlp(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    if at >= len(data) or depth > _DEPTH:
        raise Refused("an RLP item is cut off, or too deep")
    first = data[at]
    at += 1
    if first < 0x80:
        return bytes([first]), at
    short, is_list = (first - 0x80, False) if first < 0xC0 else (first - 0xC0, True)
    n = short
    if short > 55:
        size = short - 55
        n = int.from_bytes(data[at:at + size], "big")
        at += size
    end = at + n
    if end > len(data):
        raise Refused("an RLP item is cut off")
    if not is_list:
        return data[at:end], end
    items = []
    while at < end:
        value, at = _rlp(data, at, depth + 1)
        items.append(value)
    if at != end:
        raise Refused("an RLP list is malformed")
    return items, end


class Nodes:
    """The nodes of a proof, by their hashes."""

    def __init__(self, encoded: list[bytes]):
        self._by_hash = {keccak256(node): node for node in encoded}

    def get(self, root: bytes, key: bytes) -> bytes | None:
        """What the trie with a root holds under the hash of a key; None: proven absent."""
        if root == EMPTY_ROOT:
            return None
        path = [nibble for byte in keccak256(key) for nibble in (byte >> 4, byte & 15)]
        node = self._node(root)
        while True:
            if len(node) == 17:
                node, path = node[path[0]], path[1:]
            elif len(node) == 2:
                part, leaf = _compact(node[0])
                if path[:len(part)] != part:
                    return None
                node, path = node[1], path[len(part):]
                if leaf:
                    if path or not isinstance(node, bytes):
                        raise Refused("a leaf of the trie is malformed")
                    return node
            else:
                raise Refused("a node of the trie is malformed")
            if node == b"":
                return None
            if not path:
                raise Refused("the trie is deeper than its keys")
            if isinstance(node, bytes):
                node = self._node(node)

    def _node(self, digest: bytes) -> list:
        encoded = self._by_hash.get(digest)
        if encoded is None:
            raise Refused(f"the proof lacks the node 0x{digest.hex()}, or has it altered")
        node = read_rlp(encoded)
        if not isinstance(node, list):
            raise Refused("a node of the trie is malformed")
        return node


def _compact(encoded: Any) -> tuple[list[int], bool]:
    """The nibbles of a path, and whether a leaf ends there."""
    if not isinstance(encoded, bytes) or not encoded or encoded[0] >> 4 > 3:
        raise Refused("a path of the trie is malformed")
    nibbles = [n for byte in encoded for n in (byte >> 4, byte & 15)]
    return nibbles[1 if nibbles[0] & 1 else 2:], nibbles[0] >= 2


# Places of the fields of a header that are read here.
PARENT, HEIGHT, PARENT_EPOCH, PARENT_VIEW, PARENT_SEED, STATE_ROOT = 1, 2, 5, 6, 7, 13


class Header:
    """A block's header out of a document with one; ``hash`` is computed from its bytes."""

    def __init__(self, document: Any, genesis: bytes, chain_id: int):
        if not isinstance(document, dict):
            raise Refused("a proof is no object")
        if document.get("chain_id") != chain_id or document.get("genesis") != "0x" + genesis.hex():
            raise Refused("a proof of another chain")
        encoded = unhex(document.get("header"))
        self.fields = read_cbor(encoded)
        if not isinstance(self.fields, list) or len(self.fields) != 19:
            raise Refused("a header is malformed")
        self.hash = keccak256(b"cowboy-block-v1" + encoded)
        self.height = self.fields[HEIGHT]
        if document.get("block_hash") != "0x" + self.hash.hex() or document.get("height") != self.height:
            raise Refused("a header is not that of its hash and height")
