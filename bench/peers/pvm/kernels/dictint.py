def main():
    d = {}
    for i in range(1000000):
        d[i & 1023] = d.get(i & 1023, 0) + i
    return sum(d.values())
print(main())
