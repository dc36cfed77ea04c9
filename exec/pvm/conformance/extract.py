"""Cuts CPython's own tests into scripts that need nothing but the library.

Reads names of test modules on standard input, one a line, and writes JSON lines:
{"module", "class", "methods": [...], "dropped": {reason: count}, "head"}. The
first argument is the text of standin.py. A script holds what a test class needs
of its module and of the stand-ins, and a runner that prints a line per method.
"""
import ast
import builtins
import importlib
import json
import os
import sys
import sysconfig

ALLOWED = {
    "collections", "collections.abc", "dataclasses", "enum", "functools", "itertools", "json", "re", "struct",
    "math", "decimal", "typing", "abc", "hashlib", "base64", "hmac", "operator", "string",
}
FORBIDDEN = {
    "eval", "exec", "compile", "globals", "locals", "__import__", "open", "input", "id", "memoryview", "complex",
    "breakpoint", "help", "vars", "__build_class__", "exit", "quit", "copyright", "credits", "license",
}
ATTRIBUTES = {
    "__del__", "__subclasses__", "__globals__", "__code__", "__closure__", "__builtins__", "gi_frame", "gi_code",
    "cr_frame", "ag_frame", "f_back", "tb_frame", "tb_next", "tb_lineno", "__reduce__", "__reduce_ex__", "__getstate__",
    "__setstate__", "__getnewargs__", "__getnewargs_ex__", "__getformat__", "__itemsize__", "__basicsize__", "__alloc__", "__sizeof__", "__weakref__", "gi_running", "gi_yieldfrom", "__traceback__", "__loader__", "__spec__",
}
# Decorators of tests that CPython itself takes for a matter of the implementation or of its size.
PRIVATE = {
    "cpython_only", "impl_detail", "refcount_test", "bigmemtest", "bigaddrspacetest", "run_with_locale",
    "requires_resource", "requires_legacy_unicode_capi", "expectedFailure", "requires_type_collecting",
}
# Files of tests in which a memoryview stands for any object that has bytes.
VIEWS = {"test_base64.py", "test_hmac.py"}
INLINE = {"list_tests", "seq_tests", "mapping_tests", "string_tests"}
LIBRARY = sysconfig.get_paths()["stdlib"]
JSON_TESTS = """
import json
class CTest(_Case):
    json = json
    loads = staticmethod(json.loads)
    dumps = staticmethod(json.dumps)
    JSONDecodeError = staticmethod(json.JSONDecodeError)
"""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def parse(path):
    with open(path, encoding="utf-8") as f:
        return ast.parse(f.read())


def standins():
    """The statements of standin.py, and the modules of the library that stand in as they are."""
    body = []
    wanted = {"new_class", "resolve_bases", "prepare_class", "_calculate_meta", "DynamicClassAttribute"}
    tree = parse(os.path.join(LIBRARY, "types.py"))
    tree.body = [s for s in tree.body if getattr(s, "name", "") in wanted]
    body += Rename("_types", wanted).visit(tree).body
    return body + ast.parse(sys.argv[1]).body


def defined(stmt):
    if isinstance(stmt, FUNCTIONS + (ast.ClassDef,)):
        return {stmt.name}
    out = set()
    for n in ast.walk(stmt):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            out.add(n.id)
        elif isinstance(n, FUNCTIONS + (ast.ClassDef,)):
            out.add(n.name)
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            out.update((a.asname or a.name).split(".")[0] for a in n.names)
    return out


def touched(stmt):
    """What a statement defines or changes: special.append(x), table[k] = v, del p."""
    out = set(defined(stmt))
    if isinstance(stmt, FUNCTIONS + (ast.ClassDef,)):
        return out
    for n in ast.walk(stmt):
        if isinstance(n, ast.Delete):
            out.update(t.id for t in n.targets if isinstance(t, ast.Name))
        target = n.func if isinstance(n, ast.Call) else n
        if isinstance(target, (ast.Attribute, ast.Subscript)) and (target is not n or isinstance(n.ctx, ast.Store)):
            while isinstance(target, (ast.Attribute, ast.Subscript)):
                target = target.value
            if isinstance(target, ast.Name):
                out.add(target.id)
    return out


def used(node):
    """Global names that node may read, and reasons why no actor can run it."""
    names, attrs, bound = set(), set(), set()
    for n in ast.walk(node):
        if isinstance(n, ast.Name):
            (bound if isinstance(n.ctx, ast.Store) else names).add(n.id)
        elif isinstance(n, ast.Attribute):
            attrs.add(n.attr)
            if isinstance(n.value, ast.Name) and n.attr not in MODULES.get(n.value.id, {n.attr}):
                attrs.add("needs %s.%s" % (n.value.id, n.attr))
        elif isinstance(n, ast.arg):
            bound.add(n.arg)
        elif isinstance(n, FUNCTIONS + (ast.ClassDef,)):
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
        elif isinstance(n, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot)) for op in n.ops):
            for side in [n.left] + n.comparators:
                if isinstance(side, ast.Constant) and isinstance(side.value, (int, str, float)) and not isinstance(side.value, bool):
                    attrs.add("is with a literal")
    return names - bound, {a for a in attrs if not (a.startswith("needs ") and a[6:].split(".")[0] in bound)}


