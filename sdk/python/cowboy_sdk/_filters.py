"""Holds the candidates of a job to the filters of CIP-2 §4, by the registry of the submission.

In: the rows of the registry after the block of the submission, as a node tells them: there are no
proofs of the past. Out: nothing, or Refused. So a node that lies about both may hide who should have
been a candidate; one that is honest about either shows a chain that has left somebody out.

Recomputed are health, kind of work, host or model, price and work at hand; and of those
whose noted reputation is enough, that none was left out. Pools, manifests, enclaves and bonds are
not: where a job asks for one, fewer may be left.
"""

from __future__ import annotations

from typing import Callable

from ._proof import Refused, read_cbor

# Reads a row of the registry after a block: table, parts of the key.
Read = Callable[..., "bytes | None"]

# Places in the row of a job, in a specification and in an offer.
KIND, RUNNERS, MODE, MAX_PRICE = 2, 5, 7, 8
WORK, BOUNDS, VERIFICATION, POOL = 1, 2, 3, 10
LLM, HTTP, MCP = 0, 1, 2
HEALTHY, BONDED_MODE, POINT = 1, 1, 10**9

LIST_PAGE, STANDING_PAGE, STANDING_HEAD = 64, 32, 8


class Registry:
    """The pages of the registry as they were, each read once."""

    def __init__(self, read: Read):
        self.read = read
        self.pages: dict[tuple[str, int], bytes] = {}

    def entry(self, table: str, index: int, entries: int, size: int, head: int = 0) -> bytes:
        page = (table, index // entries)
        if page not in self.pages:
            self.pages[page] = self.read(table, page[1].to_bytes(4, "big")) or b""
        at = head + index % entries * size
        found = self.pages[page][at:at + size]
        if len(found) != size:
            raise Refused(f"page {page[1]} of {table} ends early")
        return found


def check(read: Read, row: list, spec: dict, candidates: set[bytes], params: dict) -> tuple[int, list[bytes]]:
    """Holds every candidate to the filters. Returns how many runners were registered, and who
    passes besides and is no candidate."""
    registry, left = Registry(read), set(candidates)
    count = read_cbor(read("count") or b"\x00")
    others = []
    for index in range(count):
        runner = registry.entry("active/", index, LIST_PAGE, 20)
        why = left_out(registry, index, runner, row, spec, params)
        if why and runner in left:
            raise Refused(f"candidate 0x{runner.hex()} {why}")
        if not why and runner not in left and not may_lack_reputation(registry, index, params):
            others.append(runner)
        left.discard(runner)
    if left:
        raise Refused(f"candidate 0x{left.pop().hex()} was not registered")
    return count, others


def may_lack_reputation(registry: Registry, index: int, params: dict) -> bool:
    """Whether a noted reputation is below the least. It decays towards 50 points and not past
    them, so at a least of 50 one that is noted above is above at any later block; one below may
    have come near enough by then to be rounded up."""
    standing = registry.entry("standing/", index, STANDING_PAGE, 24, STANDING_HEAD)
    return int.from_bytes(standing[8:16], "big") < params["min_reputation"] * POINT


def left_out(registry: Registry, index: int, runner: bytes, row: list, spec: dict, params: dict) -> str | None:
    """Why a runner is no candidate; None if it passes."""
    load = registry.entry("load/", index, LIST_PAGE, 16)
    active, limit, successes = (int.from_bytes(load[at:at + 2], "big") for at in (0, 2, 6))
    if successes < params["probation_successes"]:
        limit = min(limit, 1)
    if load[4] != HEALTHY:
        return "is not healthy"
    if not load[5] >> row[KIND] & 1:
        return "does no such work"
    if active >= limit:
        return "has work enough"
    offer = registry.read("offer/", runner)
    if offer is None:
        raise Refused(f"0x{runner.hex()} has no offer")
    return unsuited(read_cbor(offer), row, spec)


def unsuited(offer: list, row: list, spec: dict) -> str | None:
    """Why rates and abilities do not fit a job; None if they do."""
    rates, abilities, work, bounds = offer[0], offer[1], spec[WORK], spec[BOUNDS]
    if row[KIND] == HTTP and not any(covers(pattern, host_of(work[1])) for pattern in abilities[3]):
        return "does not fetch from there"
    if row[KIND] == LLM and any(work[1]) and work[1] not in rates[5]:
        return "has another model"
    cost = rates[3] * bounds[2] + rates[4] * bounds[3]
    if row[KIND] == LLM:
        cost += rates[0] * bounds[0] + rates[1] * bounds[1]
    if row[KIND] in (HTTP, MCP):
        cost += rates[2] * (1 + bounds[4])
    if row[MAX_PRICE] and cost > row[MAX_PRICE] // max(row[RUNNERS], 1):  # resolution 12.12
        return "is too dear"
    return None


def asks_more(row: list, spec: dict) -> bool:
    """Whether a job asks for a pool, an enclave or a bond."""
    return bool(spec[POOL]) or spec[VERIFICATION][4] or row[MODE] == BONDED_MODE


def host_of(url: str) -> str:
    rest = url.split("://", 1)[-1]
    for end in "/?#":
        rest = rest.split(end, 1)[0]
    return rest.split(":", 1)[0].lower()


def covers(pattern: str, host: str) -> bool:
    """Whether a pattern of domains covers a host; "*" covers all."""
    return host.endswith(pattern[1:]) if pattern.startswith("*") else host == pattern
