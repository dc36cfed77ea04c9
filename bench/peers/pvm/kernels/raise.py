def f(i):
    if i & 1:
        raise ValueError(i)
    return i
def main():
    n = 0
    for i in range(400000):
        try:
            n += f(i)
        except ValueError as e:
            n += 1
    return n
print(main())
