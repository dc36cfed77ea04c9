from cowboy_sdk import actor, public


@actor
class Orders:
    """Keeps orders under keys that begin alike, and finds them by that."""

    @public
    def place(self, msg):
        for name, amount in msg.payload.items():
            self.storage["order/" + name] = amount
        self.storage["placed"] = len(msg.payload)

    @public
    def book(self, msg):
        prefix, limit = msg.payload
        return self.storage.scan(prefix, limit)

    @public
    def close(self, msg):
        """Closes the first orders; those that are left."""
        done = [key for key, _ in self.storage.scan("order/", msg.payload)]
        for key in done:
            self.storage.delete(key)
        return [done, [key for key, _ in self.storage.scan("order/")]]
