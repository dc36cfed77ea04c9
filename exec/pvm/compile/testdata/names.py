"""doc"""
class C(B, metaclass=M):
    __p: int = 1
    def f(self, a, /, b=2, *c, d: int, e=3, **g) -> str:
        del a
        h = [(b, i) for i in c if i is not None]
        return lambda: (super().f(self.__p, *c, k=h, **g), b)
def g(x):
    x = x and (x := 2) + x
    global y
    y, z = z, y
    return f"{x!r:>{z}}" if 1 < x <= z in {1, 2} else (1, -2, "a")
