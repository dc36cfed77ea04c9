"""The example actors on the chain in memory."""

import pathlib
import unittest

from cowboy_sdk import LimitExceeded, PermissionDenied, RunnerError, StateChanged, NotFound
from cowboy_sdk.testing import Chain, account

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
ALICE, BOB, CAROL, OWNER = account("alice"), account("bob"), account("carol"), account("deployer")


def deployed(name, init=None):
    chain = Chain()
    return chain, chain.deploy(str(EXAMPLES / f"{name}.py"), init)


class Examples(unittest.TestCase):
    def test_counter(self):
        chain, at = deployed("counter", 2)
        self.assertEqual(chain.execute(at, "add", 5, ALICE).check().output, 7)
        self.assertEqual(chain.events[-1].data, {"by": ALICE, "n": 7})
        self.assertFalse(chain.execute(at, "add", -1).ok)
        self.assertIsInstance(chain.execute(at, "reset").error, PermissionDenied)
        chain.execute(at, "reset", sender=OWNER).check()
        self.assertEqual(chain.read(at, "get"), 0)

    def test_price_oracle_consumer(self):
        chain, at = deployed("price_oracle_consumer", {"reporters": [ALICE, BOB, CAROL], "quorum": 3})
        report = lambda who, price, number: chain.execute(at, "report", {"price": price, "round": number}, who)
        self.assertIsNone(report(ALICE, 100, 1).check().output)
        self.assertIsInstance(report(OWNER, 100, 1).error, PermissionDenied)
        report(BOB, 104, 1).check()
        self.assertEqual(report(CAROL, 90, 1).check().output, 100)
        self.assertIsInstance(report(CAROL, 90, 1).error, StateChanged)
        for who in (ALICE, BOB, CAROL):
            report(who, 200, 2).check()
        self.assertEqual(chain.events[-1].name, "halted")
        self.assertIsInstance(report(ALICE, 100, 3).error, StateChanged)
        self.assertEqual(chain.read(at, "price"), 100)
        chain.execute(at, "resume", sender=OWNER).check()
        report(ALICE, 100, 3).check()

    def test_token_treasury(self):
        chain, at = deployed("token_treasury", {"members": [ALICE, BOB], "quorum": 2, "supply": 1000})
        number = chain.execute(at, "propose", {"to": CAROL, "amount": 300}, ALICE).check().output
        self.assertFalse(chain.execute(at, "agree", {"number": number}, ALICE).check().output)
        self.assertIsInstance(chain.execute(at, "agree", {"number": number}, CAROL).error, PermissionDenied)
        self.assertTrue(chain.execute(at, "agree", {"number": number}, BOB).check().output)
        self.assertEqual(chain.read(at, "status")["left"], 700)
        self.assertIsInstance(chain.execute(at, "agree", {"number": number}, BOB).error, NotFound)
        number = chain.execute(at, "propose", {"to": CAROL, "amount": 701}, ALICE).check().output
        self.assertFalse(chain.execute(at, "agree", {"number": number}, BOB).ok)
        self.assertEqual(chain.read(at, "status")["left"], 700)
        self.assertIn(f"proposal:{number}", chain.storage(at))

    def test_timer_scheduler(self):
        chain, at = deployed("timer_scheduler")
        first = chain.execute(at, "remind", {"blocks": 2, "text": "tea"}, ALICE).check().output
        second = chain.execute(at, "remind", {"blocks": 2, "text": "cake"}, ALICE).check().output
        self.assertIsInstance(chain.execute(at, "forget", {"number": second}, BOB).error, PermissionDenied)
        self.assertTrue(chain.execute(at, "forget", {"number": second}, ALICE).check().output)
        self.assertIsInstance(chain.execute(at, "wake", {"number": first}, ALICE).error, PermissionDenied)
        chain.execute(at, "start", {"every": 3}).check()
        chain.advance(7)
        self.assertEqual([(e.name, e.data["text"]) for e in chain.events], [("reminder", "tea")])
        self.assertEqual(chain.read(at, "beats"), 2)
        chain.execute(at, "stop").check()
        chain.advance(10)
        self.assertEqual(chain.read(at, "beats"), 2)

    def test_trading_bot(self):
        chain, at = deployed("trading_bot", {"cash": 1000, "most_per_trade": 500, "analyst": ALICE})
        self.assertIsInstance(chain.execute(at, "ask", {"pair": "CBY"}).error, PermissionDenied)
        quote = chain.execute(at, "ask", {"pair": "CBY"}, OWNER).check().jobs[0]
        verdict = chain.answer(quote, {"price": 100}).check().jobs[0]
        self.assertIn("trades at 100", chain.state.jobs[verdict].spec["prompt"])
        self.assertEqual(chain.answer(verdict, {"action": "buy"}).check().output, 5)
        self.assertEqual(chain.read(at, "position"), {"cash": 500, "coins": 5})
        quote = chain.execute(at, "ask", {"pair": "CBY"}, OWNER).check().jobs[0]
        verdict = chain.answer(quote, {"price": 100}).check().jobs[0]
        self.assertEqual(chain.execute(at, "decide", {"action": "sell", "price": 50}, ALICE).check().output, -5)
        self.assertIsInstance(chain.answer(verdict, {"action": "buy"}).error, StateChanged)
        quote = chain.execute(at, "ask", {"pair": "CBY"}, OWNER).check().jobs[0]
        self.assertIsInstance(chain.answer(quote, error="external_fault").error, RunnerError)
        self.assertEqual(chain.read(at, "position"), {"cash": 750, "coins": 0})


if __name__ == "__main__":
    unittest.main()
