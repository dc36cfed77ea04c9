package values

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestPartsArePaid: each part of a value costs what is made for it, also of one that turns out
// to be too long. Empty lists took 80 to 127 ns a cycle.
func TestPartsArePaid(t *testing.T) {
	const parts = 4000
	m := newMachine(t)
	exact := DefaultProfile()
	exact.Exact = true
	empty := map[string]func() vm.Value{
		"list": func() vm.Value { return m.NewList(nil) },
		"dict": func() vm.Value { return m.NewDict().Value() },
	}
	for _, row := range []struct {
		kind        string
		p           Profile
		write, read code.Cycles // for each part at least
	}{
		{"list", DefaultProfile(), 5, 4},
		{"dict", DefaultProfile(), 5, 4},
		{"list", exact, 11, 4},
		{"dict", exact, 11, 4},
	} {
		_, err := m.Do(10_000_000, func(m *vm.Machine) (vm.Value, error) {
			items := make([]vm.Value, parts)
			for i := range items {
				items[i] = empty[row.kind]()
			}
			left := m.CyclesLeft()
			data, err := Append(m, nil, m.NewList(items), row.p)
			if err != nil {
				return vm.None, err
			}
			if used := left - m.CyclesLeft(); used < parts*row.write {
				t.Errorf("a %s costs %d cycles to write for %d parts, exact: %v", row.kind, used, parts, row.p.Exact)
			}
			left = m.CyclesLeft()
			v, err := Decode(m, data, row.p)
			if used := left - m.CyclesLeft(); used < parts*row.read {
				t.Errorf("a %s costs %d cycles to read for %d parts, exact: %v", row.kind, used, parts, row.p.Exact)
			}
			return v, err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
