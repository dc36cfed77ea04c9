package state

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// scanned is a stack of overlays over a state, each level beside whole maps that
// say what it must show. What is below a level does not change while it is there.
type scanned struct {
	t     *testing.T
	addr  chain.Address
	views []View
	model []*naive // of each view
	marks []mark   // of the level on top
}

type mark struct {
	id    int
	model *naive
}

func newScanned(t *testing.T) *scanned {
	below := newNaive()
	for i := range 300 {
		below.setStorage(chain.Address{1}, scanKey(byte(i), byte(i>>4)), []byte{byte(i)})
	}
	s := &scanned{t: t, addr: chain.Address{1}, views: []View{below}, model: []*naive{below}}
	s.rise()
	return s
}

// scanKey draws from keys that begin alike, are the beginning of each other, and
// end in the bytes at both ends.
func scanKey(a, b byte) StorageKey {
	key := []byte{'a' + a%3, []byte{0, 1, 'x', 0xff}[a>>6], b}
	return NewStorageKey(a>>4&1, key[:1+int(a>>2)%3])
}

func (s *scanned) top() *Overlay   { return s.views[len(s.views)-1].(*Overlay) }
func (s *scanned) content() *naive { return s.model[len(s.model)-1] }
func (s *scanned) become(n *naive) { s.model[len(s.model)-1] = n }
func (s *scanned) write(k StorageKey, v []byte) {
	s.content().setStorage(s.addr, k, v)
	s.top().SetStorage(s.addr, k, v)
}

// rise puts another level on top.
func (s *scanned) rise() {
	below := s.views[len(s.views)-1]
	s.views, s.model, s.marks = append(s.views, NewOverlay(below)), append(s.model, s.content().clone()), nil
}

// sink gives the writes of the level on top to the one below it.
func (s *scanned) sink() {
	last := len(s.views) - 1
	check(s.t, s.views[last-1].(*Overlay).Absorb(s.top()))
	s.model[last-1] = s.model[last]
	s.views, s.model, s.marks = s.views[:last], s.model[:last], nil
}

// step does what three bytes say.
func (s *scanned) step(op, a, b byte) {
	switch op % 16 {
	case 0, 1, 2, 3:
		s.write(scanKey(a, b), []byte{b})
	case 4:
		s.write(scanKey(a, b), make([]byte, a))
	case 5, 6:
		s.write(scanKey(a, b), nil)
	case 7: // a long run of removed keys
		for i := range 64 {
			s.write(scanKey(a, b+byte(i)), nil)
		}
	case 8:
		if a < 32 {
			s.content().delete(s.addr)
			s.top().DeleteAccount(s.addr)
		}
	case 9:
		s.marks = append(s.marks, mark{s.top().Snapshot(), s.content().clone()})
	case 10:
		if len(s.marks) > 0 {
			i := int(a) % len(s.marks)
			s.top().Revert(s.marks[i].id)
			s.become(s.marks[i].model)
			s.marks = s.marks[:i]
		}
	case 11:
		if len(s.views) < 5 && a < 64 {
			s.rise()
		}
	case 12:
		if len(s.views) > 2 && a < 64 {
			s.sink()
		}
	case 13:
		s.pass(a, b)
	default:
		s.compare(Span{
			Prefix: scanKey(a, b)[:int(b)%4%len(scanKey(a, b))], From: []StorageKey{"", scanKey(b, a)}[op>>4&1],
			To: []StorageKey{"", scanKey(a^1, b^2)}[op>>5&1], Entries: 1 + int(a)%20, Bytes: []int{1, 30, 1 << 20}[int(b)%3],
		})
		s.compare(Span{Entries: 1 << 10, Bytes: 1 << 20})
	}
}

