"""The names and parameters of docs/sdk.md, of the package and of its types are the same."""

import ast
import inspect
import pathlib
import re
import unittest

import cowboy_sdk

HERE = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| `([A-Za-z_0-9.]+)(\(.*?\))?` \|")


def documented():
    """Name to parameters, "" for what is no function; the page writes ... for a default that it does not show."""
    text = (HERE / ".." / ".." / "docs" / "sdk.md").read_text(encoding="utf-8")
    return {m[1]: m[2] or "" for m in map(ROW.match, text.splitlines()) if m}


def spelled(parameters):
    """Parameters as the page writes them: (name, default?) and stars."""
    return [(p.strip("* "), p.count("*"), "=" in p) for p in re.split(r",\s*(?![^()]*\))", parameters.strip("()")) if p.strip("* ")]


def bare(parameters):
    return [(name.split("=")[0], stars, default) for name, stars, default in spelled(parameters)]


def of_function(function, bound):
    out = []
    for i, p in enumerate(inspect.signature(function).parameters.values()):
        if bound and i == 0 and p.name in ("self", "cls"):
            continue
        stars = {p.VAR_POSITIONAL: 1, p.VAR_KEYWORD: 2}.get(p.kind, 0)
        out.append((p.name, stars, p.default is not p.empty))
    return out


def find(name):
    found = cowboy_sdk
    for part in name.split("."):
        found = getattr(found, part)
    return found


class Names(unittest.TestCase):
    def test_page_and_package(self):
        page = documented()
        self.assertGreater(len(page), 200)
        for name, parameters in page.items():
            with self.subTest(name):
                found = find(name)
                if parameters:
                    function = found.__init__ if inspect.isclass(found) else found
                    if inspect.isclass(found) and "__new__" in vars(found):
                        function = found.__new__
                    bound = inspect.isclass(found) or "." in name and inspect.isclass(find(name.split(".")[0]))
                    self.assertEqual(of_function(function, bound), bare(parameters))
        missing = {n for n in cowboy_sdk.__all__ if not inspect.ismodule(getattr(cowboy_sdk, n))} - set(page)
        self.assertEqual(missing, set())

    def test_types(self):
        tree = ast.parse((HERE / "cowboy_sdk" / "__init__.pyi").read_text(encoding="utf-8"))
        typed = {}
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                typed[node.name] = node
            elif isinstance(node, ast.AnnAssign):
                typed[node.target.id] = node
            elif isinstance(node, ast.Assign):
                typed[node.targets[0].id] = node
        for name in cowboy_sdk.__all__:
            with self.subTest(name):
                self.assertIn(name, typed)
                node, found = typed[name], getattr(cowboy_sdk, name)
                if isinstance(node, ast.FunctionDef):
                    self.assertIsNotNone(node.returns)
                    a = node.args
                    names = [p.arg for p in a.posonlyargs + a.args + a.kwonlyargs]
                    names += [p.arg for p in (a.vararg, a.kwarg) if p]
                    self.assertEqual(sorted(names), sorted(inspect.signature(found).parameters))
                    self.assertTrue(all(p.annotation for p in a.args + a.kwonlyargs))
                elif isinstance(node, ast.ClassDef):
                    methods = {m.name for m in node.body if isinstance(m, ast.FunctionDef)}
                    self.assertEqual({m for m, f in vars(found).items() if inspect.isfunction(f) and not m.startswith("_")} - methods, set())


if __name__ == "__main__":
    unittest.main()
