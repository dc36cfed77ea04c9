# Numbers that go to itertools, math and deque: beyond 32 bits, where a word of
# 32 bits would cut them, and beyond 64.
import math
from itertools import *
from collections import deque, Counter
def show(name, f):
    for n in (2**31, 2**32, 2**32 + 3, 2**63 - 1, 2**64 + 1, -2**32 + 1):
        try:
            r = f(n)
        except Exception as e:
            r = type(e).__name__ + ": " + str(e)
        print(name, n, r)
show('repeat(1, n)', lambda n: repeat(1, n))
show('repeat(1, n).__length_hint__()', lambda n: repeat(1, n).__length_hint__())
show('list(islice([1, 2, 3], n))', lambda n: list(islice([1, 2, 3], n)))
show('list(islice([1, 2, 3], 0, n, n))', lambda n: list(islice([1, 2, 3], 0, n, n)))
show('list(islice(count(n, n), 2))', lambda n: list(islice(count(n, n), 2)))
show('math.comb(n, 2)', lambda n: math.comb(n, 2))
show('math.perm(n, 2)', lambda n: math.perm(n, 2))
show('math.comb(5, n)', lambda n: math.comb(5, n))
show('math.gcd(n, 12)', lambda n: math.gcd(n, 12))
show('math.isqrt(n)', lambda n: math.isqrt(n))
show('math.ldexp(1.0, -abs(n))', lambda n: math.ldexp(1.0, -abs(n)))
show('deque([1, 2, 3], n)', lambda n: deque([1, 2, 3], n))
show('deque([1, 2, 3])[n]', lambda n: deque([1, 2, 3])[n])
show('deque([]) * n', lambda n: deque([]) * n)
show('Counter({"a": n}).total()', lambda n: Counter({"a": n}).total())
