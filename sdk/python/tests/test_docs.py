"""The programs of docs/sdk.md do what the page says."""

import pathlib
import re
import unittest

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent.parent / "docs" / "sdk.md"


class Page(unittest.TestCase):
    def test_blocks(self):
        """A block with an actor is the source of the block behind it, which holds it to its word."""
        blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        sources = [b for b in blocks if "@actor" in b]
        self.assertGreaterEqual(len(sources), 2)
        self.assertEqual(len(blocks), 2 * len(sources))
        for source, test in zip(blocks[::2], blocks[1::2]):
            with self.subTest(source.split("class ", 1)[1].split(":")[0]):
                self.assertIn("@actor", source)
                self.assertIn("assert ", test)
                exec(compile(test, "docs/sdk.md", "exec"), {"source": source})


if __name__ == "__main__":
    unittest.main()
