"""Sets timers as it is told, and bids for them what it is told."""

from cowboy_sdk import *


@actor
class Clockwork:
    def init(self, msg):
        self.storage["tip"] = 0

    @public
    def plan(self, msg):
        return [self.at(current_block() + n) for n in msg.payload]

    def at(self, height):
        return [height, set_timer(height, "tick", height)]

    def tick(self, msg):
        emit_event("tick", msg.payload)

    @public
    def strike(self, msg):
        self.tick(msg)

    @public
    def every(self, msg):
        return set_interval(msg.payload, "tick")

    @public
    def cancel(self, msg):
        return cancel_timer(msg.payload)

    @public
    def prices(self, msg):
        """What each of so many timers for one block takes from the balance."""
        height, prices = current_block() + msg.payload["ahead"], []
        for n in range(msg.payload["times"]):
            before = get_balance()
            set_timer(height, "tick", height)
            prices.append(before - get_balance())
        return prices

    @public
    def bidding(self, msg):
        self.storage["tip"] = msg.payload["tip"]
        return schedule_timer_ex(msg.payload["height"], "tick", msg.payload["height"], gba=self.address)

    def getGasBid(self, msg):
        return {"tip": self.storage["tip"], "max_fee": 1_000}

    @public
    def leave(self, msg):
        """Gives all but so much of the balance away."""
        transfer(get_origin(), get_balance() - msg.payload)