def why_not(node, known, gone=()):
    names, attrs = used(node)
    for d in getattr(node, "decorator_list", []):
        name = ast.unparse(d).split("(")[0].split(".")[-1]
        if name in PRIVATE:
            return "@" + name
    for a in sorted(attrs):
        if a in ATTRIBUTES or a.startswith(("import ", "needs ")) or a in ("complex literal", "surrogate", "is with a literal"):
            return a
        if a.startswith("assert") and a not in ASSERTIONS and a not in known:
            return "needs " + a
    for n in sorted(names):
        if n in FORBIDDEN:
            return n
        if n not in known and not hasattr(builtins, n):
            return "needs " + n
    if gone:
        for n in ast.walk(node):
            if isinstance(n, ast.Attribute) and n.attr in gone and (
                    isinstance(n.value, ast.Name) and n.value.id in gone["self"] or
                    isinstance(n.value, ast.Call) and isinstance(n.value.func, ast.Name) and n.value.func.id == "super"):
                return gone[n.attr]
    return None


class Flatten(ast.NodeTransformer):
    """list_tests.CommonTest becomes list_tests_CommonTest; eval of a literal text becomes what it holds;
    an import of a stand-in is none."""

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in INLINE:
            return ast.copy_location(ast.Name(node.value.id + "_" + node.attr, node.ctx), node)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "eval" and len(node.args) == 1 and not node.keywords:
            text = node.args[0]
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                try:
                    return ast.parse(text.value.strip(), mode="eval").body
                except SyntaxError:
                    pass
        return node

    def visit_Assign(self, node):
        self.generic_visit(node)
        call = node.value
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("import_fresh_module") and isinstance(node.targets[0], ast.Name):
            if call.args[0].value in ALLOWED and not any(k.arg == "blocked" for k in call.keywords):
                return ast.Import([ast.alias(call.args[0].value, node.targets[0].id)])
        return node

    def visit_Import(self, node):
        out = []
        for a in node.names:
            if a.name in MODULES:
                if a.asname:
                    out.append(ast.Assign([ast.Name(a.asname, ast.Store())], ast.Name(a.name, ast.Load())))
            else:
                out.append(ast.Import([a]))
        return out or ast.Pass()

    def visit_ImportFrom(self, node):
        module = (node.module or "").removeprefix("test.")
        out = []
        for a in node.names:
            if node.module in ("test", "test.support") and a.name in MODULES:
                continue
            if module in MODULES and a.name in MODULES[module]:
                value = ast.Attribute(ast.Name(module, ast.Load()), a.name, ast.Load())
                out.append(ast.Assign([ast.Name(a.asname or a.name, ast.Store())], value))
            elif a.name == "*" and module in ALLOWED:
                public = [n for n in dir(importlib.import_module(module)) if is_public(module, n)]
                out += [ast.ImportFrom(module, [ast.alias(n)], 0) for n in public]
            elif is_public(module, a.name):
                out.append(ast.ImportFrom(node.module, [a], node.level))
        return out or ast.Pass()


def is_public(module, name):
    """Whether a module has the name for its users; what other modules have does not matter here."""
    if module not in ALLOWED:
        return True
    return name in getattr(importlib.import_module(module), "__all__", () if name.startswith("_") else (name,))


class Copied(ast.NodeTransformer):
    """memoryview(x), handed to what takes any bytes, becomes bytes(x), in whatever shape it is cast."""

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cast":
            return self.visit(node.func.value)
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "memoryview":
            node.func.id = "bytes"
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
    tree = parse(path)
    if os.path.basename(path) in VIEWS:
        tree = Copied().visit(tree)
    if module:
        own = {s.name for s in tree.body if isinstance(s, (ast.ClassDef, ast.FunctionDef))}
        tree = Rename(module, own).visit(tree)
    body = []
    folder = os.path.dirname(path)
    for stmt in tree.body:
        found = []
        if isinstance(stmt, ast.ImportFrom) and stmt.module == "test":
            found = [a.name for a in stmt.names if a.name in INLINE]
            stmt.names = [a for a in stmt.names if a.name not in INLINE]
        elif isinstance(stmt, ast.ImportFrom) and stmt.module == "test.test_json":
            body += ast.parse(JSON_TESTS).body
            continue
        elif isinstance(stmt, ast.ImportFrom) and (stmt.module or "").removeprefix("test.") in INLINE:
            found, stmt.names = [stmt.module[5:]], []
        elif isinstance(stmt, ast.If) and "__main__" in ast.dump(stmt.test):
            continue
        for name in found:
            if name not in seen:
                seen.add(name)
                body += load(os.path.join(folder, name + ".py"), seen, name)
        if isinstance(stmt, ast.ImportFrom) and not stmt.names:
            continue
        new = Flatten().visit(stmt)
        body += new if isinstance(new, list) else [new]
    return body


