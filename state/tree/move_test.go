package tree

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestMemoryUnderOverwriting writes the same entries again and again, each time in the next
// smaller class of records: nothing grows, and neither does what the tries take.
func TestMemoryUnderOverwriting(t *testing.T) {
	for _, from := range []int{8000, 60_000} {
		f := NewForest(2, nil)
		f.slack = 10 << 20 // sixteen pools fill half a MiB of large records each
		im := f.EmptyImage()
		first := int64(0)
		for size := from; size > from/8; size -= size / 9 {
			d := state.NewDelta()
			for k := range 10_000_000 / from {
				key := state.NewStorageKey(1, binary.BigEndian.AppendUint32(nil, uint32(k)))
				d.SetStorage(chain.Address{1, byte(k % 40)}, key, make([]byte, size))
			}
			next, err := f.Apply(im, d)
			check(t, err)
			f.Retire(next)
			f.ForgetRows(next)
			im = next
			if first == 0 {
				first = f.Footprint().Bytes
			}
			t.Log(size, f.Footprint().Bytes>>20, f.Footprint().Free>>20)
		}
		if now := f.Footprint().Bytes; now > first*5/2+f.slack {
			t.Errorf("%d bytes after the first block, %d after the last", first, now)
		}
	}
}

// TestRoundsMoveWhatPinsSlabs leaves one record in each chunk alive, and goes on with
// small blocks: rounds move the records together, and the memory serves others.
func TestRoundsMoveWhatPinsSlabs(t *testing.T) {
	for _, size := range []int{40, 1000, 12_000} {
		t.Run(fmt.Sprintf("values of %d bytes", size), func(t *testing.T) {
			f := NewForest(2, nil)
			f.slack = 1 << 20
			n := 8_000_000 / (size + 200)
			keep := max(2, 30_000/(size+48)) // of so many, one stays
			addrs := addressesUnder(5, 7)    // so that the top has a path before it
			key := func(i int) (chain.Address, state.StorageKey) {
				return addrs[i%7], state.NewStorageKey(1, binary.BigEndian.AppendUint32(nil, uint32(i)))
			}
			d := state.NewDelta()
			for i := range n {
				addr, key := key(i)
				d.SetStorage(addr, key, make([]byte, size))
			}
			im, err := f.Apply(f.EmptyImage(), d)
			check(t, err)
			f.retirePoisoned(im)
			d = state.NewDelta()
			for i := range n {
				if i%keep != 0 {
					addr, key := key(i)
					d.SetStorage(addr, key, nil)
				}
			}
			next, err := f.Apply(im, d)
			check(t, err)
			f.retirePoisoned(next)
			im = next
			before, live := f.held()
			rounds := 0
			for block := 0; block < 400 && (f.moving || block < 100); block++ {
				d := state.NewDelta()
				d.SetAccount(addrs[block%7], state.Account{Nonce: 1 + uint64(block)})
				was := f.round
				next, err := f.Apply(im, d)
				check(t, err)
				if f.round != was {
					rounds++
				}
				if next.moved.left() == 0 && im.moved.left() > 0 {
					f.checkLeft(t, next)
				}
				f.retirePoisoned(next)
				im = next
			}
			after, _ := f.held()
			after -= f.open()
			t.Logf("%d live bytes: %d held before, %d after %d rounds", live, before, after, rounds)
			if before <= live+live/2+f.slack || after > live*3/2+f.slack || rounds == 0 {
				t.Errorf("%d live bytes: %d held before, %d after %d rounds", live, before, after, rounds)
			}
			for i := range n {
				addr, key := key(i)
				if v, ok := f.Storage(im, AccountKey(addr), SlotKey(key)); ok != (i%keep == 0) || ok && !bytes.Equal(v, make([]byte, size)) {
					t.Fatalf("value %d: %d bytes, %v", i, len(v), ok)
				}
			}
		})
	}
}

// addressesUnder returns n addresses whose keys begin with a nibble.
func addressesUnder(x byte, n int) (addrs []chain.Address) {
	for i := 0; len(addrs) < n; i++ {
		addr := chain.Address{byte(i), byte(i >> 8)}
		if key := AccountKey(addr); key[0]>>4 == x {
			addrs = append(addrs, addr)
		}
	}
	return addrs
}

