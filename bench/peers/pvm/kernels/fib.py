def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)
def main():
    r = 0
    for _ in range(5):
        r += fib(24)
    return r
print(main())
