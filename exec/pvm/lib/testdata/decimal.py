from decimal import *
import decimal
D = Decimal
def show(a): return [getattr(x, '__name__', x) for x in a]
def t(f, *a, **k):
    try:
        print(getattr(f, '__name__', '?'), show(a), k, '->', repr(f(*a, **k)))
    except Exception as e:
        print(getattr(f, '__name__', '?'), show(a), k, '!!', type(e).__name__, e)
for v in ('a', '', ' 1.5 ', '1_0', '--1', '1e5', '1E+3', 'inf', '-Infinity', 'nan12', 'snan', (0, (1, 2), -1), (2, (1,), 0), (0, (1,), 'F'), (0, (10,), 0), (1, 2), (0, (1,), 'x'), (0, [1], 0), [0, (1,), 2], None, 1.1, True, b'1', object, '１２', (1, (0, 0, 5), 2), (0, (), 0), (1, (1, 2), 'n'), 10**40, -7, '1' * 60): t(D, v)
t(D, 1, 2); t(D, value=3); t(D)
vals = [D(x) for x in ('0', '-0', '1', '-1', '2.5', '-2.5', '1e30', '1e-30', '123456789.987654321', 'inf', '-inf', 'nan', '7', '1e999990', '0.1')]
ops = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: a // b, lambda a, b: a % b, lambda a, b: divmod(a, b), lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b, lambda a, b: a >= b]
for op in ops:
    for x in vals:
        for y in vals:
            try: print(op(x, y), end=';')
            except Exception as e: print(type(e).__name__, e, end=';')
    print()
for name in ('compare compare_signal compare_total compare_total_mag copy_sign max max_mag min min_mag next_toward remainder_near same_quantum quantize').split():
    for x in vals:
        for y in vals:
            try: print(getattr(x, name)(y), end=';')
            except Exception as e: print(type(e).__name__, e, end=';')
    print(name)
for name in ('adjusted as_integer_ratio canonical conjugate copy_abs copy_negate exp ln log10 logb is_canonical is_finite is_infinite is_nan is_normal is_qnan is_signed is_snan is_subnormal is_zero logical_invert next_minus next_plus normalize number_class radix sqrt to_eng_string to_integral to_integral_exact to_integral_value __repr__ __str__ __bool__ __int__ __float__ __round__ __floor__ __ceil__ __trunc__ __neg__ __pos__ __abs__ __hash__').split():
    for x in vals + [D('1101'), D('1e5'), D('2.500'), D('-3.7')]:
        if name == '__hash__' and x.is_nan(): continue
        if 'e9' in str(x).lower() or 'E+999' in str(x):
            if name in ('as_integer_ratio', '__int__', '__round__', '__floor__', '__ceil__', '__trunc__'): continue
        try: print(getattr(x, name)(), end=';')
        except Exception as e: print(type(e).__name__, e, end=';')
    print(name)
