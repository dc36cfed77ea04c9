package values

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestWhatIsNoUTF8HasNoEncoding: no program makes such a string, and the decoder would refuse
// what was written of it.
func TestWhatIsNoUTF8HasNoEncoding(t *testing.T) { // ADR 243
	exact := DefaultProfile()
	exact.Exact = true
	m := newMachine(t)
	for _, bad := range []string{"\xed\xa0\x80", "a\xff", "\xc0\x80", "\xf4\x90\x80\x80"} {
		for _, p := range []Profile{DefaultProfile(), exact} {
			res, err := m.Do(100_000, func(m *vm.Machine) (vm.Value, error) {
				_, err := Append(m, nil, m.NewList([]vm.Value{m.NewStr(bad)}), p)
				return vm.None, err
			})
			if err != nil || res.Raised == nil || res.Raised.ClassName() != "ValueError" {
				t.Errorf("%q, exact %v: %v %s", bad, p.Exact, err, res.Traceback)
			}
		}
	}
}
