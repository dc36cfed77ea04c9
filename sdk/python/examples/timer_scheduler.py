"""A diary on the chain: entries that wake at their height, and a heartbeat."""

from cowboy_sdk import NotFound, PermissionDenied, SELF, actor, callable_by, cancel_timer, current_block, emit_event, public, set_interval, set_timer


@actor
class Scheduler:
    def init(self, msg):
        self.storage["next"] = 1
        self.storage["beats"] = 0

    @public
    def remind(self, msg):
        number = self.storage["next"]
        self.storage["next"] = number + 1
        timer = set_timer(current_block() + msg.blocks, "wake", {"number": number})
        self.storage[f"entry:{number}"] = {"text": msg.text, "by": msg.sender, "timer": timer}
        return number

    @public
    def forget(self, msg):
        key = f"entry:{msg.number}"
        entry = self.storage.get(key)
        if entry is None:
            raise NotFound("no such entry")
        if entry["by"] != msg.sender:
            raise PermissionDenied("somebody else's entry")
        self.storage.delete(key)
        return cancel_timer(entry["timer"])

    @callable_by(SELF)
    def wake(self, msg):
        key = f"entry:{msg.number}"
        entry = self.storage.get(key)
        if entry is not None:
            self.storage.delete(key)
            emit_event("reminder", {"number": msg.number, "text": entry["text"], "height": current_block()})

    @public
    def start(self, msg):
        if self.storage.get("heart") is None:
            self.storage["heart"] = set_interval(msg.every, "beat")

    @public
    def stop(self, msg):
        heart = self.storage.get("heart")
        if heart is not None:
            cancel_timer(heart)
            self.storage.delete("heart")

    @callable_by(SELF)
    def beat(self, msg):
        self.storage["beats"] += 1

    @public
    def beats(self, msg):
        return self.storage["beats"]