// checkLeft expects that an image at the end of a round has no record in a slab that is being
// emptied.
func (f *Forest) checkLeft(t *testing.T, im *Image) {
	t.Helper()
	now := f.slabsNow()
	var visit func(ref40)
	visit = func(r ref40) {
		if _, leaving := now.look(r); leaving {
			t.Fatalf("record %#x is in a slab that was to be emptied", uint64(r))
		}
		f.below(f.at(r), visit)
	}
	if im.top != 0 {
		visit(im.top)
	}
}

// TestRandomBlocksWhileMoving applies random blocks of values of all sizes to forests that
// move records all the time, some dropped and some kept for a while by readers: roots,
// rows, accounts and proofs are those of the plain tries, readers see what was there when
// they began, and nothing leaks.
func TestRandomBlocksWhileMoving(t *testing.T) {
	for seed := range seeds(8) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { randomWhileMoving(t, seed) })
	}
}

func randomWhileMoving(t *testing.T, seed uint64) {
	const keep = 5 // versions
	rng := rand.New(rand.NewPCG(seed, 11))
	m, f := newMemory(), NewForest(1+int(seed%4), nil)
	f.slack = -1 << 40 // a round is always on
	im := f.EmptyImage()
	type version struct {
		image *Image
		read  chan struct{} // closed when its reader is done
	}
	var kept []version
	retire := func() {
		<-kept[0].read
		if kept = kept[1:]; len(kept) > 0 {
			f.retirePoisoned(kept[0].image)
		}
	}
	done := make(chan struct{})
	close(done)
	kept = append(kept, version{im, done})
	ends := 0
	for block := range 45 {
		d := randomWrites(rng, 30, []int{5, 60}[seed%2])
		for range rng.IntN(12) {
			size := []int{0, 100, 900, 5000, 9000, 40_000, 140_000}[rng.IntN(7)]
			d.SetStorage(chain.Address{byte(rng.IntN(4))}, state.NewStorageKey(1, []byte{byte(rng.IntN(20)), 9}), make([]byte, size))
		}
		if seed == 3 && block%8 == 0 {
			addCrowd(rng, d)
		}
		up := m.apply(t, d)
		dropped, err := f.Apply(im, randomWrites(rng, 30, 60))
		check(t, err)
		next, err := f.Apply(im, d)
		check(t, err)
		if next.Root != up.Root {
			t.Fatalf("block %d: root %s, plain %s", block, next.Root, up.Root)
		}
		compareRows(t, next, up)
		if next.moved.left() == 0 {
			ends++
			f.checkLeft(t, next)
		}
		f.releasePoisoned(dropped)
		im = next
		v := version{im, make(chan struct{})}
		want := maps.Clone(m.accounts)
		go func() {
			defer close(v.read)
			for range 3 {
				for addr, a := range want {
					if got, ok := f.Account(v.image, AccountKey(addr)); !ok || got.StorageRoot != a.StorageRoot || got.Nonce != a.Nonce {
						t.Errorf("block %d: account %s is %+v, want %+v", block, addr, got, a)
						return
					}
				}
			}
		}()
		kept = append(kept, v)
		for len(kept) > keep || len(kept) > 1 && rng.IntN(3) == 0 {
			retire()
		}
		compareAccounts(t, f, im, m)
	}
	for len(kept) > 1 {
		retire()
	}
	<-kept[0].read
	if f.round < 2 || ends == 0 {
		t.Errorf("%d rounds, %d images at the end of one", f.round, ends)
	}
	d := state.NewDelta()
	for addr := range m.accounts {
		d.DeleteAccount(addr)
	}
	next, err := f.Apply(im, d)
	check(t, err)
	f.Retire(next)
	for n := f.taken(); len(f.felled) > 0 && n > 0; n = f.taken() {
		next, err = f.Apply(next, state.NewDelta())
		check(t, err)
		f.Retire(next)
	}
	if n := f.taken(); n != 0 {
		t.Errorf("%d units leaked", n)
	}
	f.checkLists(t)
}

