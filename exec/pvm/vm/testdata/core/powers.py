# x ** y over zeros, ones, infinities and NaN of both signs (IEEE 754 §9.2.1), and
# numbers whose powers are exact.
inf, nan = float("inf"), float("nan")
values = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e300, -1e300, 5e-324, -5e-324, inf, -inf, nan, 2**53 + 0.0, -1e16]
whole = [0, 1, -1, 2, -2, 3, True, False]

def inplace(x, y):
    x **= y
    return x

ways = [lambda x, y: x ** y, pow, inplace, lambda x, y: float(x).__pow__(y), lambda x, y: float(y).__rpow__(x)]
for x in values + whole:
    for y in values + whole:
        if -inf < x < 0 < abs(y) < 1:
            continue  # complex in CPython, a ValueError here
        row = []
        for way in ways:
            try:
                r = way(x, y)
                row.append(f"{type(r).__name__} {r!r}")
            except ArithmeticError as e:
                row.append(f"{type(e).__name__} {e}")
        print(x, y, *(row if len(set(row)) > 1 else row[:1]), sep=" | ")
