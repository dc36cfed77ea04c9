"""Prints the cases of CPython's own tests of re as the oracle takes them: the
table of re_tests, and every pattern and subject that test_re uses."""
import contextlib
import io
import json
import re
import sys
import unittest
import warnings

warnings.simplefilter("ignore")
seen = {}


def note(pattern, flags, subject=None, template=None):
    if not isinstance(pattern, (str, bytes)):
        return
    kind = type(pattern)
    key = (kind, pattern, int(flags))
    entry = seen.setdefault(key, [[], None])
    if type(subject) is kind and len(subject) < 20000 and subject not in entry[0]:
        entry[0].append(subject)
    if type(template) is kind:
        entry[1] = template


compile_ = re._compile


def recording(pattern, flags):
    note(pattern, flags)
    return compile_(pattern, flags)


def wrap(name):
    real = getattr(re, name)

    def call(pattern, *args, **kw):
        flags = kw.get("flags", 0)
        if name in ("match", "search", "fullmatch", "findall", "finditer"):
            note(pattern, flags, args[0] if args else None)
        elif name == "split":
            note(pattern, flags, args[0] if args else None)
        elif len(args) > 1:
            note(pattern, flags, args[1], args[0])
        return real(pattern, *args, **kw)
    return call


real = {n: getattr(re, n) for n in ("match", "search", "fullmatch", "findall", "finditer", "split", "sub", "subn")}
try:
    from test import re_tests, test_re
except ImportError:
    sys.exit(0)
re._compile = recording
for n in real:
    setattr(re, n, wrap(n))
stream = io.StringIO()
with contextlib.redirect_stdout(io.StringIO()):
    unittest.TextTestRunner(stream=stream).run(unittest.defaultTestLoader.loadTestsFromModule(test_re))
re._compile = compile_
for n, f in real.items():
    setattr(re, n, f)

for row in re_tests.tests:
    note(row[0], 0, row[1])
    note(row[0], re.IGNORECASE, row[1])
    try:
        note(row[0].encode("latin1"), 0, row[1].encode("latin1"))
    except UnicodeEncodeError:
        pass
for pattern, subject in re_tests.benchmarks:
    note(pattern, 0, subject * 3)

for (kind, pattern, flags), (subjects, template) in seen.items():
    text = (lambda s: s.decode("latin1")) if kind is bytes else str
    try:
        for s in [pattern, template or kind()] + subjects:
            text(s).encode()
    except UnicodeEncodeError:  # surrogates, which the machine's strings do not hold
        print(json.dumps(None))
        continue
    print(json.dumps({"p": text(pattern), "f": flags, "b": kind is bytes, "t": text(template) if template else "",
                      "s": [[text(s), 0, len(s)] for s in subjects]}))
