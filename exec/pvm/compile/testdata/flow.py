def fib(n):
    if n < 2:
        return n
    return fib(n-1) + fib(n-2)

def loop(n, d):
    t = 0
    for i in range(n):
        t += i
        if i % 3 == 0 and t > 5 or d is not None:
            continue
        d[i] = t - 1
    while t > 0:
        t = t - 1
    return t

def fin(x):
    for i in x:
        try:
            if i: return i
            if x: break
        finally:
            print(i)
    with open(x) as f:
        return f.read()