// pass scans a few entries at a time on the top level, and changes the table as it goes, as
// the passes of a block do: it takes rows out, and writes in front of itself and behind.
func (s *scanned) pass(a, b byte) {
	s.t.Helper()
	span := Span{Prefix: scanKey(a, b)[:1+int(b)%2], Entries: 1 + int(a>>6)%2, Bytes: 1 << 10}
	for n := range 40 {
		want, _ := s.content().Scan(s.addr, span)
		got, err := s.top().Scan(s.addr, span)
		if err != nil || !reflect.DeepEqual(got, want) {
			s.t.Fatalf("row %d of a pass, %+v:\n%q, %v\nwant\n%q", n, span, got, err, want)
		}
		if len(got) == 0 {
			return
		}
		for i := range got {
			clear(got[i].Value) // it is the caller's
		}
		switch key := got[len(got)-1].Key; (int(b) + n) % 7 {
		case 0:
			span.From = key.Next()
		case 1:
			s.write(key, nil)
			s.write(scanKey(a+byte(n), b-byte(n)), []byte{a})
		case 2:
			s.write(key, []byte{b})
			span.From = key.Next()
		case 3:
			if a&1 == 1 {
				span.From = ""
			}
		default:
			s.write(key, nil)
		}
	}
}

// compare holds a scan of every level to its model.
func (s *scanned) compare(span Span) {
	s.t.Helper()
	for i, v := range s.views {
		want, _ := s.model[i].Scan(s.addr, span)
		got, err := v.Scan(s.addr, span)
		if err != nil || !reflect.DeepEqual(got, want) {
			s.t.Fatalf("level %d, %+v:\n%q, %v\nwant\n%q", i, span, got, err, want)
		}
		for j := range got {
			clear(got[j].Value) // it is the caller's
		}
	}
}

// TestScanAgainstSortedMap rerun one case with -run 'TestScanAgainstSortedMap/seed=7'.
func TestScanAgainstSortedMap(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 5))
			s := newScanned(t)
			for range 400 {
				n := rng.Uint32()
				s.step(byte(n), byte(n>>8), byte(n>>16))
			}
		})
	}
}

func FuzzScan(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 6))
	for range 4 {
		var seed []byte
		for range 40 {
			seed = binary.LittleEndian.AppendUint32(seed, rng.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, steps []byte) {
		s := newScanned(t)
		for step := range slices.Chunk(steps[:min(len(steps), 3*500)], 3) {
			if len(step) == 3 {
				s.step(step[0], step[1], step[2])
			}
		}
		s.compare(Span{Entries: 1 << 10, Bytes: 1 << 20})
	})
}

// counting counts what is scanned below an overlay.
type counting struct {
	*naive
	scans, entries int
}

func (c *counting) Scan(addr chain.Address, s Span) ([]Entry, error) {
	c.scans++
	list, err := c.naive.Scan(addr, s)
	c.entries += len(list)
	return list, err
}

// TestPassReadsATableOnce: who takes one row after the other out of a table, each found by a
// scan of its own, asks the parent a few times, and for no more than twice what it takes.
func TestPassReadsATableOnce(t *testing.T) {
	const rows = 1_000
	addr := chain.Address{1}
	name := func(i int) StorageKey { return NewStorageKey(1, fmt.Appendf(nil, "k%06d", i)) }
	for _, taken := range []int{1, 2, 5, 100, rows} {
		below := &counting{naive: newNaive()}
		for i := range rows {
			below.setStorage(addr, name(i), []byte{1})
		}
		o := NewOverlay(below)
		for i := range taken {
			got, err := o.Scan(addr, Span{Prefix: "\x01k", Entries: 1, Bytes: 1})
			if err != nil || len(got) != 1 || got[0].Key != name(i) {
				t.Fatalf("row %d: %q, %v", i, got, err)
			}
			o.SetStorage(addr, name(i), nil)
		}
		if most := 8 + taken/32; below.scans > most || below.entries > 2*taken+4 {
			t.Errorf("%d rows: %d scans of %d entries below, want at most %d and %d", taken, below.scans, below.entries, most, 2*taken+4)
		}
	}
}

