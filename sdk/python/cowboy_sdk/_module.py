# Made of exec/pvm/sdk/python/cowboy_sdk.py by make generate: do not edit.
"""The actor's side of the chain: whitepaper, SDK Ergonomics and §3; resolution 11.44."""

from . import _cowboy as _host
from ._cowboy import (
    send, call, create_deferred_tx, emit_event, spawn, transfer,
    set_timer, set_interval, schedule_timer_ex, extend_timer, cancel_timer,
    submit_job, cancel_job, job_status,
    current_block, generate_id, keccak256, sha256, randomness, charge_gas,
    recover_address, verify_secp256k1, verify_ed25519, verify_bls, verify_vrf,
    get_sender, get_origin, get_creator, get_actor_address, get_timestamp_ms, get_chain_id, get_value,
    get_code_hash, get_balance, get_actor, entitlement, upgrade_self, blob_commit, blob_get,
    token_create, token_transfer, token_transfer_batch, token_transfer_from, token_approve, token_mint, token_burn,
    token_freeze, token_unfreeze, token_transfer_ownership, token_set_hook,
    token_balance_of, token_allowance, token_is_frozen, token_info,
)

get_block_height = current_block

RUNNER_REGISTRY = "0x0000000000000000000000000000000000000001"
RUNNER = JOB_DISPATCHER = "0x0000000000000000000000000000000000000002"
RESULT_VERIFIER = "0x0000000000000000000000000000000000000003"
SECRETS = "0x0000000000000000000000000000000000000004"
TEE_VERIFIER = "0x0000000000000000000000000000000000000005"
ENTITLEMENTS = "0x0000000000000000000000000000000000000007"
TREASURY = "0x0000000000000000000000000000000000000008"
GOVERNANCE = "0x0000000000000000000000000000000000000009"
EVENT_LISTENER = "0x0000000000000000000000000000000000000015"
TOKENS = "0x0000000000000000000000000000000000000016"

BlockHeight = int
SoftFloat = float
ordered_set = set


# --- errors

class CowboyError(Exception):
    """Whatever the chain or the SDK refuses; code is one of the table."""
    code = "E1000"


class InsufficientFunds(CowboyError):
    code = "E1101"


class InsufficientAllowance(CowboyError):
    code = "E1102"


class ReserveLocked(CowboyError):
    code = "E1103"


class PermissionDenied(CowboyError):
    code = "E1201"


class EntitlementMissing(PermissionDenied):
    code = "E1202"


class ReadOnlyCall(PermissionDenied):
    code = "E1203"


class AccountFrozen(PermissionDenied):
    code = "E1204"


class LimitExceeded(CowboyError):
    code = "E1301"


class ReentrancyError(LimitExceeded):
    code = "E1302"


class QuotaExceeded(LimitExceeded):
    code = "E1303"


class StorageFull(LimitExceeded):
    code = "E1304"


class MailboxFull(LimitExceeded):
    code = "E1305"


class NotFound(CowboyError):
    code = "E1401"


class UnknownHandler(NotFound):
    code = "E1402"


class ActorDormant(NotFound):
    code = "E1403"


class InvalidArgument(CowboyError):
    code = "E1501"


class HeightPassed(InvalidArgument):
    code = "E1502"


class CallFailed(CowboyError):
    code = "E1601"


class RunnerError(CowboyError):
    """A job that failed; raised where its result is awaited."""
    code = "E1602"


class StateChanged(CowboyError):
    """A guarded value is not what it was."""
    code = "E1603"


_refusals = (
    InsufficientFunds, InsufficientAllowance, ReserveLocked,
    PermissionDenied, EntitlementMissing, ReadOnlyCall, AccountFrozen,
    LimitExceeded, ReentrancyError, QuotaExceeded, StorageFull, MailboxFull,
    NotFound, UnknownHandler, ActorDormant, InvalidArgument, HeightPassed, CallFailed, RunnerError,
)


def _refusal(code, text):
    """The exception of a refusal of the chain."""
    for cls in _refusals:
        if cls.code == code:
            return cls(text)
    error = CowboyError(text)
    error.code = code
    return error


