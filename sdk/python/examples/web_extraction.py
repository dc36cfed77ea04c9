"""Keeps what most of three runners read on a page of the web.

Pages differ in advertisements and times from one visit to the next, so runners hand in
what they have taken out of it and not the page.
"""

from cowboy_sdk import OWNER, RESULT_VERIFIER, Verify, actor, assume_ownership_if_unowned, callable_by, emit_event, public, runner

URL = "https://disclosures.example.org/latest"


@actor
class Disclosures:
    def init(self, msg):
        assume_ownership_if_unowned()
        self.storage["next"] = 1

    @callable_by(OWNER)
    def read(self, msg):
        number = self.storage["next"]
        self.storage["next"] = number + 1
        request = runner.http(
            URL,
            context={"number": number},
            extraction={
                "method": "css_selector",
                "selectors": {"ticker": "td.asset-ticker::text", "type": "td.tx-type::text", "amount": "td.amount::text"},
            },
            verification=Verify.majority_vote("ticker", runners=3, threshold=2),
            timeout_blocks=60,
        )
        self.storage[f"open:{number}"] = request.submit("extracted")
        return number

    @callable_by(RESULT_VERIFIER)
    def extracted(self, msg):
        number = msg.context["number"]
        if not self.storage.delete(f"open:{number}"):
            return
        if msg.status == "done" and msg.output["type"] in ("buy", "sell"):
            self.storage[f"entry:{number}"] = msg.output
            emit_event("entry", {"number": number, "ticker": msg.output["ticker"]})
        else:
            emit_event("no_entry", {"number": number, "outcome": msg.outcome})

    @public
    def entry(self, msg):
        return self.storage.get(f"entry:{msg.number}")
