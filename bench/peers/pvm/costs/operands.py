#### i int
i = 7
#### j int
j = 3
#### n int
n = -12345
#### big int
big = 3 ** 500
#### huge int
huge = 7 ** 10000
#### f float
f = 2.5
#### g float
g = -1e-7
#### h float
h = 1.2345e300
#### nan float
nan = float('nan')
#### s str
s = 'hello'
#### sub str
sub = 'o w'
#### u str
u = 'h\u00e9llo w\u00f6rld'
#### num str
num = '123456'
#### S str
S = 'hello world ' * 500
#### S2 str
S2 = 'hello world' + ' hello world' * 499 + ' '
#### U str
U = 'h\u00e9llo \U0001f600 ' * 700
#### b bytes
b = b'hello'
#### B bytes
B = b'hello world ' * 500
#### y bytes
y = bytearray(b'hello')
#### Y bytes
Y = bytearray(b'hello world ' * 500)
#### l list
l = [3, 1, 2]
#### L list
L = list(range(1000))
#### M strs
M = ['w%d' % (k * 7919 % 1000) for k in range(1000)]
#### m strs
m = ['b', 'a', 'c']
#### N list
N = [[k, [k, 'a']] for k in range(200)]
#### F list
F = [k / 7 for k in range(500)]
#### t tuple
t = (1, 'a')
#### T tuple
T = tuple(range(1000))
#### d dict
d = {'a': 1, 'b': 2}
#### D dict
D = {k: k for k in range(1000)}
#### E dict
E = {'key%d' % k: k for k in range(1000)}
#### long_keys dict
long_keys = {'k' * 3000 + str(k): k for k in range(20)}
#### long_key str
long_key = 'k' * 3000 + '7'
#### e dict
e = {}
#### x set
x = {1, 2, 3}
#### X set
X = set(range(1000))
#### z set
z = frozenset([2, 3, 4])
#### r range
r = range(10)
#### R range
R = range(5, 1000005, 1000)
#### sl slice
sl = slice(1, 100, 2)
#### none none
none = None
#### true int
true = True
#### J json
J = {'a': [1, 2.5, 'x', None, True], 'b': {'c': 'h\u00e9', 'd': [[], {}]}}
#### JT jsontext
import json
JT = json.dumps({'a': [1, 2.5, 'x', None, True], 'b': {'c': 'h', 'd': [[], {}]}})
#### JN jsontext
JN = '[' * 50 + ']' * 50
#### JI jsontext
JI = '[' + ','.join(str(k) for k in range(1000)) + ']'
#### JF jsontext
JF = '[' + ','.join(str(k / 7) for k in range(300)) + ']'
#### JS jsontext
JS = '["' + 'abc\\n' * 1000 + '"]'
#### json module
import json
#### re module
import re
#### math module
import math
#### struct module
import struct
#### decimal module
import decimal
#### itertools module
import itertools
#### functools module
import functools
#### collections module
import collections
#### hashlib module
import hashlib
#### base64 module
import base64
#### cbor2 module
import cbor2
#### hmac module
import hmac
#### operator module
import operator
#### string module
import string
#### typing module
import typing
#### enum module
import enum
#### abc module
import abc
#### dataclasses module
import dataclasses
#### P obj
class P:
    k = 1
    def __init__(self, v=1):
        self.v = v
    def m0(self):
        pass
    def m1(self, q):
        return q
    @property
    def prop(self):
        return 1
    @staticmethod
    def st():
        pass
    @classmethod
    def cm(cls):
        pass
    def __add__(self, o):
        return o
    def __eq__(self, o):
        return True
    def __hash__(self):
        return 7
    def __lt__(self, o):
        return False
    def __getitem__(self, q):
        return q
    def __call__(self):
        pass
    def __len__(self):
        return 3
    def __bool__(self):
        return True
    def __contains__(self, q):
        return True
    def __iter__(self):
        return iter(())
    def __enter__(self):
        return self
    def __exit__(self, *a):
        pass
    def __index__(self):
        return 3
    def __str__(self):
        return 'p'
    def __format__(self, q):
        return 'p'
#### p obj P
p = P()
#### Q obj P
class Q(P):
    def __init__(self):
        super().__init__()
    def m0(self):
        return super().m0()
    __slots__ = ('sa', 'sb')
