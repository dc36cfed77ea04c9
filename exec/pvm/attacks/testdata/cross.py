# Callables and values for TestCross: calls() and pool() are lists of (text, object).
import re, struct, json, math, base64, hashlib, itertools, functools, collections, decimal, string, operator, enum, dataclasses, typing, hmac
try:
    import cbor2
except ImportError:
    cbor2 = None
try:
    import collections.abc
except ImportError:
    pass
import abc
from decimal import Decimal

class P:
    def __init__(s, *a): s.a = a
    def __eq__(s, o): return True
    def __hash__(s): return 5
    def __lt__(s, o): return True
    def __len__(s): return 3
    def __getitem__(s, i): return i
    def __index__(s): return 5
    def __iter__(s): return iter((1,2,3))
    def __call__(s, *a): return 1
    def __contains__(s, x): return True
class L2(list): pass
class S2(str): pass
class D2(dict): pass
class I2(int): pass
def gen():
    for i in range(100000): yield i

class B2(bytes): pass
class BA2(bytearray): pass
class T2(tuple): pass
class F2(float): pass
class SET2(set): pass
LONG='n'*100000
NAMED=type(LONG,(P,),{})
NAMED.meth=lambda s: 1
EXN=type(LONG,(ValueError,),{})
class ENUM(enum.Enum):
    A=1
ENUM.__name__=LONG
ENUM.__qualname__=LONG
NT=collections.namedtuple('N'*100000,'a b')
def FUNC(*a,**k): return 1
FUNC.__name__=LONG
FUNC.__qualname__=LONG
FUNC.__doc__=LONG
def GENF():
    for i in range(100000): yield i
GENF.__name__=LONG
GENF.__qualname__=LONG
def COROF(a,b=1,*c,d,e=2): pass
COROF.__qualname__=LONG
PROP=property(FUNC)
TYP=type('q',(),{'x'*100000:1})
LIN=type('M'+LONG,(type,),{})('z',(),{})
@dataclasses.dataclass
class DC:
    a: int
    b: int
