def f(n):
    try:
        try:
            if n == 0: raise ValueError('zero')
            if n == 1: return 'ret'
            if n == 2: 1 // 0
            if n == 3: raise KeyError
        except ValueError as e:
            print('value', e, e.args)
            return 'v'
        else:
            print('else')
        finally:
            print('finally', n)
    except ZeroDivisionError as e:
        print('zde', e, repr(e.__context__))
    return 'end'
for i in range(3): print(f(i))
try:
    f(3)
except KeyError as e:
    print('key', e.args)
try:
    try:
        raise ValueError(1)
    except ValueError as e:
        raise TypeError(2) from e
except TypeError as e:
    print(repr(e.__cause__), e.__suppress_context__)
try:
    try:
        raise ValueError(1)
    except ValueError:
        raise TypeError(2)
except TypeError as e:
    print(repr(e.__context__), e.__cause__)
def loop():
    out = []
    for i in range(5):
        try:
            if i == 1: continue
            if i == 3: break
            out.append(i)
        finally:
            out.append('f')
    return out
print(loop())
class CM:
    def __init__(self, n, swallow=False): self.n, self.s = n, swallow
    def __enter__(self): print('enter', self.n); return self.n
    def __exit__(self, t, v, tb): print('exit', self.n, t and t.__name__, v); return self.s
with CM(1) as a, CM(2) as b:
    print(a, b)
with CM(3, True):
    raise ValueError('swallowed')
try:
    with CM(4):
        raise ValueError('passes')
except ValueError as e: print('got', e)
def wr():
    with CM(5):
        return 'from with'
print(wr())
x = 5
try:
    x = 1 // 0
except ZeroDivisionError: pass
print(x)
try:
    raise
except RuntimeError as e: print(e)
def rer():
    try:
        raise ValueError('again')
    except ValueError:
        raise
try: rer()
except ValueError as e: print(e)
try:
    raise 5
except TypeError as e: print(e)
try:
    try: raise ValueError
    except 5: pass
except TypeError as e: print(e)
try:
    undefined_name
except NameError as e: print(e)
def ub():
    print(zz)
    zz = 1
try: ub()
except UnboundLocalError as e: print(e)
def rdeep(n): return rdeep(n + 1)
try: rdeep(0)
except RecursionError as e: print('RecursionError')
try:
    raise ExceptionGroup('g', [ValueError(1), TypeError(2), ExceptionGroup('h', [ValueError(3)])])
except* ValueError as e:
    print('star', e.exceptions)
except* TypeError as e:
    print('star2', e.exceptions)
try:
    try:
        raise ExceptionGroup('g', [ValueError(1), KeyError(2)])
    except* KeyError:
        pass
except ExceptionGroup as e: print(e, e.exceptions)
assert True
try: assert 1 == 2, 'msg'
except AssertionError as e: print(e)
class E(Exception):
    def __init__(self, a, b): super().__init__(a); self.b = b
    def __str__(self): return f'E({self.b})'
try: raise E(1, 2)
except E as e: print(e, e.args, e.b)
a = [1, 2, 3]
try: a, b = a
except ValueError as e: print(e)
try: a, b, c, d = [1, 2]
except ValueError as e: print(e)
try: a, *b, c = [1]
except ValueError as e: print(e)
try: a, b = 5
except TypeError as e: print(e)
