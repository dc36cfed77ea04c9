"""The SDK of Cowboy actors under CPython, for local tests.

The names are those of docs/sdk.md and mean the same: decorators, guards, models and
requests are the very code that runs on the chain (``_module``), over a chain in
memory (``testing.Chain``). On the chain ``import cowboy_sdk`` finds the module of
the machine instead; nothing of this package is deployed.
"""

from . import _module
from ._module import *  # noqa: F401,F403
from ._module import Request, TaskGroup, _result, _Runner


def _await_request(self):
    answer = yield self
    return _result(answer, self.context)


def _await_group(self):
    answers = yield self
    return [_result(a, r.context) for a, r in zip(answers, self.requests)]


# On the chain deploying rewrites a handler so that it is stored where it waits;
# here its coroutine is kept.
Request.__await__ = _await_request
TaskGroup.__await__ = _await_group


def _continuation(self, fn):
    """Marks a handler that waits for runners."""
    return fn


_Runner.continuation = _continuation

__all__ = [n for n in vars(_module) if not n.startswith("_")]
