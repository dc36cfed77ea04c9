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
    """Tells whether an awaited value is work at which the handler is suspended."""
    return isinstance(awaited, _sdk.Request) or isinstance(awaited, _sdk.TaskGroup) and bool(awaited.requests)


class Thrown:
    """An exception that a suspended handler holds: class, arguments, attributes."""

    def __init__(self, kind, args, state):
        self.state = [kind, args, state]

    def __cowboy_serialize__(self):
        return self.state

    @classmethod
    def __cowboy_deserialize__(cls, data):
        return cls(*data)


def kept(value):
    if not isinstance(value, BaseException):
        return value
    cls = type(value)
    if _host.exception_class(cls.__module__, cls.__qualname__) is not cls:
        raise TypeError(f"an exception of the class '{cls.__qualname__}' does not survive an await")
    return Thrown((cls.__module__, cls.__qualname__), value.args, dict(getattr(value, "__dict__", ())))


def restored(value):
    if not isinstance(value, Thrown):
        return value
    (module, name), args, state = value.state
    cls = _host.exception_class(module, name)
    exc = cls.__new__(cls, *args)
    exc.args = args
    for key in state:
        setattr(exc, key, state[key])
    return exc


def suspend(name, label, captured, request):
    """Stores what the rest of the handler needs and submits the job."""
    captured = {key: kept(captured[key]) for key in captured}
    if isinstance(request, _sdk.TaskGroup):
        _host.suspend_group(name, label, captured, [(r.spec, r.context) for r in request.requests])
    else:
        _host.suspend(name, label, captured, request.spec, request.context)


def run(awaited):
    """Waits for something that needs no runner; the outcome as take wants it."""
    return (_host.wait(awaited),)


class Answers:
    """Those to all requests of a group, each with the context of its request."""

    def __init__(self, each):
        self.each = each


def take(outcome):
    """The value of an await, or its exception."""
    if isinstance(outcome, Answers):
        return [_result(*each) for each in outcome.each]
    if isinstance(outcome, tuple):
        return outcome[0]
    return _result(*outcome)


def resume(payload):
    """Continues the handler that waits for the job of this answer."""
    if _sdk.get_sender() not in (_sdk.JOB_DISPATCHER, _sdk.RESULT_VERIFIER):
        raise _sdk.PermissionDenied("answers of runners come from the chain")
    name, label, captured, context = _host.resume(payload["correlation_id"])
    outcome = [payload, context]
    if name is None:
        group = _host.group_answer(captured, label, payload)
        if group is None:
            return None
        name, label, captured, contexts, answers = group
        outcome = Answers(list(zip(answers, contexts)))
    captured = {key: restored(captured[key]) for key in captured}
    step = "." + name
    actor = _actor()
    if actor is not None:
        return getattr(actor(), step)(label, captured, outcome)
    return _host.program_function(step)(label, captured, outcome)
