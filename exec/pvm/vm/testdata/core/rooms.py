# What lies side by side in one allocation stays apart: lists that grow in turns
# and after they were cut, short strings, ints around the size of their room.
a, b = [], []
for i in range(2000):
    a.append(i)
for i in range(2000):
    a.append(-i)
    b.append(i)
print(len(a), sum(a), len(b), sum(b))
c = a[:]
while len(a) > 300:
    a.pop()
for i in range(1000):
    a.append("x")
del a[10:1200]
a[2:2] = range(900)
a.extend(range(50))
print(len(a), a[:4], a[901:905], a[-1], len(c), sum(c))
a.sort(key=str)
for i in range(40):
    a.append(i)
t = tuple(a)
a.clear()
for i in range(3000):
    a.append(i)
print(len(t), t[-3:], t[0], len(a), a[2999])

words = ["w" + str(i) + "\u017a" * (i % 3) for i in range(500)]
joined = "|".join(words)
parts = joined.split("|")
print(parts == words, len(joined), parts[498], len(parts[499]), parts[7].encode())
d = {}
for p in parts:
    d[p] = d.get(p, 0) + len(p)
print(len(d), sum(d.values()), "a|b|".split("|"), "".split("|"), "|".split("|"), "abc".split("abcd"))
long = "".join(words[:60])
print(long[100:164] == long[100:130] + long[130:164], long[3], long[70:75], long.find("w20"), long[::-7])
print([str(n) for n in (0, 7, -7, 10, -10, 2**63 - 1, -2**63, 2**63)])

for bits in (63, 64, 128, 255, 256, 257, 320, 319, 576, 640, 641, 1280):
    x = (1 << bits) - 3
    y = x
    for i in range(6):
        y = (y * y + i) % (x - i)
        y ^= x >> 1
    print(bits, y, -y % 1000003, (x - y) & y, x + y == y + x, x * x - y * y == (x - y) * (x + y))
