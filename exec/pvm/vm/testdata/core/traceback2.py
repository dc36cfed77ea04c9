# not caught
class A(Exception): pass
def r(n):
    return r(n + 1) if n < 8 else 1 // 0
def g():
    yield 1
    r(0)
try:
    try:
        list(g())
    except ZeroDivisionError as e:
        e.add_note('a note')
        raise
except ZeroDivisionError:
    try:
        raise A('x\ny')
    finally:
        pass
