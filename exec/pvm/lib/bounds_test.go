package lib_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestBounds runs what asks for far more than it says: each ends by the
// machine's limits, not by the node's.
func TestBounds(t *testing.T) {
	rt := runtimeOf(t)
	for _, src := range []string{
		"import re\nre.match('(a*)*b', 'a' * 40)",
		"import re\nre.sub('', 'x' * 100000, 'y' * 100000)",
		"import re\nre.findall('', 'y' * 10000000)",
		"import math\nmath.factorial(10 ** 7)",
		"import math\nmath.comb(10 ** 9, 5 * 10 ** 8)",
		"import math\nmath.perm(10 ** 18, 10 ** 17)",
		"import math\nmath.fsum(itertools.repeat(1.5)) if 0 else math.prod(range(1, 10 ** 7))",
		"import itertools\nlist(itertools.product([1], repeat=10 ** 10))",
		"import itertools\nlist(itertools.combinations_with_replacement([1], 10 ** 9))",
		"import itertools\nlist(itertools.count())",
		"import itertools\nsum(itertools.repeat(1))",
		"import itertools\nfor x in itertools.filterfalse(lambda x: True, itertools.count()): pass",
		"import itertools\nlist(itertools.islice(itertools.count(), 10 ** 15, None))",
		"import itertools\na, b = itertools.tee(itertools.count())\nfor x in a: pass",
		"import itertools\nlist(itertools.permutations(range(100)))",
		"import itertools\nlist(itertools.cycle('ab'))",
		"import struct\nstruct.pack('1000000000x')",
		"import struct\nstruct.calcsize('b' * 10 ** 8)",
		"import struct\nstruct.pack('%ds' % 10 ** 12, b'')",
		"from decimal import Decimal as D\nint(D('1e999999'))",
		"from decimal import Decimal as D\nD('1e400000000').as_integer_ratio()",
		"from decimal import Decimal as D\nint(D('1e999999999999999999'))",
		"from decimal import Decimal as D\nround(D('-7e999999999999999998'))",
		"from decimal import Decimal as D\nD('3e-1999999999999999997').as_integer_ratio()",
		"from decimal import Decimal as D\nformat(D('1e999999999999999999'), 'f')",
		"from decimal import Decimal as D\nformat(D('1e-1999999999999999997'), '%')",
		"from decimal import Decimal as D\nformat(D(1), '1000000000')",
		"from decimal import Decimal as D\nD('9' * 10 ** 7) * D('9' * 10 ** 7)",
		"import hashlib\nh = hashlib.sha256()\nwhile True: h.update(b'x' * 100000)",
		"import json\njson.loads('[' * 10 ** 7)\nwhile True: pass",
		"import json\nx = 'a' * 1000000\njson.dumps([x] * 1000000)",
		"import json\njson.loads('[' + '1,' * 10 ** 7 + '1]')",
		"import base64\nwhile True: base64.a85decode(b'z' * 100000)",
		"import base64\nbase64.a85decode(b'z' * 5000000)",
		"import base64\nwhile True: base64.b64decode(b'!' * 100000)",
		"import base64\nbase64.a85encode(b'x' * 1000000, wrapcol=1)\nwhile True: pass",
		"import base64\nbase64.b32encode(b'x' * 9000000)",
		"import base64\nbase64.a85decode(b'\\xff' * 10000000, ignorechars=range(10 ** 9))",
		"import cbor2\nx = [0] * 100000\nwhile True: cbor2.dumps(x)",
		"import cbor2\nx = b'\\x9a\\x00\\x01\\x86\\xa0' + b'\\x00' * 100000\nl = []\nwhile True: l.append(cbor2.loads(x))",
		"import cbor2\nwhile True:\n  try: cbor2.loads(b'\\x81' * 5000000)\n  except ValueError: pass",
		"import hmac\nh = hmac.new(b'k', digestmod='sha256')\nwhile True: h.update(b'x' * 100000)",
		"import hmac\nwhile True: hmac.compare_digest(b'x' * 1000000, b'x' * 1000000)",
		"import operator, itertools\noperator.countOf(itertools.repeat(1), 1)",
		"import operator, itertools\noperator.indexOf(itertools.repeat(1), 2)",
		"import operator\noperator.pow(7, 10 ** 9)",
		"import operator\noperator.mul('x', 10 ** 12)",
		"import operator\noperator.lshift(1, 10 ** 12)",
		"import operator\noperator.itemgetter(*[0] * 10 ** 6)([1])\nwhile True: pass",
		"import string\nwhile True: string.Template('$a' * 10000).substitute(a='x' * 1000)",
		"import string\nstring.Formatter().format('{:1000000000}', 1)",
		"import string\nstring.Formatter().format('{}' * 100000 , *range(100000))\nwhile True: pass",
		"import string\nwhile True: string.capwords('a ' * 100000)",
	} {
		res, err := execute(t, rt, src, 20_000_000)
		var abort *vm.Abort
		switch {
		case err == nil && res.Traceback == "":
			t.Errorf("%s: ended", src)
		case err != nil && (!errors.As(err, &abort) || abort.Code == vm.Internal):
			t.Errorf("%s: %v", src, err)
		}
	}
}

