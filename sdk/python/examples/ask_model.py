"""Has a model name the mood of a text, and waits for it within the handler.

Blocks go by at the await: what the answer is for may have changed, so it counts only if
the text is still the one that was asked about.
"""

from cowboy_sdk import OWNER, RunnerError, actor, assume_ownership_if_unowned, callable_by, emit_event, public, runner


@actor
class Mood:
    def init(self, msg):
        assume_ownership_if_unowned()
        self.storage["text"] = msg.text

    @callable_by(OWNER)
    def write(self, msg):
        self.storage["text"] = msg.text

    @callable_by(OWNER)
    @runner.continuation
    async def judge(self, msg):
        text = self.storage["text"]
        try:
            result = await runner.llm(f"One word for the mood of: {text}", context={"text": text}, max_tokens=8, timeout_blocks=60)
        except RunnerError as error:
            emit_event("no_mood", str(error))
            return
        if self.storage["text"] != result.context["text"]:
            emit_event("no_mood", "the text has changed")
            return
        self.storage["mood"] = result.output.strip().lower()
        emit_event("mood", self.storage["mood"])

    @public
    def mood(self, msg):
        return self.storage.get("mood")
