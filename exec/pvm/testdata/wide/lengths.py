# Numbers that are lengths and positions: beyond 32 bits, where a word of
# 32 bits would cut them, and beyond 64.
class Sized:
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __length_hint__(self): return self.n
    def __index__(self): return self.n
    def __getitem__(self, i):
        if i > 3: raise IndexError
        return i
def show(name, f):
    for n in (2**31, 2**32, 2**32 + 3, 2**63 - 1, 2**64 + 1, -2**32 + 1):
        try:
            r = f(n)
        except Exception as e:
            r = type(e).__name__ + ": " + str(e)
        print(name, n, r)
show('len(range(n))', lambda n: len(range(n)))
show('len(range(-n, n))', lambda n: len(range(-n, n)))
show('bool(range(n))', lambda n: bool(range(n)))
show('range(n)[-1]', lambda n: range(n)[-1])
show('range(n)[5:n]', lambda n: range(n)[5:n])
show('len(Sized(n))', lambda n: len(Sized(n)))
show('bool(Sized(n))', lambda n: bool(Sized(n)))
show('list(reversed(Sized(n)))', lambda n: list(reversed(Sized(n))))
show('reversed(Sized(n)).__length_hint__()', lambda n: reversed(Sized(n)).__length_hint__())
show('iter(range(n)).__length_hint__()', lambda n: iter(range(n)).__length_hint__())
show('[1, 2, 3][Sized(n):]', lambda n: [1, 2, 3][Sized(n):])
show('"abcdef"[::n]', lambda n: "abcdef"[::n])
show('"abcdef"[::-n]', lambda n: "abcdef"[::-n])
show('"abcdef"[5::-n]', lambda n: "abcdef"[5::-n])
show('b"abcdef"[::n]', lambda n: b"abcdef"[::n])
show('bytearray(b"abcdef")[-n:n:n]', lambda n: bytearray(b"abcdef")[-n:n:n])
show('(1, 2, 3)[::n]', lambda n: (1, 2, 3)[::n])
show('[1, 2, 3][n:]', lambda n: [1, 2, 3][n:])
