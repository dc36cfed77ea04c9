import hashlib
def t(f, *a, **k):
    try:
        return f(*a, **k)
    except Exception as e:
        print(a, k, type(e).__name__, e)
h = hashlib.sha256()
h.update(b'abc'); c = h.copy(); h.update(bytearray(b'def'))
print(h.hexdigest(), c.hexdigest(), c.digest(), h.name, h.block_size, h.digest_size)
print(hashlib.new('sha256', b'x' * 1000).hexdigest(), hashlib.new('SHA256').hexdigest(), hashlib.sha256(string=b'q').hexdigest())
t(hashlib.sha256, 'a'); t(hashlib.sha256, 5); t(hashlib.new, 'foo'); t(hashlib.new, 5); t(h.update, 'a'); t(h.update)
print(hashlib.sha256(b'a', usedforsecurity=False).hexdigest())
