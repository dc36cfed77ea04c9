# Numbers that are arguments of methods: beyond 32 bits, where a word of
# 32 bits would cut them, and beyond 64.
def show(name, f):
    for n in (2**31, 2**32, 2**32 + 3, 2**63 - 1, 2**64 + 1, -2**32 + 1):
        try:
            r = f(n)
        except Exception as e:
            r = type(e).__name__ + ": " + str(e)
        print(name, n, r)
show('slice(None, None, n).indices(5)', lambda n: slice(None, None, n).indices(5))
show('slice(-n, n, -n).indices(10)', lambda n: slice(-n, n, -n).indices(10))
show('[1, 2, 3].index(3, -n, n)', lambda n: [1, 2, 3].index(3, -n, n))
show('"abc".find("c", -n, n)', lambda n: "abc".find("c", -n, n))
show('"abc".count("", n)', lambda n: "abc".count("", n))
show('"a b c".split(" ", n)', lambda n: "a b c".split(" ", n))
show('"a b c".rsplit(None, n)', lambda n: "a b c".rsplit(None, n))
show('"abc".replace("", "x", n)', lambda n: "abc".replace("", "x", n))
show('""*n', lambda n: ""*n)
show('[]*n', lambda n: []*n)
show('(5).to_bytes(-abs(n), "big")', lambda n: (5).to_bytes(-abs(n), "big"))
show('0 << abs(n)', lambda n: 0 << abs(n))
show('1 >> abs(n)', lambda n: 1 >> abs(n))
show('pow(3, abs(n), 7)', lambda n: pow(3, abs(n), 7))
show('(-1) ** abs(n)', lambda n: (-1) ** abs(n))
show('hash(n)', lambda n: hash(n))
show('"{[%d]}".replace("%d", str(n)).format([1])', lambda n: "{[%d]}".replace("%d", str(n)).format([1]))
show('list(enumerate("a", n))', lambda n: list(enumerate("a", n)))
show('b"abc".hex("-", n)', lambda n: b"abc".hex("-", n))
show('(2).bit_length() + n', lambda n: (2).bit_length() + n)
