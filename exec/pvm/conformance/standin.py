"""Stands in for what CPython's tests import and no actor has.

extract.py reads it and puts into a script only what the script needs. A class
with a name in small letters stands for a module; all of it runs on CPython too.
"""
class _Skip(Exception): pass
class _Raises:
    def __init__(self, case, exc, pattern=None):
        self.exc, self.pattern, self.case = exc, pattern, case
    def __enter__(self): return self
    def __exit__(self, kind, value, tb):
        if kind is None:
            raise AssertionError("exception not raised")
        if not issubclass(kind, self.exc): return False
        self.exception = value
        if self.pattern is not None:
            import re
            if not re.search(self.pattern, str(value)):
                raise AssertionError("%r does not match %r" % (self.pattern, str(value)))
        return True
class _Sub:
    def __call__(self, f): return f
    def __enter__(self): return self
    def __exit__(self, *a): return False
class _Case:
    longMessage = True
    maxDiff = None
    failureException = AssertionError
    def setUp(self): pass
    def tearDown(self): pass
    @classmethod
    def setUpClass(cls): pass
    @classmethod
    def tearDownClass(cls): pass
    def enterContext(self, context): return context.__enter__()
    def addCleanup(self, fn, *a, **k): pass
    def addTypeEqualityFunc(self, t, f): pass
    def subTest(self, *a, **k): return _Sub()
    def skipTest(self, why): raise _Skip(why)
    def fail(self, msg=None): raise AssertionError(msg)
    def assertTrue(self, x, msg=None):
        if not x: raise AssertionError(msg or "not true")
    def assertFalse(self, x, msg=None):
        if x: raise AssertionError(msg or "not false")
    def assertEqual(self, a, b, msg=None):
        if not a == b: raise AssertionError(msg or "not equal: %.200r %.200r" % (a, b))
    def assertNotEqual(self, a, b, msg=None):
        if not a != b: raise AssertionError(msg or "equal: %.200r" % (a,))
    assertListEqual = assertTupleEqual = assertDictEqual = assertSetEqual = assertMultiLineEqual = assertEqual
    assertEquals = assertEqual
    def assertSequenceEqual(self, a, b, msg=None, seq_type=None): self.assertEqual(list(a), list(b), msg)
    def assertCountEqual(self, a, b, msg=None):
        a, b = list(a), list(b)
        if len(a) != len(b): raise AssertionError(msg or "different counts")
        for x in a:
            if x in b: b.remove(x)
            else: raise AssertionError(msg or "missing %r" % (x,))
    def assertIs(self, a, b, msg=None):
        if a is not b: raise AssertionError(msg or "not the same")
    def assertIsNot(self, a, b, msg=None):
        if a is b: raise AssertionError(msg or "the same")
    def assertIsNone(self, a, msg=None):
        if a is not None: raise AssertionError(msg or "not None")
    def assertIsNotNone(self, a, msg=None):
        if a is None: raise AssertionError(msg or "None")
    def assertIn(self, a, b, msg=None):
        if a not in b: raise AssertionError(msg or "%.100r not in %.200r" % (a, b))
    def assertNotIn(self, a, b, msg=None):
        if a in b: raise AssertionError(msg or "%.100r in it" % (a,))
    def assertIsInstance(self, a, b, msg=None):
        if not isinstance(a, b): raise AssertionError(msg or "not an instance")
    def assertNotIsInstance(self, a, b, msg=None):
        if isinstance(a, b): raise AssertionError(msg or "an instance")
    def assertIsSubclass(self, a, b, msg=None):
        if not issubclass(a, b): raise AssertionError(msg or "not a subclass")
    def assertLess(self, a, b, msg=None):
        if not a < b: raise AssertionError(msg or "not less")
    def assertLessEqual(self, a, b, msg=None):
        if not a <= b: raise AssertionError(msg or "greater")
    def assertGreater(self, a, b, msg=None):
        if not a > b: raise AssertionError(msg or "not greater")
    def assertGreaterEqual(self, a, b, msg=None):
        if not a >= b: raise AssertionError(msg or "less")
    def assertAlmostEqual(self, a, b, places=None, msg=None, delta=None):
        if a == b: return
        d = abs(a - b)
        if delta is not None:
            if d <= delta: return
        elif round(d, places if places is not None else 7) == 0: return
        raise AssertionError(msg or "%r and %r differ" % (a, b))
    def assertNotAlmostEqual(self, a, b, places=None, msg=None, delta=None):
        if a == b or round(abs(a - b), places if places is not None else 7) == 0: raise AssertionError(msg or "too near")
    def assertRegex(self, text, pattern, msg=None):
        import re
        if not re.search(pattern, text): raise AssertionError(msg or "%r does not match %r" % (pattern, text))
    def assertNotRegex(self, text, pattern, msg=None):
        import re
        if re.search(pattern, text): raise AssertionError(msg or "match")
    def assertRaises(self, exc, fn=None, *a, **k):
        ctx = _Raises(self, exc)
        if fn is None: return ctx
        with ctx: fn(*a, **k)
    def assertRaisesRegex(self, exc, pattern, fn=None, *a, **k):
        ctx = _Raises(self, exc, pattern)
        if fn is None: return ctx
        with ctx: fn(*a, **k)
    def id(self): return "id"
