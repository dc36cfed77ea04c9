package lib_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestRefusedPatternsPay: a pattern that is refused after its classes were made costs what
// they do in one that is taken. It took up to 1,650 ns and 850 bytes a cycle.
func TestRefusedPatternsPay(t *testing.T) {
	rt := runtimeOf(t)
	cycles := func(src string) int64 {
		res, err := execute(t, rt, src, 1<<30)
		if err != nil || res.Traceback != "" {
			t.Fatalf("%s: %v %s", src, err, res.Traceback)
		}
		return res.Cycles
	}
	const classes = `'[a-\u1fff]' * 50`
	made := cycles("import re\nre.compile(" + classes + ", re.I)\n")
	for _, refused := range []string{classes + " + '(?<=a*)'", classes + " + '(?<=a|bc)'", `'[a-\u1fff]' * 3000`} {
		src := fmt.Sprintf("import re\ntry: re.compile(%s, re.I)\nexcept (re.error, MemoryError): pass\nelse: raise SystemError\n", refused)
		if got := cycles(src); got < made {
			t.Errorf("%s: %d cycles, the classes alone cost %d", refused, got, made)
		}
	}
}

// TestErrorsEndIterators: an iterator that reads ahead without a charge of its own does not
// read on behind what it refused. It took 4,700 ns a cycle.
func TestErrorsEndIterators(t *testing.T) {
	res, err := execute(t, runtimeOf(t), `
import string
for text in ['{[' * 100, '{a:' + '{' * 100, '}a{0}', 'a{', '{0!x', '{0!rx{0}']:
    it, n = string.Formatter().parse(text), 0
    while True:
        try: next(it)
        except ValueError: n += 1
        except StopIteration: break
    print(n, end=' ')
`, 1<<30)
	if err != nil || string(res.Output) != "1 1 1 1 1 1 " {
		t.Errorf("%v %s %s", err, res.Output, res.Traceback)
	}
}

// TestProductsOfLengthsArePaid: what takes time as the product of three lengths stops a run
// that cannot pay for it, also where the product is beyond 64 bits. Each of these was a
// multiple of 2^64, so it cost nothing and took seconds to years.
func TestProductsOfLengthsArePaid(t *testing.T) {
	rt := runtimeOf(t)
	for _, src := range []string{
		"import decimal\nx = decimal.Decimal(1 << 33091130)\npow(x, x, 10**17 + 3)\n",
		"import decimal\ndecimal.getcontext().ln(1 << 66182360)\n",
		"import decimal\ndecimal.Decimal(1 << 66182360).log10()\n",
		"pow(*map((3).__lshift__, (0, 67108861, 16777149)))\n",
		"pow(3, 3 << 67108861, 3 << 16777149)\n",
	} {
		_, err := execute(t, rt, src, 20_000_000)
		var abort *vm.Abort
		if !errors.As(err, &abort) || abort.Code != vm.OutOfCycles && abort.Code != vm.OutOfMemory {
			t.Errorf("%s: %v", src, err)
		}
	}
}