#### q obj Q
q = Q()
#### plain obj
class Plain:
    pass
plain = Plain()
#### Slots obj
class Slots:
    __slots__ = ('a', 'b')
    def __init__(self):
        self.a = 1
#### slots obj Slots
slots = Slots()
#### Deep obj
class Deep:
    k = 1
    def mm(self):
        pass
for _k in range(60):
    Deep = type('Deep%d' % _k, (Deep,), {})
#### deep obj Deep
deep = Deep()
#### DeepSuper obj Deep
class DeepSuper(Deep):
    def mm(self):
        return super().mm()
#### ds obj DeepSuper
ds = DeepSuper()
#### Wide obj
Wide = type('Wide', tuple(type('B%d' % _k, (), {}) for _k in range(60)), {})
#### Get obj
class Get:
    def __getattr__(self, name):
        return 1
#### get obj Get
get = Get()
#### WithMeta obj
class Meta(type):
    def __call__(cls, *a):
        return super().__call__(*a)
class WithMeta(metaclass=Meta):
    pass
#### Con obj
import abc
class Abs(abc.ABC):
    @abc.abstractmethod
    def go(self):
        pass
class Con(Abs):
    def go(self):
        return 1
#### con obj Con
con = Con()
#### Col obj
import enum
class Col(enum.Enum):
    RED = 1
    BLUE = 2
#### Flg obj
import enum
class Flg(enum.Flag):
    A = 1
    B = 2
#### Dc obj
import dataclasses
@dataclasses.dataclass(order=True)
class Dc:
    a: int
    b: str = 'x'
#### dc obj Dc
dc = Dc(1)
#### Nt obj
import collections
Nt = collections.namedtuple('Nt', 'a b')
#### nt obj Nt
nt = Nt(1, 2)
#### static_chain func
def static_chain():
    pass
for _k in range(100):
    static_chain = staticmethod(static_chain)
#### class_chain func
def class_chain(*a):
    pass
for _k in range(100):
    class_chain = classmethod(class_chain)
#### HasChain obj class_chain
class HasChain:
    ch = class_chain
    sc = staticmethod(lambda: 0)
#### fn0 func
def fn0():
    pass
#### fn3 func
def fn3(a, b, c=3):
    pass
#### fnv func
def fnv(*a, **k):
    pass
#### fnk func
def fnk(*, a=1, b=2, c=3):
    pass
#### K kw
K = {'k%d' % _k: _k for _k in range(200)}
#### lam func
lam = lambda v: v
#### gen func
def gen(c):
    for _k in range(c):
        yield _k
#### gen2 func gen
def gen2(c):
    yield from gen(c)
#### acall func
async def acall(c):
    return c
#### fail func
def fail():
    raise ValueError('x')
#### deep_fail func
def deep_fail(c):
    if c:
        deep_fail(c - 1)
    else:
        raise ValueError('x')
#### rec func
def rec(c):
    return rec(c - 1) if c else 0
#### cached func
import functools
@functools.lru_cache(maxsize=100)
def cached(v):
    return v
#### part func
import functools
part = functools.partial(max, 1, 2)
#### single func
import functools
@functools.singledispatch
def single(v):
    return v