// checkLists counts what is on the free lists: as many places as they say, of which those in
// slabs in use do not overlap and are as many as the slabs say.
func (f *Forest) checkLists(t *testing.T) {
	t.Helper()
	for i := range f.pools {
		p := &f.pools[i]
		for g := range p.plots {
			at, slabs, grain := &p.plots[g], p.slabs, 1
			if ground(g) == large {
				slabs, grain = p.large, grainUnits
			}
			listed, stale := 0, 0
			places, units := map[int]int{}, map[int]int{}
			for n := 1; n <= ownUnits; n++ {
				list, size := class(n)
				if size != n {
					continue
				}
				for _, e := range at.free[list] {
					if listed++; slabs[e.slab()].turn != e.turnOf() {
						stale++
						continue
					}
					places[e.slab()]++
					units[e.slab()] += size / grain
				}
			}
			if listed != at.listed || stale != at.stale {
				t.Fatalf("pool %d, ground %d: %d places, %d stale, counted %d and %d", i, g, listed, stale, at.listed, at.stale)
			}
			for number, n := range places {
				s := &slabs[number]
				if int(s.listed) != n || s.leaving || units[number]+int(s.live) > chunkUnits {
					t.Fatalf("pool %d, slab %d: %d places of %d units, counted %+v", i, number, n, units[number], *s)
				}
			}
		}
	}
}

// TestMemoryWhateverWasWritten writes random parts of a state of entries in sizes that
// change with time, so that each chunk has a few records left of each time: the tries never
// take more than two and a half times the most that was live, besides what is allowed to be free
// and the chunks that are being filled.
func TestMemoryWhateverWasWritten(t *testing.T) {
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 5))
		f := NewForest(2, nil)
		f.slack = 1 << 20
		im, most, peak := f.EmptyImage(), int64(0), int64(0)
		const entries = 3000
		for block := range 400 {
			d := state.NewDelta()
			size := 40 + rng.IntN(60) + (block/4*(97+200*int(seed)))%3000
			for range entries / 20 {
				k := rng.IntN(entries)
				var value []byte
				if rng.IntN(40) > 0 {
					value = make([]byte, size+rng.IntN(20))
				}
				d.SetStorage(chain.Address{byte(k % 11)}, state.NewStorageKey(1, binary.BigEndian.AppendUint32(nil, uint32(k))), value)
			}
			next, err := f.Apply(im, d)
			check(t, err)
			held, live := f.held()
			most, peak = max(most, live), max(peak, held)
			f.Retire(next)
			f.ForgetRows(next)
			im = next
		}
		open := int64(2 * pools * chunkUnits * unitBytes)
		t.Logf("seed %d: %d rounds; %d live at most, %d held", seed, f.round, most, peak)
		if f.round < 2 || peak > most*5/2+f.slack+open || f.yard.bytes > peak+acreBytes {
			t.Errorf("seed %d: %d rounds; %d bytes live at most, %d held, %d taken", seed, f.round, most, peak, f.yard.bytes)
		}
		f.checkLists(t)
	}
}

// TestMoversAgreeWithOneAlone has a whole round gone through by a mover for each nibble and, in
// the same forest built anew, by one mover from the top: they replace the same records, and
// what they leave in their place says the same.
func TestMoversAgreeWithOneAlone(t *testing.T) {
	for seed := range seeds(6) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			sideBySide, one := pinned(t, seed, 4), pinned(t, seed, 1)
			check(t, sideBySide.scratch.move(1<<40))
			b := &one.scratch
			check(t, b.each(1, 1, func(w *worker, _ int) {
				m := mover{worker: w, before: b.slabsNow(), left: 1 << 60, next: moved{all: true}}
				b.image.top = m.walk(b.image.top, &m.from.account)
			}))
			lists := [2][]retired{}
			for i, f := range []*Forest{sideBySide, one} {
				f.checkLeft(t, f.scratch.image)
				for _, list := range f.scratch.image.retired {
					lists[i] = append(lists[i], list...)
				}
				slices.SortFunc(lists[i], func(a, b retired) int { return cmp.Compare(a.ref, b.ref) })
			}
			if len(lists[0]) == 0 || !slices.Equal(lists[0], lists[1]) {
				t.Fatalf("%d records replaced, %d by one mover", len(lists[0]), len(lists[1]))
			}
			if n := sideBySide.scratch.image.moved.left(); n != 0 {
				t.Errorf("%d nibbles are not at their end", n)
			}
			compareRecords(t, sideBySide, one, sideBySide.scratch.image.top, one.scratch.image.top)
		})
	}
}

