# not caught
def f(n):
    if n == 0: raise ValueError('deep')
    f(n - 1)
try:
    f(3)
except ValueError as e:
    raise KeyError('k') from e
