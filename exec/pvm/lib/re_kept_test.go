package lib

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestKeptPatternsAreBounded: patterns that a program compiles and drops leave no more than
// programBytesKept in the cache, whatever pages their classes have; small ones are kept.
func TestKeptPatternsAreBounded(t *testing.T) {
	m, _ := machineOf(t, `
import re
def pattern(seed, n):
    return ('[' + ''.join(chr(0x1000 + 6002 * k + seed) for k in range(17)) + chr(0x10fff0) + ']') * n
def state(large, small):
    for seed in range(large): re.compile(pattern(seed, 400))
    for seed in range(small): re.compile('a' * (seed + 1))
    return re.compile('b')
def emptied():
    last = re.compile('b')
    re.purge()
    return last
`)
	find := func(name string, args ...int64) *reModule {
		t.Helper()
		var values []vm.Value
		for _, n := range args {
			values = append(values, vm.SmallInt(n))
		}
		res, err := m.CallFunction(name, values, 1<<30)
		if err != nil || res.Traceback != "" {
			t.Fatalf("%v %s", err, res.Traceback)
		}
		p, _ := res.Value.Foreign()
		return p.(*patternState).r
	}
	for _, row := range []struct{ large, small int64 }{{5, 0}, {3, 40}, {0, 300}, {1, 1}} {
		r := find("state", row.large, row.small)
		sum := 0
		for _, p := range r.programs {
			sum += p.Bytes()
		}
		if sum != r.bytes || sum > programBytesKept || len(r.programs) > programsKept {
			t.Errorf("%+v: %d programs of %d bytes are kept, counted as %d", row, len(r.programs), sum, r.bytes)
		}
		if int64(len(r.programs)) < min(row.small, programsKept/3) {
			t.Errorf("%+v: %d programs are kept", row, len(r.programs))
		}
	}
	if r := find("emptied"); len(r.programs) != 0 || r.bytes != 0 {
		t.Errorf("purged, %d programs of %d bytes are kept", len(r.programs), r.bytes)
	}
}
