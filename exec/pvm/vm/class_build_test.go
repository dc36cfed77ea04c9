package vm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
)

// TestSpecialsOfNamespaces: whatever names came and went, a namespace knows those
// of its names that are special methods, and no others, however many begin alike.
func TestSpecialsOfNamespaces(t *testing.T) {
	var n namespace
	rng := rand.New(rand.NewPCG(1, 2))
	names := append([]string{"__a", "__b__", "x", "_"}, specialNames[:]...)
	for step := range 5_000 {
		name := names[rng.IntN(len(names))]
		if rng.IntN(2) == 0 {
			n.put(name, None)
		} else {
			n.del(name)
		}
		n.shared = rng.IntN(50) == 0
		var want []specialAt // by going through all names
		for i, key := range n.keys {
			if sp, ok := specialIndex(key); ok {
				want = append(want, specialAt{sp, i})
			}
		}
		if !slices.Equal(n.specials, want) {
			t.Fatalf("step %d, %s: %v, want %v", step, name, n.specials, want)
		}
	}
	for i := range 5_000 {
		n.put(fmt.Sprintf("__name%d", i), None)
	}
	if len(n.specials) > numSpecials {
		t.Errorf("%d special methods are looked at of %d", len(n.specials), numSpecials)
	}
}

// TestClassAttributePaysForWhatIsFoundAnew: after a write to a class all special
// methods along its order are looked at again, and the write pays for each.
func TestClassAttributePaysForWhatIsFoundAnew(t *testing.T) {
	rt, err := NewRuntime(DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	cost := func(setup string) int64 {
		run := func(body string) int64 {
			o, err := compile.Source([]byte("class A: pass\nR = A\n"+setup+body), "<string>", compile.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			res, err := rt.NewMachine().Execute(o, 10_000_000)
			if err != nil || res.Raised != nil {
				t.Fatal(err, res.Traceback)
			}
			return res.Cycles
		}
		return run("A.x = 1\n") - run("")
	}
	plain := cost("")
	for _, c := range []struct {
		name, setup string
		more        int64 // classes and methods, two elements each
	}{
		{"names that only look special", "for i in range(500): setattr(R, '__a%d' % i, i)\n", 0},
		{"ten classes more", "for i in range(10): A = type('A', (A,), {})\n", 10},
		{"five special methods", "for n in ('len', 'add', 'sub', 'mul', 'neg'): setattr(R, '__%s__' % n, n)\n", 5},
		{"both", "for i in range(10): A = type('A', (A,), {'__len__': i, '__add__': i})\n", 10 + 20},
	} {
		if got, want := cost(c.setup)-plain, 2*c.more*rt.costs.Dynamic.Element; got != want {
			t.Errorf("%s: a write costs %d cycles more, want %d", c.name, got, want)
		}
	}
}
