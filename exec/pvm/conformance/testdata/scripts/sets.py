# What the shim changes on CPython: the order of sets, and json's form.
import json
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Basket:
    owner: str
    goods: set[str] = field(default_factory=set)

    def take(self, *names):
        self.goods |= set(names)
        return self


words = "pear fig plum fig quince apple pear".split()
seen = set(words)
print(seen, len(seen), sorted(seen), {w[0] for w in words})
other = {"plum", "kiwi", "fig"}
print(seen | other, seen & other, seen - other, seen ^ other, other - seen)
print(frozenset(words), frozenset(), set(), type(seen).__name__, isinstance(seen, set))
print(seen.union(["lime"], "ab"), seen.intersection(other, words), other.difference(words))
seen.add("lime")
seen.discard("pear")
print(seen.pop(), seen, "fig" in seen, seen >= {"fig"}, {1, 2} == {2, 1})
seen.symmetric_difference_update(["fig", "date"])
print(seen, {frozenset({1, 2}), frozenset({2, 1})}, {"a": 1, "b": 2}.keys() - {"a"})
numbers = {3, 1, 2}
numbers -= {1}
numbers ^= {9, 3}
print(numbers, [*numbers], tuple(numbers), max(numbers), list(map(str, numbers)))
try:
    set().pop()
except KeyError as error:
    print(error)
try:
    {1} | [2]
except TypeError as error:
    print(error)
print(Basket("Ada").take("tea", "salt").take("rice", "tea"))
print(json.dumps({"b": [1, 2.5, None], "a": "é"}), Counter("abcab").most_common(2))
match {"kind": "pair", "at": (1, 2)}:
    case {"kind": "pair", "at": (x, y)}:
        print(x + y)
print(object(), Basket("Bo").goods is None)
