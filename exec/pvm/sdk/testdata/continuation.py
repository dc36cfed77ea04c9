from cowboy_sdk import actor, runner

@actor
class TradingBot:

    @runner.continuation
    async def handle_trade(self, msg):
        price = self.storage.get("price")

        if price < 150:
            # SDK helper - compiles to message passing
            result = await runner.llm(
                prompt=f"Analyze buying opportunity at ${price}",
                context={"original_price": price}
            )

            # Developer still validates - SDK doesn't hide this
            if self.storage.get("price") != result.context["original_price"]:
                return

            if "bullish" in result.output.lower():
                self.execute_buy(price)