DC.__qualname__=LONG
EXPRS_F = [
  ('0', lambda: (0)),
  ('1', lambda: (1)),
  ('-1', lambda: (-1)),
  ('5', lambda: (5)),
  ('1000', lambda: (1000)),
  ('2**31', lambda: (2**31)),
  ('2**64', lambda: (2**64)),
  ('7**3000', lambda: (7**3000)),
  ('1<<200000', lambda: (1<<200000)),
  ('-(7**40000)', lambda: (-(7**40000))),
  ('1.5', lambda: (1.5)),
  ('math.nan', lambda: (math.nan)),
  ('None', lambda: (None)),
  ('True', lambda: (True)),
  ("''", lambda: ('')),
  ("'a'", lambda: ('a')),
  ("'abc'", lambda: ('abc')),
  ("'é'", lambda: ('é')),
  ("'x'*200000", lambda: ('x'*200000)),
  ("'ab'*50000", lambda: ('ab'*50000)),
  ("'é'*100000", lambda: ('é'*100000)),
  ("'e\\u0301'*30000", lambda: ('e\u0301'*30000)),
  ("'\\u0301'*50000", lambda: ('\u0301'*50000)),
  ("' '*200000", lambda: (' '*200000)),
  ("'1'*200000", lambda: ('1'*200000)),
  ("'x\\n'*50000", lambda: ('x\n'*50000)),
  ("'{}'*50000", lambda: ('{}'*50000)),
  ("'%s'*50000", lambda: ('%s'*50000)),
  ("'%%'*50000", lambda: ('%%'*50000)),
  ("'{x}'", lambda: ('{x}')),
  ("'a.b'*30000", lambda: ('a.b'*30000)),
  ("'\\x00'*100000", lambda: ('\x00'*100000)),
  ("'utf-8'", lambda: ('utf-8')),
  ("'>Q'", lambda: ('>Q')),
  ("'x'", lambda: ('x')),
  ("'__name__'", lambda: ('__name__')),
  ("'a'", lambda: ('a')),
  ("b''", lambda: (b'')),
  ("b'a'", lambda: (b'a')),
  ("b'x'*200000", lambda: (b'x'*200000)),
  ("b'ab'*50000", lambda: (b'ab'*50000)),
  ('bytearray(200000)', lambda: (bytearray(200000))),
  ("bytearray(b'a')", lambda: (bytearray(b'a'))),
  ('[]', lambda: ([])),
  ('[1,2]', lambda: ([1,2])),
  ('[None]*30000', lambda: ([None]*30000)),
  ("['x'*1000]*100000", lambda: (['x'*1000]*100000)),
  ("[b'x'*1000]*100000", lambda: ([b'x'*1000]*100000)),
  ('[1]*30000', lambda: ([1]*30000)),
  ('[1.5]*100000', lambda: ([1.5]*100000)),
  ('[[]]*200000', lambda: ([[]]*200000)),
  ('[()]*200000', lambda: ([()]*200000)),
  ("[('a',1)]*100000", lambda: ([('a',1)]*100000)),
  ('()', lambda: (())),
  ('(1,2)', lambda: ((1,2))),
  ('(None,)*30000', lambda: ((None,)*30000)),
  ("('a',)*30000", lambda: (('a',)*30000)),
  ('(int,)*30000', lambda: ((int,)*30000)),
  ('(ValueError,)*30000', lambda: ((ValueError,)*30000)),
  ('{}', lambda: ({})),
  ('{1:2}', lambda: ({1:2})),
  ('{i:i for i in range(60000)}', lambda: ({i:i for i in range(60000)})),
  ("{'a%d'%i:i for i in range(30000)}", lambda: ({'a%d'%i:i for i in range(30000)})),
  ('{i:[] for i in range(60000)}', lambda: ({i:[] for i in range(60000)})),
  ('set(range(60000))', lambda: (set(range(60000)))),
  ('frozenset(range(60000))', lambda: (frozenset(range(60000)))),
  ("set('a%d'%i for i in range(30000))", lambda: (set('a%d'%i for i in range(30000)))),
  ('range(10)', lambda: (range(10))),
  ('range(30000)', lambda: (range(30000))),
  ('range(10**30)', lambda: (range(10**30))),
  ('slice(None)', lambda: (slice(None))),
  ('slice(0,10**9,2)', lambda: (slice(0,10**9,2))),
  ('slice(1<<100000,None)', lambda: (slice(1<<100000,None))),
  ("S2('x'*200000)", lambda: (S2('x'*200000))),
  ("S2('é'*100000)", lambda: (S2('é'*100000))),
  ("B2(b'x'*200000)", lambda: (B2(b'x'*200000))),
  ('L2([1]*30000)', lambda: (L2([1]*30000))),
  ('T2([1]*30000)', lambda: (T2([1]*30000))),
  ('D2({i:i for i in range(60000)})', lambda: (D2({i:i for i in range(60000)}))),
  ('I2(1<<200000)', lambda: (I2(1<<200000))),
  ('F2(1.5)', lambda: (F2(1.5))),
  ('SET2(range(60000))', lambda: (SET2(range(60000)))),
  ('BA2(200000)', lambda: (BA2(200000))),
  ('NAMED', lambda: (NAMED)),
  ('NAMED()', lambda: (NAMED())),
  ('NAMED(1)', lambda: (NAMED(1))),
  ('EXN', lambda: (EXN)),
  ('EXN()', lambda: (EXN())),
  ("EXN('a')", lambda: (EXN('a'))),
  ("EXN('x'*100000)", lambda: (EXN('x'*100000))),
  ('ENUM', lambda: (ENUM)),
  ('ENUM(1)', lambda: (ENUM(1))),
  ('NT', lambda: (NT)),
  ('NT(1,2)', lambda: (NT(1,2))),
  ('FUNC', lambda: (FUNC)),
  ('GENF()', lambda: (GENF())),
  ('COROF', lambda: (COROF)),
  ('NAMED().meth', lambda: (NAMED().meth)),
  ('FUNC.__get__(1)', lambda: (FUNC.__get__(1))),
  ("ValueError('x'*200000)", lambda: (ValueError('x'*200000))),
  ('ValueError(1<<200000)', lambda: (ValueError(1<<200000))),
  ('ValueError([1]*30000)', lambda: (ValueError([1]*30000))),
  ("KeyError('x'*200000)", lambda: (KeyError('x'*200000))),
  ('ValueError(*([1]*100000))', lambda: (ValueError(*([1]*100000)))),
  ("ExceptionGroup('x'*200000,[ValueError(1)])", lambda: (ExceptionGroup('x'*200000,[ValueError(1)]))),
  ("ExceptionGroup('x',[ValueError(i) for i in range(30000)])", lambda: (ExceptionGroup('x',[ValueError(i) for i in range(30000)]))),
  ("StopIteration('x'*100000)", lambda: (StopIteration('x'*100000))),
  ("OSError(1,'x'*100000)", lambda: (OSError(1,'x'*100000))),
  ("UnicodeDecodeError('utf-8',b'x'*100000,0,1,'y'*100000)", lambda: (UnicodeDecodeError('utf-8',b'x'*100000,0,1,'y'*100000))),
  ("AttributeError('x',name='y'*100000,obj=1)", lambda: (AttributeError('x',name='y'*100000,obj=1))),
  ('LIN', lambda: (LIN)),
  ('PROP', lambda: (PROP)),
  ("property(doc='x'*100000)", lambda: (property(doc='x'*100000))),
  ('TYP', lambda: (TYP)),
  ('typing.Union[int,str]', lambda: (typing.Union[int,str])),
  ("typing.TypeVar('T'*100000)", lambda: (typing.TypeVar('T'*100000))),
  ("typing.ForwardRef('T'*1000) if hasattr(typing,'ForwardRef') else 1", lambda: (typing.ForwardRef('T'*1000) if hasattr(typing,'ForwardRef') else 1)),
  ('list[int]', lambda: (list[int])),
  ('list[tuple([int]*10000)]', lambda: (list[tuple([int]*10000)])),
  ('int|str', lambda: (int|str)),
  ('DC', lambda: (DC)),
  ('DC(1,2)', lambda: (DC(1,2))),
  ('functools.partial(max,*([1]*100000))', lambda: (functools.partial(max,*([1]*100000)))),
  ("functools.partial(FUNC,**{'a%d'%i:i for i in range(10000)})", lambda: (functools.partial(FUNC,**{'a%d'%i:i for i in range(10000)}))),
  ('functools.lru_cache(None)(FUNC)', lambda: (functools.lru_cache(None)(FUNC))),
  ("operator.attrgetter('a.'*100000+'b')", lambda: (operator.attrgetter('a.'*100000+'b'))),
  ('operator.itemgetter(*range(100000))', lambda: (operator.itemgetter(*range(100000)))),
  ("operator.methodcaller('x'*100000)", lambda: (operator.methodcaller('x'*100000))),
  ("Decimal('1'*100000)", lambda: (Decimal('1'*100000))),
  ("Decimal('1e900000')", lambda: (Decimal('1e900000'))),
  ("Decimal('-1e-900000')", lambda: (Decimal('-1e-900000'))),
  ("Decimal('NaN'+'1'*100000)", lambda: (Decimal('NaN'+'1'*100000))),
  ('Decimal(1<<30000)', lambda: (Decimal(1<<30000))),
  ('Decimal(3)', lambda: (Decimal(3))),
  ('collections.deque(range(100000))', lambda: (collections.deque(range(100000)))),
  ('collections.OrderedDict((i,i) for i in range(20000))', lambda: (collections.OrderedDict((i,i) for i in range(20000)))),
  ('collections.Counter(range(20000))', lambda: (collections.Counter(range(20000)))),
  ('collections.ChainMap(*[{} for _ in range(3000)])', lambda: (collections.ChainMap(*[{} for _ in range(3000)]))),
  ('collections.ChainMap({i:i for i in range(30000)})', lambda: (collections.ChainMap({i:i for i in range(30000)}))),
  ("collections.UserDict({i:i for i in range(30000)}) if hasattr(collections,'UserDict') else 1", lambda: (collections.UserDict({i:i for i in range(30000)}) if hasattr(collections,'UserDict') else 1)),
  ("collections.UserString('x'*100000) if hasattr(collections,'UserString') else 1", lambda: (collections.UserString('x'*100000) if hasattr(collections,'UserString') else 1)),
  ("collections.UserList([1]*100000) if hasattr(collections,'UserList') else 1", lambda: (collections.UserList([1]*100000) if hasattr(collections,'UserList') else 1)),
  ('collections.defaultdict(int,{i:i for i in range(30000)})', lambda: (collections.defaultdict(int,{i:i for i in range(30000)}))),
  ("re.compile('x')", lambda: (re.compile('x'))),
  ("re.compile('(a)|'*2000+'b')", lambda: (re.compile('(a)|'*2000+'b'))),
  ("re.compile('.*')", lambda: (re.compile('.*'))),
  ("re.compile('x'*30000)", lambda: (re.compile('x'*30000))),
  ("re.compile('['+'x'*30000+']')", lambda: (re.compile('['+'x'*30000+']'))),
  ("re.compile('(?P<'+'a'*100+'>x)')", lambda: (re.compile('(?P<'+'a'*100+'>x)'))),
  ("re.match('(x*)(x*)','x'*100000)", lambda: (re.match('(x*)(x*)','x'*100000))),
  ("re.match('(é*)','é'*50000)", lambda: (re.match('(é*)','é'*50000))),
  ("re.compile(b'x')", lambda: (re.compile(b'x'))),
  ("hashlib.sha256(b'x'*100000)", lambda: (hashlib.sha256(b'x'*100000))),
  ('{i:i for i in range(60000)}.items()', lambda: ({i:i for i in range(60000)}.items())),
  ('{i:i for i in range(60000)}.keys()', lambda: ({i:i for i in range(60000)}.keys())),
  ('{i:i for i in range(60000)}.values()', lambda: ({i:i for i in range(60000)}.values())),
  ('iter([1]*30000)', lambda: (iter([1]*30000))),
  ("iter('é'*50000)", lambda: (iter('é'*50000))),
  ('zip([1]*30000,[2]*30000)', lambda: (zip([1]*30000,[2]*30000))),
  ('map(str,[1]*30000)', lambda: (map(str,[1]*30000))),
  ("enumerate('x'*100000)", lambda: (enumerate('x'*100000))),
  ('reversed([1]*30000)', lambda: (reversed([1]*30000))),
  ('itertools.repeat(1,10**9)', lambda: (itertools.repeat(1,10**9))),
  ('itertools.chain([1]*100000)', lambda: (itertools.chain([1]*100000))),
  ('itertools.chain.from_iterable([[]]*100000)', lambda: (itertools.chain.from_iterable([[]]*100000))),
  ('itertools.islice([1]*100000,90000,None)', lambda: (itertools.islice([1]*100000,90000,None))),
  ('itertools.tee([1]*100000)[0]', lambda: (itertools.tee([1]*100000)[0])),
  ('itertools.combinations([1]*100000,50000)', lambda: (itertools.combinations([1]*100000,50000))),
  ('itertools.permutations([1]*2000)', lambda: (itertools.permutations([1]*2000))),
  ('itertools.product([1]*100000,repeat=2)', lambda: (itertools.product([1]*100000,repeat=2))),
  ('itertools.cycle([1]*100000)', lambda: (itertools.cycle([1]*100000))),
  ('itertools.accumulate([1<<10000]*1000)', lambda: (itertools.accumulate([1<<10000]*1000))),
  ('itertools.starmap(max,[(1,2)]*10000)', lambda: (itertools.starmap(max,[(1,2)]*10000))),
  ("string.Template('$a'*200000)", lambda: (string.Template('$a'*200000))),
  ('lambda *a: 1', lambda: (lambda *a: 1)),
  ('lambda a: a', lambda: (lambda a: a)),
  ('lambda a,b: a', lambda: (lambda a,b: a)),
  ('str', lambda: (str)),
  ('int', lambda: (int)),
  ('list', lambda: (list)),
  ('tuple', lambda: (tuple)),
  ('object', lambda: (object)),
  ('type', lambda: (type)),
  ('dict', lambda: (dict)),
  ('ValueError', lambda: (ValueError)),
  ('len', lambda: (len)),
  ("'x'*100000+'%d'", lambda: ('x'*100000+'%d')),
  ("'%'+'0'*100000+'d'", lambda: ('%'+'0'*100000+'d')),
  ("'{:'+'0'*10+'d}'", lambda: ('{:'+'0'*10+'d}')),
  ("'{'*100000", lambda: ('{'*100000)),
  ("'{0'+'.real'*50000+'}'", lambda: ('{0'+'.real'*50000+'}')),
  ("'{0'+'['*100000", lambda: ('{0'+'['*100000)),
  ("'é'*100000+'{}'", lambda: ('é'*100000+'{}')),
  ("'('*1000", lambda: ('('*1000)),
  ("'[a-'*1000", lambda: ('[a-'*1000)),
  ("'x'*100000+'|'", lambda: ('x'*100000+'|')),
  ('\'"\'+\'x\'*100000+\'"\'', lambda: ('"'+'x'*100000+'"')),
  ("'['+'[],'*100000+'1]'", lambda: ('['+'[],'*100000+'1]')),
  ("'['+'1.5,'*100000+'1]'", lambda: ('['+'1.5,'*100000+'1]')),
  ('\'{"a":\'*60+\'1\'+\'}\'*60', lambda: ('{"a":'*60+'1'+'}'*60)),
  ("b'\\x9a\\x00\\x01\\x00\\x00'+bytes(65536)", lambda: (b'\x9a\x00\x01\x00\x00'+bytes(65536))),
  ("b'\\x5a\\x00\\x0f\\x42\\x40'+bytes(100000)", lambda: (b'\x5a\x00\x0f\x42\x40'+bytes(100000))),
  ("'a'*100000+'=='", lambda: ('a'*100000+'==')),
  ("b'QUJD'*30000", lambda: (b'QUJD'*30000)),
  ("'QUJD'*30000", lambda: ('QUJD'*30000)),
]
def pool():
    out = []
    for e in EXPRS_F:
        try:
            out.append((e[0], e[1]()))
        except BaseException as x:
            print(e[0], x)
    return out
