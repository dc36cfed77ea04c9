"""Sends, calls, defers and spawns as it is told, and remembers what reached it."""

from cowboy_sdk import *

CHILD = """
from cowboy_sdk import actor, public, entitlement, get_creator

@actor
class Child:
    def init(self, msg):
        if msg.payload == "fail":
            raise ValueError("no")
        self.storage["from"] = get_creator()

    @public
    def may(self, msg):
        return entitlement(msg.payload) is not None
"""


@actor
class Relay:
    def init(self, msg):
        if msg.payload == "fail":
            raise ValueError("no")
        assume_ownership_if_unowned()
        self.storage["heard"] = []

    @callable_by(OWNER)
    def forget(self, msg):
        self.storage["heard"] = []

    def secret(self, msg):
        return "nobody calls this"

    @public
    def hear(self, msg):
        self.storage["heard"] += [msg.payload]
        emit_event("heard", [msg.payload, get_value()])

    @public
    def heard(self, msg):
        return self.storage["heard"]

    @public
    def fail(self, msg):
        self.storage["heard"] += ["undone"]
        raise ValueError("no")

    @public
    def tell(self, msg):
        for n in range(msg.payload["times"]):
            send(msg.payload["to"], n, msg.payload["handler"], value=msg.payload["value"], cycles=msg.payload["cycles"])

    @public
    def nest(self, msg):
        left, reserve = msg.payload
        if left:
            send(self.address, [left - 1, reserve - 50_000], "nest", cycles=reserve - 50_000)

    @public
    @reentrancy_guard
    def enter(self, msg):
        if msg.payload is None:
            return "once"
        try:
            return call(msg.payload, "back", self.address, cycles_limit=300_000)
        except CowboyError as e:
            return e.code

    @public
    def back(self, msg):
        try:
            return call(msg.payload, "enter", None, cycles_limit=100_000)
        except CowboyError as e:
            return "refused " + e.code

    @public
    def sum(self, msg):
        return sum(msg.payload)

    @public
    def ask(self, msg):
        try:
            return call(msg.payload["to"], msg.payload["handler"], msg.payload["with"], cycles_limit=msg.payload["cycles"])
        except CowboyError as e:
            return e.code

    @public
    def later(self, msg):
        height, what = msg.payload
        return create_deferred_tx(self.address, "hear", what, height=height, cycles_limit=150_000)

    @public
    def bear(self, msg):
        try:
            return spawn(msg.payload["salt"].encode(), CHILD, init=msg.payload["init"], entitlements=msg.payload["asks"])
        except CowboyError as e:
            return e.code
