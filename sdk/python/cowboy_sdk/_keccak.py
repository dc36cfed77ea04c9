"""keccak256, which hashlib lacks."""

from __future__ import annotations

_MASK = (1 << 64) - 1
_RATE = 136


def _constants() -> tuple[list[int], list[int]]:
    """Round constants from the LFSR, rotations in the order of the walk."""
    rounds, state = [], 1
    for _ in range(24):
        word = 0
        for j in range(7):
            if state & 1:
                word ^= 1 << ((1 << j) - 1)
            state <<= 1
            if state & 0x100:
                state ^= 0x171
        rounds.append(word)
    return rounds, [(t + 1) * (t + 2) // 2 % 64 for t in range(24)]


_ROUNDS, _TURNS = _constants()


def _rotate(x: int, n: int) -> int:
    return (x << n | x >> (64 - n)) & _MASK if n else x


def _permute(a: list[int]) -> None:
    for constant in _ROUNDS:
        column = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        for x in range(5):
            d = column[x - 1] ^ _rotate(column[(x + 1) % 5], 1)
            for y in range(0, 25, 5):
                a[x + y] ^= d
        x, y, lane = 1, 0, a[1]
        for turn in _TURNS:
            x, y = y, (2 * x + 3 * y) % 5
            a[x + 5 * y], lane = _rotate(lane, turn), a[x + 5 * y]
        for y in range(0, 25, 5):
            row = a[y:y + 5]
            for x in range(5):
                a[x + y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5] & _MASK)
        a[0] ^= constant


def keccak256(data: bytes) -> bytes:
    data = bytes(data)
    padded = bytearray(data + b"\x01" + bytes(-len(data) % _RATE or _RATE))[: (len(data) // _RATE + 1) * _RATE]
    padded[-1] |= 0x80
    lanes = [0] * 25
    for at in range(0, len(padded), _RATE):
        for i in range(_RATE // 8):
            lanes[i] ^= int.from_bytes(padded[at + 8 * i:at + 8 * i + 8], "little")
        _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])