class Address(str):
    """An address as text: 0x and 40 lower-case hexadecimal digits."""

    def __new__(cls, text):
        if isinstance(text, bytes):
            text = "0x" + text.hex()
        text = text.lower()
        if len(text) != 42 or text[:2] != "0x" or len(bytes.fromhex(text[2:])) != 20:
            raise ValueError("an address is '0x' and 40 hexadecimal digits, or 20 bytes")
        return super().__new__(cls, text)


def derive_actor_address(creator, salt, code_hash):
    """The address of an actor (whitepaper §1.2)."""
    parts = [bytes.fromhex(p[2:]) if isinstance(p, str) else bytes(p) for p in (creator, salt, code_hash)]
    return "0x" + keccak256(parts[0] + parts[1] + parts[2])[12:].hex()


# --- storage

class Storage:
    """The actor's private keys and values."""

    def get(self, key, default=None):
        return _host.storage_get(key, default)

    def set(self, key, value):
        _host.storage_set(key, value)

    def delete(self, key):
        return _host.storage_delete(key)

    def scan(self, prefix, limit=100):
        return _host.storage_scan(prefix, limit)

    def bond(self, bytes):
        """Sets the quota, 1 to 8 MiB, against a deposit."""
        _host.storage_bond(bytes)

    def restore(self, actor_address, storage_data, pay_from=None):
        """Brings back what an evicted actor had."""
        _host.storage_restore(actor_address, storage_data, pay_from)

    def __getitem__(self, key):
        value = _host.storage_get(key, _missing)
        if value is _missing:
            raise KeyError(key)
        return value

    def __setitem__(self, key, value):
        _host.storage_set(key, value)

    def __delitem__(self, key):
        if not _host.storage_delete(key):
            raise KeyError(key)

    def __contains__(self, key):
        return _host.storage_get(key, _missing) is not _missing


class _Missing:
    pass


_missing = _Missing()
storage = Storage()


def get_state(key, default=None):
    return _host.storage_get(key, default)


def set_state(key, value):
    _host.storage_set(key, value)


def delete_state(key):
    return _host.storage_delete(key)


def scan_state_prefix(prefix, limit=100):
    return _host.storage_scan(prefix, limit)


# --- rent, secrets, randomness, signatures

class _Rent:
    def prepay(self, epochs):
        return _host.rent_prepay(epochs)

    def status(self, actor_address=None):
        return _host.rent_status(actor_address)

    def sponsor(self, actor_address, epochs):
        return _host.rent_prepay(epochs, actor_address)


class _Secrets:
    def store(self, key, value, access_policy=None):
        _host.store_secret(key, value, access_policy)

    def delete(self, key):
        return _host.delete_secret(key)


class _Randomness:
    """Randomness of the chain under a label (whitepaper §3.4)."""

    def randomness(self, label):
        return randomness(label)

    def random_bytes(self, label, n=32):
        out, i = b"", 0
        while len(out) < n:
            out += randomness(label + "/" + str(i))
            i += 1
        return out[:n]

    def randint(self, label, low, high):
        """An int of low to high, both included; uniform to within 2**-128."""
        if high < low:
            raise ValueError("empty range")
        size = ((high - low).bit_length() + 7) // 8 + 16
        return low + int.from_bytes(self.random_bytes(label, size), "big") % (high - low + 1)

    def verify(self, public_key, message, proof, namespace=b""):
        return verify_vrf(public_key, message, proof, namespace)


class _Secp256k1:
    def verify(self, public_key, digest, signature):
        return verify_secp256k1(public_key, digest, signature)

    def recover(self, digest, signature):
        return recover_address(digest, signature)


class _Ed25519:
    def verify(self, public_key, message, signature):
        return verify_ed25519(public_key, message, signature)


class _BLS:
    def verify(self, public_key, message, signature, namespace=b""):
        return verify_bls(public_key, message, signature, namespace)


rent = _Rent()
secrets = _Secrets()
vrf = _Randomness()
secp256k1 = _Secp256k1()
ed25519 = _Ed25519()
bls = _BLS()


def eip712_digest(domain_separator, struct_hash):
    """What a wallet signs for typed data (EIP-712)."""
    if len(domain_separator) != 32 or len(struct_hash) != 32:
        raise ValueError("a domain separator and the hash of a structure have 32 bytes")
    return keccak256(b"\x19\x01" + domain_separator + struct_hash)


