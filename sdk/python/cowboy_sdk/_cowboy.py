"""The calls of the chain, answered by the chain in memory of the running handler."""

from __future__ import annotations

from typing import Any, Optional

from . import _chain
from ._chain import FANOUT, DEPTH, Event, Job, Sent, Timer, Token, Waiting, address, current
from ._keccak import keccak256
from ._chain import sha256
from ._values import decode, encode

_nothing = object()


def _error(name: str, text: str) -> Exception:
    from . import _module
    return getattr(_module, name)(text)


def _change() -> _chain.Frame:
    """The frame, unless it may only read."""
    frame = current()
    if frame.tx.read_only:
        raise _error("ReadOnlyCall", "this call only reads")
    return frame


def _state() -> _chain.State:
    return current().tx.chain.state


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError("a key of storage is text")
    if not 1 <= len(key.encode()) <= 1024:
        raise ValueError("a key of storage has 1 to 1024 bytes")
    return key


# --- storage

def storage_get(key, default=None):
    frame = current()
    raw = _state().storage[frame.actor].get(_key(key))
    return default if raw is None else decode(raw, frame.classes)


def storage_set(key, value):
    frame = _change()
    _state().storage[frame.actor][_key(key)] = encode(value)


def storage_delete(key):
    frame = _change()
    return _state().storage[frame.actor].pop(_key(key), None) is not None


def storage_scan(prefix, limit=None):
    frame = current()
    if not isinstance(prefix, str):
        raise TypeError(f"prefix must be str, not {type(prefix).__name__}")
    if limit is None:
        limit = 100
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise TypeError(f"limit must be int, not {type(limit).__name__}")
    if not 0 <= limit < 1 << 64:
        raise ValueError("limit must be between 0 and 2**64-1")
    if limit > 1000:
        raise ValueError("limit must be at most 1000")
    found = sorted((k.encode(), v) for k, v in _state().storage[frame.actor].items() if k.startswith(prefix))
    return [(k.decode(), decode(v, frame.classes)) for k, v in found[:limit]]


def storage_bond(bytes):
    _change()
    if not 1 << 20 <= bytes <= 8 << 20:
        raise _error("InvalidArgument", "a quota has 1 to 8 MiB")


def storage_restore(actor_address, storage_data, pay_from=None):
    _change()
    there = _state().storage.get(address(actor_address))
    if there is None:
        raise _error("NotFound", "no such actor")
    there.update({_key(k): encode(v) for k, v in storage_data.items()})


def blob_commit(data):
    _change()
    digest = b"\x1b\x20" + keccak256(data)
    _state().blobs[digest] = bytes(data)
    return digest


def blob_get(multihash):
    return _state().blobs.get(bytes(multihash))


# --- messages

def _take(frame: _chain.Frame, value: int) -> None:
    if value < 0:
        raise ValueError("value is negative")
    have = _state().balances.get(frame.actor, 0)
    if have < value:
        raise _error("InsufficientFunds", "the balance is too small")
    _state().balances[frame.actor] = have - value


def send(target, payload=None, handler=None, value=0, cycles=0):
    frame = _change()
    if address(target) == _chain.DISPATCHER and not handler:  # resolution 12.58
        if value:
            raise _error("InvalidArgument", "a job takes its price out of the balance: send no value")
        return submit_job(payload)
    if _chain.is_system(target):
        raise _error("NotFound", "a system actor takes no messages")
    if frame.tx.sent >= FANOUT:
        raise _error("LimitExceeded", "the transaction sends no more messages")
    raw = encode(payload)
    _take(frame, value)
    frame.tx.sent += 1
    sent = Sent(frame.actor, address(target), handler, decode(raw, frame.classes), value)
    frame.tx.queue.append((sent, raw, frame.depth + 1))
    return frame.tx.chain.new_id("message")


def call(target, method, args=None, cycles_limit=0, value=0):
    frame = current()
    if value:
        _change()
    if len(_chain._frames) > DEPTH:
        raise _error("ReentrancyError", "calls are nested too deeply")
    chain, to = frame.tx.chain, address(target)
    import copy
    before, events, queued = copy.deepcopy(chain.state), len(frame.tx.receipt.events), len(frame.tx.queue)
    _take(frame, value)
    chain.state.balances[to] = chain.state.balances.get(to, 0) + value
    try:
        return chain.deliver(_chain.Frame(frame.tx, to, frame.actor, value, frame.depth), method, encode(args))
    except Exception as error:
        chain.state = before
        del frame.tx.receipt.events[events:]
        while len(frame.tx.queue) > queued:
            frame.tx.queue.pop()
        if type(error).__name__ in ("UnknownHandler", "NotFound", "ReadOnlyCall"):
            raise
        raise _error("CallFailed", f"{type(error).__name__}: {error}") from error