class _AlwaysEq:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
class _NeverEq:
    def __eq__(self, other): return False
    def __ne__(self, other): return True
    def __hash__(self): return 1
ALWAYS_EQ = _AlwaysEq()
NEVER_EQ = _NeverEq()
class _Largest:
    def __lt__(self, o): return False
    def __le__(self, o): return isinstance(o, _Largest)
    def __eq__(self, o): return isinstance(o, _Largest)
    def __gt__(self, o): return not isinstance(o, _Largest)
    def __ge__(self, o): return True
class _Smallest:
    def __gt__(self, o): return False
    def __ge__(self, o): return isinstance(o, _Smallest)
    def __eq__(self, o): return isinstance(o, _Smallest)
    def __lt__(self, o): return not isinstance(o, _Smallest)
    def __le__(self, o): return True
LARGEST = _Largest()
SMALLEST = _Smallest()
class unittest:
    TestCase = _Case
    SkipTest = _Skip
    @staticmethod
    def skip(why): return lambda f: None
    @staticmethod
    def skipIf(c, why): return (lambda f: None) if c else (lambda f: f)
    @staticmethod
    def skipUnless(c, why): return (lambda f: f) if c else (lambda f: None)
class _Captured:
    def __enter__(self): return []
    def __exit__(self, *a): return False
class support:
    TestFailed = AssertionError
    verbose = False
    ALWAYS_EQ = ALWAYS_EQ
    NEVER_EQ = NEVER_EQ
    LARGEST = LARGEST
    SMALLEST = SMALLEST
    MAX_Py_ssize_t = 2**63 - 1
    NHASHBITS = 64
    is_emscripten = is_wasi = False
    _1M = 1 << 20
    _1G = 1 << 30
    _2G = 1 << 31
    _4G = 1 << 32
    @staticmethod
    def no_tracing(f): return f
    @staticmethod
    def requires_IEEE_754(f): return f
    @staticmethod
    def requires_docstrings(f): return f
    @staticmethod
    def requires_subprocess(): return lambda f: f
    @staticmethod
    def skip_if_pgo_task(f): return f
    @staticmethod
    def check_impl_detail(**k): return False
    @staticmethod
    def check_sanitizer(**k): return False
    @staticmethod
    def is_resource_enabled(name): return True
    @staticmethod
    def gc_collect(): pass
    @staticmethod
    def infinite_recursion(limit=75): return _Sub()
    @staticmethod
    def adjust_int_max_str_digits(n): return _Sub()
class _FloatInfo:
    max = 1.7976931348623157e+308
    min = 2.2250738585072014e-308
    epsilon = 2.220446049250313e-16
    max_exp, max_10_exp, min_exp, min_10_exp, dig, mant_dig, radix, rounds = 1024, 308, -1021, -307, 15, 53, 2, 1
class _IntInfo:
    bits_per_digit, sizeof_digit, default_max_str_digits, str_digits_check_threshold = 30, 4, 4300, 640
class _HashInfo:
    algorithm = "siphash13"
    width, modulus, inf, nan, imag = 64, 2**61 - 1, 314159, 0, 1000003
class sys:
    maxsize = 2**63 - 1
    maxunicode = 0x10FFFF
    byteorder = "little"
    platform = "linux"
    version_info = (3, 11, 7, "final", 0)
    float_repr_style = "short"
    float_info = _FloatInfo
    int_info = _IntInfo
    hash_info = _HashInfo
    getrecursionlimit = staticmethod(lambda: 1000)
    get_int_max_str_digits = staticmethod(lambda: 4300)
    getdefaultencoding = staticmethod(lambda: "utf-8")
    intern = staticmethod(lambda s: s)
import base64 as _base64, hmac as _hmac
class binascii:
    Error = _base64.binascii.Error
    unhexlify = staticmethod(bytes.fromhex)
class array:
    @staticmethod
    def array(code, data):
        if code != "B": raise _Skip("arrays of anything but bytes")
        return bytearray(data)
