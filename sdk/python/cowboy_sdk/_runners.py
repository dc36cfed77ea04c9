"""How a chain in memory judges what runners find: the plain part of docs/verdicts.md."""

from __future__ import annotations

from typing import Any, Callable, Optional

from ._chain import Job
from ._keccak import keccak256
from ._values import encode


class Fault(Exception):
    """A runner that cannot do a job reports why: impossible, actor_fault or external_fault."""

    def __init__(self, outcome: str) -> None:
        if outcome not in ("impossible", "actor_fault", "external_fault"):
            raise ValueError("a runner reports impossible, actor_fault or external_fault")
        super().__init__(outcome)
        self.outcome = outcome


class Silent:
    """What a runner finds that gives no sign."""

    def __repr__(self) -> str:
        return "SILENT"


SILENT = Silent()


def address_of(job: Job, seat: int) -> str:
    """The runner that sits in a seat of a job."""
    return "0x" + keccak256(f"runner {seat} of {job.id}".encode())[12:].hex()


def verdict(job: Job, script: Callable[[Job, int], Any]) -> tuple[Any, Optional[str], list[str]]:
    """Output, outcome if it is not ok, and the runners that agreed."""
    terms = job.spec.get("verification") or {}
    mode = terms.get("mode", "none")
    snapshot = (job.spec.get("snapshot") or {}).get("mode")
    seats = 1 if mode in ("none", "economic_bond") else terms.get("runners", 5)
    threshold = 1 if seats == 1 else terms.get("threshold", seats // 2 + 1)
    found, faults = [], []
    for seat in range(seats):
        try:
            data = script(job, seat)
        except Fault as fault:
            faults.append(fault.outcome)
            continue
        if not isinstance(data, Silent):
            found.append((address_of(job, seat), data))
    for outcome in sorted(set(faults)):
        if faults.count(outcome) >= threshold:
            return None, outcome, []
    if len(found) < threshold:
        return None, "no_agreement" if faults else "timeout", []
    if mode == "median" or snapshot == "median":
        return _median(job, found, threshold)
    if seats > 1 and mode not in ("majority", "majority_vote", "structured_match"):
        raise ValueError(f"the chain in memory does not judge '{mode}': say what comes of the job with Chain.answer")
    return _most(terms, found, threshold)


def _most(terms: dict, found: list, threshold: int) -> tuple[Any, Optional[str], list[str]]:
    """The first of the answers that enough runners share, in what is compared of them."""
    names = [terms["vote_field"]] if terms.get("vote_field") else terms.get("fields")
    groups: dict[bytes, list] = {}
    for runner, data in found:
        key = encode(data if names is None else [_field(data, name) for name in names], most=1 << 20)  # as data, they are shorter
        groups.setdefault(key, []).append((runner, data))
    best = max(groups.values(), key=len)
    if len(best) < threshold:
        return None, "no_agreement", []
    return best[0][1], None, [runner for runner, _ in best]


def _field(data: Any, path: str) -> Any:
    """A field by its names with dots between, beginning with $ or not."""
    for name in path.removeprefix("$.").split("."):
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _median(job: Job, found: list, threshold: int) -> tuple[Any, Optional[str], list[str]]:
    """The lower middle of each number (resolution 12.37), without those that lie beyond the
    outlier threshold."""
    numbers = [(r, {k: v for k, v in d.items() if isinstance(v, (int, float)) and not isinstance(v, bool)})
               for r, d in found if isinstance(d, dict)]
    shared = {k for _, d in numbers for k in d if sum(k in other for _, other in numbers) >= threshold}
    numbers = [(r, d) for r, d in numbers if shared and shared <= set(d)]
    if len(numbers) < threshold:
        return None, "no_agreement", []
    middle = {k: sorted(d[k] for _, d in numbers)[(len(numbers) - 1) // 2] for k in sorted(shared)}
    limit = (job.spec.get("snapshot") or {}).get("outlier_threshold")
    agreed = [r for r, d in numbers if not limit or all(abs(d[k] - m) <= abs(m) * limit for k, m in middle.items())]
    if len(agreed) < threshold:
        return None, "no_agreement", []
    return middle, None, agreed
