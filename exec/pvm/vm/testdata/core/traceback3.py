# not caught
def f():
    raise ValueError('v')
def make():
    out = []
    for i in range(2):
        try:
            f()
        except ValueError as e:
            out.append(e)
    return out
try:
    raise KeyError('first')
except KeyError:
    raise ExceptionGroup('eg', make() + [TypeError('t'), ExceptionGroup('inner', [OSError('o')])])