def verify_eip712(signer, domain_separator, struct_hash, signature):
    """Tells whether signer signed the typed data."""
    return recover_address(eip712_digest(domain_separator, struct_hash), signature) == str(Address(signer))


def schedule_timer(height, handler="on_timer", data=None):
    return set_timer(height, handler, data)


class ActorRef:
    """Another actor."""

    def __init__(self, address):
        self.address = address

    def send(self, handler, payload=None, value=0, cycles=0):
        return send(self.address, payload, handler, value, cycles)

    def call(self, method, args=None, cycles_limit=100_000, value=0):
        return call(self.address, method, args, cycles_limit, value)


# --- ownership

_OWNER_KEY = "__OWNER__"
_INITIALIZED_KEY = "__INITIALIZED__"


def get_owner():
    return _host.storage_get(_OWNER_KEY)


def _require_owner():
    if get_owner() != get_sender():
        raise PermissionDenied("only the owner may do this")


def transfer_ownership(to):
    _require_owner()
    _host.storage_set(_OWNER_KEY, str(Address(to)))


def renounce_ownership():
    _require_owner()
    _host.storage_delete(_OWNER_KEY)


def assume_ownership_if_unowned():
    if get_owner() is None:
        _host.storage_set(_OWNER_KEY, get_sender())
        return True
    return False


def is_initialized():
    return bool(_host.storage_get(_INITIALIZED_KEY, False))


def mark_initialized():
    _host.storage_set(_INITIALIZED_KEY, True)


# --- messages and handlers

class Message:
    """What a handler receives. Keys of the payload are attributes as well."""

    def __init__(self, payload=None, sender=None, value=0):
        self.payload = payload
        self.sender = sender
        self.value = value

    def __getattr__(self, name):
        payload = self.__dict__.get("payload")
        if isinstance(payload, dict) and name in payload:
            return payload[name]
        raise AttributeError(f"message has no field '{name}'")

    def __getitem__(self, key):
        return self.payload[key]

    def get(self, key, default=None):
        return self.payload.get(key, default) if isinstance(self.payload, dict) else default

    def __cowboy_serialize__(self):
        return [self.payload, self.sender, self.value]

    @classmethod
    def __cowboy_deserialize__(cls, data):
        return cls(*data)


class Role:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


OWNER = Role("OWNER")
SELF = Role("SELF")
ANY = Role("ANY")


def _mark(fn, roles):
    fn.__callable_by__ = roles
    return fn


def public(fn):
    """Anybody may call this handler."""
    return _mark(fn, (ANY,))


def callable_by(*roles):
    """OWNER, SELF and the addresses in roles may call this handler."""
    return lambda fn: _mark(fn, roles)


def pure(fn):
    """Declares that a handler changes nothing."""
    fn.__pure__ = True
    return fn


def deferred(fn):
    """Declares that a handler runs as a deferred transaction."""
    fn.__deferred__ = True
    return fn


def _address(self):
    return get_actor_address()


class Actor:
    """A class of an actor; @actor makes one of any class."""
    storage = storage
    address = property(_address)


def actor(cls):
    """Makes cls, a global name of the program, its actor."""
    if not hasattr(cls, "storage"):
        cls.storage = storage
    if not hasattr(cls, "address"):
        cls.address = property(_address)
    cls.__cowboy_actor__ = cls
    return cls


def _actor():
    """The program's actor, None where it has none."""
    found = None
    for cls in _host.program_classes():
        if getattr(cls, "__cowboy_actor__", None) is cls and cls is not found:
            if found is not None:
                raise UnknownHandler("the program has more than one actor")
            found = cls
    return found


def _allowed(roles):
    sender = get_sender()
    for role in roles:
        if isinstance(role, str):
            if sender == role.lower():
                return True
        elif role is ANY or role is SELF and sender == get_actor_address() or role is OWNER and sender == get_owner():
            return True
    return False


def _handler(name):
    """The handler of that name, bound, and who may call it; None for everybody."""
    if not name.isidentifier() or name.startswith("_"):
        raise UnknownHandler(f"no handler '{name}'")
    cls = _actor()
    if cls is None:
        fn = _host.program_function(name)
        if fn is None:
            raise UnknownHandler(f"no handler '{name}'")
        return fn, getattr(fn, "__callable_by__", ())
    fn = getattr(cls, name, None)
    if not callable(fn):
        raise UnknownHandler(f"no handler '{name}'")
    roles = getattr(fn, "__callable_by__", None)
    if roles is None and _decorated(cls):
        roles = ()
    return getattr(cls(), name), roles