// TestScanPassesRemovedKeysOnce: a scan over ten thousand keys that the overlay
// removed looks at each of them the first time only, also after some were written
// and removed again between them.
func TestScanPassesRemovedKeysOnce(t *testing.T) {
	const removed = 10_000
	below, addr := &counting{naive: newNaive()}, chain.Address{1}
	name := func(i int) StorageKey { return NewStorageKey(1, fmt.Appendf(nil, "k%06d", i)) }
	for i := range removed + 2 {
		below.setStorage(addr, name(i), []byte{1})
	}
	o := NewOverlay(below)
	for i := range removed {
		o.SetStorage(addr, name(1+i), nil)
	}
	ends := func(n int) {
		t.Helper()
		got, err := o.Scan(addr, Span{Prefix: "\x01k", Entries: n, Bytes: 1000})
		if err != nil || len(got) != min(n, 2) || got[0].Key != name(0) || n > 1 && got[1].Key != name(removed+1) {
			t.Fatalf("%q, %v", got, err)
		}
	}
	ends(2)
	if below.scans > 100 || below.entries < removed {
		t.Errorf("first: %d scans of %d entries below", below.scans, below.entries)
	}
	for i := range 100 {
		k := name(1 + i*70)
		o.SetStorage(addr, k, []byte{2})
		o.SetStorage(addr, k, nil)
		below.scans, below.entries = 0, 0
		if ends(2); below.scans > 8 || below.entries > 100 {
			t.Fatalf("after %d: %d scans of %d entries below", i, below.scans, below.entries)
		}
	}
	mark := o.Snapshot()
	o.SetStorage(addr, name(50), []byte{3})
	if got, err := o.Scan(addr, Span{Prefix: "\x01k", Entries: 2, Bytes: 1000}); err != nil || got[1].Key != name(50) {
		t.Fatalf("a key in a gap: %q, %v", got, err)
	}
	o.Revert(mark)
	ends(3)
}

func TestGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	name := func(i int) StorageKey { return StorageKey([]byte{byte(i >> 8), byte(i)}) }
	for range 200 {
		var g Gaps
		empty := [600]bool{}
		for range 40 {
			a, b := rng.IntN(600), rng.IntN(600)
			if rng.IntN(2) == 0 {
				b = min(a+rng.IntN(40), 599)
				g.Add(name(a), name(b))
				for i := a; i < b; i++ {
					empty[i] = true
				}
			} else {
				g.Fill(name(b))
				empty[b] = false
			}
			for i := range empty {
				to := g.Pass(name(i))
				if in := to != name(i); in != empty[i] {
					t.Fatalf("%d is in a gap: %v, want %v of %q", i, in, empty[i], g.list)
				}
				for j := i; j < len(empty) && name(j) < to; j++ {
					if !empty[j] {
						t.Fatalf("passed %d from %d", j, i)
					}
				}
			}
		}
	}
}

// TestGapsAreBounded fills keys in the middle of gaps, which cuts them in two, when
// there are as many as there may be.
func TestGapsAreBounded(t *testing.T) {
	name := func(i int) StorageKey { return StorageKey(binary.BigEndian.AppendUint32(nil, uint32(i))) }
	var g Gaps
	for i := range mostGaps {
		g.Add(name(10*i), name(10*i+9))
	}
	for i := range mostGaps {
		g.Fill(name(10*i + 4))
		if g.Pass(name(10*i)) != name(10*i+4) || g.Pass(name(10*i+4)) != name(10*i+4) {
			t.Fatalf("gap %d does not end at its key", i)
		}
	}
	for i := range mostGaps {
		g.Add(name(10*(mostGaps+i)), name(10*(mostGaps+i)+9))
		if len(g.list) > mostGaps {
			t.Fatalf("%d gaps", len(g.list))
		}
	}
}

func TestSpanRest(t *testing.T) {
	model := newNaive()
	for i := range 30 {
		model.setStorage(chain.Address{1}, NewStorageKey(1, []byte{byte(i)}), make([]byte, i))
	}
	whole, _ := model.Scan(chain.Address{1}, Span{Prefix: "\x01", Entries: 100, Bytes: 1 << 20})
	for _, most := range []Span{{Entries: 1, Bytes: 1 << 20}, {Entries: 7, Bytes: 1 << 20}, {Entries: 30, Bytes: 60}, {Entries: 100, Bytes: 1}} {
		var got []Entry
		page := Span{Prefix: "\x01", Entries: most.Entries, Bytes: most.Bytes}
		for done := false; !done; {
			part, _ := model.Scan(chain.Address{1}, page)
			got = append(got, part...)
			page, done = page.Rest(part)
			page.Entries, page.Bytes = most.Entries, most.Bytes
		}
		if !reflect.DeepEqual(got, whole) {
			t.Errorf("in pages of %+v: %d entries, want %d", most, len(got), len(whole))
		}
	}
}
