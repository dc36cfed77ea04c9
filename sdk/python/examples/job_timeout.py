"""Asks a model and does not wait longer than it wants to.

Every question has a correlation id, under which the actor keeps what it must know when
the answer comes, and a timer. What comes first takes the question off: the answer, the
timer, or the owner who takes it back. What comes later finds nothing.
"""

from cowboy_sdk import (
    OWNER, RESULT_VERIFIER, RUNNER, SELF, NotFound, actor, assume_ownership_if_unowned, callable_by, cancel_job, cancel_timer,
    current_block, emit_event, generate_id, public, send, set_timer,
)


@actor
class Patient:
    def init(self, msg):
        assume_ownership_if_unowned()

    @callable_by(OWNER)
    def ask(self, msg):
        correlation = generate_id()
        job = send(RUNNER, {
            "type": "llm",
            "prompt": msg.question,
            "correlation_id": correlation,
            "reply_handler": "answered",
            "context": {"question": msg.question, "asked_at": current_block()},
            "timeout_blocks": 60,
        })
        timer = set_timer(current_block() + msg.blocks, "late", {"correlation_id": correlation})
        self.storage[f"pending:{correlation}"] = {"job": job, "timer": timer}
        return correlation

    @callable_by(RESULT_VERIFIER)
    def answered(self, msg):
        pending = self._take(msg.correlation_id)
        if pending is None:
            emit_event("ignored", msg.correlation_id)
            return
        cancel_timer(pending["timer"])
        if msg.status == "done":
            self.storage[f"answer:{msg.correlation_id}"] = {"question": msg.context["question"], "answer": msg.result}
        else:
            self.storage[f"answer:{msg.correlation_id}"] = {"error": msg.outcome}

    @callable_by(SELF)
    def late(self, msg):
        pending = self._take(msg.correlation_id)
        if pending is not None:
            cancel_job(pending["job"])  # in vain where runners have it already
            self.storage[f"answer:{msg.correlation_id}"] = {"error": "late"}

    @callable_by(OWNER)
    def withdraw(self, msg):
        pending = self._take(msg.correlation_id)
        if pending is None:
            raise NotFound("no such question is open")
        cancel_timer(pending["timer"])
        return cancel_job(pending["job"])

    @public
    def answer(self, msg):
        return self.storage.get(f"answer:{msg.correlation_id}")

    def _take(self, correlation):
        key = f"pending:{correlation}"
        pending = self.storage.get(key)
        if pending is not None:
            self.storage.delete(key)
        return pending