def _decorated(cls):
    return any(hasattr(getattr(cls, n, None), "__callable_by__") for n in dir(cls))


def _open():
    """Whether everybody may call every method of the program's actor."""
    cls = _actor()
    return cls is not None and not _decorated(cls)


def _deliver(name, payload):
    fn, roles = _handler(name)
    if roles is not None and not _allowed(roles):
        raise PermissionDenied(f"handler '{name}' is not callable by this sender")
    return fn(Message(payload, get_sender(), get_value()))


def _deliver_inside(name, payload):
    return _handler(name)[0](Message(payload, get_sender(), get_value()))



# --- guards

def bounded_loop(items, limit):
    """Yields the items; LimitExceeded beyond limit."""
    for i, item in enumerate(items):
        if i >= limit:
            raise LimitExceeded(f"loop exceeds {limit} iterations")
        yield item


def reentrancy_guard(fn):
    """Refuses a call of fn while another one, in whatever frame, is under way."""
    if not callable(fn):
        raise TypeError("reentrancy_guard is a decorator: write @reentrancy_guard above a handler")
    key = "__reentrancy__:" + fn.__name__

    def guarded(*args, **kwargs):
        if _host.storage_get(key, False):
            raise ReentrancyError(f"'{fn.__name__}' is running already")
        _host.storage_set(key, True)
        try:
            return fn(*args, **kwargs)
        finally:
            _host.storage_delete(key)
    guarded.__name__ = fn.__name__
    if hasattr(fn, "__callable_by__"):
        guarded.__callable_by__ = fn.__callable_by__
    return guarded


class GuardedValue:
    """A value that must be what it was when it is used: storage may have changed
    between a request and its result."""

    def __init__(self, key, expected=_missing):
        self.key = key
        self.expected = _host.storage_get(key) if expected is _missing else expected

    def unchanged(self):
        return _host.storage_get(self.key) == self.expected

    def require(self):
        if not self.unchanged():
            raise StateChanged(f"'{self.key}' has changed")
        return self.expected

    def __cowboy_serialize__(self):
        return [self.key, self.expected]

    @classmethod
    def __cowboy_deserialize__(cls, data):
        return cls(*data)


def storage_guard(*keys):
    """GuardedValues of several keys."""
    return GuardSet([GuardedValue(key) for key in keys])


class GuardSet:
    def __init__(self, guards):
        self.guards = guards

    def unchanged(self):
        return all(g.unchanged() for g in self.guards)

    def require(self):
        for g in self.guards:
            g.require()

    def __cowboy_serialize__(self):
        return self.guards

    @classmethod
    def __cowboy_deserialize__(cls, data):
        return cls(data)


class CowboyModel:
    """A record with the fields that the class annotates."""

    def __init__(self, **fields):
        names = self._fields()
        for name in names:
            if name in fields:
                setattr(self, name, fields.pop(name))
            elif not hasattr(type(self), name):
                raise TypeError(f"missing field '{name}'")
        if fields:
            raise TypeError(f"unknown field '{list(fields)[0]}'")

    @classmethod
    def _fields(cls):
        names = []
        for c in reversed(cls.__mro__):
            names += [n for n in getattr(c, "__annotations__", {}) if n not in names]
        return names

    def __eq__(self, other):
        return type(self) == type(other) and self.__cowboy_serialize__() == other.__cowboy_serialize__()

    __hash__ = None

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in self._fields())})"

    def __cowboy_serialize__(self):
        return {n: getattr(self, n) for n in self._fields()}

    @classmethod
    def __cowboy_deserialize__(cls, data):
        return cls(**data)


# --- work for runners

