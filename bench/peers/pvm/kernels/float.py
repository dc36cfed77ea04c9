def main():
    x = 0.4
    s = 0.0
    for i in range(1000000):
        x = 3.7 * x * (1.0 - x)
        s += x
    return "%.6f" % s
print(main())
