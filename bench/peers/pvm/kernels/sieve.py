def main():
    n = 500000
    a = [True] * (n + 1)
    a[0] = a[1] = False
    i = 2
    while i * i <= n:
        if a[i]:
            j = i * i
            while j <= n:
                a[j] = False
                j += i
        i += 1
    c = 0
    for v in a:
        if v:
            c += 1
    return c
print(main())
