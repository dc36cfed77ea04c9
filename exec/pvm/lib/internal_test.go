package lib_test

import "testing"

// TestInternalsStayInside tries the ways to the library's internal natives; what
// leads to one that compiles text gains code without the library's rights.
func TestInternalsStayInside(t *testing.T) {
	rt := libraryRuntime(t)
	const prelude = "import collections, dataclasses, functools, typing\n" +
		"class X: pass\nx = X()\n" +
		"def leak():\n functools.update_wrapper(x, dataclasses, assigned=('_define',), updated=())\n return x._define\n" +
		"def way():\n %\ntry:\n way()\n print('reached')\nexcept BaseException as e:\n print(type(e).__name__)\n"
	for _, c := range []struct{ body, want string }{
		{"import _pvm", "DeterminismError\n"},
		{"from _pvm import define", "DeterminismError\n"},
		{"collections._define", "AttributeError\n"},
		{"getattr(dataclasses, '_define')", "AttributeError\n"},
		{"dataclasses.__dict__['_define']", "KeyError\n"},
		{"leak()('y = 1', {}, 'm')", "DeterminismError\n"},
		{"functools.singledispatch(leak())('import _pvm', {}, 'm')", "DeterminismError\n"},
	} {
		src := ""
		for _, r := range prelude {
			if r == '%' {
				src += c.body
				continue
			}
			src += string(r)
		}
		if got := runScript(t, rt, src); got != c.want {
			t.Errorf("%s: printed %q, want %q", c.body, got, c.want)
		}
	}
}
