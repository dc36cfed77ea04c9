import hmac, hashlib
def t(f, *a, **k):
    try:
        print(a, k, f(*a, **k))
    except Exception as e:
        print(a, k, type(e).__name__, e)
for key in [b'', b'k', b'k' * 63, b'k' * 64, b'k' * 65, bytearray(b'\xff' * 200)]:
    for msg in [b'', b'm', b'm' * 1000]:
        h = hmac.new(key, msg, 'sha256')
        print(h.hexdigest(), h.digest() == hmac.digest(key, msg, 'sha256') == hmac.HMAC(key, msg, hashlib.sha256).digest(),
              hmac.new(key, digestmod=hashlib).digest == 0 if 0 else '', h.name, h.digest_size, h.block_size)
h = hmac.new(b'key', digestmod='SHA256')
h.update(b'abc'); c = h.copy(); h.update(bytearray(b'def'))
print(h.hexdigest(), c.hexdigest(), hmac.new(b'key', b'abcdef', hashlib.sha256).hexdigest() == h.hexdigest(), c.digest_size, c.name)
class Mod:
    new = staticmethod(lambda d=b'': hashlib.sha256(d))
Mod = Mod()
print(hmac.new(b'k', b'm', Mod).hexdigest(), hmac.digest(b'k', b'm', Mod).hex(), hmac.digest(b'k' * 99, b'm', hashlib.sha256).hex())
class Small:
    def __init__(self, d=b''): self.h = hashlib.sha256(d)
    def update(self, d): self.h.update(d)
    def digest(self): return self.h.digest()
    def copy(self):
        c = Small(); c.h = self.h.copy(); return c
    digest_size = 32
    block_size = 32
print(hmac.new(b'k' * 40, b'm', Small).digest().hex(), hmac.digest(b'k' * 40, b'm', Small).hex())
for a in [(), ('k',), (b'k',), (b'k', b''), (b'k', b'', None), (b'k', b'', 5), (b'k', b'', 'md9'), (b'k', 'text', 'sha256'), (b'k', 5, 'sha256'), (None, b'', 'sha256'), (b'k', None, 'sha256', 1)]:
    t(lambda *a: hmac.new(*a).hexdigest(), *a)
    t(lambda *a: hmac.HMAC(*a).hexdigest(), *a)
for a in [('k', b'', 'sha256'), (b'k', 'm', 'sha256'), (b'k', None, 'sha256'), (5, b'', 'sha256'), (b'k', b'')]:
    t(lambda *a: hmac.digest(*a).hex(), *a)
for a in [('a', 'a'), ('a', 'b'), ('', ''), ('ab', 'a'), (b'a', b'a'), (b'a', bytearray(b'a')), (bytearray(b'ab'), b'ba'), ('a', b'a'), (b'a', 'a'),
          (1, 1), (1, b'a'), (b'a', 1), ('a', 1), ('\xe9', '\xe9'), ('a', '\xe9'), (b'a',), (b'a', b'a', b'a'), (None, None)]:
    t(hmac.compare_digest, *a)
class S(str): pass
class B(bytes): pass
class Eq(str):
    def __eq__(self, o): raise ValueError
print(hmac.compare_digest(S('a'), 'a'), hmac.compare_digest(B(b'a'), b'a'), hmac.compare_digest(Eq('a'), Eq('b')))
class Sub(hmac.HMAC):
    blocksize = 32
s = Sub(b'k', b'm', 'sha256')
print(s.hexdigest(), type(s.copy()).__name__, s.copy().hexdigest() == s.hexdigest(), hmac.digest_size, len(hmac.trans_5C), hmac.trans_36[:4])
