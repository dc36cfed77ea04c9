package vm_test

import (
	"os"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
)

// kernels are the programs that the machine is measured with beside CPython.
var kernels = map[string]string{
	"fib":       "def fib(n):\n    if n < 2: return n\n    return fib(n-1) + fib(n-2)\nfor i in range(5): fib(24)\n",
	"loop":      "def f():\n    s = 0\n    i = 0\n    while i < 1000000:\n        s = s + i\n        i = i + 1\n    return s\nf()\n",
	"nested":    "def f():\n    s = 0\n    for i in range(1000):\n        for j in range(1000):\n            s += j\n    return s\nf()\n",
	"dictint":   "def f():\n    d = {}\n    for i in range(500000):\n        d[i & 1023] = i\n    s = 0\n    for i in range(500000):\n        s += d[i & 1023]\n    return s\nf()\n",
	"dictstr":   "def f():\n    d = {'a': 0, 'b': 1}\n    for i in range(500000):\n        d['a'] = d['b']\n        d['b'] = i\nf()\n",
	"method":    "class C:\n    def __init__(self): self.n = 0\n    def inc(self, k): self.n += k\ndef f():\n    c = C()\n    for i in range(1000000): c.inc(i)\nf()\n",
	"closure":   "def mk():\n    n = 0\n    def inc(k):\n        nonlocal n\n        n += k\n    return inc\ndef f():\n    g = mk()\n    for i in range(1000000): g(i)\nf()\n",
	"generator": "def g(n):\n    for i in range(n): yield i\ndef f():\n    s = 0\n    for x in g(1000000): s += x\n    return s\nf()\n",
	"float":     "def f():\n    x = 0.5\n    for i in range(1000000): x = 3.7 * x * (1.0 - x)\n    return x\nf()\n",
	"raise":     "def f():\n    n = 0\n    for i in range(200000):\n        try:\n            raise ValueError(i)\n        except ValueError: n += 1\nf()\n",
	"sieve":     "def f(n):\n    s = [True] * (n + 1)\n    i = 2\n    while i * i <= n:\n        if s[i]:\n            for j in range(i * i, n + 1, i): s[j] = False\n        i += 1\n    return sum(s)\nf(500000)\n",
	"append":    "def f():\n    for k in range(5):\n        l = []\n        for i in range(100000): l.append((i * 7919) % 100003)\n        l.sort()\nf()\n",
	"instance":  "class P:\n    def __init__(self, x, y):\n        self.x = x\n        self.y = y\ndef f():\n    s = 0\n    for i in range(300000):\n        p = P(i, 2)\n        s += p.x + p.y\nf()\n",
	"strings":   "def f():\n    for k in range(5):\n        l = []\n        for i in range(20000): l.append('item' + str(i))\n        t = ','.join(l)\n        u = t.split(',')\nf()\n",
	"bigmod":    "def f():\n    m = 2**255 - 19\n    x = 12345678901234567890123456789\n    for i in range(200000): x = x * x % m\nf()\n",
}

func BenchmarkKernels(b *testing.B) {
	rt := runtimeOf(b)
	names := []string{"fib", "loop", "nested", "dictint", "dictstr", "method", "closure", "generator", "float", "raise", "sieve", "append", "instance", "strings", "bigmod"}
	for _, name := range names {
		if dir := os.Getenv("KERNELS_TO"); dir != "" {
			if err := os.WriteFile(dir+"/"+name+".py", []byte(kernels[name]), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(name, func(b *testing.B) {
			o, err := compile.Source([]byte(kernels[name]), "<string>", compile.DefaultLimits())
			if err != nil {
				b.Fatal(err)
			}
			m := rt.NewMachine()
			b.ReportAllocs()
			for range b.N {
				m.Reset()
				res, err := m.Execute(o, 1<<40)
				if err != nil || res.Raised != nil {
					b.Fatal(err, res.Traceback)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(res.Cycles), "ns/cycle")
			}
		})
	}
}
