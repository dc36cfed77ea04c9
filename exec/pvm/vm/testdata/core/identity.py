# Objects of the program's subclasses of str, int and float are what they are; a
# plain str, int or float has no identity here.
class Text(str):
    pass

class Itself(str):
    def __str__(self):
        return self
    __repr__ = __str__

class Answers:
    def __init__(self, text):
        self.text = text
    def __str__(self):
        return self.text
    __repr__ = __str__

class Count(int):
    def __index__(self):
        return 7

class Real(float):
    def __float__(self):
        return self

plain, three = "abc", 3
for s in (Text("abc"), Itself("abc")):
    print(type(str(s)).__name__, type(repr(s)).__name__, type(format(s)).__name__, type(f"{s}").__name__, type(f"{s!s}").__name__, type(f"{s!r}").__name__)
    print(str(s) is s, repr(s) is s, s is s, s is not s, s is plain, Text("abc") is s, plain is not s)
    t = Answers(s)
    print(str(t) is s, repr(t) is s, type(str(t)).__name__)
c, r = Count(3), Real(2.5)
print(c is c, c is Count(3), c is three, int(c) is c, type(int(c)).__name__, c + 0 is c, type(+c).__name__)
print(r is r, r is Real(2.5), float(r) is r, type(float(r)).__name__, abs(r) is r, type(-r).__name__)
print([s is x for x in (s, None, ..., c, r, Text("abc"))], {c: 1}[Count(3)])
print(Text("a") in [Text("a")], [x is y for x, y in zip([c, r], [c, r])])
