package pvm_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// TestLongNumbersArePaid: operations of numbers cost in proportion to the digits that they
// work on, between operands and result too.
func TestLongNumbersArePaid(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	costs := code.DefaultCosts()
	limb, hard := costs.Dynamic.LimbWork, costs.Work.FloatDigits*costs.Dynamic.LimbWork
	for _, tt := range []struct {
		setup, body string
		least       code.Cycles
	}{
		// The product is rounded to 28 digits: a quotient of 15,700 words.
		{"from decimal import Decimal\nx = Decimal(9 << 990000)\n", "x * 2", 15_000 * 15_000 / 4 * limb},
		{"from decimal import Decimal\nx = Decimal('1' * 28)\n", "x.logical_and(x)", 2 * 36 * limb},
		{"from decimal import Decimal\nx = Decimal('1' * 28)\n", "[x.logical_invert() for i in range(100)]", 100 * 90 * limb},
		// Numbers that no multiplication with a power of ten tells apart from their neighbours.
		{"s = '5e-324'\n", "[float(s) for i in range(100)]", 100 * (hard + 38)},
		{"s = b'2e-308'\n", "[float(s) for i in range(100)]", 100 * (hard + 38)},
		{"s = '12345678901234567891e-340'\n", "[float(s) for i in range(100)]", 100 * (hard + 55)},
		{"import json\ns = '[' + ','.join(['5e-324'] * 100) + ']'\n", "json.loads(s)", 100 * hard},
		// A sum of squares of 2,098 bits each, and its root.
		{"import math\n", "math.hypot(1e308, 5e-324)", 4 * 32 * 32 * limb},
		{"import math\nT = (1e308,) + (5e-324,) * 1000\n", "math.hypot(*T)", 1000 * 32 * limb},
		{"import math\np, q = (1e308, 5e-324), (0.0, 0.0)\n", "math.dist(p, q)", 4 * 32 * 32 * limb},
		// Both are compared and copied, however few factors there are.
		{"import math\nn = 1 << 640000\n", "math.comb(n, 0)", 40_000 * limb},
		{"import math\nn = 1 << 640000\n", "math.comb(n, n + 1)", 80_000 * limb},
		{"import math\nn = 1 << 640000\n", "math.perm(n, 0)", 40_000 * limb},
		// Getters that make a text, and one that makes a dict of them.
		{"C = type('\u00e9' * 511, (), {})\n", "[C.__name__ for i in range(100)]", 100 * (costs.Dynamic.NativeCall + 31*costs.Dynamic.Char)},
		{"import re\np = re.compile('(?P<a>x)')\n", "[p.groupindex for i in range(100)]", 200 * costs.Dynamic.NativeCall},
		{"from decimal import Decimal\nx = Decimal(5)\n", "[x.imag for i in range(100)]", 100 * (costs.Dynamic.NativeCall + 5)},
		{"from decimal import getcontext\nc = getcontext()\n", "[(c.flags, c.traps) for i in range(100)]", 200 * (costs.Dynamic.NativeCall + 5)},
		{"import math\nx = 10 ** 40\n", "[math.isqrt(x) for i in range(100)]", 100 * 50 * limb},
	} {
		src := tt.setup + "def once():\n    " + tt.body + "\n"
		if used := costOnce(t, rt, src, tt.body); used < tt.least {
			t.Errorf("%s costs %d, want at least %d", tt.body, used, tt.least)
		}
	}
	ordinary := costOnce(t, rt, "import math\ndef once(): math.hypot(3.0, 4.0)\n", "hypot")
	if most := costs.Dynamic.FloatFunc + 2*costs.Work.SumTerm + 50; ordinary > most {
		t.Errorf("the root of near squares costs %d, want at most %d", ordinary, most)
	}
	// The logarithm of a power of ten is exact, and nothing as long as the number is raised
	// to find that out.
	out := costOnce(t, rt, "import math\ndef once():\n    for k in (1, 22, 28, 100, 308, 309, 5000):\n        assert math.log10(10 ** k) == k and math.log10(10 ** k + 1) >= k\n", "log10")
	if out == 0 {
		t.Error("nothing was run")
	}
}
