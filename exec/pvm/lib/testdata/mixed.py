# Operands of a generator that is the same everywhere.
import json, struct, itertools, re, math
from decimal import Decimal as D
state = 12345
def rnd(n):
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return (state >> 33) % n
def pick(s): return s[rnd(len(s))]
def value(depth):
    k = rnd(9 if depth else 6)
    if k == 0: return rnd(1 << (1 + rnd(70))) - 5
    if k == 1: return rnd(10**6) / 7 ** rnd(20)
    if k == 2: return pick([None, True, False])
    if k < 6: return ''.join(pick('ab"\\\n\té中😀 \x01/') for _ in range(rnd(8)))
    if k == 6: return [value(depth - 1) for _ in range(rnd(4))]
    if k == 7: return tuple(value(depth - 1) for _ in range(rnd(3)))
    return {''.join(pick('abcé') for _ in range(rnd(4))): value(depth - 1) for _ in range(rnd(4))}
def norm(v):
    if isinstance(v, (list, tuple)): return [norm(x) for x in v]
    if isinstance(v, dict): return {k: norm(x) for k, x in v.items()}
    return v
for i in range(150):
    v = value(3)
    text = json.dumps(v)
    print(text, json.loads(text) == norm(v))
    at = rnd(len(text) + 1)
    bad = text[:at] + pick(['', ',', '"', '}', ']', '\\', '1', ' ', 'x', ':', '{', '[', '-', '.', 'e', '\n']) + text[at + rnd(2):]
    try: print(json.loads(bad))
    except ValueError as e: print(e)
for i in range(400):
    f = pick(['', '<', '>', '=', '!', '@']) + ''.join(pick(['', '2', '3', '0', '1 '.strip()]) + pick('bBhHiIlLqQfd?xsc') for _ in range(rnd(5)))
    try:
        n = struct.calcsize(f)
        b = bytes(rnd(256) for _ in range(n))
        u = struct.unpack(f, b)
        u = tuple('nan' if x != x else x for x in u)
        print(f, n, u)
        if 'nan' not in u and '?' not in f: print(struct.pack(f, *u) == struct.pack(f, *struct.unpack(f, struct.pack(f, *u))))
    except (struct.error, OverflowError) as e: print(f, e)
def dec():
    s = ''.join(pick('0123456789') for _ in range(1 + rnd(32)))
    if rnd(2): s = s[:rnd(len(s) + 1)] + '.' + s[rnd(len(s)):] + '0'
    return D(pick(['', '-']) + s + pick(['', 'e5', 'E-12', 'e30', 'e-40']))
for i in range(600):
    x, y = dec(), dec()
    for name in ('__add__', '__sub__', '__mul__', '__truediv__', '__floordiv__', '__mod__', 'compare', 'max', 'min', 'remainder_near', 'quantize', 'compare_total', 'next_toward', 'same_quantum'):
        try: print(getattr(x, name)(y), end=' ')
        except ArithmeticError as e: print(e, end=' ')
    print(x.sqrt() if x >= 0 else x.normalize(), round(x) % 1000 if abs(x) < 10**40 else '', f'{x:.3f}'[-12:], f'{x:,}'[-9:], f'{y:.5e}', hash(x), int(y) % 997, float(x), x.to_eng_string())
for i in range(150):
    p = ''.join(pick(['a', 'b', '.', '[ab]', '(a)', '(?:b|a)', 'a*', 'b+', 'a?', '(b)?', '\\b', '^', '$', '(a|b)*?', '\\w', '(?=a)', '(?!b)', '|', '{2}', 'a{1,2}', '(', ')', '[^a]']) for _ in range(1 + rnd(6)))
    s = ''.join(pick('ab c') for _ in range(rnd(10)))
    try:
        r = re.compile(p)
        print(repr(p), repr(s), r.findall(s), r.split(s), r.sub('<\\g<0>>', s), [m.span() for m in r.finditer(s)], r.match(s), r.fullmatch(s), r.groups)
    except re.error as e: print(repr(p), e)
for i in range(60):
    xs = [rnd(5) for _ in range(rnd(7))]
    n = rnd(4)
    print(list(itertools.permutations(xs, n))[:7], list(itertools.combinations(xs, n))[:7], list(itertools.accumulate(xs)), [(k, list(g)) for k, g in itertools.groupby(sorted(xs))],
          list(itertools.islice(itertools.chain(xs, xs), n, 9, 2)), list(itertools.zip_longest(xs, 'ab')), list(itertools.product(xs[:2], repeat=n))[:5], list(itertools.pairwise(xs)), math.gcd(*xs), math.lcm(*xs), math.comb(20 + n, n * 3), math.isqrt(rnd(10**9) ** 3))
