"""Cuts CPython's own tests into scripts that need nothing but the whitelist.

Reads names of test modules on standard input, one a line, and writes JSON lines:
{"module", "class", "methods": [...], "dropped": {reason: count}, "source"}.
A script holds what a test class needs of its module, a stand-in for unittest and
a runner that prints one line per method.
"""
import ast
import builtins
import json
import os
import sys
import sysconfig

ALLOWED = {
    "collections", "collections.abc", "dataclasses", "enum", "functools", "itertools", "json", "re", "struct",
    "math", "decimal", "typing", "abc", "hashlib",
}
FORBIDDEN = {
    "eval", "exec", "compile", "globals", "locals", "__import__", "open", "input", "id", "memoryview", "complex",
    "breakpoint", "help", "vars", "__build_class__", "exit", "quit", "copyright", "credits", "license",
}
ATTRIBUTES = {
    "__del__", "__subclasses__", "__globals__", "__code__", "__closure__", "__builtins__", "gi_frame", "gi_code",
    "cr_frame", "ag_frame", "f_back", "tb_frame", "tb_next", "tb_lineno", "__reduce__", "__reduce_ex__", "__getstate__",
    "__setstate__", "__sizeof__", "__weakref__", "gi_running", "gi_yieldfrom", "__traceback__", "__loader__", "__spec__",
}
STANDIN = '''
class _Skip(Exception): pass
class _Raises:
    def __init__(self, case, exc, pattern=None):
        self.exc, self.pattern, self.case = exc, pattern, case
    def __enter__(self): return self
    def __exit__(self, kind, value, tb):
        if kind is None:
            raise AssertionError("exception not raised")
        if not issubclass(kind, self.exc): return False
        self.exception = value
        if self.pattern is not None:
            import re
            if not re.search(self.pattern, str(value)):
                raise AssertionError("%r does not match %r" % (self.pattern, str(value)))
        return True
class _Sub:
    def __enter__(self): return self
    def __exit__(self, *a): return False
class TestCase:
    longMessage = True
    maxDiff = None
    failureException = AssertionError
    def setUp(self): pass
    def tearDown(self): pass
    @classmethod
    def setUpClass(cls): pass
    @classmethod
    def tearDownClass(cls): pass
    def addCleanup(self, fn, *a, **k): pass
    def addTypeEqualityFunc(self, t, f): pass
    def subTest(self, *a, **k): return _Sub()
    def skipTest(self, why): raise _Skip(why)
    def fail(self, msg=None): raise AssertionError(msg)
    def assertTrue(self, x, msg=None):
        if not x: raise AssertionError(msg or "not true")
    def assertFalse(self, x, msg=None):
        if x: raise AssertionError(msg or "not false")
    def assertEqual(self, a, b, msg=None):
        if not a == b: raise AssertionError(msg or "not equal: %.200r %.200r" % (a, b))
    def assertNotEqual(self, a, b, msg=None):
        if not a != b: raise AssertionError(msg or "equal: %.200r" % (a,))
    assertListEqual = assertTupleEqual = assertDictEqual = assertSetEqual = assertMultiLineEqual = assertEqual
    assertEquals = assertEqual
    def assertSequenceEqual(self, a, b, msg=None, seq_type=None): self.assertEqual(list(a), list(b), msg)
    def assertCountEqual(self, a, b, msg=None):
        a, b = list(a), list(b)
        if len(a) != len(b): raise AssertionError(msg or "different counts")
        for x in a:
            if x in b: b.remove(x)
            else: raise AssertionError(msg or "missing %r" % (x,))
    def assertIs(self, a, b, msg=None):
        if a is not b: raise AssertionError(msg or "not the same")
    def assertIsNot(self, a, b, msg=None):
        if a is b: raise AssertionError(msg or "the same")
    def assertIsNone(self, a, msg=None):
        if a is not None: raise AssertionError(msg or "not None")
    def assertIsNotNone(self, a, msg=None):
        if a is None: raise AssertionError(msg or "None")
    def assertIn(self, a, b, msg=None):
        if a not in b: raise AssertionError(msg or "%.100r not in %.200r" % (a, b))
    def assertNotIn(self, a, b, msg=None):
        if a in b: raise AssertionError(msg or "%.100r in it" % (a,))
    def assertIsInstance(self, a, b, msg=None):
        if not isinstance(a, b): raise AssertionError(msg or "not an instance")
    def assertNotIsInstance(self, a, b, msg=None):
        if isinstance(a, b): raise AssertionError(msg or "an instance")
    def assertIsSubclass(self, a, b, msg=None):
        if not issubclass(a, b): raise AssertionError(msg or "not a subclass")
    def assertLess(self, a, b, msg=None):
        if not a < b: raise AssertionError(msg or "not less")
    def assertLessEqual(self, a, b, msg=None):
        if not a <= b: raise AssertionError(msg or "greater")
    def assertGreater(self, a, b, msg=None):
        if not a > b: raise AssertionError(msg or "not greater")
    def assertGreaterEqual(self, a, b, msg=None):
        if not a >= b: raise AssertionError(msg or "less")
    def assertAlmostEqual(self, a, b, places=None, msg=None, delta=None):
        if a == b: return
        d = abs(a - b)
        if delta is not None:
            if d <= delta: return
        elif round(d, places if places is not None else 7) == 0: return
        raise AssertionError(msg or "%r and %r differ" % (a, b))
    def assertNotAlmostEqual(self, a, b, places=None, msg=None, delta=None):
        if a == b or round(abs(a - b), places if places is not None else 7) == 0: raise AssertionError(msg or "too near")
    def assertRegex(self, text, pattern, msg=None):
        import re
        if not re.search(pattern, text): raise AssertionError(msg or "%r does not match %r" % (pattern, text))
    def assertNotRegex(self, text, pattern, msg=None):
        import re
        if re.search(pattern, text): raise AssertionError(msg or "match")
    def assertRaises(self, exc, fn=None, *a, **k):
        ctx = _Raises(self, exc)
        if fn is None: return ctx
        with ctx: fn(*a, **k)
    def assertRaisesRegex(self, exc, pattern, fn=None, *a, **k):
        ctx = _Raises(self, exc, pattern)
        if fn is None: return ctx
        with ctx: fn(*a, **k)
    def id(self): return "id"
class unittest:
    TestCase = TestCase
    SkipTest = _Skip
    @staticmethod
    def skip(why): return lambda f: None
    @staticmethod
    def skipIf(c, why): return (lambda f: None) if c else (lambda f: f)
    @staticmethod
    def skipUnless(c, why): return (lambda f: f) if c else (lambda f: None)
    @staticmethod
    def expectedFailure(f): return None
class support:
    TestFailed = AssertionError
    verbose = False
    NEVER_EQ = None
    @staticmethod
    def cpython_only(f): return None
    @staticmethod
    def no_tracing(f): return f
    @staticmethod
    def requires_IEEE_754(f): return f
    @staticmethod
    def run_with_locale(*a): return lambda f: None
    @staticmethod
    def bigmemtest(*a, **k): return lambda f: None
    @staticmethod
    def bigaddrspacetest(f): return None
    @staticmethod
    def requires_resource(*a): return lambda f: None
    @staticmethod
    def skip_if_pgo_task(f): return f
    @staticmethod
    def impl_detail(*a, **k): return lambda f: None
    @staticmethod
    def refcount_test(f): return None
    @staticmethod
    def check_impl_detail(**k): return False
    @staticmethod
    def gc_collect(): pass
    @staticmethod
    def adjust_int_max_str_digits(n): return _Sub()
class _AlwaysEq:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
class _NeverEq:
    def __eq__(self, other): return False
    def __ne__(self, other): return True
    def __hash__(self): return 1
ALWAYS_EQ = support.ALWAYS_EQ = _AlwaysEq()
NEVER_EQ = support.NEVER_EQ = _NeverEq()
class _Largest:
    def __lt__(self, o): return False
    def __le__(self, o): return isinstance(o, _Largest)
    def __eq__(self, o): return isinstance(o, _Largest)
    def __gt__(self, o): return not isinstance(o, _Largest)
    def __ge__(self, o): return True
class _Smallest:
    def __gt__(self, o): return False
    def __ge__(self, o): return isinstance(o, _Smallest)
    def __eq__(self, o): return isinstance(o, _Smallest)
    def __lt__(self, o): return not isinstance(o, _Smallest)
    def __le__(self, o): return True
LARGEST = support.LARGEST = _Largest()
SMALLEST = support.SMALLEST = _Smallest()
cpython_only = support.cpython_only
import_helper = None
def _one(cls, name):
    method = getattr(cls, name, None)
    if method is None: return "skip"
    try:
        case = cls()
        case._testMethodName = name
        case.setUp()
        try: method(case)
        finally: case.tearDown()
    except _Skip: return "skip"
    except AssertionError as e: return "FAIL " + str(e)[:160]
    except Exception as e: return "ERROR " + type(e).__name__ + ": " + str(e)[:160]
    return "ok"
def _run(cls, names):
    try: cls.setUpClass()
    except Exception as e: print("setUpClass", type(e).__name__, str(e)[:100])
    for name in names:
        print("@" + name + " " + _one(cls, name).replace("\\n", " "))
'''
STANDIN_NAMES = {n.id if isinstance(n, ast.Name) else n.name for s in ast.parse(STANDIN).body
                 for n in ([s] if isinstance(s, (ast.ClassDef, ast.FunctionDef)) else
                           [t for t in getattr(s, "targets", []) if isinstance(t, ast.Name)])}


