def f(x):
    match x:
        case None | True:
            return 1
        case [a, 2, *rest]:
            return a, rest
        case [*_, (b, c)]:
            return b, c
        case {"k": v, **others} if v:
            return v, others
        case P(1, y=z) as whole:
            return z, whole
        case _:
            return None
