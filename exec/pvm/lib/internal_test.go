package lib_test

import (
	"strings"
	"testing"
)

// TestInternalsStayInside tries the ways to the library's internal names: reading
// them, having the library read them with its rights, and having a text of the
// program get into what the library compiles.
func TestInternalsStayInside(t *testing.T) {
	rt := runtimeOf(t)
	const prelude = "import abc, collections, dataclasses, enum, functools, typing, collections.abc\n" +
		"class X: pass\nx = X()\n" +
		"class Text(str):\n" +
		" def __format__(self, spec): return 'a=print(\"compiled\")'\n" +
		" def __str__(self): return self\n" +
		" def __eq__(self, other): return True\n" +
		" __hash__ = str.__hash__\n" +
		" def startswith(self, *a): return False\n" +
		" def isidentifier(self): return True\n" +
		"def hinted(obj, text):\n obj.__annotations__ = {'a': text}\n return typing.get_type_hints(obj)['a']\n" +
		"def annotated(name, **kw):\n return dataclasses.dataclass(type('C', (), {'__annotations__': {name: int}}), **kw)\n" +
		"@dataclasses.dataclass\nclass D:\n a: int\n" +
		"def way():\n %\ntry:\n way()\n print('reached')\nexcept BaseException as e:\n print(type(e).__name__)\n"
	for _, c := range []struct{ body, want string }{
		// Reading.
		{"import _pvm", "DeterminismError"},
		{"from _pvm import field_method", "DeterminismError"},
		{"from dataclasses import _field_method", "ImportError"},
		{"dataclasses.__all__.append('_field_method'); import dataclasses as d; getattr(d, d.__all__[-1])", "AttributeError"},
		{"collections._named_new", "AttributeError"},
		{"getattr(dataclasses, '_field_method')", "AttributeError"},
		{"dataclasses.__dict__['_field_method']", "KeyError"},
		{"vars(dataclasses)['_field_method']", "KeyError"},
		{"object.__getattribute__(dataclasses, '_field_method')", "AttributeError"},
		{"type(dataclasses).__getattribute__(dataclasses, '_field_method')", "AttributeError"},
		{"collections.__getattr__('_pvm')", "AttributeError"},
		{"dataclasses.field.__globals__", "DeterminismError"},
		{"functools.partial(getattr, dataclasses)('_field_method')", "AttributeError"},
		{"functools.reduce(getattr, [dataclasses, '_field_method'])", "AttributeError"},
		{"'{0._field_method}'.format(dataclasses)", "AttributeError"},
		// Having the library read.
		{"functools.update_wrapper(x, dataclasses, assigned=('_field_method',), updated=()); x._field_method", "AttributeError"},
		{"functools.update_wrapper(x, dataclasses); x.__dict__['_field_method']", "KeyError"},
		{"functools.wraps(dataclasses, ('_field_method',))(x)._field_method", "AttributeError"},
		{"functools.singledispatch(getattr)(dataclasses, '_field_method')", "AttributeError"},
		{"functools.singledispatch(vars)(dataclasses)['_field_method']", "KeyError"},
		{"functools.singledispatch(object.__getattribute__)(dataclasses, '_field_method')", "AttributeError"},
		{"functools.singledispatch(type(dataclasses).__getattribute__)(dataclasses, '_field_method')", "AttributeError"},
		{"functools.singledispatch('{0._field_method}'.format)(dataclasses)", "AttributeError"},
		{"functools.cached_property(getattr).func(dataclasses, '_field_method')", "AttributeError"},
		{"functools.partialmethod(getattr, '_field_method').__get__(dataclasses)()", "AttributeError"},
		{"hinted(dataclasses.field, '_field_method')", "NameError"},
		{"hinted(D.__init__, '_same')", "NameError"},
		{"hinted(type('C', (), {'__module__': 'dataclasses'}), '_field_method')", "NameError"},
		{"typing.ForwardRef('_field_method', module='dataclasses')._evaluate({}, {}, frozenset())", "NameError"},
		{"typing.ForwardRef('_module_names', module='typing')._evaluate({}, {}, frozenset())", "NameError"},
		{"hinted(X, 'dataclasses._field_method')", "AttributeError"},
		// Names that are more than names.
		{"annotated('a=print(1)')", "SyntaxError"},
		{"annotated('a, b')", "SyntaxError"},
		{"annotated('a\\n pass\\nprint(1)\\nif 1', init=False)", "SyntaxError"},
		{"annotated('a, other.b) or (1', init=False)", "SyntaxError"},
		{"annotated('a!r}{print(1)', init=False, eq=False)", "SyntaxError"},
		{"annotated('lambda', init=False, eq=False)", "SyntaxError"},
		{"C = annotated(Text('a')); print(C(1) == C(1), C(a=2).a)", "True 2\nreached"},
		{"annotated(Text('a b'))", "SyntaxError"},
		{"dataclasses.make_dataclass('C', [Text('a b')])", "SyntaxError"},
		{"collections.namedtuple('C', [Text('a=print(1)')])", "TypeError"},
		{"collections.namedtuple(Text('C b'), ['a'])", "TypeError"},
		{"f = dataclasses.field(); f.name = 'a b'; annotated('a')", "reached"},
	} {
		src := strings.Replace(prelude, "%", c.body, 1)
		if got := runScript(t, rt, src); got != c.want+"\n" {
			t.Errorf("%s: printed %q, want %q", c.body, got, c.want+"\n")
		}
	}
}
