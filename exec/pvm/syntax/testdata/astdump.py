"""Dumps Python's syntax trees in the notation of dump_test.go.

Reads requests from standard input, one a line: a mode and a path, or the
source itself in hexadecimal after "=".  Mode "parse" stops at the tree, mode
"compile" goes through the compiler too.  Answers with a line "ok N" and N bytes
of tree, or "error 0 CLASS: MESSAGE" on one line.
"""
import ast
import struct
import sys
import unicodedata
import warnings

warnings.simplefilter("ignore")
sys.setrecursionlimit(20000)
SKIPPED = {"type_comment", "type_ignores"}


def text(s):
    if all(" " <= c <= "~" and c not in '"\\' for c in s):
        return '"%s"' % s
    return "x" + s.encode("utf-8", "surrogatepass").hex()


def constant(v):
    if v is None or v is True or v is False:
        return str(v)
    if v is Ellipsis:
        return "Ellipsis"
    if isinstance(v, str):
        return text(unicodedata.normalize("NFC", v))
    if isinstance(v, bytes):
        return "b" + v.hex()
    if isinstance(v, int):
        return "i%x" % v
    if isinstance(v, float):
        return "f%016x" % struct.unpack(">Q", struct.pack(">d", v))
    return "complex"


def dump(n, out):
    if isinstance(n, ast.AST):
        out.append("(" + type(n).__name__)
        if hasattr(n, "lineno"):
            out.append("@%d:%d" % (n.lineno, n.col_offset))
        for f in n._fields:
            if f in SKIPPED:
                continue
            out.append(" ")
            v = getattr(n, f)
            if f == "value" and type(n) in (ast.Constant, ast.MatchSingleton):
                out.append(constant(v))
            else:
                dump(v, out)
        out.append(")")
    elif isinstance(n, list):
        out.append("[")
        for i, x in enumerate(n):
            if i:
                out.append(" ")
            dump(x, out)
        out.append("]")
    elif n is None:
        out.append("_")
    elif isinstance(n, str):
        out.append(text(n))
    else:
        out.append(str(int(n)))


def answer(line):
    mode, what = line.split(" ", 1)
    if what.startswith("="):
        src = bytes.fromhex(what[1:])
    else:
        with open(what, "rb") as f:
            src = f.read()
    try:
        tree = ast.parse(src)
        if mode == "compile":
            compile(src, "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as e:
        return None, "%s: %s" % (type(e).__name__, e)
    out = []
    dump(tree, out)
    return "".join(out).encode("ascii"), None


for line in sys.stdin:
    got, err = answer(line.rstrip("\n"))
    if err is None:
        sys.stdout.buffer.write(b"ok %d\n" % len(got) + got)
    else:
        sys.stdout.buffer.write(("error 0 " + err.replace("\n", " ")).encode("ascii", "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()
