package vm

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
)

func testMachine(t testing.TB, key [2]uint64) *Machine {
	t.Helper()
	cfg := DefaultConfig()
	cfg.HashKey = key
	rt, err := NewRuntime(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m := rt.NewMachine()
	m.cycles = code.Cycles(1) << 60
	return m
}

// playTable performs the operations that data spells on a dict and on a slice of
// pairs, compares them after each, and returns what was charged.
func playTable(t *testing.T, m *Machine, data []byte) code.Cycles {
	t.Helper()
	before := m.cycles
	d := m.newDict()
	type pair struct{ key, value int64 }
	var want []pair
	for i := 0; i+1 < len(data); i += 2 {
		key, v := int64(data[i+1])*0x1fffffffffffff%1000003, int64(i)
		if data[i]&0x40 != 0 {
			key = int64(data[i+1]&7) * (1 << 60) // hash() of some are equal
		}
		at := -1
		for j, p := range want {
			if p.key == key {
				at = j
			}
		}
		switch data[i] & 3 {
		case 0, 1:
			if err := m.dictPut(d, SmallInt(key), SmallInt(v)); err != nil {
				t.Fatal(err)
			}
			if at >= 0 {
				want[at].value = v
			} else {
				want = append(want, pair{key, v})
			}
		case 2:
			ok, err := m.dictDel(d, SmallInt(key))
			if err != nil || ok != (at >= 0) {
				t.Fatalf("step %d: del %d: %v, %v", i, key, ok, err)
			}
			if at >= 0 {
				want = append(want[:at:at], want[at+1:]...)
			}
		case 3:
			got, ok, err := m.dictGet(d, SmallInt(key))
			if err != nil || ok != (at >= 0) || ok && got != SmallInt(want[at].value) {
				t.Fatalf("step %d: get %d: %v, %v, %v", i, key, got, ok, err)
			}
		}
		keys, values := m.dictItems(d)
		if len(keys) != len(want) || d.table.live != len(want) {
			t.Fatalf("step %d: %d entries, want %d", i, len(keys), len(want))
		}
		for j, p := range want {
			if keys[j] != SmallInt(p.key) || values[j] != SmallInt(p.value) {
				t.Fatalf("step %d: entry %d is %v: %v, want %v", i, j, keys[j], values[j], p)
			}
		}
	}
	return before - m.cycles
}

// Two processes have different keys; order, contents and charges are the same.
func FuzzTable(tf *testing.F) {
	f := soak.New(tf)
	f.Add([]byte{0, 1, 0, 2, 2, 1, 3, 2, 0x40, 1, 0x41, 3, 0x43, 3})
	long := make([]byte, 600)
	for i := range long {
		long[i] = byte(i * i >> 3)
	}
	f.Add(long)
	a, b := testMachine(f, [2]uint64{1, 2}), testMachine(f, [2]uint64{0xdeadbeefcafe, 0x123456789abcdef1})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			return
		}
		if x, y := playTable(t, a, data), playTable(t, b, data); x != y {
			t.Fatalf("charged %d under one key, %d under another", x, y)
		}
		a.heap.since, b.heap.since = 0, 0
	})
}

func TestSpreadIsInvertible(t *testing.T) {
	m := testMachine(t, [2]uint64{77, 0x8d})
	for _, h := range []int64{0, 1, -2, 1 << 61, -1 << 63, 1<<63 - 1, 0x123456789} {
		if got := m.rt.unspread(m.rt.spread(h)); got != h {
			t.Errorf("unspread(spread(%d)) = %d", h, got)
		}
	}
}

// TestNoKeyIsPaidFor: a table that keys come to and go from, the last first, has its index
// made anew and pays for that. When must not follow from where the keys lie, which each
// process has a key of its own for.
func TestNoKeyIsPaidFor(t *testing.T) {
	churns := map[string]func(t *testing.T, m *Machine){
		"set": func(t *testing.T, m *Machine) {
			s := m.newSet()
			for i := range int64(5_000) {
				if err := m.setAdd(s, SmallInt(i*0x10001)); err != nil {
					t.Fatal(err)
				}
				if i < 40 {
					continue
				}
				at, _, err := m.setFind(s, SmallInt(i*0x10001))
				if err != nil || at < 0 {
					t.Fatal(at, err)
				}
				s.table.remove(m, at)
			}
			if s.table.live != 40 {
				t.Fatalf("%d elements", s.table.live)
			}
		},
		"dict": func(t *testing.T, m *Machine) {
			d := m.newDict()
			for i := range int64(5_000) {
				if err := m.dictPut(d, SmallInt(i*0x10001), None); err != nil {
					t.Fatal(err)
				}
				if i < 100 {
					continue
				}
				at, ok := d.table.last(m)
				if !ok {
					t.Fatal("empty")
				}
				d.table.remove(m, at)
				if i%7 == 0 {
					d.table.toFront(m, 50)
				}
			}
		},
	}
	type paid struct {
		cycles code.Cycles
		heap   int64
	}
	for name, churn := range churns {
		seen := map[paid]int{}
		for key := range uint64(16) {
			m := testMachine(t, [2]uint64{key * 0x9e3779b97f4a7c15, key*0xbf58476d1ce4e5b9 + 77})
			m.heap.limit, m.heap.threshold = 1<<40, 1<<40
			before := m.cycles
			churn(t, m)
			seen[paid{before - m.cycles, m.heap.since}]++
		}
		if len(seen) != 1 {
			t.Errorf("%s: under 16 keys %d prices: %v", name, len(seen), seen)
		}
	}
}
