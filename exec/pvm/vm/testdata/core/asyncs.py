class Aw:
    def __init__(self, v): self.v = v
    def __await__(self):
        r = yield self.v
        return r
async def a(x):
    return x * 2
async def b():
    r = await a(4)
    s = await Aw(7)
    return r, s
def run(c):
    v = None
    try:
        while True:
            got = c.send(v)
            print('yielded', got)
            v = 'sent'
    except StopIteration as e:
        return e.value
print(run(b()))
async def agen():
    for i in range(3):
        await Aw(i)
        yield i
async def use():
    out = []
    async for x in agen(): out.append(x)
    out2 = [x async for x in agen() if x != 1]
    return out, out2
print(run(use()))
class ACM:
    async def __aenter__(self): print('aenter'); return 5
    async def __aexit__(self, *a): print('aexit', a[0]); return True
async def w():
    async with ACM() as v:
        print(v)
        raise ValueError
    return 'after'
print(run(w()))
async def ag2():
    try:
        r = yield 1
        print('r', r)
        yield 2
    finally:
        print('fin')
async def drive():
    g = ag2()
    print(await g.asend(None))
    print(await g.asend('hello'))
    await g.aclose()
    try:
        await g.__anext__()
    except StopAsyncIteration: print('SAI')
    g = ag2()
    await g.__anext__()
    try:
        await g.athrow(KeyError('x'))
    except KeyError as e: print('KeyError', e)
run(drive())
c = a(1)
try:
    c.send(1)
except TypeError as e: print(e)
c.close()
async def si(): raise StopIteration
try: run(si())
except RuntimeError as e: print(e)
d = a(3); print(run(d))
try: run(d)
except RuntimeError as e: print(e)
async def bad(): await 5
try: run(bad())
except TypeError as e: print(e)