#### dec dec
from decimal import Decimal
dec = Decimal('3.14159')
#### dec2 dec
from decimal import Decimal
dec2 = Decimal('-271828182845904523.536')
#### decsmall dec
from decimal import Decimal
decsmall = Decimal('1E-20')
#### dechuge dec
from decimal import Decimal
dechuge = Decimal(7 ** 1000)
#### Decimal func
from decimal import Decimal
#### dq deque
import collections
dq = collections.deque([1, 2, 3])
#### DQ deque
import collections
DQ = collections.deque(range(1000))
#### od dict
import collections
od = collections.OrderedDict((k, k) for k in range(100))
#### dd dict
import collections
dd = collections.defaultdict(int)
#### ct dict
import collections
ct = collections.Counter('hello world')
#### cm dict
import collections
cm = collections.ChainMap({'a': 1}, {'b': 2})
#### pat pat
import re
pat = re.compile('(h)(e)l*')
#### pat2 pat
import re
pat2 = re.compile('[a-z]+')
#### patcase pat
import re
patcase = re.compile('(?i)WORLD')
#### patback pat
import re
patback = re.compile(r'(\w)\1')
#### patdot pat
import re
patdot = re.compile('.*x')
#### patalt pat
import re
patalt = re.compile('foo|bar|baz|world')
#### mt match
import re
mt = re.compile('(h)(?P<name>e)l*').match('hello')
#### sig struct
import struct
sig = struct.Struct('<iqd5s')
#### packed bytes
import struct
packed = struct.pack('<iqd5s', 1, 2, 3.0, b'hello')
#### long_format str
long_format = '<' + 'iqdB' * 500
#### count_format str
count_format = '10000B'
#### err obj
err = ValueError('x', 1)
#### eg obj
eg = ExceptionGroup('g', [ValueError(1), TypeError(2)])
#### T64 encoded base64 B
T64 = base64.b64encode(B)
#### T64x encoded
T64x = b'!' * 3000 + b'AAAA'
#### T32 encoded base64 B
T32 = base64.b32encode(B)
#### T16 encoded base64 B
T16 = base64.b16encode(B)
#### T85 encoded base64 B
T85 = base64.b85encode(B)
#### A85 encoded base64 B
A85 = base64.a85encode(B)
#### A85z encoded
A85z = b'z' * 3000
#### A85s encoded
A85s = b' ' * 3000
#### CJ cbor cbor2 J
CJ = cbor2.dumps(J)
#### CI cbor cbor2
CI = cbor2.dumps(list(range(1000)))
#### CF cbor cbor2
CF = cbor2.dumps([k / 7 for k in range(300)])
#### CS cbor cbor2
CS = cbor2.dumps({k for k in range(1000)})
#### CD cbor cbor2 E
CD = cbor2.dumps(E)
#### CT cbor cbor2
CT = cbor2.dumps('e\u0301a\u00fc' * 500)
#### CN cbor
CN = b'\x81' * 60 + b'\x80'
#### CB cbor cbor2
CB = cbor2.dumps([2 ** 2000 + k for k in range(20)])
#### CWd cbor
CWd = b'\x99\x03\xe8' + b'\xa0' * 1000
#### CWl cbor
CWl = b'\x99\x03\xe8' + b'\x80' * 1000
#### CWs cbor
CWs = b'\x99\x03\xe8' + b'\xd9\x01\x02\x80' * 1000
#### CWb cbor
CWb = b'\x99\x03\xe8' + b'\x40' * 1000
#### CWt cbor
CWt = b'\x99\x03\xe8' + b'\x60' * 1000
#### CWn cbor
CWn = b'\x99\x03\xe8' + (b'\xc2\x49\x01' + b'\0' * 8) * 1000
#### CWm cbor
CWm = b'\x99\x03\xe8' + b'\xa1\x80\x80' * 1000
#### dicts list
dicts = [{} for _ in range(1000)]
#### sets list
sets = [set() for _ in range(1000)]
#### nested list
nested = []
for _k in range(60): nested = [nested]
#### mac obj hmac
mac = hmac.new(b'k', b'm', 'sha256')
#### tpl obj string
tpl = string.Template('$a and ${b} $$ ' * 20)
#### fmtr obj string
fmtr = string.Formatter()
#### chained obj
class Chained: pass
chained = Chained()
chained.a = chained
chained.n = 1
#### get1 obj operator
get1 = operator.itemgetter(1)
#### get50 obj operator
get50 = operator.itemgetter(*range(50))
#### attr1 obj operator
attr1 = operator.attrgetter('a.a.a.n')
#### call1 obj operator
call1 = operator.methodcaller('split', ' ', maxsplit=3)
#### branch object
import itertools
lead, branch = itertools.tee(range(40_000))
for _ in lead:
    pass
#### woven list
import itertools
pairs_ = [itertools.tee(range(8_000)) for _ in range(40)]
turn_ = 1
for _ in range(319_000):
    turn_ = turn_ * 75 % 65_537
    next(pairs_[turn_ % 40][0], None)
woven = [behind_ for _, behind_ in pairs_]
#### wide int
wide = 2 ** 62 + 1
#### high float
high = 2.0 ** 62
#### alike list
alike = [2 ** 62, 2.0 ** 62] * 500
#### same list
same = [1] * 1000
