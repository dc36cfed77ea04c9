"""A chain in memory on which actors run under CPython, for unit tests.

It keeps what programs can observe: a handler is atomic, globals of a program do not
outlive a call, values pass through their canonical bytes, messages are delivered
breadth first within the transaction, timers fire when blocks are made, and the
answer to a job arrives in a later block. It knows no cycles, cells, deposits, rent or
entitlements: for those run the actor with ``cowboy dev`` or on a devnet.
"""

from __future__ import annotations

import builtins
import copy
import hashlib
import inspect
import json
import os
from collections import deque
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Callable, Iterable, Optional

from ._keccak import keccak256
from ._values import decode, encode

FANOUT = 1024
DEPTH = 32
DISPATCHER = "0x" + "2".rjust(40, "0")
VERIFIER = "0x" + "3".rjust(40, "0")
LAST_SYSTEM = 0x100
RESULT_BYTES = 64 << 10
OUTCOMES = ("impossible", "actor_fault", "external_fault", "no_agreement", "timeout", "no_candidates")


def address(value: Any) -> str:
    """An address as lower-case text."""
    if isinstance(value, (bytes, bytearray)):
        value = "0x" + bytes(value).hex()
    text = str(value).lower()
    if len(text) != 42 or not text.startswith("0x") or len(bytes.fromhex(text[2:])) != 20:
        raise ValueError("an address is '0x' and 40 hexadecimal digits, or 20 bytes")
    return text


def is_system(value: Any) -> bool:
    """Whether an address is of a system actor's."""
    return 1 <= int(address(value), 16) <= LAST_SYSTEM


def account(name: str) -> str:
    """The address of a name, for tests: ``account("alice")``."""
    return "0x" + keccak256(b"account of " + name.encode())[12:].hex()


@dataclass
class Event:
    emitter: str
    name: str
    data: Any


@dataclass
class Receipt:
    """What a transaction, a firing or an answer did."""

    ok: bool = True
    output: Any = None
    error: Optional[BaseException] = None
    events: list[Event] = field(default_factory=list)
    messages: list["Sent"] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)

    def check(self) -> "Receipt":
        """The receipt, or the exception that the handler raised."""
        if self.error is not None:
            raise self.error
        return self


@dataclass
class Sent:
    """A message: who sent it, and what became of it."""

    sender: str
    to: str
    handler: Optional[str]
    payload: Any
    value: int
    ok: bool = False
    error: Optional[BaseException] = None


@dataclass
class Job:
    """Work that an actor has asked for at a height; status is pending, done, failed or cancelled."""

    id: str
    actor: str
    spec: dict
    handler: Optional[str] = None
    waits: Any = None
    status: str = "pending"
    height: int = 0
    kept: Optional[tuple[str, str, bytes]] = None  # what it came to, if the answer names it: for whom, format, data

    def format(self) -> str:
        """What data comes as: what the specification says, json where something is taken out
        of it or compared, else text."""
        said = (self.spec.get("result_schema") or {}).get("data_format")
        verification = self.spec.get("verification") or {}
        snapshot = (self.spec.get("snapshot") or {}).get("mode")
        looked_at = any(self.spec.get(k) for k in ("extraction", "response_model")) or "median" in (snapshot, verification.get("mode"))
        looked_at = looked_at or any(verification.get(k) for k in ("vote_field", "fields", "checks", "objective_checks"))
        return said or ("json" if looked_at else "text")

    def told(self, output: Any, error: Optional[str], runners: list[str]) -> dict:
        """What the actor is told at the end (docs/market.md)."""
        name = error or "ok"
        told = {
            "job_id": bytes.fromhex(self.id[2:]), "output": output, "result": output, "status": "failed" if error else "done",
            "context": self.spec.get("context"), "outcome": name, "runners": [bytes.fromhex(r[2:]) for r in runners],
            "correlation_id": self.spec.get("correlation_id") or self.id,
        }
        return {**told, "error": name} if error else told

    def keep(self, to: str, output: Any) -> dict:
        """Keeps what does not fit into the answer to an actor; how the answer names it."""
        form = self.format()
        data = {"text": str.encode, "bytes": bytes}.get(form, lambda v: json.dumps(v, separators=(",", ":")).encode())(output)
        if len(data) > RESULT_BYTES:
            raise ValueError(f"the data of job {self.id} are longer than {RESULT_BYTES} bytes")
        self.kept = (to, form, data)
        return {"hash": keccak256(data), "bytes": len(data)}


