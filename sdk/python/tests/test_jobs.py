"""The examples that ask runners for work, on the chain in memory: well, badly and under attack."""

import pathlib
import unittest

from cowboy_sdk import NotFound, PermissionDenied, RESULT_VERIFIER, RunnerError, StateChanged
from cowboy_sdk.testing import SILENT, Chain, Fault, account

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
MALLORY, OWNER = account("mallory"), account("deployer")


def fails(outcome):
    def script(job, seat):
        raise Fault(outcome)
    return script


class Asking(unittest.TestCase):
    def deploy(self, name, init=None):
        self.chain = Chain()
        self.at = self.chain.deploy(str(EXAMPLES / f"{name}.py"), init)

    def do(self, handler, payload=None, sender=OWNER):
        return self.chain.execute(self.at, handler, payload, sender)

    def work(self, script):
        """Lets runners do the one job that is open."""
        (receipt,) = self.chain.work(script)
        return receipt.check()

    def say(self, answers):
        return lambda job, seat: answers[seat]

    def refused(self, handler, payload):
        """Nobody but the verifier may hand in an answer, not even the owner."""
        for sender in (MALLORY, OWNER):
            self.assertIsInstance(self.do(handler, payload, sender).error, PermissionDenied)

    # --- price_oracle

    def prices(self, *usd):
        return self.say([u if u is SILENT else {"price": u} for u in usd])

    def test_price_oracle(self):
        self.deploy("price_oracle")
        self.assertIsInstance(self.do("refresh", sender=MALLORY).error, PermissionDenied)
        job = self.do("refresh").check().output
        self.assertEqual(self.chain.state.jobs[job].spec["verification"], {"mode": "median", "runners": 5, "threshold": 3})
        self.assertIsInstance(self.do("refresh").error, StateChanged)
        self.work(self.prices(42000, 42100, 41900, 99999, 42050))
        self.assertEqual(self.chain.read(self.at, "price"), {"usd": 42050, "height": 1, "runners": 4})
        self.do("refresh").check()
        self.work(self.prices(42000, 1, SILENT, 99999, SILENT))
        self.assertEqual((self.chain.events[-1].name, self.chain.events[-1].data), ("no_price", "no_agreement"))
        self.do("refresh").check()
        self.work(self.prices(*[SILENT] * 5))
        self.assertEqual(self.chain.events[-1].data, "timeout")
        self.do("refresh").check()
        self.work(fails("external_fault"))
        self.assertEqual(self.chain.events[-1].data, "external_fault")
        self.assertEqual(self.chain.read(self.at, "price")["usd"], 42050)

    def test_price_oracle_under_attack(self):
        self.deploy("price_oracle")
        job = self.do("refresh").check().output
        forged = {"job_id": bytes.fromhex(job[2:]), "status": "done", "output": {"price": 1}, "runners": []}
        self.refused("priced", forged)
        self.work(self.prices(5, 5, 5, 5, 5))
        self.assertRaises(ValueError, self.chain.answer, job, {"price": 1})  # the chain answers once
        self.do("priced", forged, RESULT_VERIFIER).check()  # if it did not
        self.assertEqual(self.chain.read(self.at, "price")["usd"], 5)

    # --- web_extraction

    def test_web_extraction(self):
        self.deploy("web_extraction")
        row, other = {"ticker": "CBY", "type": "buy", "amount": "5"}, {"ticker": "BTC", "type": "buy", "amount": "5"}
        rows = [([other, row, dict(row, amount="6")], row), ([row, other, SILENT], None), ([row, SILENT, row], row), ([SILENT] * 3, None),
                ([dict(row, type="gift")] * 3, None)]
        for found, want in rows:
            number = self.do("read").check().output
            self.work(self.say(found))
            self.assertEqual(self.chain.read(self.at, "entry", {"number": number}), want)
            self.assertNotIn(f"open:{number}", self.chain.storage(self.at))

    def test_web_extraction_under_attack(self):
        self.deploy("web_extraction")
        number = self.do("read").check().output
        forged = {"context": {"number": number}, "status": "done", "outcome": "ok", "output": {"ticker": "EVIL", "type": "buy"}}
        self.refused("extracted", forged)
        self.work(self.say([{"ticker": "CBY", "type": "buy"}] * 3))
        self.do("extracted", forged, RESULT_VERIFIER).check()
        self.assertEqual(self.chain.read(self.at, "entry", {"number": number})["ticker"], "CBY")

    # --- job_timeout

    def asked(self, blocks=5):
        return self.do("ask", {"question": "why?", "blocks": blocks}).check().output

    def answer_to(self, correlation):
        return self.chain.read(self.at, "answer", {"correlation_id": correlation})

    def test_job_timeout(self):
        self.deploy("job_timeout")
        first, second = self.asked(), self.asked()
        one, two = [j.id for j in self.chain.pending()]
        self.chain.answer(two, "because").check()  # in any order
        self.chain.answer(one, error="no_candidates").check()
        self.assertEqual(self.answer_to(second), {"question": "why?", "answer": "because"})
        self.assertEqual(self.answer_to(first), {"error": "no_candidates"})
        self.assertEqual(self.chain.state.timers, {})
        late = self.asked(blocks=2)
        self.chain.advance(2)
        self.assertEqual(self.answer_to(late), {"error": "late"})
        (job,) = self.chain.pending()  # runners have it: the timer could not take it back
        self.chain.answer(job.id, "too late").check()
        self.assertEqual(self.answer_to(late), {"error": "late"})
        self.assertEqual(self.chain.events[-1].name, "ignored")

    def test_job_withdrawn(self):
        self.deploy("job_timeout")
        soon = self.asked()
        self.assertTrue(self.do("withdraw", {"correlation_id": soon}).check().output)
        self.assertEqual((self.chain.pending(), self.chain.state.timers), ([], {}))
        job = next(iter(self.chain.state.jobs))
        self.assertRaises(ValueError, self.chain.answer, job, "because")  # no answer to what is taken back
        self.assertIsInstance(self.do("withdraw", {"correlation_id": soon}).error, NotFound)
        drawn = self.asked()
        self.chain.advance()
        self.assertFalse(self.do("withdraw", {"correlation_id": drawn}).check().output)
        self.work(lambda job, seat: "because")
        self.assertIsNone(self.answer_to(drawn))
        self.assertEqual(self.chain.events[-1].data, drawn)

    def test_job_timeout_under_attack(self):
        self.deploy("job_timeout")
        correlation = self.asked()
        forged = {"correlation_id": correlation, "status": "done", "result": "evil", "context": {"question": "?"}}
        self.refused("answered", forged)
        self.refused("late", {"correlation_id": correlation})
        self.assertIsInstance(self.do("withdraw", {"correlation_id": correlation}, MALLORY).error, PermissionDenied)
        self.work(lambda job, seat: "because")
        self.do("answered", forged, RESULT_VERIFIER).check()
        self.assertEqual(self.answer_to(correlation)["answer"], "because")

    # An actor may have the answer to its own job sent elsewhere; it then comes from that actor.
    def test_answers_ordered_for_another(self):
        self.deploy("job_timeout")
        correlation = self.asked()
        evil = self.chain.deploy("""
from cowboy_sdk import public, send, RUNNER

@public
def order(msg):
    return send(RUNNER, {"type": "llm", "prompt": "evil", "correlation_id": msg.correlation, "reply_to": msg.to, "reply_handler": "answered"})
""")
        job = self.chain.execute(evil, "order", {"to": self.at, "correlation": correlation}).check().output
        self.assertIsInstance(self.chain.answer(job, "evil").error, PermissionDenied)
        self.assertIsNone(self.answer_to(correlation))

    # --- ask_model

    def test_ask_model(self):
        self.deploy("ask_model", {"text": "a fine day"})
        self.assertIsInstance(self.do("judge", sender=MALLORY).error, PermissionDenied)
        self.do("judge").check()
        self.work(lambda job, seat: " Happy\n")
        self.assertEqual(self.chain.read(self.at, "mood"), "happy")
        (job,) = self.chain.state.jobs
        self.assertRaises(ValueError, self.chain.answer, job, "sad")
        self.do("judge").check()
        self.do("write", {"text": "rain"}).check()
        self.work(lambda job, seat: "sad")
        self.assertEqual((self.chain.read(self.at, "mood"), self.chain.events[-1].name), ("happy", "no_mood"))
        for script, outcome in ((lambda job, seat: SILENT, "timeout"), (fails("impossible"), "impossible")):
            self.do("judge").check()
            self.work(script)
            self.assertEqual(self.chain.events[-1].data, outcome)
        self.assertFalse(self.do("__continuation__", {"job_id": bytes(32), "output": "evil"}, MALLORY).ok)
        self.assertFalse(self.do("__continuation__", {"job_id": bytes(32), "output": "evil"}, RESULT_VERIFIER).ok)

    # --- what the chain in memory promises of jobs

    def test_jobs_of_others(self):
        self.deploy("job_timeout")
        self.asked()
        (job,) = self.chain.pending()
        thief = self.chain.deploy("from cowboy_sdk import *\n\n@public\ndef h(msg):\n    return [cancel_job(msg.payload), job_status(msg.payload), job_status('0x')]\n")
        self.assertEqual(self.chain.execute(thief, "h", job.id).check().output, [False, "pending", "unknown"])
        self.chain.advance()
        self.assertEqual(self.chain.execute(thief, "h", job.id).check().output[1], "assigned")

    def test_what_the_dispatcher_takes(self):
        self.chain = Chain()
        self.at = self.chain.deploy("""
from cowboy_sdk import *

@public
def tell(msg):
    try:
        return bool(send(RUNNER, msg.spec, msg.get("handler"), msg.get("value", 0)))
    except CowboyError as e:
        return e.code

@public
def told(msg):
    storage["told"] = msg.payload["output"]

@public
def other(msg):
    try:
        send(RESULT_VERIFIER, msg.payload)
    except CowboyError as e:
        return e.code
""")
        spec = {"type": "llm", "prompt": "p"}
        rows = [({"spec": spec}, True), ({"spec": 5}, "E1501"), ({"spec": spec, "handler": "submit"}, "E1401"), ({"spec": spec, "value": 1}, "E1501"),
                ({"spec": {**spec, "reply_to": self.at}}, "E1501"), ({"spec": {**spec, "reply_handler": "told"}}, True)]
        for said, want in rows:
            self.assertEqual(self.do("tell", said).check().output, want)
        self.assertEqual(self.do("other").check().output, "E1401")
        self.chain.work(lambda job, seat: "o")
        self.assertEqual(self.chain.storage(self.at), {"told": "o"})

    def test_long_results(self):
        source = """
from cowboy_sdk import *

@actor
class A:
    @public
    @runner.continuation
    async def wait(self, msg):
        result = await runner.llm("p", result_schema={"max_return_bytes": 65536, "expected_execution_ms": 1, "data_format": msg.form})
        self.storage["got"] = [type(result.output).__name__, len(result.output)]

    @public
    def ask(self, msg):
        return submit_job({"type": "llm", "prompt": "p"}, "answered")

    @public
    def answered(self, msg):
        self.storage["named"] = msg.output
        self.storage["got"] = len(job_result(msg.job_id, msg.output["hash"]))

    @public
    def look(self, msg):
        return len(job_result(msg.id, msg.get("digest")))

    @public
    def got(self, msg):
        return self.storage["got"]
"""
        self.chain = Chain()
        self.at = self.chain.deploy(source)
        for form, output, got in (("text", "x" * 65_536, ["str", 65_536]), ("bytes", b"x" * 33_000, ["bytes", 33_000]), ("json", [0.5] * 9_000, ["list", 9_000])):
            self.do("wait", {"form": form}).check()
            self.work(lambda job, seat: output)
            self.assertEqual(self.chain.read(self.at, "got"), got)
        job = self.do("ask").check().output
        self.work(lambda job, seat: "y" * 40_000)
        self.assertEqual(self.chain.read(self.at, "got"), 40_000)
        self.assertEqual(self.chain.storage(self.at)["named"]["bytes"], 40_000)
        self.assertEqual(self.do("look", {"id": job}).check().output, 40_000)
        self.assertIsInstance(self.do("look", {"id": job, "digest": bytes(32)}).error, RunnerError)
        self.assertIsInstance(self.do("look", {"id": "0x" + "00" * 32}).error, NotFound)
        own, self.at = self.at, self.chain.deploy(source, None, account("another"), b"s")
        self.assertIsInstance(self.do("look", {"id": job}).error, NotFound)
        self.at = own
        self.do("ask").check()
        with self.assertRaises(ValueError):
            self.work(lambda job, seat: "y" * 65_537)

    def test_what_answers_say(self):
        self.deploy("job_timeout")
        chain, seen = self.chain, """
from cowboy_sdk import *

@public
def ask(msg):
    return submit_job(msg.payload, "told")

@public
def told(msg):
    storage["told"] = msg.payload
    storage["by"] = msg.sender
"""
        at = chain.deploy(seen)
        ask = lambda **spec: chain.execute(at, "ask", {"type": "llm", "prompt": "p", **spec}).check().output
        job = ask(context=[1], correlation_id="mine")
        chain.work(lambda job, seat: "o")
        told = chain.storage(at)["told"]
        runners = told.pop("runners")
        self.assertEqual(told, {
            "job_id": bytes.fromhex(job[2:]), "output": "o", "result": "o", "status": "done", "context": [1], "outcome": "ok", "correlation_id": "mine",
        })
        self.assertEqual((len(runners), len(runners[0]), chain.storage(at)["by"]), (1, 20, RESULT_VERIFIER))
        job = ask()
        chain.answer(job, error="timeout")
        told = chain.storage(at)["told"]
        self.assertEqual((told["error"], told["outcome"], told["status"], told["output"], told["correlation_id"]), ("timeout", "timeout", "failed", None, job))
        self.assertRaises(ValueError, chain.answer, ask(), None, "bad luck")
        self.assertRaises(ValueError, Fault, "timeout")
        self.assertRaises(TypeError, chain.answer, ask(), {"not": "text"})  # as a runner's data would come
        for spec in ({"result_schema": {"data_format": "json"}}, {"extraction": "x"}, {"verification": {"mode": "majority_vote", "vote_field": "a"}}):
            chain.answer(ask(**spec), {"a": 1}).check()
        chain.work(lambda job, seat: "o")  # the one that was not answered
        ask(verification={"mode": "semantic_similarity", "runners": 3, "threshold": 2})
        self.assertRaises(ValueError, chain.work, lambda job, seat: "o")


if __name__ == "__main__":
    unittest.main()
