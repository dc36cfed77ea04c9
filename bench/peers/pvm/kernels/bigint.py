def main():
    p = 2 ** 256 - 189
    x = 3 ** 150
    for i in range(200000):
        x = (x * x + i) % p
    return x % 1000000007
print(main())
