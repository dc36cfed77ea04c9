"""A price that five runners fetch: the median of what they find is what counts.

The owner asks for it. A runner that is further than one percent from the median is
flagged, and the price stands as long as three are not.
"""

from cowboy_sdk import (
    OWNER, RESULT_VERIFIER, StateChanged, actor, assume_ownership_if_unowned, callable_by, current_block, emit_event, job_status, public,
    runner,
)

URL = "https://api.example.org/price?ids=bitcoin&vs_currencies=usd"


@actor
class PriceOracle:
    def init(self, msg):
        assume_ownership_if_unowned()

    @callable_by(OWNER)
    def refresh(self, msg):
        asked = self.storage.get("asked")
        if asked is not None and job_status(asked) in ("pending", "assigned"):
            raise StateChanged("an answer is awaited")
        request = runner.http(
            URL,
            extraction={"method": "jsonpath", "selectors": {"price": "$.bitcoin.usd"}},
            snapshot={"mode": "median", "outlier_threshold": 0.01},
            verification={"mode": "median", "runners": 5, "threshold": 3},
            timeout_blocks=60,
        )
        self.storage["asked"] = request.submit("priced")
        return self.storage["asked"]

    @callable_by(RESULT_VERIFIER)
    def priced(self, msg):
        if self.storage.get("asked") != "0x" + msg.job_id.hex():
            return
        self.storage.delete("asked")
        if msg.status != "done":
            emit_event("no_price", msg.outcome)
            return
        self.storage["price"] = {"usd": msg.output["price"], "height": current_block(), "runners": len(msg.runners)}
        emit_event("price", self.storage["price"])

    @public
    def price(self, msg):
        return self.storage.get("price")
