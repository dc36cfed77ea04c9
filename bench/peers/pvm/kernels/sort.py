def main():
    r = 0
    for k in range(5):
        a = []
        x = 12345 + k
        for i in range(100000):
            x = (x * 1103515245 + 12345) & 0x7fffffff
            a.append(x)
        a.sort()
        r ^= a[len(a) // 2]
    return r
print(main())
