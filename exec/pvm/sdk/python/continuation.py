"""What the transformed handlers of @runner.continuation call: package exec/pvm/continuation."""

import _cowboy as _host
import cowboy_sdk as _sdk
from cowboy_sdk import _actor, _result

Everything = BaseException
Unbound = NameError


def items(iterable):
    """What a for loop around an await walks by index."""
    if type(iterable) in (list, tuple, range, str, bytes):
        return iterable
    return list(iterable)


def more(sequence, index):
    return index < len(sequence)


def enter(manager):
    cls = type(manager)
    if not hasattr(cls, "__enter__") or not hasattr(cls, "__exit__"):
        raise TypeError(f"'{cls.__name__}' object does not support the context manager protocol")
    return cls.__enter__(manager)


def leave(manager):
    type(manager).__exit__(manager, None, None, None)


class leaving:
    """Leaves a manager on behalf of a with statement that was taken apart."""

    def __init__(self, manager):
        self.manager = manager

    def __enter__(self):
        pass

    def __exit__(self, kind, exc, trace):
        return type(self.manager).__exit__(self.manager, kind, exc, trace)


def pending(awaited):
    """Tells whether an awaited value is a job, at which the handler is suspended."""
    return isinstance(awaited, _sdk.Request)


def suspend(name, label, captured, request):
    """Stores what the rest of the handler needs and submits the job."""
    _host.suspend(name, label, captured, request.spec, request.context)


def run(awaited):
    """Waits for something that needs no runner; the outcome as take wants it."""
    return (_host.wait(awaited),)


def take(outcome):
    """The value of an await, or its exception."""
    if isinstance(outcome, tuple):
        return outcome[0]
    return _result(*outcome)


def resume(payload):
    """Continues the handler that waits for the job of this answer."""
    if _sdk.get_sender() not in (_sdk.JOB_DISPATCHER, _sdk.RESULT_VERIFIER):
        raise _sdk.PermissionDenied("answers of runners come from the chain")
    name, label, captured, context = _host.resume(payload["correlation_id"])
    step = "." + name
    outcome = [payload, context]
    actor = _actor()
    if actor is not None:
        return getattr(actor(), step)(label, captured, outcome)
    return _host.program_function(step)(label, captured, outcome)
