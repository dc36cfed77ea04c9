import json
def t(f, *a, **k):
    try:
        print([getattr(x, '__name__', x) for x in a], sorted(k), '->', repr(f(*a, **k)))
    except Exception as e:
        print([getattr(x, '__name__', x) for x in a], sorted(k), '!!', type(e).__name__, e)
for s in ['', '{', '[', '{"a', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '[1,', '[1,]', '[1 2]', '{"a" 1}', '{a:1}', '"\\', '"\\x"', '"\\u12"', '"\\u12', '"\\ud83d\\ude00"', '"\n"', '"\x01', '"a\tb"', 'nan', 'NaN', '-Infinity', 'Infinity', '-', '-1.', '1.', '1e', '1e5', '1E+5', '01', '-01', '-0', '-0.0', '1 2', 'nul', 'tru', '"abc', '{"a":1 "b":2}', '[]]', '  [ ] ', '1.5e400', 'é', '"é" x', '{,}', '[,]', '{"a":}', '{"a":1,,}', '"\\u 123"', '"\\u+123"', b'"a"', b'\xef\xbb\xbf1', '[true,false,null]', '{"a":{"b":[1,2.5,{"c":null}]},"d":"x\\ny\\"\\\\\\/\\b\\f\\r\\t"}', '12345678901234567890123', '-9223372036854775809', '1e-7', '123456789012345678', '{"a":1,"a":2}', '"\\u00e9\\u4e2d"', '\t\r\n [1]\n', '[[[[]]]]', '"é\\q"', '[1,\n 2 3]', bytearray(b'{}')]:
    t(json.loads, s)
t(json.loads, '"a\nb"', strict=False); t(json.loads, '1', parse_int=float); t(json.loads, '1.0', parse_float=str); t(json.loads, 'NaN', parse_constant=lambda x: x); t(json.loads, '{"a":1}', object_hook=lambda d: list(d)); t(json.loads, '{"a":1,"a":{"b":2}}', object_pairs_hook=lambda d: d); t(json.loads, 5); t(json.loads, '1', foo=1); t(json.loads, None); t(json.loads)
d = json.JSONDecoder()
t(d.raw_decode, '1 x'); t(d.raw_decode, ' 1'); t(d.raw_decode, 'x 1', 2); t(d.raw_decode, '1', 5); t(d.decode, ' 1 '); t(d.raw_decode, 'é"é" ', 1)
try: json.loads('[1,\n 2 3]')
except json.JSONDecodeError as e: print(e.msg, repr(e.doc), e.pos, e.lineno, e.colno, e.args, type(e).__mro__)
D = json.dumps
for o in [None, True, False, 0, -5, 10**30, 1.5, 1e16, 1e-7, -0.0, float('inf'), float('-inf'), float('nan'), '', 'a"b\\c\n\r\t\f\b\x00\x1f\x7f\u2028é😀/', [], (), {}, [1, [2, (3,)]], {'b': 1, 'a': {'d': [], 'c': None}}, {2: 1, 10: 2}, {1.5: 1, 2: 2, True: 3}, {'é': 1, 'z': 2, 'a': 3}, [{}], {'a': {1}}, {(1,): 2}, object, b'a', {1: 2, 'a': 3}, [float('nan')], range(3), {None: 1}]:
    t(D, o)
t(D, float('nan'), allow_nan=False); t(D, {'a': 1, 'b': {(1,): 2}}, skipkeys=True); t(D, lambda: 1, default=lambda o: 'x'); t(D, {1, 2}, default=sorted); t(D, [1, 2], foo=1); t(D, 5, sort_keys=True, separators=(',', ':'), ensure_ascii=False, indent=None)
l = []; l.append(l); t(D, l); q = {}; q['a'] = q; t(D, q)
try: D([], default=None, check_circular=False); D(l, check_circular=False)
except RecursionError: print('recursion')
x = []
for _ in range(100): x = [x]
print(len(D(x)), json.loads(D(x)) == x)
class X(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, set): return sorted(o)
        return super().default(o)
t(D, {'k': {1, 3}}, cls=X); t(D, object, cls=X); print(X().encode({'b': {1}, 'a': 2}), list(X().iterencode([1])) and ''.join(X().iterencode([1, 'a'])))
class Dec(json.JSONDecoder):
    def __init__(self, *a, **k): super().__init__(object_hook=self.hook, *a, **k)
    def hook(self, d): return sorted(d.items())
t(json.loads, '{"b":1,"a":{"c":2}}', cls=Dec)
class S(str): pass
class I(int):
    def __repr__(self): return 'I!'
class F(float):
    def __repr__(self): return 'F!'
class L(list): pass
class M(dict): pass
print(D([S('a'), I(5), F(1.5), L([1]), M(a=1), {S('k'): I(1), S('j'): F(2)}]), D({I(3): 1}), D({F(2.5): 1}))
print(json.loads(D({'x': [1, 2.5, 'é', None, True], 'y': {'z': -1}})))
e = json.JSONDecodeError('m', 'ab\ncd', 4); print(e, e.lineno, e.colno, e.args)
print(json.JSONEncoder().encode('a'), json.JSONEncoder(skipkeys=True).encode({(1,): 1}), json.JSONEncoder(default=str).encode([object]))
