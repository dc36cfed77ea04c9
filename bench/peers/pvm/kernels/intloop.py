def main():
    s = 0
    for i in range(1000):
        for j in range(1000):
            s += i + j
    return s
print(main())
