"""Dumps Python's syntax trees in the notation of dump_test.go.

Reads requests from standard input, one a line: a mode and a path, or the
source itself in hexadecimal after "=".  Answers with a line "ok N REFUSAL" and
N bytes of tree, or with "error 0 CLASS: MESSAGE" when there is no tree.  In
mode "compile" REFUSAL is what the compiler says; otherwise it is empty.  Mode
"strings" answers with the string literals of a file, in hexadecimal.
"""
import ast
import doctest
import struct
import sys
import textwrap
import unicodedata
import warnings

warnings.simplefilter("ignore")
sys.setrecursionlimit(20000)
REFUSALS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
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


def strings(path):
    """All that a test might feed to the compiler: literals and doctests."""
    with open(path, "rb") as f:
        tree = ast.parse(f.read())
    found = {}
    parser = doctest.DocTestParser()
    for n in ast.walk(tree):
        if isinstance(n, ast.Constant) and isinstance(n.value, (str, bytes)):
            v = n.value
            if isinstance(v, bytes):
                found[v] = None
                continue
            for s in (v, textwrap.dedent(v)):
                found[s.encode("utf-8", "surrogatepass")] = None
            if ">>>" in v:
                try:
                    for e in parser.get_examples(v):
                        found[e.source.encode("utf-8", "surrogatepass")] = None
                except ValueError:
                    pass
    return "\n".join(s.hex() for s in found if s).encode("ascii")


def answer(line):
    mode, what = line.split(" ", 1)
    if mode == "strings":
        return strings(what), None
    if what.startswith("="):
        src = bytes.fromhex(what[1:])
    else:
        with open(what, "rb") as f:
            src = f.read()
    late = None
    try:
        tree = ast.parse(src)
    except REFUSALS as e:
        return None, "%s: %s" % (type(e).__name__, e)
    if mode == "compile":
        try:
            compile(src, "<source>", "exec", dont_inherit=True)
        except REFUSALS as e:
            late = "%s: %s" % (type(e).__name__, e)
    out = []
    dump(tree, out)
    return "".join(out).encode("ascii"), late


def one_line(s):
    return (s or "").replace("\n", " ").encode("ascii", "backslashreplace")


for line in sys.stdin:
    got, err = answer(line.rstrip("\n"))
    if got is None:
        sys.stdout.buffer.write(b"error 0 " + one_line(err) + b"\n")
    else:
        sys.stdout.buffer.write(b"ok %d " % len(got) + one_line(err) + b"\n" + got)
    sys.stdout.buffer.flush()
