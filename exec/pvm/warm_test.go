package pvm_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// paidLine is everything that a program pays and shows, its compilation included, however
// the engine came by its code and its machine.
func paidLine(e *pvm.Engine, p program) string {
	code, spent, err := e.ProgramWithin([]byte(p.source), "golden", 0)
	if err != nil {
		return fmt.Sprintf("%s refused after %d: %v", p.name, spent, err)
	}
	res, err := e.Run(code, goldenCycles, nil)
	var abort *vm.Abort
	if errors.As(err, &abort) {
		err = fmt.Errorf("aborted %d", abort.Code)
	}
	return fmt.Sprintf("%s %d %d %d %s %v", p.name, spent, res.Cycles, res.HeapPeak, digest(string(res.Output)+"\x00"+res.Traceback), err)
}

// TestWarmthIsFree: what a program pays and shows does not depend on what a cache, a
// machine or the runtime holds of it or of others: fresh and used machines, kept and
// evicted programs, alone and beside others are the same. That texts are put in normal
// form once for each object, that look-ups are remembered at their places, and that code
// is taken apart once for each machine shows in time alone.
func TestWarmthIsFree(t *testing.T) {
	corpus := goldenCorpus(t)
	if !*long {
		corpus = everyNth(corpus, 3)
	}
	if testing.Short() {
		corpus = everyNth(corpus, 3)
	}
	corpus = append(corpus, remembered()...)
	rt := newRuntime(t, [2]uint64{1, 2})
	lim := pvm.DefaultLimits()
	var fresh []string
	for _, p := range corpus {
		fresh = append(fresh, paidLine(pvm.NewEngine(rt, pvm.NewLRU(0), lim), p))
	}
	inOrder := func(e *pvm.Engine, backwards bool) []string {
		out := make([]string, len(corpus))
		for i := range corpus {
			if backwards {
				i = len(corpus) - 1 - i
			}
			out[i] = paidLine(e, corpus[i])
		}
		return out
	}
	t.Run("kept programs on a used machine", func(t *testing.T) {
		e := pvm.NewEngine(rt, pvm.NewLRU(1<<30), lim)
		sameLines(t, inOrder(e, false), fresh)
		sameLines(t, inOrder(e, true), fresh)
	})
	t.Run("the same program again and again", func(t *testing.T) {
		e := pvm.NewEngine(rt, pvm.NewLRU(1<<30), lim)
		for i, p := range everyNth(corpus, 4) {
			for range 3 {
				sameLines(t, []string{paidLine(e, p)}, fresh[4*i:4*i+1])
			}
		}
	})
	t.Run("programs that leave the cache", func(t *testing.T) {
		e := pvm.NewEngine(rt, pvm.NewLRU(1<<16), lim)
		some := everyNth(corpus, 3)
		for range 2 {
			for i := len(some) - 1; i >= 0; i-- {
				e.Turn()
				sameLines(t, []string{paidLine(e, some[i])}, fresh[3*i:3*i+1])
			}
		}
	})
	t.Run("at once", func(t *testing.T) {
		got := make([][]string, 2)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i] = inOrder(pvm.NewEngine(rt, pvm.NewLRU(1<<20), lim), i == 1) })
		}
		wg.Wait()
		for _, lines := range got {
			sameLines(t, lines, fresh)
		}
	})
	t.Run("runtimes of their own", func(t *testing.T) {
		for i := 0; i < len(corpus); i += 1 + len(corpus)/8 {
			e := pvm.NewEngine(newRuntime(t, [2]uint64{uint64(i), 7}), pvm.NewLRU(0), lim)
			sameLines(t, []string{paidLine(e, corpus[i])}, fresh[i:i+1])
		}
	})
	if n := len(slices.Compact(slices.Sorted(slices.Values(fresh)))); n < len(corpus)*9/10 {
		t.Errorf("only %d of %d programs differ: the lines say too little", n, len(corpus))
	}
}

// remembered are programs whose texts and look-ups are remembered once they were used:
// decomposed texts, long keys, attributes by names that are made, and errors with shapes.
func remembered() []program {
	long := strings.Repeat("x", 3000)
	text := strings.Repeat("e\u0301\u0327", 500)
	return []program{
		{"decomposed texts", "s = '" + text + "'\nd = {s: 1}\nprint(s in d, s == '\u00e9', '" + text + "' == s, d['" + text + "'])\n"},
		{"attributes by long names", "class A: pass\na = A()\nsetattr(a, '" + long + "', 1)\nfor i in range(30): getattr(a, '" + long + "'); hasattr(A, '" + text + "')\n"},
		{"texts of the library", "import cowboy_sdk, re, json\nfor v in (str.__doc__, re.__name__, json.__doc__, cowboy_sdk.__doc__): print(v == '" + text + "', hash(v) == 1, v in {'" + long + "': 1})\n"},
		{"errors with attributes", "class A: __slots__ = ('x',)\nfor i in range(3):\n    try: A().x\n    except AttributeError as e: print(e.name, e.obj is None)\n"},
		{"patterns made again", "import re\nfor i in range(40): print(re.sub('(a|b)+" + long[:200] + "', '\\\\1', 'ab' * 20), re.match('(?i)" + text[:60] + "', 'x'))\n"},
		{"classes changed", "import json, decimal\njson.JSONEncoder.x = 1\ndecimal.getcontext().prec = 7\nclass E(json.JSONEncoder): pass\nprint(E().x, decimal.Decimal(1) / 3, json.dumps({'a': [1.5, None]}, cls=E))\n"},
	}
}

func newRuntime(t *testing.T, key [2]uint64) *vm.Runtime {
	t.Helper()
	rt, err := pvm.NewRuntime(key)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// everyNth is one of n of a list, from its first on.
func everyNth[T any](all []T, n int) []T {
	var out []T
	for i := 0; i < len(all); i += n {
		out = append(out, all[i])
	}
	return out
}