// pinned returns a forest with a batch under way at the beginning of a round, on a state of which
// most was deleted.
func pinned(t *testing.T, seed uint64, workers int) *Forest {
	t.Helper()
	f := NewForest(workers, nil)
	f.slack = 1 << 60
	rng := rand.New(rand.NewPCG(seed, 3))
	addrs := addressesUnder(byte(seed), 3) // seed 0 has a path before the top
	if seed > 0 {                          // storage in all pools, of few with odd seeds: each is split
		for i := range []int{40, 3}[seed%2] {
			addrs = append(addrs, chain.Address{7, byte(i)})
		}
	}
	im := f.EmptyImage()
	for step := range 3 {
		d := state.NewDelta()
		for i := range 4000 {
			var value []byte
			if step == 0 || step == 2 && i%9 == 0 {
				value = make([]byte, 1+rng.IntN([]int{40, 2000, 12_000}[i%3]))
			}
			if step > 0 && i%9 != 0 && i%50 == 0 {
				continue
			}
			d.SetStorage(addrs[i%len(addrs)], state.NewStorageKey(1, binary.BigEndian.AppendUint32(nil, uint32(i))), value)
		}
		for i := range 400 {
			d.SetAccount(chain.Address{8, byte(i), byte(i >> 8)}, state.Account{Nonce: uint64(step) * uint64(i%7), Balance: 1})
		}
		if seed == 0 {
			d = onlyStorage(d)
		}
		next, err := f.Apply(im, d)
		check(t, err)
		f.Retire(next)
		im = next
	}
	f.slack = -1 << 40
	for i := range f.pools { // so that lists of slabs grow while others look at them
		p := &f.pools[i]
		p.spare, p.empty = nil, nil
		for g := range p.plots {
			p.plots[g].open = -1
		}
	}
	f.choose()
	f.epoch++
	b := &f.scratch
	b.epoch, b.image = f.epoch, &Image{Root: im.Root, top: im.top, epoch: f.epoch}
	b.reserve()
	return f
}

// onlyStorage returns the storage that d writes.
func onlyStorage(d *state.Delta) *state.Delta {
	out := state.NewDelta()
	for _, c := range d.Accounts() {
		for _, s := range c.Storage {
			out.SetStorage(c.Address, s.Key, s.Value)
		}
	}
	return out
}

// compareRecords expects two subtrees to be the same but for where records are.
func compareRecords(t *testing.T, f, g *Forest, a, b ref40) {
	t.Helper()
	x, y := f.at(a), g.at(b)
	if x[0] != y[0] || recordUnits(x) != recordUnits(y) {
		t.Fatalf("records of kinds %d and %d, %d and %d units", x[0], y[0], recordUnits(x), recordUnits(y))
	}
	if x[0] == kindLeaf && *leafKey(x) != *leafKey(y) {
		t.Fatalf("leaves of keys %x and %x", *leafKey(x), *leafKey(y))
	}
	if x[0] == kindLeaf && !leafIsAccount(x) && !bytes.Equal(leafPayload(x), leafPayload(y)) {
		t.Fatalf("values of key %x differ", *leafKey(x))
	}
	var below [2][]ref40
	f.below(x, func(r ref40) { below[0] = append(below[0], r) })
	g.below(y, func(r ref40) { below[1] = append(below[1], r) })
	if len(below[0]) != len(below[1]) {
		t.Fatalf("%d records below one, %d below the other", len(below[0]), len(below[1]))
	}
	for i := range below[0] {
		compareRecords(t, f, g, below[0][i], below[1][i])
	}
}
