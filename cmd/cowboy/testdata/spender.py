"""Uses what it is told to use."""

from cowboy_sdk import *


@actor
class Spender:
    @public
    def spend(self, msg):
        charge_gas(msg.payload)
        self.storage["spent"] = msg.payload
        emit_event("spent", msg.payload)
        return msg.payload