def used(node):
    """Global names that node may read, attributes that it names, and forbidden constants."""
    names, attrs, bound = set(), set(), set()
    for n in ast.walk(node):
        if isinstance(n, ast.Name):
            (bound if isinstance(n.ctx, ast.Store) else names).add(n.id)
        elif isinstance(n, ast.Attribute):
            attrs.add(n.attr)
        elif isinstance(n, ast.arg):
            bound.add(n.arg)
        elif isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if n is not node:
                bound.add(n.name)
            attrs.add(n.name)
        elif isinstance(n, ast.ExceptHandler) and n.name:
            bound.add(n.name)
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            for a in n.names:
                bound.add((a.asname or a.name).split(".")[0])
                module = n.module if isinstance(n, ast.ImportFrom) else a.name
                if module not in ALLOWED:
                    attrs.add("import " + str(module))
        elif isinstance(n, ast.Constant) and isinstance(n.value, complex):
            attrs.add("complex literal")
        elif isinstance(n, ast.Constant) and isinstance(n.value, str) and any(0xD800 <= ord(c) < 0xE000 for c in n.value):
            attrs.add("surrogate")
        elif isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name:
            bound.add(n.name)
        elif isinstance(n, ast.MatchMapping) and n.rest:
            bound.add(n.rest)
        elif isinstance(n, (ast.Global, ast.Nonlocal)):
            bound.update(n.names)
        elif isinstance(n, ast.Compare):
            for op, right in zip(n.ops, n.comparators):
                if isinstance(op, (ast.Is, ast.IsNot)):
                    for side in (n.left, right):
                        if isinstance(side, ast.Constant) and isinstance(side.value, (int, str, float)) and not isinstance(side.value, bool):
                            attrs.add("is with a literal")
    return names - bound, attrs


