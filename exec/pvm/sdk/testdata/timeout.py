from cowboy_sdk import actor, send, RUNNER

@actor
class TradingBot:

    def handle_trade(self, msg):
        correlation_id = generate_id()

        # Store pending request info
        self.storage.set(f"pending:{correlation_id}", {
            "type": "trade_analysis",
            "submitted_block": current_block(),
            "context": {}
        })

        # Send job request
        send(RUNNER, {
            "correlation_id": correlation_id,
            "job_type": "llm",
        })

        # Schedule timeout - returns a timer_id for later cancellation
        timer_id = set_timer(
            height=current_block() + 100,
            handler="handle_timeout",
            data={"correlation_id": correlation_id}
        )

        # Store timer_id so we can cancel it when result arrives
        self.storage.set(f"timer:{correlation_id}", timer_id)

    def handle_analysis_result(self, msg):
        correlation_id = msg.correlation_id

        # Cancel timeout timer using stored timer_id
        timer_id = self.storage.get(f"timer:{correlation_id}")
        if timer_id:
            cancel_timer(timer_id)
            self.storage.delete(f"timer:{correlation_id}")

        # Process result
        pending = self.storage.get(f"pending:{correlation_id}")
        if pending is None:
            return  # Already timed out or duplicate

        self.storage.delete(f"pending:{correlation_id}")
        # Continue processing...

    def handle_timeout(self, msg):
        correlation_id = msg.correlation_id

        pending = self.storage.get(f"pending:{correlation_id}")
        if pending is None:
            return  # Result already arrived

        # Clean up
        self.storage.delete(f"pending:{correlation_id}")
        self.storage.delete(f"timer:{correlation_id}")

        # Handle timeout - retry, abort, or escalate
        self.handle_job_failure(correlation_id, "timeout")
