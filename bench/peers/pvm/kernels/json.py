import json
def main():
    n = 0
    rows = [{"id": i, "name": "row %d" % i, "tags": ["a", "b", "c"], "value": i * 3} for i in range(2000)]
    for _ in range(5):
        s = json.dumps(rows, sort_keys=True, separators=(",", ":"))
        n += len(s) + len(json.loads(s))
    return n
print(main())