// TestRecursion nests natives of the library in each other: every level counts.
func TestRecursion(t *testing.T) {
	rt := runtimeOf(t)
	for _, src := range []string{
		"import json\nx = []\nfor i in range(1000): x = [x]\njson.dumps(x)",
		"import json\njson.loads('[' * 1000 + ']' * 1000)",
		"import json\njson.loads('{\"a\":' * 1000 + '1' + '}' * 1000)",
		"import json\ndef f(o): return [o]\njson.dumps(object(), default=f, check_circular=False)",
		"import itertools\nx = iter([1])\nfor i in range(1000): x = itertools.chain(x, [1])\nlist(x)",
		"import itertools\nx = iter([1])\nfor i in range(1000): x = itertools.tee(itertools.islice(x, 1))[0]\nlist(x)",
		"import itertools\nx = 1\nfor i in range(1000): x = itertools.repeat(x)\nrepr(x)",
		"import re\ndef f(m): return re.sub('a', f, 'a')\nre.sub('a', f, 'a')",
		"import operator\nx = len\nfor i in range(1000): x = operator.methodcaller('__call__', x)\nrepr(x)",
		"import operator\ndef f(): return operator.call(f)\nf()",
		"import operator\nclass A:\n  def __getattr__(self, n): return operator.attrgetter('x')(self)\nA().x",
		"import operator\nclass A:\n  def __getitem__(self, n): return operator.itemgetter(0)(self)\nA()[0]",
		"import string\nclass F(string.Formatter):\n  def format_field(self, v, s): return self.format('{}', v)\nF().format('{}', 1)",
	} {
		res, err := execute(t, rt, src, 1<<30)
		if err != nil || !strings.Contains(res.Traceback, "RecursionError") {
			t.Errorf("%s: %v %s", src, err, res.Traceback)
		}
	}
}

// TestCyclesOfCaches: a pattern costs the same compiled anew and found again.
func TestCyclesOfCaches(t *testing.T) {
	rt := runtimeOf(t)
	cycles := func(src string) int64 {
		res, err := execute(t, rt, src, 1<<30)
		if err != nil || res.Traceback != "" {
			t.Fatalf("%s: %v %s", src, err, res.Traceback)
		}
		return res.Cycles
	}
	same := cycles("import re\ns = 'xxaxx'\nre.search('a|b', s)\nre.search('a|b', s)")
	other := cycles("import re\ns = 'xxaxx'\nre.search('a|b', s)\nre.search('a|c', s)")
	if same != other {
		t.Errorf("the cache shows: %d and %d cycles", same, other)
	}
}

// TestKeccak holds keccak256 to known digests, in one piece and in many.
func TestKeccak(t *testing.T) {
	rt := runtimeOf(t)
	src := `import hashlib
print(hashlib.keccak256().hexdigest())
h = hashlib.new('keccak256')
for c in b'hello': h.update(bytes([c]))
k = h.copy(); k.update(b'!')
print(h.hexdigest(), h.name, h.block_size, h.digest_size, len(k.digest()), k.digest() != h.digest())
`
	want := `c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470
1c8aff950685c2ed4bc3174f3472287b56d9517b9c948127319a09a7a36deac8 keccak256 136 32 32 True
`
	res, err := execute(t, rt, src, 1<<20)
	if err != nil || string(res.Output) != want {
		t.Fatalf("%v %s%s", err, res.Output, res.Traceback)
	}
}

// TestKeccakHMAC holds the code over Keccak, whose block has 136 bytes, to RFC 2104 with
// the hash of package keccak: no CPython has it.
func TestKeccakHMAC(t *testing.T) {
	rt := runtimeOf(t)
	for _, n := range []int{0, 1, 32, 135, 136, 137, 300} {
		key, msg := strings.Repeat("k", n), strings.Repeat("m", 2*n)
		block := make([]byte, 136)
		if copy(block, key); n > len(block) {
			h := keccak.Sum256([]byte(key))
			clear(block)
			copy(block, h[:])
		}
		inner, outer := bytes.Clone(block), bytes.Clone(block)
		for i := range block {
			inner[i], outer[i] = block[i]^0x36, block[i]^0x5c
		}
		h := keccak.Sum256(inner, []byte(msg))
		want := fmt.Sprintf("%x keccak 136\n", keccak.Sum256(outer, h[:]))
		src := fmt.Sprintf("import hmac\nh = hmac.new(b'k' * %d, b'm' * %d, 'keccak256')\nassert h.digest() == hmac.digest(b'k' * %d, b'm' * %d, 'keccak256')\nprint(h.hexdigest(), h.name[5:11], h.block_size)", n, 2*n, n, 2*n)
		if got := runScript(t, rt, src); got != want {
			t.Errorf("key of %d bytes: %s, want %s", n, got, want)
		}
	}
}

// TestCanonicalJSON: what would change the canonical form is refused.
func TestCanonicalJSON(t *testing.T) {
	rt := runtimeOf(t)
	for _, args := range []string{"indent=2", "sort_keys=False", "ensure_ascii=True", "separators=(', ', ': ')"} {
		for _, call := range []string{"json.dumps({}, " + args + ")", "json.JSONEncoder(" + args + ")"} {
			res, err := execute(t, rt, "import json\n"+call, 1<<20)
			if err != nil || !strings.Contains(res.Traceback, "DeterminismError") {
				t.Errorf("%s: %v %s", call, err, res.Traceback)
			}
		}
	}
	for _, change := range []string{"prec = 5", "rounding = 'ROUND_UP'", "Emax = 9", "clamp = 1", "capitals = 0"} {
		res, err := execute(t, rt, "import decimal\ndecimal.getcontext()."+change, 1<<20)
		if err != nil || !strings.Contains(res.Traceback, "DeterminismError") {
			t.Errorf("%s: %v %s", change, err, res.Traceback)
		}
	}
}
