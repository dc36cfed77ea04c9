"""Counts, for anybody; its owner may begin again."""

from cowboy_sdk import OWNER, actor, assume_ownership_if_unowned, callable_by, emit_event, public


@actor
class Counter:
    def init(self, msg):
        assume_ownership_if_unowned()
        self.storage["n"] = msg.payload or 0

    @public
    def add(self, msg):
        if not isinstance(msg.payload, int) or msg.payload < 1:
            raise ValueError("add a positive int")
        self.storage["n"] += msg.payload
        emit_event("added", {"by": msg.sender, "n": self.storage["n"]})
        return self.storage["n"]

    @public
    def get(self, msg):
        return self.storage["n"]

    @callable_by(OWNER)
    def reset(self, msg):
        self.storage["n"] = 0
