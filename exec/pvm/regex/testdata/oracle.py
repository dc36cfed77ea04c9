"""Answers what CPython's re makes of each case on standard input, a JSON object
a line: p pattern, f flags, b whether for bytes (then all texts are Latin-1),
s subjects, with a position and an end each, t a template."""
import json
import re
import sys
import warnings

warnings.simplefilter("ignore")


def error(e):
    kind = {re.error: "error", ValueError: "ValueError", OverflowError: "OverflowError",
            IndexError: "IndexError", RecursionError: "RecursionError"}.get(type(e), type(e).__name__)
    if kind == "error":
        return "|".join(map(str, ["error", e.msg, e.pos, e.lineno, e.colno, str(e)]))
    return kind + "|" + (e.args[0] if kind == "IndexError" else str(e))


def spans(m):
    if m is None:
        return "-"
    return ";".join("%d,%d" % m.span(g) for g in range(m.re.groups + 1)) + "L%d %s" % (m.lastindex or 0, m.lastgroup or "")


def hexed(x):
    if x is None:
        return "None"
    return (x if isinstance(x, bytes) else x.encode()).hex()


for line in sys.stdin:
    case = json.loads(line)
    enc = (lambda s: s.encode("latin1")) if case["b"] else (lambda s: s)
    out = []
    try:
        p = re.compile(enc(case["p"]), case["f"] & ~re.DEBUG)
    except Exception as e:
        print(json.dumps(error(e)))
        continue
    out.append("%d %d %s" % (p.flags & ~re.DEBUG, p.groups, ",".join("%s=%d" % x for x in p.groupindex.items())))
    template = enc(case["t"])
    for s, pos, end in case["s"]:
        s = enc(s)
        out += [spans(p.match(s, pos, end)), spans(p.search(s, pos, end)), spans(p.fullmatch(s, pos, end))]
        out.append(" ".join(spans(m) for m in p.finditer(s, pos, end)))
        out.append(" ".join(map(hexed, p.split(s))))
        try:
            out.append(hexed(p.sub(template, s)))
        except Exception as e:
            out.append(error(e))
    print(json.dumps("\n".join(out)))