OPS = [('eq',lambda a,b: a==b),('ne',lambda a,b: a!=b),('lt',lambda a,b:a<b),('le',lambda a,b:a<=b),('gt',lambda a,b:a>b),
 ('add',lambda a,b:a+b),('sub',lambda a,b:a-b),('mul',lambda a,b:a*b),('div',lambda a,b:a/b),('fdiv',lambda a,b:a//b),('mod',lambda a,b:a%b),
 ('pow',lambda a,b:a**b),('shl',lambda a,b:a<<b),('shr',lambda a,b:a>>b),('or',lambda a,b:a|b),('and',lambda a,b:a&b),('xor',lambda a,b:a^b),
 ('in',lambda a,b:a in b),('item',lambda a,b:a[b]),('slice2',lambda a,b,c:a[b:c]),('slice3',lambda a,b,c:a[b:c:3]),('slice4',lambda a,b:a[::b]),
 ('neg',lambda a:-a),('inv',lambda a:~a),('not',lambda a: not a),('star',lambda a:[*a]),('dstar',lambda a:{**a}),('fmt',lambda a:f'{a}'),('fmtr',lambda a:f'{a!r}'),('fmts',lambda a,b:f'{a:{b}}'),
 ('callstar',lambda a,b:a(*b)),('call',lambda a,b:a(b)),('call2',lambda a,b,c:a(b,c)),('dcall',lambda a,b:a(**b)),('is',lambda a,b:a is b),
 ('getattr',lambda a,b:getattr(a,b)),('hash1',lambda a:hash((a,))),('eqn',lambda a,b:[a]==[b]),('ltn',lambda a,b:(1,a)<(1,b)),('dictk',lambda a,b:{a:1,b:2}),('setk',lambda a,b:{a,b}),('reprn',lambda a:repr([a])),
 ('unp',lambda a: (lambda *z:0)(*a)),('next',lambda a:next(iter(a))),('sorted',lambda a,b:sorted(a,key=b)),('sortr',lambda a:sorted(a,reverse=True)),('comp',lambda a:[x for x in a]),('minmax',lambda a,b:max(a,key=b)),('join',lambda a,b:a.join(b)),
 ('isinst',lambda a,b:isinstance(a,b))]
def setitem(a,b,c): a[b]=c
def setslice(a,b,c): a[b:]=c
def setslice3(a,b,c): a[::2]=b
def delitem(a,b): del a[b]
def delsl(a,b,c): del a[b:c]
def delsl3(a,b): del a[::b]
def iadd(a,b): a+=b
def imul(a,b): a*=b
def ior(a,b): a|=b
def iand(a,b): a&=b
def raise2(a,b): raise a from b
def exc(a,b):
    try: raise a
    except b: pass
def unpack(a): x,*y=a
def unpack2(a): *x,y,z=a
def unpack3(a): x,y=a
def match1(a):
    match a:
        case [x,*_,y]: return 1
        case {'a':1,**r}: return 2
        case str(x): return 3
        case P(): return 4
def dictcomp(a): return {x:1 for x in a}
def withh(a):
    with a: pass
def yf(a):
    def g(): yield from a
    return list(g())
FS = [setitem,setslice,setslice3,delitem,delsl,delsl3,iadd,imul,ior,iand,raise2,exc,unpack,unpack2,unpack3,match1,dictcomp,withh,yf]
TYPES=[int,str,bytes,bytearray,list,tuple,dict,set,frozenset,range,slice,float,bool,object,type,ValueError,ExceptionGroup,Decimal,
 collections.deque,collections.OrderedDict,collections.Counter,collections.defaultdict,collections.ChainMap,type({}.keys()),type({}.items()),type({}.values()),type(gen()),type(gen),
 type(re.compile('x')),type(re.match('x','x')),property,super,enumerate,zip,map,filter,reversed,type(iter([])),type(iter('')),type(iter({})),functools.partial,type(hashlib.sha256(b''))]
BUILT='abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod delattr dict dir divmod enumerate filter float format frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map max min next object oct ord pow print property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type zip BaseException ExceptionGroup ValueError KeyError StopIteration'.split()
BT = {'abs':abs,'aiter':aiter,'all':all,'anext':anext,'any':any,'ascii':ascii,'bin':bin,'bool':bool,'bytearray':bytearray,'bytes':bytes,'callable':callable,'chr':chr,'classmethod':classmethod,'delattr':delattr,'dict':dict,'dir':dir,'divmod':divmod,'enumerate':enumerate,'filter':filter,'float':float,'format':format,'frozenset':frozenset,'getattr':getattr,'hasattr':hasattr,'hash':hash,'hex':hex,'id':id,'int':int,'isinstance':isinstance,'issubclass':issubclass,'iter':iter,'len':len,'list':list,'map':map,'max':max,'min':min,'next':next,'object':object,'oct':oct,'ord':ord,'pow':pow,'print':print,'property':property,'range':range,'repr':repr,'reversed':reversed,'round':round,'set':set,'setattr':setattr,'slice':slice,'sorted':sorted,'staticmethod':staticmethod,'str':str,'sum':sum,'super':super,'tuple':tuple,'type':type,'zip':zip,'BaseException':BaseException,'ExceptionGroup':ExceptionGroup,'ValueError':ValueError,'KeyError':KeyError,'StopIteration':StopIteration}
def calls():
    out = list(OPS)+[(f.__name__,f) for f in FS]
    for n in BUILT:
        try: out.append((n, BT[n]))
        except Exception: pass
    for t in TYPES:
        for n in dir(t):
            if n in ('mro',): continue
            try: v=getattr(t,n)
            except Exception: continue
            if callable(v): out.append((t.__name__+'.'+n, v))
    for mod in [re,struct,json,math,base64,hashlib,itertools,functools,collections,decimal,string,operator,enum,dataclasses,typing,hmac,abc]+([cbor2] if cbor2 else []):
        for n in dir(mod):
            try: v=getattr(mod,n)
            except Exception: continue
            if callable(v) and n[0] != '_': out.append((mod.__name__+'.'+n, v))
    return out