def why_not(node, known):
    names, attrs = used(node)
    for a in sorted(attrs):
        if a in ATTRIBUTES or a.startswith("import ") or a in ("complex literal", "surrogate", "is with a literal"):
            return a
    for n in sorted(names):
        if n in FORBIDDEN:
            return n
        if n not in known and not hasattr(builtins, n):
            return "needs " + n
    return None


def defined(stmt):
    if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {stmt.name}
    out = set()
    for n in ast.walk(stmt):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            out.add(n.id)
        elif isinstance(n, (ast.FunctionDef, ast.ClassDef)):
            out.add(n.name)
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            out.update((a.asname or a.name).split(".")[0] for a in n.names)
    return out


INLINE = {"list_tests", "seq_tests", "mapping_tests", "string_tests"}


class Flatten(ast.NodeTransformer):
    """list_tests.CommonTest becomes list_tests_CommonTest."""

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in INLINE:
            return ast.copy_location(ast.Name(node.value.id + "_" + node.attr, node.ctx), node)
        return node


class Rename(ast.NodeTransformer):
    """Gives what an inlined module defines the module's name in front."""

    def __init__(self, module, names):
        self.module, self.names = module, names

    def visit_Name(self, node):
        if node.id in self.names:
            node.id = self.module + "_" + node.id
        return node

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        if node.name in self.names:
            node.name = self.module + "_" + node.name
        return node

    visit_FunctionDef = visit_ClassDef


def load(path, seen, module=None):
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    if module:
        own = {s.name for s in tree.body if isinstance(s, (ast.ClassDef, ast.FunctionDef))}
        tree = Rename(module, own).visit(tree)
    tree = Flatten().visit(tree)
    body = []
    folder = os.path.dirname(path)
    for stmt in tree.body:
        if isinstance(stmt, ast.ImportFrom) and stmt.module == "test":
            for a in stmt.names:
                if a.name in INLINE and a.name not in seen:
                    seen.add(a.name)
                    body += load(os.path.join(folder, a.name + ".py"), seen, a.name)
            continue
        if isinstance(stmt, ast.ImportFrom) and stmt.module and stmt.module.startswith("test.") and stmt.module[5:] in INLINE:
            if stmt.module[5:] not in seen:
                seen.add(stmt.module[5:])
                body += load(os.path.join(folder, stmt.module[5:] + ".py"), seen, stmt.module[5:])
            continue
        if isinstance(stmt, ast.If) and "__main__" in ast.dump(stmt.test):
            continue
        body.append(stmt)
    return body