@dataclass
class Timer:
    id: str
    owner: str
    target: str
    height: int
    handler: str
    data: bytes
    every: int = 0


@dataclass
class Token:
    name: str
    symbol: str
    decimals: int
    max_supply: Optional[int]
    owner: Optional[str]
    hook: Optional[str] = None
    supply: int = 0
    balances: dict = field(default_factory=dict)
    allowances: dict = field(default_factory=dict)
    frozen: set = field(default_factory=set)


@dataclass
class State:
    """All that a failing handler takes back."""

    storage: dict = field(default_factory=dict)
    balances: dict = field(default_factory=dict)
    sources: dict = field(default_factory=dict)
    creators: dict = field(default_factory=dict)
    timers: dict = field(default_factory=dict)
    tokens: dict = field(default_factory=dict)
    jobs: dict = field(default_factory=dict)
    blobs: dict = field(default_factory=dict)
    deployed: dict = field(default_factory=dict)


class Waiting:
    """A handler that is suspended at the jobs of an await."""

    def __init__(self, coroutine: Any, frame: "Frame", request: Any, ids: list[str], group: bool) -> None:
        self.coroutine, self.frame, self.request, self.ids, self.group = coroutine, frame, request, ids, group
        self.answers: dict[str, Any] = {}

    def __deepcopy__(self, memo: dict) -> "Waiting":
        return self  # a coroutine cannot be copied; only its answers would differ


class Frame:
    """One handler under way."""

    def __init__(self, tx: "Transaction", actor: str, sender: str, value: int, depth: int) -> None:
        self.tx, self.actor, self.sender, self.value, self.depth = tx, actor, sender, value, depth
        self.module = ModuleType("actor")

    def classes(self, name: str) -> Any:
        from . import _module
        return getattr(self.module, name, None) or getattr(_module, name, None)


class Transaction:
    def __init__(self, chain: "Chain", origin: str, read_only: bool = False) -> None:
        self.chain, self.origin, self.read_only = chain, origin, read_only
        self.receipt = Receipt()
        self.queue: deque[tuple[Sent, bytes, int]] = deque()
        self.sent = 0


_frames: list[Frame] = []


def current() -> Frame:
    """The handler that runs now."""
    if not _frames:
        raise RuntimeError("this program runs without a chain: use cowboy_sdk.testing.Chain")
    return _frames[-1]


