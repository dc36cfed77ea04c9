package vm

import (
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
)

// TestLayoutsTellWhatMatchesItself: the layout of a class says what its order of resolution
// says, for all builtin classes and those that a program puts below them.
func TestLayoutsTellWhatMatchesItself(t *testing.T) {
	rt, err := NewRuntime(DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	src := "below = []\nfor b in bases:\n  try:\n    class A(b): pass\n    class B(A): pass\n    class C: __slots__ = ()\n" +
		"    class D(C, A): pass\n    class E: pass\n    class F(B, E): pass\n    class G(E, B): pass\n    below += [A, B, D, F, G]\n  except TypeError: pass\n"
	src += "class S: __slots__ = ('a', 'b')\nclass T(S): pass\nbelow += [S, T]\n"
	prog, err := compile.Source([]byte(src), "below.py", compile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	m, k := rt.NewMachine(), &rt.classes
	all := slices.Clone(rt.all)
	res, err := m.Do(1<<30, func(m *Machine) (Value, error) {
		var bases []Value
		for _, c := range rt.all {
			bases = append(bases, c.value())
		}
		mod := m.newModule("below")
		mod.dict.putStr(m, m.intern("bases"), m.NewList(bases))
		if _, err := m.Call(m.newFunction(m.newUnit(prog), mod.dict).value()); err != nil {
			return unbound, err
		}
		v, _ := mod.dict.getStr(m, m.intern("below"))
		items, _ := v.Items()
		for _, item := range items {
			c, _ := item.Class()
			all = append(all, c)
		}
		return None, nil
	})
	if err != nil || res.Raised != nil {
		t.Fatal(err, res.Traceback)
	}
	if len(all) < 200 {
		t.Fatalf("%d classes", len(all))
	}
	selves := []*Class{k.bool_, k.bytearray, k.bytes, k.dict, k.float, k.frozenset, k.int_, k.list, k.set, k.str, k.tuple}
	for _, c := range all {
		if want := slices.ContainsFunc(selves, c.subclassOf); matchesSelf(c) != want {
			t.Errorf("%s below %s: %v", c.name, c.bases[0].name, !want)
		}
	}
}
