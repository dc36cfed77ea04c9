"""Trades a position on what a model makes of the market.

ask fetches a quote and has a model judge it, and waits for both answers in turn; the
decision counts only if the position is still what it was when it was asked for.
decide takes the same judgment from an analyst whom the owner named, by a plain
message.
"""

from cowboy_sdk import (
    OWNER, PermissionDenied, Verify, actor, assume_ownership_if_unowned, callable_by, capture, emit_event,
    public, runner, storage_guard,
)


@actor
class TradingBot:
    def init(self, msg):
        assume_ownership_if_unowned()
        self.storage["cash"] = msg.get("cash", 100_000)
        self.storage["coins"] = 0
        self.storage["most"] = msg.get("most_per_trade", 10_000)
        self.storage["analyst"] = msg.get("analyst")

    @callable_by(OWNER)
    @runner.continuation
    async def ask(self, msg):
        guard = storage_guard("cash", "coins")
        pair = msg.pair
        quote = await runner.http(
            "https://api.example.org/price", context=capture(pair=pair), params={"pair": pair}, result_schema={"data_format": "json"},
            callback_cycles=1_200_000,  # what goes on with the quote asks for another job
        )
        price = quote.output["price"]
        verdict = await runner.llm(
            f"Pair {pair} trades at {price}. Answer buy, sell or hold.",
            verification=Verify.majority_vote("action", runners=5, threshold=3),
        )
        guard.require()
        return self._trade(verdict.output["action"], price)

    @public
    def decide(self, msg):
        if msg.sender != self.storage["analyst"]:
            raise PermissionDenied("not the analyst")
        return self._trade(msg.action, msg.price)

    def _trade(self, action, price):
        if not isinstance(price, int) or price <= 0:
            raise ValueError("a price is a positive int")
        cash, coins, most = self.storage["cash"], self.storage["coins"], self.storage["most"]
        amount = 0
        if action == "buy":
            amount = min(cash, most) // price
        elif action == "sell":
            amount = -min(coins, most // price)
        elif action != "hold":
            raise ValueError("buy, sell or hold")
        self.storage["cash"] = cash - amount * price
        self.storage["coins"] = coins + amount
        emit_event("traded", {"action": action, "price": price, "amount": amount})
        return amount

    @public
    def position(self, msg):
        return {"cash": self.storage["cash"], "coins": self.storage["coins"]}
