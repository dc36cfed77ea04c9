from enum import *
class Color(Enum):
    RED=1
    GREEN=auto()
    BLUE=auto()
    ROT=1
print(Color.RED, list(Color), Color(2), repr(Color['RED']), Color.ROT is Color.RED, len(Color), Color.__members__)
try: Color(9)
except ValueError as e: print(e)
try: Color.RED=3
except AttributeError as e: print(e)
class P(Flag):
    R=auto(); W=auto(); X=auto()
    RW=R|W
print(P.R|P.X, P.RW, ~P.R, list(P.RW), P.R in P.RW, P(0), bool(P(0)), P(7))
class I(IntEnum):
    A=1; B=2
print(I.A+1, I.A<I.B, I.A, repr(I.A), f"{I.A}", I(2))
class S(StrEnum):
    FOO=auto(); BAR='x'
print(S.FOO, S.BAR.upper(), repr(S.FOO))
class IF(IntFlag):
    A=1; B=4
print(IF.A|IF.B, repr(IF.A|8), IF(5))
@unique
class U(Enum):
    A=1
try:
    @unique
    class V(Enum):
        A=1; B=1
except ValueError as e: print(e)
class Planet(Enum):
    EARTH=(5.0,6.0)
    def __init__(self,m,r): self.m=m; self.r=r
    @property
    def g(self): return self.m/self.r
print(Planet.EARTH.m, Planet.EARTH.value, Planet('x') if 0 else Planet((5.0,6.0)))
E=Enum('E','a b c'); print(list(E), E.a.value)
class Shape(Enum):
    def _generate_next_value_(name,start,count,last): return name.lower()
    SQ=auto(); C=auto()
print(list(Shape), Color.RED.name, Color.RED.value, hash(Color.RED)==hash(Color.RED), {Color.RED:1}[Color.RED])
print(Color.RED == 1, Color.RED != Color.GREEN, isinstance(Color.RED, Color), type(Color), Color)
try:
    class Sub(Color): X=9
except TypeError as e: print(e)
match Color.RED:
    case Color.GREEN: print('g')
    case Color.RED: print('r')
class W(Enum):
    @classmethod
    def _missing_(cls,v): return cls.A
    A=1
print(W(99))
print(dir(Color)[:3], Color.RED in Color, [c.name for c in reversed(Color)])
