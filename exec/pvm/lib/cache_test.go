package lib

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// ringWalked is the plain reference of the links that a cache counts.
func ringWalked(l *lruCache) (n int) {
	for k := l.ring.next; k != &l.ring; k = k.next {
		n++
	}
	return n
}

// TestCachesCountTheirLinks counts the links of caches that fill, overflow, are cleared, and
// are asked for their own results while they make or drop one.
func TestCachesCountTheirLinks(t *testing.T) {
	m, _ := machineOf(t, `
import functools
caches, held = [], []
def cache(most):
    @functools.lru_cache(most)
    def f(x, again=0):
        if again == 1: return f(x, 0) + f(x + 1, 0)
        if again == 2: f.cache_clear()
        return x.n if isinstance(x, K) else x
    caches.append(f)
    return f
class K:
    def __init__(self, n): self.n = n
    def __hash__(self): return self.n % 3
    def __eq__(self, other):
        if len(held) == 5: held.pop()(self.n + 1)
        return self.n == other.n
for most in 1, 2, 7, 50, 1000, None, 0:
    f = cache(most)
    for i in range(100):
        f(i * 31 % 60)
        f(i % 9, again=1)
        held.append(f)
        f(K(i % 20))
        if i in (30, 60): f(i, again=2)
        if i == 40: f.cache_clear()
        del held[5:]
def made(i): return caches[i]
`)
	full := 0
	for i := range int64(7) {
		res, err := m.CallFunction("made", []vm.Value{vm.SmallInt(i)}, 1<<20)
		if err != nil || res.Traceback != "" {
			t.Fatalf("cache %d: %v %s", i, err, res.Traceback)
		}
		p, _ := res.Value.Foreign()
		l := p.(*lruCache)
		if l.links != ringWalked(l) {
			t.Errorf("cache %d counts %d links, and has %d", i, l.links, ringWalked(l))
		}
		full += min(1, l.links)
	}
	if full != 5 {
		t.Errorf("%d caches have links, want those with a bound", full)
	}
}

// TestRingsArePaid: a measurement of the heap pays for each link of a ring, at four units.
func TestRingsArePaid(t *testing.T) {
	const links = 10_000
	begin := "import functools\n@functools.lru_cache(10_000)\ndef f(x): return x\nfor x in range(10_000): f(x)\n"
	clear, allocate := "f.cache_clear()\n", "for _ in range(100): 'x' * 100_000\n"
	_, behind := machineOf(t, begin+allocate+clear)
	_, level := machineOf(t, begin+clear+allocate)
	if more := behind.Cycles - level.Cycles; more < 4*links {
		t.Errorf("%d links cost a measurement %d cycles, want %d", links, more, 4*links)
	}
}
