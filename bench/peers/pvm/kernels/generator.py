def numbers(n):
    i = 0
    while i < n:
        yield i
        i += 1
def main():
    s = 0
    for v in numbers(1000000):
        s += v
    return s
print(main())