class hashlib_helper:
    @staticmethod
    def requires_hashdigest(*a, **k): return lambda f: f
operator_compare_digest = openssl_compare_digest = _hmac.compare_digest
_hashopenssl = c_hmac_new = None
class warnings:
    catch_warnings = staticmethod(lambda: _Sub())
    simplefilter = staticmethod(lambda *a, **k: None)
    filterwarnings = staticmethod(lambda *a, **k: None)
class warnings_helper:
    check_warnings = staticmethod(lambda *a, **k: _Sub())
class codecs:
    register = unregister = staticmethod(lambda f: None)
class _Random:
    def __init__(self, seed=1): self.state = 88172645463325252
    def seed(self, *a): pass
    def getrandbits(self, n):
        x, got, out = self.state, 0, 0
        while got < n:
            x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
            x ^= x >> 7
            x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
            out, got = out << 32 | x >> 32, got + 32
        self.state = x
        return out >> (got - n)
    def random(self): return self.getrandbits(53) / 2**53
    def randrange(self, start, stop=None, step=1):
        if stop is None: start, stop = 0, start
        n = len(range(start, stop, step)) if abs(stop - start) < 2**62 else (stop - start) // step
        return start + step * (self.getrandbits(n.bit_length() + 16) % n)
    def randint(self, a, b): return self.randrange(a, b + 1)
    def uniform(self, a, b): return a + (b - a) * self.random()
    def choice(self, seq): return seq[self.randrange(len(seq))]
    def choices(self, seq, k=1): return [self.choice(seq) for _ in range(k)]
    def shuffle(self, x):
        for i in range(len(x) - 1, 0, -1):
            j = self.randrange(i + 1)
            x[i], x[j] = x[j], x[i]
    def sample(self, seq, k):
        seq = list(seq)
        self.shuffle(seq)
        return seq[:k]
    def expovariate(self, rate): return 10 * self.random() / rate
    def gauss(self, mu, sigma): return mu + sigma * (sum(self.random() for _ in range(12)) - 6)
_dice = _Random()
class random:
    Random = _Random
    seed, random, randrange, randint, uniform = _dice.seed, _dice.random, _dice.randrange, _dice.randint, _dice.uniform
    choice, choices, shuffle, sample = _dice.choice, _dice.choices, _dice.shuffle, _dice.sample
    getrandbits, expovariate, gauss = _dice.getrandbits, _dice.expovariate, _dice.gauss
class _Methods:
    def method(self): pass
def _generator(): yield
async def _coroutine(): pass
async def _asynchronous(): yield
def _kind_of_coroutine():
    c = _coroutine()
    c.close()
    return type(c)
class types:
    FunctionType = LambdaType = type(_generator)
    GeneratorType = type(_generator())
    CoroutineType = _kind_of_coroutine()
    AsyncGeneratorType = type(_asynchronous())
    MethodType = type(_Methods().method)
    BuiltinFunctionType = BuiltinMethodType = type(len)
    WrapperDescriptorType = type(object.__init__)
    MethodWrapperType = type(object().__str__)
    MethodDescriptorType = type(str.join)
    ClassMethodDescriptorType = type(dict.__dict__["fromkeys"])
    MappingProxyType = type(type.__dict__)
    NoneType = type(None)
    EllipsisType = type(Ellipsis)
    NotImplementedType = type(NotImplemented)
    GenericAlias = type(list[int])
    UnionType = type(int | str)
    new_class, resolve_bases, prepare_class, DynamicClassAttribute = _types_new_class, _types_resolve_bases, _types_prepare_class, _types_DynamicClassAttribute
class _StringIO:
    def __init__(self, text=""): self.text, self.at = text, 0
    def write(self, s):
        self.text += s
        return len(s)
    def read(self):
        out = self.text[self.at:]
        self.at = len(self.text)
        return out
    def getvalue(self): return self.text
class io:
    StringIO = _StringIO
def _one(cls, name):
    method = getattr(cls, name, None)
    if method is None: return "skip"
    try:
        case = cls()
        case._testMethodName = name
        case.setUp()
        try: method(case)
        finally: case.tearDown()
    except _Skip: return "skip"
    except AssertionError as e: return "FAIL " + str(e)[:160]
    except Exception as e: return "ERROR " + type(e).__name__ + ": " + str(e)[:160]
    return "ok"
def _run(cls, names):
    try: cls.setUpClass()
    except Exception as e: print("setUpClass", type(e).__name__, str(e)[:100])
    for name in names:
        print("@" + name + " " + _one(cls, name).replace("\n", " "))
