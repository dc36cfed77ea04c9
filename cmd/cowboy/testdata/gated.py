"""Does what needs entitlements, and catches what can be caught."""

from cowboy_sdk import *


@actor
class Gated:
    @public
    def store(self, msg):
        try:
            self.storage["text"] = "x" * msg.payload
        except BaseException:
            return "caught"

    @public
    def load(self, msg):
        return self.storage.get("text")

    @public
    def pay(self, msg):
        for amount in msg.payload:
            transfer(get_origin(), amount)

    @public
    def fetch(self, msg):
        try:
            submit_job({"job_type": "http", "url": msg.payload})
        except CowboyError:
            return "allowed"

    @public
    def prompt(self, msg):
        try:
            submit_job({"job_type": "llm", "prompt": "p", "max_tokens": msg.payload})
        except CowboyError:
            return "allowed"

    @public
    def commit(self, msg):
        return blob_commit(b"x" * msg.payload)

    @public
    def wait(self, msg):
        for n in range(msg.payload):
            set_timer(current_block() + 5_000 + n, "store", 1)

    @public
    def keep(self, msg):
        pass

    @public
    def replace(self, msg):
        upgrade_self(msg.payload)

    @public
    def version(self, msg):
        return 1
