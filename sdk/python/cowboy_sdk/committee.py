"""Draws the committees of a job again, from what a node answers and proves.

    python3 -m cowboy_sdk.committee --rpc http://localhost:4000 --genesis genesis.json --job 0x…

It asks a node for the rows of the job and of its seats with their proofs, for the headers that
lead to the block of the submission, and for the candidates. It computes the root of the
candidates, their weights, the seed and the draws of all attempts (CIP-2 §5-6), prints them, and
compares them with the seats. Exit code 0: all is as the chain says. 1: something is not.

What is checked: every row against the state root of one header, that of the newest block that
the node proves; the headers from there back to the submission by their parents' hashes; the
candidates against the root in the job's row.

What is taken on trust: that this one block is final. Its hash is printed. ``--block`` demands
one that is known from elsewhere, and ``--out`` keeps the documents for ``cowboy proof verify``,
which checks the signatures of their certificates. Who the candidates are the root
says, on which the validators agreed; that they passed the filters is computed from the registry of
the submission as the node tells it, as there are no proofs of the past (_filters.py names the
filters). Parameters are those of the genesis file.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import urllib.error
import urllib.request
from typing import Any, Callable

from . import _filters
from ._keccak import keccak256
from ._proof import PARENT, PARENT_EPOCH, PARENT_SEED, PARENT_VIEW, STATE_ROOT, Header, Nodes, Refused, parse, read_cbor, read_rlp, unhex, write_cbor

REGISTRY, DISPATCHER = bytes(19) + b"\x01", bytes(19) + b"\x02"
ANSWER_BYTES_MAX = 32 << 20

# Places in the rows of a job and of a seat.
SUBMITTER, SUBMITTED_AT, ATTEMPT, RUNNERS, THRESHOLD, ASSIGNED_AT, SEED, ROOT, SPEC_HASH, CONFIG, OUTCOME = 0, 1, 4, 5, 6, 12, 14, 15, 16, 18, 19
SEAT_RUNNER, SEAT_SILENT = 0, 11
CANCELLED = 8


class Node:
    """A node's API, whose answers are bounded; with a folder they are kept there."""

    def __init__(self, url: str, out: str | None = None):
        self.url, self.out = url.rstrip("/"), out

    def get(self, path: str, body: Any = None, keep: str | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"} if data else {})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read(ANSWER_BYTES_MAX + 1)
        except urllib.error.HTTPError as e:
            raise Refused(f"{path}: the node answers {e.code}: {e.read(500).decode('utf-8', 'replace').strip()}") from e
        except OSError as e:
            raise Refused(f"{path}: {e}") from e
        if len(text) > ANSWER_BYTES_MAX:
            raise Refused(f"{path}: the answer is too long")
        if keep and self.out:
            with open(os.path.join(self.out, keep), "wb") as f:
                f.write(text)
        return parse(text)


def le8(n: int) -> bytes:
    return n.to_bytes(8, "little")


def slot_of(table: str, *parts: bytes) -> bytes:
    """A storage key of the protocol: the namespace byte 00, the table, the parts."""
    return b"\x00" + table.encode() + b"".join(parts)


def log_weight(stake: int, floor: int) -> int:
    """floor(log2(stake / MIN_STAKE + 1)) + 1 (CIP-2 §5), in integers."""
    return (stake // floor + 1).bit_length()


def root_weight(stake: int, reputation: int, normalizer: int, least: int) -> int:
    """Stake times the root of reputation (CIP-11 §9.3), in integers of 64 bits."""
    factor = max(math.isqrt(reputation * 1000 // normalizer), least)
    return min(stake * factor // 1_000_000, (1 << 64) - 1)


def candidates_root(candidates: list[dict]) -> bytes:
    """The root of the tree over the candidates; an odd last node is its own neighbour."""
    level = [
        keccak256(b"cowboy-candidates-leaf-v1" + i.to_bytes(4, "big") + c["runner"] + c["stake"].to_bytes(16, "big")
                  + c["reputation"].to_bytes(8, "big") + c["weight"].to_bytes(16, "big"))
        for i, c in enumerate(candidates)
    ]
    if not level:
        return keccak256(b"cowboy-candidates-empty-v1")
    while len(level) > 1:
        level += level[-1:] * (len(level) % 2)
        level = [keccak256(b"cowboy-candidates-inner-v1" + a + b) for a, b in zip(level[::2], level[1::2])]
    return level[0]


def first_seed(source: bytes, job: bytes, submitted: int) -> bytes:
    return keccak256(source + b"cowboy-runner-select-v2:" + job + le8(submitted))


def retry_seed(first: bytes, retry: int) -> bytes:
    return keccak256(first + b"retry:" + retry.to_bytes(4, "little"))


def draw(seed: bytes, candidates: list[dict], seats: int, chained: bool) -> list[bytes]:
    """CIP-2 §5: one step for each seat. Chained, the pick changes places with the first that is
    left and the hash of a step is the seed of the next; else the last takes its place."""
    pool, drawn = list(candidates), []
    for i in range(min(seats, len(pool))):
        total = sum(c["weight"] for c in pool)
        if total == 0:
            break
        digest = keccak256(seed + le8(i))
        ticket, at = int.from_bytes(digest[:8], "little") % total, 0
        while ticket >= pool[at]["weight"]:
            ticket -= pool[at]["weight"]
            at += 1
        drawn.append(pool[at]["runner"])
        if chained:
            pool[at], seed = pool[0], digest
            del pool[0]
        else:
            pool[at] = pool[-1]
            pool.pop()
    return drawn


class Recount:
    """One job, as a node proves it."""

    def __init__(self, node: Node, genesis: dict, job: bytes):
        self.node, self.job = node, job
        self.genesis = keccak256(b"cowboy-genesis-v1" + write_cbor(genesis))
        self.chain_id, self.params, self.runner_params = genesis["chain_id"], genesis["params"]["job"], genesis["params"]["runner"]

    def header(self, height: int) -> Header:
        h = Header(self.node.get(f"/proof/header/{height}", keep=f"header-{height}.json"), self.genesis, self.chain_id)
        if h.height != height:
            raise Refused(f"asked for block {height}, got {h.height}")
        return h

    def prove(self, wanted: list[tuple[bytes, list[bytes]]]) -> tuple[Header, list[list[bytes | None]]]:
        """Values of storages, all of one block."""
        body = {"accounts": [{"address": "0x" + a.hex(), "slots": ["0x" + s.hex() for s in slots]} for a, slots in wanted]}
        document = self.node.get("/proof/multi", body, "state.json")
        header = Header(document, self.genesis, self.chain_id)
        nodes = Nodes([unhex(n) for n in document.get("nodes", [])])
        values = []
        for address, slots in wanted:
            leaf = nodes.get(header.fields[STATE_ROOT], address)
            if leaf is None:
                raise Refused(f"there is no account 0x{address.hex()}")
            account = read_rlp(leaf)
            if not isinstance(account, list) or len(account) not in (4, 5):
                raise Refused("an account is malformed")
            found = [nodes.get(account[2], slot) for slot in slots]
            values.append([None if v is None else read_rlp(v) for v in found])
        return header, values

    def read_state(self) -> None:
        """Proves the rows of the job, its seats and the configuration of its weights."""
        for _ in range(5):  # the job may move on between two answers
            claim = self.node.get(f"/job/0x{self.job.hex()}")
            attempts, runners, config = claim["attempt"] + 1, claim["runners"], claim["reputation_config"]
            seats = [slot_of("seat/", self.job, bytes([a, n])) for a in range(attempts) for n in range(runners)]
            self.head, ((row, *found), (numbers,)) = self.prove([
                (DISPATCHER, [slot_of("job/", self.job), *seats]), (REGISTRY, [slot_of("repconf/", config.to_bytes(4, "big"))]),
            ])
            if row is None:
                raise Refused("the chain has no such job")
            self.row = read_cbor(row)
            if len(self.row) != 42:
                raise Refused("the row of the job is malformed")
            if (self.row[ATTEMPT] + 1, self.row[RUNNERS], self.row[CONFIG]) != (attempts, runners, config):
                continue
            if numbers is None:
                raise Refused("the chain has no configuration for the weights of the job")
            self.config = read_cbor(numbers)
            rows = [None if s is None else read_cbor(s) for s in found]
            self.seats = [[s for s in rows[a * runners:(a + 1) * runners] if s] for a in range(attempts)]
            return
        raise Refused("the job moves on too fast, or the node contradicts itself")

    def seed_source(self) -> bytes:
        """Walks back from the proven head to the block of the submission by the hashes of
        parents, and returns what the seed is made of."""
        at, rule = self.row[SUBMITTED_AT], self.params["selection_seed"]
        header = self.head
        behind = None
        while header.height > at:
            behind, want = header, header.fields[PARENT]
            header = self.header(header.height - 1)
            if header.hash != want:
                raise Refused(f"block {header.height} is not the parent of {behind.height}")
        if rule == "submission-block":
            return header.hash
        if rule == "parent-block":
            return header.fields[PARENT]
        if rule != "submission-beacon" or behind is None:
            raise Refused(f"no seed by {rule} yet")
        f = behind.fields
        return keccak256(b"cowboy-beacon-hash-v1\x01" + f[PARENT_EPOCH].to_bytes(8, "big") + f[PARENT_VIEW].to_bytes(8, "big")
                         + len(f[PARENT_SEED]).to_bytes(2, "big") + f[PARENT_SEED])

    def read_candidates(self, kept: str | None) -> None:
        """Reads the candidates from the node, or a file of an earlier run, and holds them to the
        root in the job's row and to the weights of the configuration."""
        listed: list[Any] = []
        if kept:
            with open(kept, "rb") as f:
                listed = parse(f.read())
        else:
            while True:
                page = self.node.get(f"/job/0x{self.job.hex()}/candidates?offset={len(listed)}&limit=1000")
                listed += page["candidates"]
                if len(listed) >= page["total_count"] or not page["candidates"]:
                    break
        if self.node.out:
            with open(os.path.join(self.node.out, "candidates.json"), "w", encoding="utf-8") as f:
                json.dump(listed, f)
        self.candidates = [
            {"runner": unhex(c["runner"], 20), "stake": int(c["effective_stake"]), "reputation": int(c["reputation_x1e9"]), "weight": int(c["base_weight"])}
            for c in listed
        ]
        if candidates_root(self.candidates) != self.row[ROOT]:
            raise Refused("the candidates are not those of the root in the job's row")
        order = [c["runner"] for c in self.candidates]
        if order != sorted(set(order)):
            raise Refused("the candidates do not ascend by address")
        version, floor, _, _, normalizer, least, _ = self.config
        for c in self.candidates:
            weight = log_weight(c["stake"], floor) if version == 2 else root_weight(c["stake"], c["reputation"], normalizer, least)
            if weight != c["weight"]:
                raise Refused(f"0x{c['runner'].hex()} weighs {weight} and not {c['weight']}")

    def filters(self, say: Callable[[str], None]) -> None:
        """Holds the candidates to the filters, where the node knows the registry of the submission."""
        at = self.row[SUBMITTED_AT]

        def read(table: str, *parts: bytes) -> bytes | None:
            row = self.node.get(f"/account/0x{REGISTRY.hex()}/storage/0x{slot_of(table, *parts).hex()}?height={at}")
            return unhex(row["value"]) if row["exists"] else None

        papers = unhex(self.node.get(f"/job/0x{self.job.hex()}/terms")["spec"])
        if keccak256(papers) != self.row[SPEC_HASH]:
            raise Refused("the specification is not that of the job's row")
        spec, chosen = read_cbor(papers), {c["runner"] for c in self.candidates}
        try:
            count, others = _filters.check(read, self.row, spec, chosen, self.runner_params)
        except Refused as e:
            if '"code":2006' not in str(e):
                raise
            say(f"the filters are not computed: the node does not keep the state of block {at}")
            return
        if others and not _filters.asks_more(self.row, spec):
            if self.node.get(f"/account/0x{self.row[SUBMITTER].hex()}/code")["code"] == "0x":
                raise Refused(f"0x{others[0].hex()} passes the filters and is no candidate")
        say(f"{len(chosen)} of {count} runners are candidates; {len(others)} more pass the filters that are computed here")

    def committees(self, say: Callable[[str], None]) -> bool:
        """Draws for every attempt and compares; false where a seat is another's."""
        first = first_seed(self.seed_source(), self.job, self.row[SUBMITTED_AT])
        holds = True
        if self.row[SEED] != first and any(self.row[SEED]):
            say(f"the chain says that the seed is 0x{self.row[SEED].hex()}, it is 0x{first.hex()}")
            holds = False
        silent: set[bytes] = set()
        for attempt, seats in enumerate(self.seats):
            last = attempt == len(self.seats) - 1
            if last and not seats and (self.row[ASSIGNED_AT] == 0 and self.row[OUTCOME] == 0 or self.row[OUTCOME] == CANCELLED):
                say(f"attempt {attempt + 1}: nobody is drawn{'' if self.row[OUTCOME] else ' yet'}")
                break
            left = [c for c in self.candidates if c["runner"] not in silent]
            seed = retry_seed(first, attempt) if attempt else first
            drawn = draw(seed, left, self.row[RUNNERS], self.params["selection_chained_draw"])
            if len(left) < self.row[THRESHOLD] and self.params["fail_unfillable"]:
                drawn = []
            got = [s[SEAT_RUNNER] for s in seats]
            say(f"attempt {attempt + 1}, seed 0x{seed.hex()}, {len(left)} candidates:")
            for runner in drawn:
                say(f"  0x{runner.hex()}")
            if got != drawn:
                say("  the chain has " + (", ".join("0x" + r.hex() for r in got) or "nobody"))
                holds = False
            silent |= {s[SEAT_RUNNER] for s in seats if s[SEAT_SILENT]}
        return holds


def run(options: argparse.Namespace) -> int:
    with open(options.genesis, "rb") as f:
        genesis = parse(f.read())
    if options.out:
        os.makedirs(options.out, exist_ok=True)
    recount = Recount(Node(options.rpc, options.out), genesis, unhex(options.job, 32))
    recount.read_state()
    print(f"taken on trust: that block {recount.head.height}, 0x{recount.head.hash.hex()}, is final")
    if options.block and recount.head.hash != unhex(options.block, 32):
        raise Refused(f"the node proves another block than {options.block}")
    recount.read_candidates(options.candidates)
    recount.filters(print)
    holds = recount.committees(print)
    print("the committees are those of the chain" if holds else "the committees are NOT those of the chain")
    return 0 if holds else 1


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="cowboy_sdk.committee", description="Draws the committees of a job again and compares them with the chain's.")
    parser.add_argument("--rpc", required=True, help="URL of a node")
    parser.add_argument("--genesis", required=True, help="file with the genesis of the chain")
    parser.add_argument("--job", required=True, help="id of the job, 0x and 64 digits")
    parser.add_argument("--candidates", help="candidates.json that --out kept: nodes know those of a job that is over for 1,024 blocks")
    parser.add_argument("--block", help="hash of the block that must be the proven one")
    parser.add_argument("--out", help="folder for the documents, for cowboy proof verify")
    try:
        return run(parser.parse_args(arguments))
    except (Refused, OSError) as e:
        print(f"refused: {e}", file=sys.stderr)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as e:
        print(f"refused: an answer has not the form that it should have: {e!r}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