class Verify:
    """Builds the verification of a job (whitepaper, Verification Mode Details)."""

    def __init__(self, mode="none", **terms):
        self._spec = {"mode": mode}
        self._spec.update(terms)

    @classmethod
    def none(cls):
        return cls()

    @classmethod
    def economic_bond(cls, bond_multiplier=2.0, objective_checks=()):
        return cls("economic_bond", bond_multiplier=bond_multiplier, objective_checks=list(objective_checks))

    @classmethod
    def majority_vote(cls, vote_field, runners=5, threshold=3):
        return cls("majority_vote", runners=runners, threshold=threshold, vote_field=vote_field)

    @classmethod
    def structured_match(cls, *checks, runners=3, threshold=2):
        return cls("structured_match", runners=runners, threshold=threshold, checks=list(checks))

    @classmethod
    def deterministic(cls, runners=3, threshold=3, **inference_config):
        return cls("deterministic", runners=runners, threshold=threshold, tee_required=True, inference_config=inference_config)

    @classmethod
    def semantic_similarity(cls, embedding_model, similarity_threshold=0.85, runners=3, threshold=2):
        return cls("semantic_similarity", runners=runners, threshold=threshold,
                   similarity_threshold=similarity_threshold, embedding_model=embedding_model)

    def check(self, *checks):
        self._spec.setdefault("checks", []).extend(checks)
        return self

    def spec(self):
        return self._spec


def exact_match():
    return {"fn": "exact_match"}


def json_schema_valid(schema):
    return {"fn": "json_schema_valid", "schema": schema}


def structured_match(fields):
    return {"fn": "structured_match", "fields": list(fields)}


def majority_vote(field):
    return {"fn": "majority_vote", "field": field}


def supermajority_vote(field, threshold):
    return {"fn": "supermajority_vote", "field": field, "threshold": threshold}


def numeric_tolerance(field, tolerance):
    return {"fn": "numeric_tolerance", "field": field, "tolerance": tolerance}


def numeric_range(field, min, max):
    return {"fn": "numeric_range", "field": field, "min": min, "max": max}


def set_equality(field):
    return {"fn": "set_equality", "field": field}


def contains_all(substrings):
    return {"fn": "contains_all", "substrings": list(substrings)}


def contains_none(substrings):
    return {"fn": "contains_none", "substrings": list(substrings)}


def regex_match(pattern):
    return {"fn": "regex_match", "pattern": pattern}


def length_bounds(min, max):
    return {"fn": "length_bounds", "min": min, "max": max}


def semantic_similarity(threshold):
    return {"fn": "semantic_similarity", "threshold": threshold}


def no_prompt_leak():
    return {"fn": "no_prompt_leak"}


def entropy_check(min_entropy):
    return {"fn": "entropy_check", "min_entropy": min_entropy}


def custom_check(actor, method):
    """A verifier that is an actor (whitepaper, Custom Verifier Functions)."""
    return {"fn": "custom", "actor": str(Address(actor)), "method": method}


class Retry:
    """How often a job is tried again, and after how many blocks."""

    def __init__(self, attempts=3, backoff=1):
        self.attempts = attempts
        self.backoff = backoff

    def spec(self):
        return {"attempts": self.attempts, "backoff": self.backoff}