def create_deferred_tx(target, handler, payload=None, height=0, value=0, cycles_limit=0, cells_limit=0):
    frame = _change()
    chain = frame.tx.chain
    height = height or chain.height + 1
    if height <= chain.height:
        raise _error("HeightPassed", "a deferred transaction is for a later block")
    _take(frame, value)
    timer = Timer(chain.new_id("deferred"), frame.actor, address(target), height, handler, encode(payload))
    _state().timers[timer.id] = timer
    return timer.id


def emit_event(topic, data=None):
    frame = _change()
    if not 1 <= len(topic.encode()) <= 256:
        raise ValueError("a topic has 1 to 256 bytes")
    frame.tx.receipt.events.append(Event(frame.actor, topic, decode(encode(data), frame.classes)))


def spawn(salt, source=None, init=None, entitlements=None, value=0):
    frame = _change()
    _take(frame, value)
    chain = frame.tx.chain
    source = source or chain.state.sources[frame.actor]
    if isinstance(source, bytes):
        source = source.decode()
    salt = salt.encode() if isinstance(salt, str) else bytes(salt)
    return chain.deploy(source, init, frame.actor, salt, value)


def transfer(to, amount):
    frame = _change()
    _take(frame, amount)
    to = address(to)
    _state().balances[to] = _state().balances.get(to, 0) + amount


# --- timers

def _timer(height, handler, data, every=0, target=None):
    frame = _change()
    chain = frame.tx.chain
    if height <= chain.height:
        raise _error("HeightPassed", "a timer fires in a later block")
    timer = Timer(chain.new_id("timer"), frame.actor, address(target) if target else frame.actor, height, handler, encode(data), every)
    _state().timers[timer.id] = timer
    return timer.id


def set_timer(height, handler, data=None, gba=None):
    return _timer(height, handler, data)


def set_interval(every_n_blocks, handler, data=None, gba=None):
    if every_n_blocks < 1:
        raise ValueError("an interval has at least a block")
    return _timer(current_block() + every_n_blocks, handler, data, every_n_blocks)


def schedule_timer_ex(height, handler, data=None, every=0, gba=None, target=None, cycles_limit=0, cells_limit=0):
    return _timer(height, handler, data, every, target)


def _own_timer(timer_id):
    frame = _change()
    timer = _state().timers.get(timer_id)
    return timer if timer is not None and timer.owner == frame.actor else None


def extend_timer(timer_id, height):
    timer = _own_timer(timer_id)
    if timer is None:
        raise _error("NotFound", "no such timer")
    if height <= timer.height:
        raise _error("InvalidArgument", "a timer is extended to a later height")
    timer.height = height


def cancel_timer(timer_id):
    timer = _own_timer(timer_id)
    if timer is None:
        return False
    del _state().timers[timer.id]
    return True


# --- runners

def submit_job(spec, handler=None):
    frame = _change()
    if not isinstance(spec, dict):
        raise _error("InvalidArgument", "a specification is a dict")
    chain, spec = frame.tx.chain, decode(encode(spec), frame.classes)
    if handler and spec.get("reply_handler") not in (None, handler):
        raise _error("InvalidArgument", "the job: reply_handler: it is said twice")
    handler = handler or spec.get("reply_handler")
    if handler is None and spec.get("reply_to") is not None:
        raise _error("InvalidArgument", "the job: reply_handler: it is missing")
    job = Job(chain.new_id("job"), frame.actor, spec, handler, height=chain.height)
    _state().jobs[job.id] = job
    frame.tx.receipt.jobs.append(job.id)
    return job.id


def cancel_job(job_id):
    frame = _change()
    job = _state().jobs.get(job_id)
    if job is None or job.actor != frame.actor or job_status(job_id) != "pending":
        return False
    job.status = "cancelled"
    return True


