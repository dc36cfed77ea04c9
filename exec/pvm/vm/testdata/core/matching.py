class P:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y): self.x, self.y = x, y
def m(v):
    match v:
        case 0: return 'zero'
        case 'a' | 'b': return 'ab'
        case [1, 2, *rest]: return ('list', rest)
        case (x, y) if x == y: return ('same', x)
        case [x, y]: return ('pair', x, y)
        case {'k': v, **rest}: return ('map', v, rest)
        case P(0, y=yy): return ('P0', yy)
        case P(x, y): return ('P', x, y)
        case str(s): return ('str', s)
        case int() | float(): return 'num'
        case None: return 'none'
        case _: return 'other'
for v in [0, 'a', 'c', [1, 2, 3, 4], (3, 3), [5, 6], {'k': 1, 'j': 2}, P(0, 1), P(2, 3), 5, 2.5, None, object, [], {}]:
    print(m(v))