t(lambda: D(1) / 0); t(lambda: D(0) / 0); t(lambda: D(1) % 0); t(lambda: D(0) % 0); t(lambda: D('1e30') // 1); t(lambda: D('1e999999') * 10); t(lambda: divmod(D(5), 0)); t(lambda: D(1).quantize(D('1e-40'))); t(lambda: D(1) < 1.5); t(lambda: D('nan') < 1); t(lambda: D('nan') == 1); t(lambda: D('snan') == 1); t(hash, D('snan')); t(int, D('nan')); t(int, D('inf')); t(float, D('snan')); t(round, D('2.5')); t(round, D('2.567'), 2); t(round, D('inf')); t(round, D(1), 'a'); t(round, D('1250'), -2)
t(D(1).quantize, 'a'); t(D(1).quantize, D(1), 'bad'); t(D(1).quantize, D('.1'), rounding=ROUND_UP); t(D('1.25').quantize, D('.1'), ROUND_HALF_DOWN); t(D(1).compare, 'a'); t(D(1).exp, 5); t(D(1).to_integral_value, context=5); t(D('2.5').to_integral_value, ROUND_CEILING); t(D('2.5').to_integral_exact, rounding=ROUND_DOWN); t(D.from_float, 'a'); t(D.from_float, .5); t(D.from_float, 3)
c = getcontext(); c.clear_flags()
print(c, c.flags, repr(c.traps))
D(1) / 3
print(c, c.flags[Inexact], c.flags[Rounded], c.flags[Overflow])
t(c.add, 1, 2); t(c.add, 1, 1.5); t(c.create_decimal, '1' * 40); t(c.create_decimal, '1'); t(c.create_decimal_from_float, 1.1); t(c.power, 2, 3, 5); t(c.power, 2, -1, 5); t(c.to_sci_string, D('1e10')); t(c.to_eng_string, D('1e10')); t(c.Etiny); t(c.Etop); t(c.divmod, 5, 3); t(c.fma, 2, 3, 4); t(c.abs, -1); t(c.minus, 3); t(c.plus, D('1.' + '1' * 40)); t(c.subtract, 5, 3); t(c.multiply, 2, D('.5')); t(c.divide, 1, 7); t(c.divide_int, 7, 2); t(c.remainder, 7, 2); t(c.sqrt, 2); t(c.exp, 1); t(c.ln, 2); t(c.log10, 1000); t(c.is_zero, 0); t(c.number_class, 5); t(c.quantize, D('1.234'), D('.1')); t(c.compare, 1, 2); t(c.same_quantum, 1, 2); t(c.to_integral_value, D('1.5')); t(c.logical_and, 1101, 111); t(c.scaleb, 1, 3); t(c.radix); t(c.copy_sign, 1, -2); t(c.is_nan, 1); t(c.canonical, D(3)); t(c.next_plus, 1); t(c.normalize, D('1.200'))
print(repr(D(5)), str(D('1E-10')), D('-0').is_signed(), D(7).__floor__(), D('7.5').__ceil__(), D('7.5').__trunc__())
for x in (InvalidOperation, DivisionByZero, Overflow, Underflow, FloatOperation, Clamped, decimal.ConversionSyntax, decimal.DivisionUndefined): print(x.__mro__)
for spec in ('', '.2f', ',.3f', '10', '<10', '*^12', '+', ' .1e', 'g', '.3g', '%', '.1%', '012.2f', 'x', 'n', 'E', ',', '010,', '.', '-<8.2f', '=+10', '#.0f', 's', 'z.1f', '.0f', '1.'):
    for x in (D('1234.5678'), D('-0.00012'), D('1e20'), D('inf'), D('nan'), D('-0.04')):
        try: print('[' + format(x, spec) + ']', end='')
        except Exception as e: print(type(e).__name__, e, end=';')
    print(spec)
print(f'{D("3.14159"):.2f}', '%s %r %.2f %d' % (D(1), D(2), D('2.555'), D('9.9')))
t(pow, D(2), 3, 5); t(lambda: 2 ** D(3)); t(lambda: 5 - D(2)); t(lambda: 5 // D(2)); t(lambda: D(2) ** D('.5')); t(lambda: D(0) ** 0); t(lambda: D(-8) ** D('.5')); t(max, D(1), 2); t(sum, [D('1.1')] * 3); t(D(1).max, 'x'); t(D(1).logical_and, D(11)); t(D(1).scaleb, 5); t(D(1).fma, 2, 'x'); t(D(2).fma, 3, 4); t(lambda: D(2) ** 100); t(lambda: D('1.1') ** 7); t(lambda: D(10) ** -3); t(divmod, D(17), 5); t(divmod, 17, D(5)); t(lambda: 10 % D(3)); t(lambda: 1 / D(4)); t(abs, D(-3))
t(lambda: D(1).real); t(lambda: D(1).imag); t(D(3).next_toward, 4); t(D(3).rotate, 2); t(D(3).shift, 2); t(D(5).compare_total, D('5.0'))
print(c.traps[InvalidOperation], list(c.traps)[:2], InvalidOperation in c.flags, len(c.flags), c.prec, c.rounding, c.Emin, c.Emax, c.capitals, c.clamp, c.flags == c.flags, sorted(x.__name__ for x in c.traps.keys()))
t(lambda: c.traps['a']); t(lambda: c.traps.__setitem__(5, 1)); t(setcontext, 5); t(localcontext, 5)
with localcontext() as ctx:
    ctx.traps[Inexact] = True
    print(ctx is getcontext(), ctx is c)
    t(lambda: D(1) / 3)
    ctx.traps[FloatOperation] = True
    t(D, 1.5); t(lambda: D(1) == 1.5); t(lambda: D(1) < 1.5)
print(getcontext() is c, D(1) / 3)
k = Context(traps=[], flags=[Overflow]); print(k); print(k.divide(1, 0), k.flags[DivisionByZero], k.copy())
print({D(1): 'a', 2: 'b'}[1], D(2) in {2}, hash(D('2.5')) == hash(2.5), hash(D(10**30)) == hash(10**30), D('1.0') == 1 == D(1), sorted([D(3), 1, D('2.5')]), D('0.1') == 0.1, D('0.5') == 0.5)
class M(D):
    def extra(self): return 'x'
m = M('1.5'); print(m, m.extra(), type(m + 1), isinstance(m, D), repr(m))
print(D('1E+2').as_tuple() if False else '', D('123.456').to_eng_string(), int(D('12.9')), float(D('0.1')), bool(D(0)), complex if False else '')
t(lambda: D(1) + 1.5); t(lambda: D(1) < 'a'); t(lambda: D(1).foo); print(D('1.10').as_tuple(), D('-inf').as_tuple(), D('nan12').as_tuple().digits, D((1, (2, 3), -1)).as_tuple())