def prune(cls, known, dropped):
    """Takes the methods out of a class that cannot run."""
    body, methods = [], []
    inner = set(known) | {cls.name}
    class_names = set()
    for s in cls.body:
        class_names |= defined(s)
    for s in cls.body:
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
            reason = why_not(s, inner | (class_names if s.decorator_list else set()))
            if reason is None and isinstance(s, ast.AsyncFunctionDef) and s.name.startswith("test"):
                reason = "async test"
            if reason is not None:
                if s.name.startswith("test"):
                    dropped[reason] = dropped.get(reason, 0) + 1
                continue
            if s.name.startswith("test"):
                methods.append(s.name)
        elif why_not(s, inner | class_names) is not None:
            continue
        body.append(s)
    return ast.ClassDef(cls.name, cls.bases, cls.keywords, body or [ast.Pass()], cls.decorator_list), methods


def scripts(name):
    root = os.path.join(sysconfig.get_paths()["stdlib"], "test")
    body = load(os.path.join(root, name.replace(".", "/") + ".py"), set())
    known = set(STANDIN_NAMES)
    kept = []
    for stmt in body:
        if isinstance(stmt, ast.Import):
            stmt.names = [a for a in stmt.names if a.name in ALLOWED]
            if not stmt.names:
                continue
        elif isinstance(stmt, ast.ImportFrom):
            if stmt.module not in ALLOWED:
                continue
        kept.append(stmt)
    # What cannot run takes with it what needs it.
    changed = True
    dropped = {}
    while changed:
        changed = False
        names = set(known)
        for s in kept:
            names |= defined(s)
        out = []
        for s in kept:
            if isinstance(s, ast.ClassDef):
                head = ast.ClassDef(s.name, s.bases, s.keywords, [ast.Pass()], s.decorator_list)
                if why_not(head, names) is None:
                    out.append(s)
                    continue
            elif why_not(s, names) is None:
                out.append(s)
                continue
            changed = True
            if isinstance(s, ast.ClassDef):
                n = sum(isinstance(m, ast.FunctionDef) and m.name.startswith("test") for m in s.body)
                if n:
                    reason = why_not(ast.ClassDef(s.name, s.bases, s.keywords, [ast.Pass()], s.decorator_list), names)
                    dropped[reason] = dropped.get(reason, 0) + n
        kept = out
    names = set(known)
    for s in kept:
        names |= defined(s)
    pruned, tests, order = {}, {}, []
    for s in kept:
        if isinstance(s, ast.ClassDef):
            d = {}
            pruned[s.name], tests[s.name] = prune(s, names, d)
            order.append((s, d))
    by_name, defines = {}, {}
    for k in kept:
        defines[id(k)] = {k.name} if isinstance(k, ast.ClassDef) else defined(k)
        for n in defines[id(k)]:
            by_name.setdefault(n, []).append(k)
    for s, d in order:
        inherited, stack, met = set(), [s.name], set()
        while stack:
            c = stack.pop()
            if c not in pruned or c in met:
                continue
            met.add(c)
            inherited.update(tests[c])
            stack += [b.id for b in pruned[c].bases if isinstance(b, ast.Name)]
        is_case = any("TestCase" in ast.dump(b) or isinstance(b, ast.Name) and b.id in pruned for b in s.bases)
        if not inherited or not is_case:
            continue
        need, todo = set(), [s.name]
        while todo:
            n = todo.pop()
            if n in need:
                continue
            need.add(n)
            for k in by_name.get(n, []):
                node = pruned.get(k.name, k) if isinstance(k, ast.ClassDef) else k
                got, _ = used(node)
                todo += [g for g in got if g in by_name]
                if isinstance(node, ast.ClassDef):
                    for b in node.bases:
                        todo += [x.id for x in ast.walk(b) if isinstance(x, ast.Name)]
        parts = []
        for k in kept:
            if not isinstance(k, (ast.Import, ast.ImportFrom)) and not (defines[id(k)] & need):
                continue
            node = pruned.get(k.name, k) if isinstance(k, ast.ClassDef) else k
            parts.append(ast.unparse(ast.fix_missing_locations(node)))
        methods = sorted(inherited)
        yield {
            "module": name, "class": s.name, "methods": methods, "dropped": d,
            "head": STANDIN + "\n" + "\n".join(parts) + "\n", "source": "",
        }
    if dropped:
        yield {"module": name, "class": "", "methods": [], "dropped": dropped, "head": "", "source": ""}


for line in sys.stdin:
    for script in scripts(line.strip()):
        print(json.dumps(script), flush=True)
