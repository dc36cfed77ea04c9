def main():
    n = 0
    for k in range(5):
        parts = []
        for i in range(20000):
            parts.append("item-" + str(i))
        s = ",".join(parts)
        for p in s.split(","):
            n += len(p)
        n += len(s.replace("item", "thing"))
        n += s.count("9")
    return n
print(main())
