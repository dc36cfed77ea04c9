# Exponents as far as CPython has them (MAX_EMAX), exact as operands and beyond
# every result.
from decimal import Decimal, InvalidOperation, Overflow, MAX_EMAX, MIN_EMIN, MIN_ETINY, MAX_PREC, getcontext, localcontext

def told(f, *args):
    try:
        return repr(f(*args))
    except (ArithmeticError, ValueError) as e:
        return type(e).__name__ + repr(e.args)

context = getcontext()
print(MAX_EMAX, MIN_EMIN, MIN_ETINY, MAX_PREC)
texts = [
    "1e400000000", "1e400000001", "1e999999999999999999", "10e999999999999999999", "9.99e999999999999999999",
    "1e1000000000000000000", "1e-999999999999999999", "1e-1999999999999999997", "1e-1999999999999999998",
    "10e-1999999999999999998", "0e999999999999999999", "0e1000000000000000000", "0e-1999999999999999997",
    "0e-1999999999999999998", "-1.5e-1000000000000", "1e99999999999999999999999999", "-1e-99999999999999999999999999",
    "0e99999999999999999999999", "-1e18446744073709551617", "1e", "1e+-5", "1e1_0", " 7 ", "1." + "0" * 30 + "e999999999999999999",
]
unary = "adjusted as_tuple is_normal is_subnormal number_class normalize sqrt ln log10 exp logb next_plus next_minus to_eng_string to_integral_value __neg__ __abs__ __float__ __hash__".split()
binary = "__add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ __pow__ __divmod__ __lt__ __eq__ compare compare_total max min quantize remainder_near same_quantum scaleb shift next_toward".split()
for text in texts:
    print(text, told(Decimal, text), told(context.create_decimal, text))
    try:
        x = Decimal(text)
    except InvalidOperation:
        continue
    for name in unary:
        print(name, told(getattr(x, name)))
    for y in map(Decimal, ("3", "1e-1000000000000000000", "-7.5e999999999999999998", text, "0", "0e-1999999999999999997")):
        print(y, *[name + " " + told(getattr(x, name), y) for name in binary], sep="\n    ")
        print(told(x.fma, y, x), told(y.fma, y, x), told(x.fma, x, y))
    print(*[told(format, x, spec) for spec in ("", "e", ".3g", "E", "+.2e")])
    print(x == 5, x < 2.5, x > 10**30, bool(x))
for t in ((0, (1, 2), 10**18), (0, (1, 2), 10**18 - 2), (1, (1,), -2 * 10**18), (0, (0,), 10**19), (0, (1,), "x")):
    print(told(Decimal, t), told(context.create_decimal, t))
with localcontext() as c:
    c.traps[InvalidOperation] = c.traps[Overflow] = False
    print(told(Decimal, "1e1000000000000000000"), c.flags[InvalidOperation])
    print(told(c.create_decimal, "1e99999999999999999999"), told(c.create_decimal, "-1e-99999999999999999999"))
    print(told(c.multiply, Decimal("1e999999999999999999"), Decimal("1e999999999999999999")))
    print(told(c.multiply, Decimal("1e-1999999999999999997"), Decimal("1e-1999999999999999997")))
