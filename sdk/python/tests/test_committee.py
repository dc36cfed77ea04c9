"""The draws, trees and proofs of cowboy_sdk.committee, by values that Go has computed."""

import unittest

from cowboy_sdk import _filters, _proof, committee
from cowboy_sdk._keccak import keccak256

CBY = 10**9
FLOOR = 10_000 * CBY


def seven(weight):
    """The runners of exec/market/selection TestDrawsArePinned, ascending by address."""
    table = [(0x10, 70_000, 200), (0x20, 10_240_000, 73), (0x30, 20_000, 61), (0x40, 1_000_000, 99), (0x50, 30_000, 50), (0x60, 15_000, 51), (0x70, 10_000, 50)]
    return [
        {"runner": bytes([a]) + bytes(19), "stake": cby * CBY, "reputation": points * 10**9, "weight": weight(cby * CBY, points * 10**9)}
        for a, cby, points in table
    ]


def names(drawn):
    return "".join(f"{r[0]:02x}" for r in drawn)


class Draws(unittest.TestCase):
    def setUp(self):
        self.seven = seven(lambda stake, _: committee.log_weight(stake, FLOOR))
        self.seed = committee.first_seed(b"\x01" + bytes(31), b"\x02" + bytes(31), 1000)

    def test_pinned(self):
        draw = committee.draw
        self.assertEqual(names(draw(self.seed, self.seven, 3, True)), "704020")
        self.assertEqual(names(draw(self.seed, self.seven, 9, True)), "70402050106030")
        self.assertEqual(names(draw(self.seed, self.seven, 3, False)), "701040")
        again = [c for c in self.seven if c["runner"][0] != 0x20]
        self.assertEqual(names(draw(committee.retry_seed(self.seed, 1), again, 3, True)), "103070")

    def test_roots(self):
        self.assertEqual(committee.candidates_root(self.seven).hex(), "080971c52d420bc4c7c02b654b5357db02558b1c3400ca9d084b7f0ab8cccea1")
        later = seven(lambda stake, reputation: committee.root_weight(stake, reputation, 100, 0))
        self.assertEqual(committee.candidates_root(later).hex(), "33a7687c9da1b29a97c9d5793713d6f7571642cc57cbf70024cfc60f3d110f9c")
        self.seven[3]["stake"] += 1
        self.assertNotEqual(committee.candidates_root(self.seven).hex()[:8], "080971c5")

    def test_weights(self):
        for stake, want in ((0, 1), (FLOOR - 1, 1), (FLOOR, 2), (3 * FLOOR - 1, 2), (3 * FLOOR, 3), (1023 * FLOOR - 1, 10), (1023 * FLOOR, 11), (1024 * FLOOR, 11)):
            self.assertEqual(committee.log_weight(stake, FLOOR), want)


class Proofs(unittest.TestCase):
    """A trie of two leaves below a branch, made by hand."""

    def setUp(self):
        def string(raw):
            return raw if len(raw) == 1 and raw[0] < 0x80 else bytes([0x80 + len(raw)]) + raw if len(raw) < 56 else b"\xb8" + bytes([len(raw)]) + raw

        def listed(*items):
            body = b"".join(items)
            size = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
            return bytes([0xC0 + len(body)]) + body if len(body) < 56 else bytes([0xF7 + len(size)]) + size + body

        self.keys = [b"one", b"two"]
        self.values = [b"a" * 40, b"b" * 40]
        branch = [b"\x80"] * 17
        leaves = []
        for key, value in zip(self.keys, self.values):
            path = keccak256(key).hex()
            leaf = listed(string(bytes.fromhex("3" + path[1:])), string(value))
            branch[int(path[0], 16)] = string(keccak256(leaf))
            leaves.append(leaf)
        assert keccak256(b"one")[0] >> 4 != keccak256(b"two")[0] >> 4
        self.nodes = [listed(*branch), *leaves]
        self.root = keccak256(self.nodes[0])

    def test_values(self):
        nodes = _proof.Nodes(self.nodes)
        self.assertEqual([nodes.get(self.root, k) for k in self.keys], self.values)
        absent = next(k for k in (bytes([n]) for n in range(256)) if keccak256(k)[0] >> 4 not in {keccak256(x)[0] >> 4 for x in self.keys})
        self.assertIsNone(nodes.get(self.root, absent))
        self.assertIsNone(nodes.get(_proof.EMPTY_ROOT, b"one"))

    def test_every_flipped_byte_is_refused(self):
        for which in (0, 1):
            for at in range(len(self.nodes[which])):
                altered = list(self.nodes)
                altered[which] = altered[which][:at] + bytes([altered[which][at] ^ 1]) + altered[which][at + 1:]
                with self.assertRaises(_proof.Refused):
                    _proof.Nodes(altered).get(self.root, self.keys[0])

    def test_cut_off(self):
        data = _proof.write_cbor([1, 300, "text", [True, False], 1 << 40])
        self.assertEqual(_proof.read_cbor(data), [1, 300, "text", [True, False], 1 << 40])
        for n in range(len(data)):
            with self.assertRaises(_proof.Refused):
                _proof.read_cbor(data[:n])
        for n in range(len(self.nodes[0])):
            with self.assertRaises(_proof.Refused):
                _proof.read_rlp(self.nodes[0][:n])
        for raw in (b"\x81" * 100, b"\xc1" * 100, b"\x9b" + b"\xff" * 8, b"\xff" * 9):
            for read in (_proof.read_cbor, _proof.read_rlp):
                with self.assertRaises(_proof.Refused):
                    read(raw)


