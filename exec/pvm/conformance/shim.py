"""Runs scripts of others as the machine means them: JSON lines with "source" and
"seconds" on standard input, for each a JSON line with "imports", all modules that it
imports, and "output", what it printed. "output" is null where it is no Python 3.11 or
imports what is not in "allowed".

Sets keep the order of insertion and pop the last, json has its canonical form;
nothing else is changed.
"""
import ast
import functools
import json
import sys
import types

plain, frozen = set, frozenset


def ordered(base):
    """Returns a subclass of set or frozenset with a dict beside it for the order."""
    class Kind(type):
        def __instancecheck__(cls, x):
            return isinstance(x, base) if cls is made else type.__instancecheck__(cls, x)

    class made(base, metaclass=Kind):
        __slots__ = ("order", "__dict__")
        if base is frozen:
            def __new__(cls, items=()):
                if cls is made and type(items) is made:
                    return items
                items = list(items)
                self = base.__new__(cls, items)
                self.order = dict.fromkeys(items)
                return self
        else:
            def __init__(self, items=()):
                order = dict.fromkeys(items)
                base.__init__(self, order)
                self.order = order
        def __iter__(self):
            return iter(self.order)
        def __len__(self):
            return len(self.order)
        def __repr__(self):
            name = type(self).__name__
            if not self.order:
                return name + "()"
            inner = ", ".join(map(repr, self.order))
            return "{" + inner + "}" if type(self) is made and base is plain else name + "({" + inner + "})"
        __str__ = __repr__
        def copy(self):
            return made(self.order)
        def union(self, *others):
            order = dict(self.order)
            for o in others:
                for x in o:
                    order.setdefault(x)
            return made(order)
        def intersection(self, *others):
            keep = base.intersection(self, *others)
            return made([x for x in self.order if x in keep])
        def difference(self, *others):
            keep = base.difference(self, *others)
            return made([x for x in self.order if x in keep])
        def symmetric_difference(self, other):
            other = dict.fromkeys(other)
            return made([x for x in self.order if x not in other] + [x for x in other if x not in self.order])

    def operator(method, reflected):
        def both(self, other):
            if not isinstance(other, (plain, frozen, type({}.keys()), type({}.items()))):
                return NotImplemented
            return method(made(other), self) if reflected else method(self, other)
        return both
    for name, method in (("or", made.union), ("and", made.intersection), ("sub", made.difference), ("xor", made.symmetric_difference)):
        setattr(made, f"__{name}__", operator(method, False))
        setattr(made, f"__r{name}__", operator(method, True))
    made.__name__ = made.__qualname__ = base.__name__
    made.__module__ = "builtins"
    return made


def change(made):
    """Adds what only set has: each change in both."""
    def add(self, x):
        plain.add(self, x)
        self.order.setdefault(x)
    def discard(self, x):
        x = frozen(x) if isinstance(x, plain) else x
        plain.discard(self, x)
        self.order.pop(x, None)
    def remove(self, x):
        plain.remove(self, x)
        del self.order[frozen(x) if isinstance(x, plain) else x]
    def pop(self):
        if not self.order:
            raise KeyError("pop from an empty set")
        x = self.order.popitem()[0]
        plain.discard(self, x)
        return x
    def clear(self):
        plain.clear(self)
        self.order.clear()
    def update(self, *others):
        for o in others:
            for x in list(o):
                self.add(x)
    def become(self, other):
        items = list(other)
        self.clear()
        self.update(items)
    made.add, made.discard, made.remove, made.pop, made.clear, made.update = add, discard, remove, pop, clear, update
    for name in ("intersection", "difference", "symmetric_difference"):
        whole = getattr(made, name)
        setattr(made, name + "_update", lambda self, *others, whole=whole: become(self, whole(self, *others)))
    for name, method in (("or", "union"), ("and", "intersection"), ("sub", "difference"), ("xor", "symmetric_difference")):
        def inplace(self, other, method=method):
            if not isinstance(other, (plain, frozen, type({}.keys()), type({}.items()))):
                return NotImplemented
            become(self, getattr(self, method)(other))
            return self
        setattr(made, f"__i{name}__", inplace)
    made.__hash__ = None


class Displays(ast.NodeTransformer):
    """Makes set displays and comprehensions calls."""
    def call(self, node, elements):
        return ast.copy_location(ast.Call(ast.Name("__ordered_set__", ast.Load()), [elements], []), node)
    def visit_Set(self, node):
        self.generic_visit(node)
        return self.call(node, ast.List(node.elts, ast.Load()))
    def visit_SetComp(self, node):
        self.generic_visit(node)
        return self.call(node, ast.ListComp(node.elt, node.generators))


def canonical():
    dumps, init = json.dumps, json.JSONEncoder.__init__
    form = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}
    json.dumps = functools.wraps(dumps)(lambda obj, **kw: dumps(obj, **{**form, **kw}))
    json.JSONEncoder.__init__ = lambda self, **kw: init(self, **{**kw, **form})


def imports(tree):
    names = plain()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or ""))
    return sorted(names)


def execute(tree):
    made, fixed = ordered(plain), ordered(frozen)
    change(made)
    canonical()
    module = types.ModuleType("__main__")
    builtins = dict(vars(__builtins__), set=made, frozenset=fixed, __ordered_set__=made)
    module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = module
    exec(compile(ast.fix_missing_locations(Displays().visit(tree)), "script.py", "exec"), module.__dict__)


def main():
    for line in sys.stdin:
        script = json.loads(line)
        answer = {"imports": None, "output": None}
        try:
            tree = ast.parse(script["source"])
        except (SyntaxError, ValueError):
            pass
        else:
            answer["imports"] = imports(tree)
            if all(m in script["allowed"] for m in answer["imports"]):
                answer["output"] = apart(script["seconds"], functools.partial(execute, tree))
        print(json.dumps(answer), flush=True)


main()