def bases(cls, classes):
    """The names of the classes that cls inherits from, itself first."""
    out, todo = [], [cls.name]
    while todo:
        name = todo.pop(0)
        if name in classes and name not in out:
            out.append(name)
            for b in classes[name].bases:
                if isinstance(b, ast.Name) and b.id in classes:
                    todo.append(b.id)
                elif ast.unparse(b) in ("unittest.TestCase", "TestCase"):
                    todo.append("_Case")
    return out


def prune(cls, known, dropped, gone):
    """Takes the members out of a class that cannot run; gone says why each went."""
    gone.setdefault("self", {"self", "cls", cls.name})
    members, changed = list(cls.body), True
    while changed:
        changed = False
        inner = set(known) | {cls.name}
        here = set()
        for s in members:
            here |= defined(s)
        kept = []
        for s in members:
            reason = why_not(s, inner | (here if not isinstance(s, FUNCTIONS) or s.decorator_list else set()), gone)
            if reason is None and isinstance(s, ast.AsyncFunctionDef) and s.name.startswith("test"):
                reason = "async test"
            if reason is None:
                kept.append(s)
                continue
            changed = True
            for name in defined(s):
                gone[name] = reason
            if isinstance(s, FUNCTIONS) and s.name.startswith("test"):
                dropped[reason] = dropped.get(reason, 0) + 1
        members = kept
    if "setUp" in gone or "setUpClass" in gone:
        for s in members:
            if isinstance(s, FUNCTIONS) and s.name.startswith("test"):
                reason = gone.get("setUp") or gone["setUpClass"]
                dropped[reason] = dropped.get(reason, 0) + 1
        members = [s for s in members if not (isinstance(s, FUNCTIONS) and s.name.startswith("test"))]
    methods = [s.name for s in members if isinstance(s, FUNCTIONS) and s.name.startswith("test")]
    return ast.ClassDef(cls.name, cls.bases, cls.keywords, members or [ast.Pass()], cls.decorator_list), methods


def runnable(body, dropped):
    """The statements that can run: what cannot takes with it what needs it."""
    kept = [s for s in body if not isinstance(s, (ast.Import, ast.ImportFrom)) or
            (s.names[0].name if isinstance(s, ast.Import) else s.module) in ALLOWED]
    changed = True
    while changed:
        changed = False
        names = {"__name__"}
        for s in STANDINS + kept:
            names |= defined(s)
        out = []
        for s in kept:
            head = s
            if isinstance(s, ast.ClassDef):
                head = ast.ClassDef(s.name, s.bases, s.keywords, [ast.Pass()], s.decorator_list)
            reason = why_not(head, names)
            if reason is None:
                out.append(s)
                continue
            changed = True
            if isinstance(s, ast.ClassDef):
                n = sum(isinstance(m, FUNCTIONS) and m.name.startswith("test") for m in s.body)
                if n and not is_twin(s.name, body):
                    dropped[reason] = dropped.get(reason, 0) + n
        kept = out
    return kept, names


def is_twin(name, body):
    """Whether the same tests run on the module in C: we have but one of each."""
    other = name.replace("PurePython", "CPython", 1) if "PurePython" in name else name.replace("Py", "C", 1)
    return other != name and any(isinstance(s, ast.ClassDef) and s.name == other for s in body)


