def make():
    total = 0
    def add(k):
        nonlocal total
        total += k
        return total
    return add
def main():
    f = make()
    r = 0
    for i in range(1000000):
        r = f(i)
    return r
print(main())