def job_status(job_id):
    job = _state().jobs.get(job_id)
    if job is None:
        return "unknown"
    drawn = job.status == "pending" and job.height < current_block()  # behind the block that asks
    return "assigned" if drawn else job.status


def job_result(job_id):
    if isinstance(job_id, bytes):
        job_id = "0x" + job_id.hex()
    job = _state().jobs.get(job_id)
    if job is None or job.kept is None or job.kept[0] != current().actor:
        raise _error("NotFound", "no result of that job is kept for the actor")
    return job.kept[1:]


def answer(spec):
    raise _error("RunnerError", "await of a runner outside @runner.continuation")


# --- surroundings

def current_block():
    return current().tx.chain.height


def get_timestamp_ms():
    return current().tx.chain.time_ms


def get_chain_id():
    return current().tx.chain.chain_id


def get_value():
    return current().value


def get_sender():
    return current().sender


def get_origin():
    return current().tx.origin


def get_creator():
    return _state().creators[current().actor]


def get_actor_address():
    return current().actor


def get_code_hash():
    return keccak256(_state().sources[current().actor].encode())


def get_balance(address=None):
    addr = current().actor if address is None else _chain.address(address)
    return _state().balances.get(addr, 0)


def get_actor(address=None):
    addr, state = current().actor if address is None else _chain.address(address), _state()
    if addr not in state.sources:
        return None
    return {
        "code_hash": keccak256(state.sources[addr].encode()), "creator": state.creators[addr],
        "storage_bytes": sum(len(k.encode()) + len(v) for k, v in state.storage[addr].items()),
        "deployed_at": state.deployed[addr], "dormant": False,
    }


def entitlement(id):
    return {}


def charge_gas(cycles):
    if cycles < 0:
        raise ValueError("cycles are negative")


def generate_id():
    return current().tx.chain.new_id("id")


def upgrade_self(source):
    raise _error("EntitlementMissing", "only system actors replace their code")


def randomness(label):
    chain = current().tx.chain
    return keccak256(f"randomness {chain.height} {label}".encode())


# --- signatures: the test says which hold

def _verifies(kind, *args):
    return current().tx.chain.verifies(kind, *args)


_HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0


def _recoverable(digest, signature, sizes):
    """The signature with a v of 0 or 1, as the chain reads it."""
    if len(digest) != 32:
        raise ValueError(f"a digest has 32 bytes, not {len(digest)}")
    if len(signature) not in sizes:
        text = "65 bytes (r, s and v)" if sizes == (65,) else "64 bytes (r and s) or 65 (r, s and v)"
        raise ValueError(f"a signature has {text}, not {len(signature)}")
    if len(signature) == 64:
        return signature
    v = signature[64]
    if v not in (0, 1, 27, 28):
        raise ValueError(f"v of a signature is 0, 1, 27 or 28, not {v}")
    return signature[:64] + bytes([v % 27])


def recover_address(digest, signature):
    signature = _recoverable(digest, signature, (65,))
    if int.from_bytes(signature[32:64], "big") > _HALF_ORDER:
        raise ValueError("s of a signature is above half the group order")
    return _verifies("recover", digest, signature) or None


def verify_secp256k1(public_key, digest, signature):
    return bool(_verifies("secp256k1", public_key, digest, _recoverable(digest, signature, (64, 65))))


def verify_ed25519(public_key, message, signature):
    return bool(_verifies("ed25519", public_key, message, signature))


def verify_bls(public_key, message, signature, namespace=b""):
    return bool(_verifies("bls", public_key, message, signature, namespace))


def verify_vrf(public_key, message, proof, namespace=b""):
    return keccak256(proof) if _verifies("vrf", public_key, message, proof, namespace) else None


# --- rent, secrets

def rent_prepay(epochs, actor_address=None):
    frame = _change()
    rents = frame.tx.chain.rents.setdefault(actor_address or frame.actor, {"epochs": 0})
    rents["epochs"] += epochs
    return 0


def rent_status(actor_address=None):
    frame = current()
    paid = frame.tx.chain.rents.get(actor_address or frame.actor, {"epochs": 0})["epochs"]
    return {"state": "paid", "paid_through_epoch": paid, "balance_epochs": paid, "owed": 0, "per_epoch": 0, "reserve": 0}


def store_secret(key, value, access_policy=None):
    _change()
    _state().blobs[("secret", current().actor, key)] = value