def member_attributes(node):
    return {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def assemble(cls, kept, pruned):
    """The text of what cls needs, in the order of its module."""
    body = STANDINS + kept
    by_name = {}
    for k in body:
        for n in touched(k):
            by_name.setdefault(n, []).append(k)
    need, attrs, size = {cls.name, "_run"}, set(), -1
    while size != len(need) + len(attrs):
        size = len(need) + len(attrs)
        for name in sorted(need):
            for k in by_name.get(name, []):
                for part in parts_of(k, pruned, attrs):
                    got, _ = used(part)
                    if isinstance(part, FUNCTIONS):
                        got = got | {n.id for d in part.args.defaults for n in ast.walk(d) if isinstance(n, ast.Name)}
                    elif not isinstance(part, ast.ClassDef):
                        got = got | {n.id for n in ast.walk(part) if isinstance(n, ast.Name)}
                    need |= {g for g in got if g in by_name}
                    attrs |= member_attributes(part)
                if isinstance(k, ast.ClassDef):
                    for b in k.bases + k.keywords + k.decorator_list:
                        need |= {x.id for x in ast.walk(b) if isinstance(x, ast.Name) and x.id in by_name}
                        attrs |= member_attributes(b)
    text = []
    for k in body:
        if touched(k) & need:
            node = pruned.get(k.name, k) if isinstance(k, ast.ClassDef) else k
            if isinstance(k, ast.ClassDef) and k.name in MODULES:
                node = ast.ClassDef(k.name, k.bases, k.keywords, parts_of(k, pruned, attrs) or [ast.Pass()], [])
            text.append(ast.unparse(ast.fix_missing_locations(node)))
    return "\n".join(text) + "\n"


def parts_of(k, pruned, attrs):
    """What of a statement a script holds: of a module's stand-in only what is asked for."""
    if isinstance(k, ast.ClassDef) and k.name in MODULES:
        inner = set()
        for s in k.body:
            if defined(s) & attrs:
                inner |= used(s)[0]
        return [s for s in k.body if defined(s) & (attrs | inner)]
    if isinstance(k, ast.ClassDef):
        return pruned.get(k.name, k).body
    return [k]


def scripts(name):
    dropped = {}
    path = os.path.join(LIBRARY, "test", name.replace(".", "/"))
    body = load(os.path.join(path, "__init__.py") if os.path.isdir(path) else path + ".py", set())
    ASSERTIONS.update(n.name for s in body for n in ast.walk(s) if isinstance(n, FUNCTIONS) and n.name.startswith("assert"))
    kept, names = runnable(body, dropped)
    classes = {s.name: s for s in STANDINS + kept if isinstance(s, ast.ClassDef)}
    pruned, tests, why, gone = {}, {}, {}, {}

    def cut(s):
        lost = {}
        for b in reversed(bases(s, classes)[1:]):
            if b != "_Case" and b in classes and classes[b] in kept:
                if b not in pruned:
                    cut(classes[b])
                own = {n for m in pruned[b].body for n in defined(m)}
                lost = {n: r for n, r in lost.items() if n not in own}
                lost.update((n, r) for n, r in gone[b].items() if n not in own)
        own = {n for m in s.body for n in defined(m)}
        lost = {n: r for n, r in lost.items() if n not in own and n != "self"}
        why[s.name], gone[s.name] = {}, lost
        pruned[s.name], tests[s.name] = prune(s, names, why[s.name], lost)

    for s in kept:
        if isinstance(s, ast.ClassDef) and s.name not in pruned:
            cut(s)
    for s in kept:
        if not isinstance(s, ast.ClassDef):
            continue
        line = bases(s, classes)
        if "_Case" not in line or any(s.name.startswith(m + "_") for m in INLINE) or is_twin(s.name, body):
            continue
        inherited = {m for b in line for m in tests.get(b, ())}
        for b in line[1:]:
            if b in pruned:  # a method of a base that needs what this class lost
                for m in pruned[b].body:
                    if isinstance(m, FUNCTIONS) and m.name in inherited and (reason := why_not(m, names | {b}, gone[s.name])):
                        inherited.discard(m.name)
                        why[s.name][reason] = why[s.name].get(reason, 0) + 1
        inherited -= {m for m in gone[s.name] if m.startswith("test")}
        if "setUp" in gone[s.name] and "setUp" not in {n for m in pruned[s.name].body for n in defined(m)}:
            why[s.name][gone[s.name]["setUp"]] = why[s.name].get(gone[s.name]["setUp"], 0) + len(inherited)
            inherited = set()
        if inherited:
            yield {"module": name, "class": s.name, "methods": sorted(inherited), "dropped": why[s.name],
                   "head": assemble(s, kept, pruned)}
        else:
            for reason, n in why[s.name].items():
                dropped[reason] = dropped.get(reason, 0) + n
    if dropped:
        yield {"module": name, "class": "", "methods": [], "dropped": dropped, "head": ""}


MODULES = {}
STANDINS = standins()
for s in STANDINS:
    if isinstance(s, ast.ClassDef) and s.name.islower() and not s.name.startswith("_"):
        MODULES[s.name] = {n for m in s.body for n in defined(m)}
ASSERTIONS = {m.name for s in STANDINS if getattr(s, "name", "") == "_Case" for m in s.body if isinstance(m, FUNCTIONS)}
ASSERTIONS |= {n for s in STANDINS if getattr(s, "name", "") == "_Case" for m in s.body for n in defined(m)}
for line in sys.stdin:
    for script in scripts(line.strip()):
        print(json.dumps(script), flush=True)
