class Counter:
    def __init__(self):
        self.n = 0
    def add(self, k):
        self.n += k
def main():
    c = Counter()
    for i in range(1000000):
        c.add(i)
    return c.n
print(main())
