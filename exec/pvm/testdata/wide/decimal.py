# Numbers that are exponents, precisions and indexes: beyond 32 bits, where a word of
# 32 bits would cut them, and beyond 64.
import json, re
from decimal import Decimal
def show(name, f):
    for n in (2**31, 2**32, 2**32 + 3, 2**63 - 1, 2**64 + 1, -2**32 + 1):
        try:
            r = f(n)
        except Exception as e:
            r = type(e).__name__ + ": " + str(e)
        print(name, n, r)
show('Decimal("1e%d" % n)', lambda n: Decimal("1e%d" % n))
show('Decimal("1e%d" % n).adjusted()', lambda n: Decimal("1e%d" % n).adjusted())
show('Decimal("0e%d" % n) * Decimal("0e%d" % n)', lambda n: Decimal("0e%d" % n) * Decimal("0e%d" % n))
show('Decimal(1).scaleb(n)', lambda n: Decimal(1).scaleb(n))
show('Decimal(12).shift(n)', lambda n: Decimal(12).shift(n))
show('Decimal("1e%d" % n) < Decimal(1)', lambda n: Decimal("1e%d" % n) < Decimal(1))
show('Decimal((0, (1,), n))', lambda n: Decimal((0, (1,), n)))
show('round(Decimal("1.25"), n)', lambda n: round(Decimal("1.25"), n))
show('json.JSONDecoder().raw_decode("12 34", n)', lambda n: json.JSONDecoder().raw_decode("12 34", n))
show('re.compile("a").match("a", n)', lambda n: re.compile("a").match("a", n))
show('re.compile("a").match("a", 0, n)', lambda n: re.compile("a").match("a", 0, n))
show('re.sub("a", "b", "aaa", n)', lambda n: re.sub("a", "b", "aaa", n))
show('re.match("(a)", "a").group(n)', lambda n: re.match("(a)", "a").group(n))
