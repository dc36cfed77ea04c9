"""Dumps CPython's symbol tables and the cells of its code objects.

Reads one request a line: a path, or the source in hexadecimal after "=".
Answers with a line "N" and N bytes, in the notation of oracle_test.go, or with
one of "error LINE COLUMN MESSAGE".
"""
import _symtable
import sys
import types
import warnings

warnings.simplefilter("ignore")
sys.setrecursionlimit(20000)
KIND = {0: "function", 1: "class", 2: "module"}


def table(ste, depth, out):
    line = ste.lineno if depth else 0
    out.append("%d %s %s %d %d" % (depth, KIND[ste.type], ste.name, line, ste.nested))
    for name in sorted(ste.symbols):
        out.append(" %s %d" % (name, ste.symbols[name]))
    out.append(" params " + ",".join(ste.varnames))
    for c in ste.children:
        table(c, depth + 1, out)


def codes(co, out):
    # VARARGS, VARKEYWORDS, GENERATOR, COROUTINE, ASYNC_GENERATOR
    flags = co.co_flags & (4 | 8 | 0x20 | 0x80 | 0x200)
    out.append("code %s %d %d %s %s" % (
        co.co_name, co.co_firstlineno, flags, ",".join(sorted(co.co_cellvars)), ",".join(sorted(co.co_freevars))))
    for c in co.co_consts:
        if isinstance(c, types.CodeType):
            codes(c, out)


for line in sys.stdin:
    what = line.rstrip("\n")
    if what.startswith("="):
        src = bytes.fromhex(what[1:])
    else:
        with open(what, "rb") as f:
            src = f.read()
    try:
        out = []
        table(_symtable.symtable(src, "<source>", "exec"), 0, out)
        out.append("codes")
        codes(compile(src, "<source>", "exec", dont_inherit=True), out)
    except SyntaxError as e:
        out = ["error %d %d %s" % (e.lineno or 0, e.offset or 0, e.msg)]
    body = "\n".join(out).encode("utf-8", "surrogatepass")
    sys.stdout.buffer.write(b"%d\n" % len(body) + body)
    sys.stdout.buffer.flush()