class Capture:
    """Values that a request carries to its result, as attributes and items."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __getitem__(self, key):
        return self.__dict__[key]

    def get(self, key, default=None):
        return self.__dict__.get(key, default)

    def __eq__(self, other):
        return type(other) is Capture and self.__dict__ == other.__dict__

    __hash__ = None

    def __repr__(self):
        return f"Capture({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"

    def __cowboy_serialize__(self):
        return dict(self.__dict__)

    @classmethod
    def __cowboy_deserialize__(cls, data):
        return cls(**data)


def capture(**values):
    """A Capture, for the context of a request."""
    return Capture(**values)


class Result:
    """What a runner answered: output and the context of the request."""

    def __init__(self, output, context=None):
        self.output = output
        self.context = context

    def __cowboy_serialize__(self):
        return [self.output, self.context]

    @classmethod
    def __cowboy_deserialize__(cls, data):
        return cls(*data)


class Request:
    """A job to be awaited within @runner.continuation."""

    def __init__(self, spec, context=None):
        self.spec = spec
        self.context = context

    def __await__(self):
        return _result(_host.answer(self.spec), self.context)
        yield

    def submit(self, handler=None):
        """Submits the job without waiting; the result goes to handler."""
        spec = dict(self.spec)
        if self.context is not None:
            spec["context"] = self.context
        return submit_job(spec, handler)


class TaskGroup:
    """Requests that are awaited together: the results, in their order."""

    def __init__(self, *requests):
        self.requests = list(requests)

    def add(self, request):
        self.requests.append(request)
        return request

    def __await__(self):
        return [_result(*answer) for answer in [(_host.answer(r.spec), r.context) for r in self.requests]]
        yield


def job_result(job_id, digest=None):
    """What a job came to, where the answer names its output by hash and length:
    a text, bytes, or what the JSON says. RunnerError where it has another hash than
    digest."""
    form, data = _host.job_result(job_id)
    if digest is not None and keccak256(data) != digest:
        raise RunnerError("the result has another hash than the answer says")
    if form == "json":
        import json
        return json.loads(data.decode())
    return data.decode() if form == "text" else data


def _output(answer):
    """The output of an answer, or what it names; JSON has no bytes. What an answer of a
    group names may be gone when the last of the group has come."""
    output = answer.get("output")
    if type(output) is dict and type(output.get("hash")) is bytes:
        try:
            return job_result(answer["job_id"], output["hash"])
        except NotFound:
            raise RunnerError("the result is no longer kept")
    return output


def _result(answer, context):
    if isinstance(answer, dict) and answer.get("error") is not None:
        raise RunnerError(str(answer["error"]))
    return Result(_output(answer) if isinstance(answer, dict) else answer, context)


def _plain(value):
    return value.spec() if isinstance(value, (Verify, Retry)) else value


class _Runner:
    """Requests to runners by kind of job."""

    def job(self, job_type, context=None, **spec):
        spec = {k: _plain(v) for k, v in spec.items() if v is not None}
        spec["job_type"] = job_type
        return Request(spec, context)

    def llm(self, prompt, context=None, **spec):
        return self.job("llm", context, prompt=prompt, **spec)

    def http(self, url, context=None, **spec):
        return self.job("http", context, url=url, **spec)

    def mcp(self, context=None, **spec):
        return self.job("mcp", context, **spec)

    def custom(self, context=None, **spec):
        return self.job("custom", context, **spec)

    def continuation(self, fn):
        """Marks a handler that waits for runners; deploying turns it into
        handlers of the request and of its results."""
        return fn


runner = _Runner()


def context():
    """The call as a dict."""
    return {
        "sender": get_sender(), "origin": get_origin(), "address": get_actor_address(),
        "height": current_block(), "timestamp_ms": get_timestamp_ms(), "value": get_value(), "chain_id": get_chain_id(),
    }


class _Runtime:
    """Functions of the module under one name."""

    get_block_height = staticmethod(current_block)
    get_sender = staticmethod(get_sender)
    get_actor_address = staticmethod(get_actor_address)
    get_timestamp_ms = staticmethod(get_timestamp_ms)
    get_value = staticmethod(get_value)
    get_state = staticmethod(get_state)
    set_state = staticmethod(set_state)
    delete_state = staticmethod(delete_state)
    scan_state_prefix = staticmethod(scan_state_prefix)
    emit_event = staticmethod(emit_event)
    schedule_timer = staticmethod(schedule_timer)
    schedule_timer_ex = staticmethod(schedule_timer_ex)
    extend_timer = staticmethod(extend_timer)
    cancel_timer = staticmethod(cancel_timer)
    submit_job = staticmethod(submit_job)
    cancel_job = staticmethod(cancel_job)
    upgrade_self = staticmethod(upgrade_self)
    keccak256 = staticmethod(keccak256)
    randomness = staticmethod(randomness)
    charge_gas = staticmethod(charge_gas)
    get_owner = staticmethod(get_owner)
    transfer_ownership = staticmethod(transfer_ownership)
    renounce_ownership = staticmethod(renounce_ownership)
    assume_ownership_if_unowned = staticmethod(assume_ownership_if_unowned)
    is_initialized = staticmethod(is_initialized)
    create_deferred_tx = staticmethod(create_deferred_tx)
    token_create = staticmethod(token_create)
    token_transfer = staticmethod(token_transfer)
    token_transfer_from = staticmethod(token_transfer_from)
    token_approve = staticmethod(token_approve)
    token_mint = staticmethod(token_mint)
    token_burn = staticmethod(token_burn)
    token_freeze = staticmethod(token_freeze)
    token_unfreeze = staticmethod(token_unfreeze)
    token_balance_of = staticmethod(token_balance_of)
    token_allowance = staticmethod(token_allowance)
    token_info = staticmethod(token_info)
    context = staticmethod(context)


runtime = _Runtime()
