def main():
    d = {}
    keys = ["key%d" % i for i in range(1000)]
    for _ in range(1000):
        for k in keys:
            d[k] = d.get(k, 0) + 1
    return sum(d.values())
print(main())
