import struct
def t(f, *a, **k):
    try:
        print(f.__name__, a, k, '->', f(*a, **k))
    except Exception as e:
        print(f.__name__, a, k, '!!', type(e).__name__, e)
for c in 'bBhHiIlLqQnNP':
    for o in ('@', '<', '>', '=', '!'):
        if c in 'nNP' and o != '@': continue
        for v in (1 << 70, -(1 << 70), -1 << 63, 1 << 63, 300, -1, 70000, -70000, 'x', 1.5, 0, True, (1 << 31) - 1, 1 << 31, -(1 << 31)):
            t(struct.pack, o + c, v)
for c in 'efd?cspx':
    for o in ('@', '<', '>'):
        for v in (1.5, 2, 'a', b'a', b'abc', 1e300, 65519.0, 65520.0, 3.4e38, 3.5e38, float('inf'), float('nan'), -0.0, 5e-324, bytearray(b'z')):
            t(struct.pack, o + c, v)
for f in ('z', '3', '3 b', '<n', '99999999999999999999b', '9223372036854775807d', b'b', 5, '3s3p', '', 'b0i', 'xP', 'bhilq', '<bhilq', ' b  h ', '4x', '0s', 'iii', '?d', 'bd', 'db'):
    t(struct.calcsize, f)
t(struct.pack, 'bb', 1); t(struct.pack); t(struct.pack, 'd', 1 << 2000)
t(struct.unpack, 'i', b'abc'); t(struct.unpack, 'i', 'abcd'); t(struct.unpack, 'i')
for off in (4, -9, -2, 1, 0, -7, 100): t(struct.unpack_from, 'i', b'abcdefg', off)
t(struct.unpack_from, 'i', buffer=b'abcdefg', offset=1)
for a in (('i', bytearray(6), 4, 1), ('i', bytearray(6), -9, 1), ('i', bytearray(6), -2, 1), ('i', b'abcd', 0, 1), ('i', bytearray(5)), ('i',),
          ('i', bytearray(4), 'x', 1), ('i', bytearray(4), 0, 1, 2), ('i', 5, 0, 1)): t(struct.pack_into, *a)
b = bytearray(8); struct.pack_into('>hh', b, 2, 258, -2); print(b); struct.pack_into('b', b, -1, 7); print(b)
t(struct.iter_unpack, 'i', b'abc'); t(struct.iter_unpack, '', b'abc'); print(list(struct.iter_unpack('<hx', b'abcdef')))
s = struct.Struct('<ih3s?')
print(s.size, s.format, s.pack(1, 2, b'abcd', 3), s.unpack(s.pack(-5, 6, b'a', 0)), list(s.iter_unpack(s.pack(1, 2, b'', 0) * 2)), s.unpack_from(b'zz' + s.pack(9, 8, b'q', 1), 2))
t(s.pack, 1, 2); t(s.unpack, b''); t(struct.Struct); t(struct.pack, '0i'); t(struct.pack, 'bi', 1, 2); t(struct.pack, '3c', b'a', b'b', b'c')
print(struct.unpack('<bBhHiIqQ', bytes(range(240, 256)) + bytes(range(14))), struct.unpack('>fde', struct.pack('>fde', 1.1, 1.1, 1.1)), struct.unpack('5p3s2c', b'\x09abcdxyzqr'))
print(struct.error.__mro__, struct.error.__module__, repr(struct.error('a', 1)))
print(struct.unpack('e', b'\x00\x3c'), struct.unpack('<2e', b'\x01\x00\x00\x7c'), struct.unpack('?', b'\x05'))
class I:
    def __index__(self): return 5
print(struct.pack('bHq', I(), I(), I()))
class S(struct.Struct):
    def __init__(self, f): self.extra = f
print(S('b').extra)