class Filters(unittest.TestCase):
    """A registry of two runners, the first of which is a candidate for a page of a.example."""

    def setUp(self):
        load = bytes.fromhex("0000 0002 01 02 0000 0000000000000000".replace(" ", ""))  # none of 2 jobs, healthy, HTTP
        standing = (10_000 * CBY).to_bytes(8, "big") + (50 * 10**9).to_bytes(8, "big") + bytes(8)
        self.rows = {
            "count": b"\x02", "active/": b"\x01" * 20 + b"\x02" * 20, "load/": load * 2, "standing/": bytes(8) + standing * 2,
            b"\x01" * 20: self.offer(7, "*"), b"\x02" * 20: self.offer(8, "*.example"),
        }
        self.row = [None, None, 1, None, None, 1, None, 0, 7]
        self.spec = {1: {0: 1, 1: "https://A.example:443/x?y"}, 2: {0: 0, 1: 0, 2: 0, 3: 0, 4: 0}, 3: {4: False}, 10: None}
        self.params = {"probation_successes": 0, "min_reputation": 50}

    @staticmethod
    def offer(price, domain):
        text = domain.encode()
        rates = b"\xa6" + bytes([0, 0, 1, 0, 2, price, 3, 0, 4, 0, 5, 0x80])
        return b"\x82" + rates + b"\xa1\x03\x81" + bytes([0x60 + len(text)]) + text

    def check(self, *candidates):
        read = lambda table, *parts: self.rows.get(parts[0] if table == "offer/" else table)
        return _filters.check(read, self.row, self.spec, {bytes([n]) * 20 for n in candidates}, self.params)

    def test_who_passes(self):
        self.assertEqual(self.check(1), (2, []))  # the second is too dear
        with self.assertRaisesRegex(_proof.Refused, "too dear"):
            self.check(1, 2)
        with self.assertRaisesRegex(_proof.Refused, "not registered"):
            self.check(1, 3)
        self.row[8] = 8
        self.assertEqual(self.check(1), (2, [b"\x02" * 20]))
        self.assertEqual(self.check(1, 2), (2, []))

    def test_what_leaves_out(self):
        self.row[8] = 8
        for at, value, why in ((4, 3, "not healthy"), (5, 1, "no such work"), (1, 2, "work enough")):
            load = bytearray(self.rows["load/"])
            load[16 + at], before = value, self.rows["load/"]
            self.rows["load/"] = bytes(load)
            with self.assertRaisesRegex(_proof.Refused, why):
                self.check(1, 2)
            self.assertEqual(self.check(1), (2, []))
            self.rows["load/"] = before
        self.spec[1][1] = "http://b.test/"
        with self.assertRaisesRegex(_proof.Refused, "does not fetch"):
            self.check(1, 2)
        self.spec[1][1] = "http://b.example"
        self.rows["standing/"] = self.rows["standing/"][:40] + bytes(16)
        self.assertEqual(self.check(1), (2, []))  # perhaps too little reputation
        self.rows["active/"] = self.rows["active/"][:30]
        with self.assertRaisesRegex(_proof.Refused, "ends early"):
            self.check(1)


if __name__ == "__main__":
    unittest.main()
