"""The chain in memory keeps what actors rely on."""

import json
import pathlib
import unittest

from cowboy_sdk import CallFailed, HeightPassed, InsufficientFunds, LimitExceeded, ReadOnlyCall, UnknownHandler
from cowboy_sdk._values import decode, encode
from cowboy_sdk.testing import Chain, account

SOURCE = '''
from cowboy_sdk import *

calls = []

@actor
class A:
    def init(self, msg):
        self.storage["n"] = 0

    @public
    def put(self, msg):
        calls.append(1)
        self.storage["n"] = msg.payload
        emit_event("put", len(calls))
        if msg.payload == 13:
            raise ValueError("thirteen")
        return (1, [2])

    @public
    def tell(self, msg):
        for value in msg.values:
            send(self.address, value, "put")

    @public
    def ask(self, msg):
        try:
            call(self.address, "put", 13)
        except CallFailed:
            return self.storage["n"]

    @public
    def past(self, msg):
        set_timer(current_block(), "put")

    @public
    def pay(self, msg):
        transfer(msg.sender, msg.payload)

    @public
    def flood(self, msg):
        for i in range(1025):
            send(self.address, i, "put")

    @reentrancy_guard
    @public
    def guarded(self, msg):
        return call(self.address, "guarded")

    @public
    @runner.continuation
    async def both(self, msg):
        first, second = await TaskGroup(runner.llm("a"), runner.llm("b"))
        return [first.output, second.output]

    def hidden(self, msg):
        pass
'''

SCANS = """
from cowboy_sdk import *

@public
def h(msg):
    for i, key in enumerate({keys!r}):
        storage.set(key, i)
    return {expr}
"""


class Behaviour(unittest.TestCase):
    def setUp(self):
        self.chain = Chain()
        self.at = self.chain.deploy(SOURCE)

    def run_it(self, handler, payload=None, **more):
        return self.chain.execute(self.at, handler, payload, **more)

    def test_atomic(self):
        self.run_it("put", 7).check()
        failed = self.run_it("put", 13)
        self.assertFalse(failed.ok)
        self.assertEqual((self.chain.storage(self.at), failed.events), ({"n": 7}, []))

    def test_globals_do_not_outlive_a_call(self):
        self.assertEqual([self.run_it("put", 1).events[0].data, self.run_it("put", 1).events[0].data], [1, 1])

    def test_values_pass_as_bytes(self):
        self.assertEqual(self.run_it("put", 1).output, [1, [2]])
        for value in (0, -1, 1 << 70, -(1 << 70), 1.5, "é", b"x", [1, [2]], {"b": 1, "a": {2: 3}}, {1, 2}, None, True):
            self.assertEqual(decode(encode(value)), value)
        self.assertEqual(encode({"b": 1, "a": 2}).hex(), "a2616102616201")
        self.assertEqual(encode("e\u0301"), encode("é"))
        self.assertRaises(TypeError, encode, object())
        self.assertRaises(ValueError, encode, "a" * 65536)

    def test_messages(self):
        receipt = self.run_it("tell", {"values": [5, 13, 6]})
        self.assertEqual([m.ok for m in receipt.messages], [True, False, True])
        self.assertEqual(self.chain.storage(self.at), {"n": 6})
        self.assertEqual(self.run_it("ask").output, 6)
        self.assertIsInstance(self.run_it("flood").error, LimitExceeded)

    def test_refusals(self):
        self.assertIsInstance(self.run_it("past").error, HeightPassed)
        self.assertIsInstance(self.run_it("pay", 5).error, InsufficientFunds)
        self.assertFalse(self.run_it("hidden").ok)
        self.assertIsInstance(self.run_it("nothing").error, UnknownHandler)
        self.assertFalse(self.run_it("guarded").ok)
        self.assertRaises(ReadOnlyCall, self.chain.read, self.at, "put", 1)

    def test_money(self):
        alice = account("alice")
        self.chain.fund(self.at, 10)
        self.run_it("pay", 4, sender=alice).check()
        self.run_it("put", 1, sender=alice, value=3).check()
        self.assertEqual((self.chain.balance(self.at), self.chain.balance(alice)), (9, 4))

    def test_scans(self):
        """As the machine answers them (exec/pvm/sdk)."""
        table = json.loads(pathlib.Path(__file__).with_name("scans.json").read_text(encoding="utf-8"))
        for rule, expr, want in table["rows"]:
            with self.subTest(rule):
                chain = Chain()
                receipt = chain.execute(chain.deploy(SCANS.format(keys=table["keys"], expr=expr)), "h")
                got = repr(receipt.output) if receipt.ok else f"{type(receipt.error).__name__}: {receipt.error}"
                self.assertEqual(got, want)

    def test_group(self):
        jobs = self.run_it("both").check().jobs
        self.chain.answer(jobs[1], "second").check()
        self.assertEqual(self.chain.answer(jobs[0], "first").check().output, ["first", "second"])


if __name__ == "__main__":
    unittest.main()