class Chain:
    """A chain to test actors on.

    >>> chain = Chain()
    >>> counter = chain.deploy("counter.py")
    >>> chain.execute(counter, "add", 5).output
    5
    """

    def __init__(self, height: int = 1, chain_id: int = 1337) -> None:
        self.height, self.chain_id, self.time_ms = height, chain_id, 1_000 * height
        self.state = State()
        self.events: list[Event] = []
        self.receipts: list[Receipt] = []
        self.verifies: Callable[..., Any] = lambda kind, *args: False
        self.rents: dict[str, dict] = {}
        self._ids = 0

    # --- from outside

    def deploy(self, source: str, init: Any = None, sender: str = account("deployer"), salt: bytes = b"", value: int = 0) -> str:
        """Deploys a file or a source and calls its handler init, if it has one."""
        if "\n" not in source and os.path.exists(source):
            with open(source, encoding="utf-8") as f:
                source = f.read()
        code = keccak256(source.encode())
        addr = "0x" + keccak256(bytes.fromhex(sender[2:]) + salt + code)[12:].hex()
        if addr in self.state.sources:
            raise ValueError(f"{addr} has code")
        before = copy.deepcopy(self.state)
        self.state.sources[addr], self.state.creators[addr] = source, sender
        self.state.storage[addr], self.state.deployed[addr] = {}, self.height
        self.state.balances[addr] = self.state.balances.get(addr, 0) + value
        tx = Transaction(self, sender)
        receipt = self._transaction(tx, Frame(tx, addr, sender, value, 0), "init", encode(init), inside=True, optional=True)
        if not receipt.ok:
            self.state = before
            receipt.check()
        return addr

    def execute(self, actor: str, handler: str, payload: Any = None, sender: str = account("user"), value: int = 0) -> Receipt:
        """Sends a message as a transaction."""
        tx = Transaction(self, sender)
        return self._transaction(tx, Frame(tx, actor, sender, value, 0), handler, encode(payload))

    def read(self, actor: str, handler: str, payload: Any = None, sender: str = account("user")) -> Any:
        """Asks a handler, which may change nothing."""
        tx = Transaction(self, sender, read_only=True)
        return self._transaction(tx, Frame(tx, actor, sender, 0, 0), handler, encode(payload)).check().output

    def advance(self, blocks: int = 1) -> list[Receipt]:
        """Makes blocks and fires what is due in them."""
        fired = []
        for _ in range(blocks):
            self.height += 1
            self.time_ms += 1_000
            due = [t for t in self.state.timers.values() if t.height <= self.height]
            for timer in sorted(due, key=lambda t: t.height):
                del self.state.timers[timer.id]
                if timer.every:
                    self.state.timers[timer.id] = Timer(**{**vars(timer), "height": self.height + timer.every})
                tx = Transaction(self, timer.owner)
                fired.append(self._transaction(tx, Frame(tx, timer.target, timer.owner, 0, 0), timer.handler, timer.data))
        return fired

    def answer(self, job: str, output: Any = None, error: Optional[str] = None, runners: Iterable[str] = ()) -> Receipt:
        """The end of a job, as the chain tells the actor that asked: once, an output or the
        name of an outcome that is not ok. runners are the addresses of those that agreed."""
        found = self.state.jobs[job]
        if found.status != "pending":
            raise ValueError(f"job {job} is {found.status}: it is answered once at most")
        if error is not None and error not in OUTCOMES:
            raise ValueError(f"no outcome '{error}': a job that fails ends as one of {', '.join(OUTCOMES)}")
        kind = {"text": str, "bytes": bytes}.get(found.format(), object)
        if error is None and not isinstance(output, kind):
            raise TypeError(f"the data of job {job} are {found.format()}, not {type(output).__name__}")
        to = address(found.spec.get("reply_to") or found.actor)
        told = found.told(output, error, list(runners))
        try:
            answer = encode(told)
        except ValueError:
            if error is not None:
                raise
            answer = encode({**told, **dict.fromkeys(("output", "result"), found.keep(to, output))})
        found.status = "done" if error is None else "failed"
        if isinstance(found.waits, Waiting):
            return self._resume(found.waits, job, decode(answer))
        if found.handler is None:
            return Receipt()
        sender = VERIFIER if to == found.actor else found.actor  # resolution 12.53
        tx = Transaction(self, found.actor)
        return self._transaction(tx, Frame(tx, to, sender, 0, 0), found.handler, answer)

    def work(self, script: Callable[[Job, int], Any]) -> list[Receipt]:
        """Lets runners work on all pending jobs, oldest first. script(job, seat) is what the
        runner in a seat finds, SILENT, or raises Fault; the verdict is judged as the chain
        judges it. Returns the receipts of the answers."""
        from ._runners import verdict
        receipts = []
        for job in self.pending():
            if self.state.jobs[job.id].status == "pending":
                receipts.append(self.answer(job.id, *verdict(job, script)))
        return receipts

    def fund(self, addr: str, amount: int) -> None:
        self.state.balances[addr] = self.state.balances.get(addr, 0) + amount

    def balance(self, addr: str) -> int:
        return self.state.balances.get(addr, 0)

    def storage(self, actor: str) -> dict[str, Any]:
        """What an actor has stored; instances come as [class name, value]."""
        class _As:
            def __init__(self, name: str) -> None:
                self.name = name

            def __cowboy_deserialize__(self, state: Any) -> Any:
                return [self.name, state]
        return {k: decode(v, _As) for k, v in sorted(self.state.storage[actor].items())}

    def pending(self) -> list[Job]:
        """Jobs without an answer, oldest first."""
        return [j for j in self.state.jobs.values() if j.status == "pending"]

    # --- how a handler runs

    def new_id(self, label: str) -> str:
        self._ids += 1
        return "0x" + keccak256(f"{label} {self._ids}".encode()).hex()

    def load(self, frame: Frame) -> None:
        """Runs the body of the program, anew for every call."""
        from . import _cowboy
        source = self.state.sources.get(frame.actor)
        if source is None:
            from ._module import UnknownHandler
            raise UnknownHandler(f"{frame.actor} has no code")
        module = ModuleType("__main__")
        names = ("current_block", "generate_id", "set_timer", "set_interval", "cancel_timer", "send")
        module.__dict__["__builtins__"] = {**vars(builtins), **{n: getattr(_cowboy, n) for n in names}}
        frame.module = module
        exec(compile(source, "actor.py", "exec"), module.__dict__)

    def deliver(self, frame: Frame, handler: Optional[str], payload: bytes, inside: bool = False, optional: bool = False) -> Any:
        """Runs one handler; what it answered, through its canonical bytes."""
        from . import _module
        if handler is None and frame.actor not in self.state.sources:
            return None  # a payment
        _frames.append(frame)
        try:
            self.load(frame)
            name = handler or "receive"
            if optional and not self._has(name):
                return None
            run = _module._deliver_inside if inside else _module._deliver
            out = run(name, decode(payload, frame.classes))
            if inspect.iscoroutine(out):
                out = self.drive(out, frame, None)
            return decode(encode(out), frame.classes)
        finally:
            _frames.pop()

    @staticmethod
    def _has(name: str) -> bool:
        from . import _module
        cls = _module._actor()
        return hasattr(cls, name) if cls is not None else name in current().module.__dict__

    def drive(self, coroutine: Any, frame: Frame, answer: Any) -> Any:
        """Goes on with a handler up to its next await."""
        from . import _module
        try:
            if isinstance(answer, BaseException):
                request = coroutine.throw(answer)
            else:
                request = coroutine.send(answer)
        except StopIteration as end:
            return end.value
        group = isinstance(request, _module.TaskGroup)
        requests = request.requests if group else [request]
        if not 1 <= len(requests) <= 16:
            raise _module.LimitExceeded("a group has 1 to 16 requests")
        ids = []
        for r in requests:
            job = Job(self.new_id("job"), frame.actor, decode(encode(r.spec)), height=self.height)
            self.state.jobs[job.id] = job
            ids.append(job.id)
        waiting = Waiting(coroutine, frame, request, ids, group)
        for i in ids:
            self.state.jobs[i].waits = waiting
        frame.tx.receipt.jobs += ids
        return None

    def _resume(self, waiting: Waiting, job: str, answer: Any) -> Receipt:
        waiting.answers[job] = answer
        if len(waiting.answers) < len(waiting.ids):
            return Receipt()
        frame = waiting.frame
        tx = Transaction(self, frame.actor)
        frame.tx, frame.sender, frame.value = tx, VERIFIER, 0
        answers = [waiting.answers[i] for i in waiting.ids]

        def go_on() -> Any:
            _frames.append(frame)
            try:
                out = self.drive(waiting.coroutine, frame, answers if waiting.group else answers[0])
                return decode(encode(out), frame.classes)
            finally:
                _frames.pop()
        return self._run(tx, go_on)

    def _transaction(self, tx: Transaction, frame: Frame, handler: Optional[str], payload: bytes, inside: bool = False, optional: bool = False) -> Receipt:
        def go() -> Any:
            self.pay(tx.origin if frame.value and not optional else None, frame.actor, frame.value)
            return self.deliver(frame, handler, payload, inside, optional)
        return self._run(tx, go)

    def pay(self, sender: Optional[str], to: str, amount: int) -> None:
        """Moves base units; a sender that is not an actor has as many as it needs."""
        if not amount or sender is None:
            return
        from ._module import InsufficientFunds
        have = self.state.balances.get(sender, 0)
        if sender in self.state.sources:
            if have < amount:
                raise InsufficientFunds("the balance is too small")
            self.state.balances[sender] = have - amount
        self.state.balances[to] = self.state.balances.get(to, 0) + amount

    def _run(self, tx: Transaction, first: Callable[[], Any]) -> Receipt:
        before = copy.deepcopy(self.state)
        receipt = tx.receipt
        try:
            receipt.output = first()
        except Exception as error:
            self.state = before
            receipt.ok, receipt.error, receipt.events, receipt.jobs = False, error, [], []
            tx.queue.clear()
        while tx.queue:
            self._message(tx, *tx.queue.popleft())
        if not tx.read_only:
            self.events += receipt.events
            self.receipts.append(receipt)
        return receipt

    def _message(self, tx: Transaction, sent: Sent, payload: bytes, depth: int) -> None:
        """Delivers a message of the queue; a handler that fails undoes what it did."""
        before, events, queued = copy.deepcopy(self.state), len(tx.receipt.events), len(tx.queue)
        try:
            self.state.balances[sent.to] = self.state.balances.get(sent.to, 0) + sent.value
            self.deliver(Frame(tx, sent.to, sent.sender, sent.value, depth), sent.handler, payload)
            sent.ok = True
        except Exception as error:
            self.state = before
            self.state.balances[sent.sender] = self.state.balances.get(sent.sender, 0) + sent.value
            del tx.receipt.events[events:]
            while len(tx.queue) > queued:
                tx.queue.pop()
            sent.error = error
        tx.receipt.messages.append(sent)


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(bytes(data)).digest()
