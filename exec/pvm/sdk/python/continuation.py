"""What the transformed handlers of @runner.continuation call: package exec/pvm/continuation."""

import _cowboy as _host
import cowboy_sdk as _sdk


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
    return _sdk._result(*outcome)


def resume(payload):
    """Continues the handler that waits for the job of this answer."""
    if _sdk.get_sender() not in (_sdk.JOB_DISPATCHER, _sdk.RESULT_VERIFIER):
        raise _sdk.PermissionDenied("answers of runners come from the chain")
    name, label, captured, context = _host.resume(payload["correlation_id"])
    step = name + ".step"
    outcome = [payload, context]
    if _sdk._actors:
        return getattr(_sdk._actors[0](), step)(label, captured, outcome)
    return _host.program_function(step)(label, captured, outcome)
