"""Keeps the median of what trusted reporters say of a price, and acts on moves.

A reporter sends {"price": cents, "round": n}. A round closes with as many reports
as the quorum; a median that is further from the last one than the limit halts the
actor until its owner says otherwise.
"""

from cowboy_sdk import OWNER, PermissionDenied, StateChanged, actor, assume_ownership_if_unowned, callable_by, emit_event, public


@actor
class PriceConsumer:
    def init(self, msg):
        assume_ownership_if_unowned()
        self.storage["reporters"] = [r.lower() for r in msg.reporters]
        self.storage["quorum"] = msg.get("quorum", 2)
        self.storage["limit_percent"] = msg.get("limit_percent", 20)
        self.storage["round"] = 1
        self.storage["reports"] = {}
        self.storage["halted"] = False

    @public
    def report(self, msg):
        if msg.sender not in self.storage["reporters"]:
            raise PermissionDenied("not a reporter")
        if self.storage["halted"]:
            raise StateChanged("halted")
        if msg.round != self.storage["round"]:
            raise StateChanged(f"round {self.storage['round']} is open")
        if not isinstance(msg.price, int) or msg.price <= 0:
            raise ValueError("a price is a positive int of cents")
        reports = self.storage["reports"]
        reports[msg.sender] = msg.price
        if len(reports) < self.storage["quorum"]:
            self.storage["reports"] = reports
            return None
        return self._close(sorted(reports.values()))

    def _close(self, prices):
        middle = len(prices) // 2
        price = prices[middle] if len(prices) % 2 else (prices[middle - 1] + prices[middle]) // 2
        last = self.storage.get("price")
        self.storage["reports"] = {}
        self.storage["round"] += 1
        if last is not None and abs(price - last) * 100 > last * self.storage["limit_percent"]:
            self.storage["halted"] = True
            emit_event("halted", {"last": last, "price": price})
            return None
        self.storage["price"] = price
        emit_event("price", {"round": self.storage["round"] - 1, "price": price})
        return price

    @public
    def price(self, msg):
        return self.storage.get("price")

    @callable_by(OWNER)
    def resume(self, msg):
        self.storage["halted"] = False