def delete_secret(key):
    _change()
    return _state().blobs.pop(("secret", current().actor, key), None) is not None


# --- tokens

def _token(token):
    name = "0x" + bytes(token).hex() if isinstance(token, (bytes, bytearray)) else str(token).lower()
    found = _state().tokens.get(name)
    if found is None:
        raise _error("NotFound", "no such token")
    return name, found


def _amount(amount):
    if not isinstance(amount, int) or not 0 <= amount < 1 << 128:
        raise ValueError("an amount is an int of 0 to 2**128-1")
    return amount


def token_create(name, symbol, decimals=18, supply=0, max_supply=None, hook=None):
    frame = _change()
    id = frame.tx.chain.new_id("token")
    token = Token(name, symbol, decimals, max_supply, frame.actor, hook, _amount(supply), {frame.actor: supply})
    _state().tokens[id] = token
    return id


def _move(name, token, owner, to, amount):
    to = address(to)
    if owner in token.frozen or to in token.frozen:
        raise _error("AccountFrozen", "the token account is frozen")
    if token.balances.get(owner, 0) < _amount(amount):
        raise _error("InsufficientFunds", "the token balance is too small")
    if token.hook and call(token.hook, "can_transfer", [name, owner, to, amount]) is False:
        raise _error("CallFailed", "the hook refuses the transfer")
    token.balances[owner] -= amount
    token.balances[to] = token.balances.get(to, 0) + amount


def token_transfer(token, to, amount):
    frame = _change()
    _move(*_token(token), frame.actor, to, amount)


def token_transfer_batch(token, payments):
    frame = _change()
    if not 1 <= len(payments) <= 256:
        raise ValueError("1 to 256 payments")
    name, found = _token(token)
    before = dict(found.balances)
    try:
        for to, amount in payments:
            _move(name, found, frame.actor, to, amount)
    except Exception:
        found.balances = before
        raise


def token_transfer_from(token, owner, to, amount):
    frame = _change()
    name, found = _token(token)
    pair = (address(owner), frame.actor)
    if found.allowances.get(pair, 0) < amount:
        raise _error("InsufficientAllowance", "what the owner approved is too small")
    _move(name, found, address(owner), to, amount)
    found.allowances[pair] -= amount


def token_approve(token, spender, amount):
    frame = _change()
    _token(token)[1].allowances[(frame.actor, address(spender))] = _amount(amount)


def _owned(token):
    frame = _change()
    found = _token(token)[1]
    if found.owner != frame.actor:
        raise _error("PermissionDenied", "only the owner of the token may do this")
    return found


def token_mint(token, to, amount):
    found = _owned(token)
    if found.max_supply is not None and found.supply + _amount(amount) > found.max_supply:
        raise _error("LimitExceeded", "more than max_supply")
    found.supply += _amount(amount)
    found.balances[address(to)] = found.balances.get(address(to), 0) + amount


def token_burn(token, amount):
    frame = _change()
    found = _token(token)[1]
    if found.balances.get(frame.actor, 0) < _amount(amount):
        raise _error("InsufficientFunds", "the token balance is too small")
    found.balances[frame.actor] -= amount
    found.supply -= amount


def token_freeze(token, holder):
    _owned(token).frozen.add(address(holder))


def token_unfreeze(token, holder):
    _owned(token).frozen.discard(address(holder))


def token_transfer_ownership(token, to):
    _owned(token).owner = None if to is None else address(to)


def token_set_hook(token, hook):
    _owned(token).hook = None if hook is None else address(hook)


def token_balance_of(token, holder=None):
    return _token(token)[1].balances.get(current().actor if holder is None else address(holder), 0)


def token_allowance(token, owner, spender):
    return _token(token)[1].allowances.get((address(owner), address(spender)), 0)


def token_is_frozen(token, holder):
    return address(holder) in _token(token)[1].frozen


def token_info(token):
    t = _token(token)[1]
    return {
        "name": t.name, "symbol": t.symbol, "decimals": t.decimals, "total_supply": t.supply,
        "max_supply": t.max_supply, "owner": t.owner, "hook": t.hook,
    }


# --- the program

def program_classes():
    return [v for v in vars(current().module).values() if isinstance(v, type)]


def program_function(name):
    found = vars(current().module).get(name)
    return found if callable(found) and not isinstance(found, type) else None
