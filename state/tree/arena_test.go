package tree

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

func placeOf(number, chunk, unit int) ref40 {
	p := pool{number: uint32(number)}
	return p.refOf(chunk, unit)
}

// TestRefs writes and reads back refs at the ends of each of their parts.
func TestRefs(t *testing.T) {
	for _, pool := range []int{0, 1, pools - 1} {
		for _, chunk := range []int{0, 1, 1<<16 - 1, 1 << 16, chunkMax - 1} {
			for _, unit := range []int{0, 1, chunkUnits - 1} {
				r := placeOf(pool, chunk, unit)
				if r.pool() != pool || r.chunk() != chunk || r.offset() != unit*unitBytes {
					t.Fatalf("pool %d, chunk %d, unit %d: %#x", pool, chunk, unit, uint64(r))
				}
				v := branchAt{b: make([]byte, branchBytes(2)), n: 2}
				v.setKid(0, r)
				v.setKid(1, ^r&(1<<(8*refBytes)-1))
				if v.kid(0) != r || v.kid(1) != ^r&(1<<(8*refBytes)-1) {
					t.Fatalf("%#x is read as %#x and %#x", uint64(r), uint64(v.kid(0)), uint64(v.kid(1)))
				}
				a := readResident(appendResident(nil, &resident{storage: r, meta: []byte{1}}))
				if r != 0 && (a.storage != r || len(a.meta) != 1) {
					t.Fatalf("%#x is read from an account as %#x", uint64(r), uint64(a.storage))
				}
			}
		}
	}
}

// TestClasses holds the sizes of free places to what a record needs: no less,
// and at most an eighth more; large ones are whole grains.
func TestClasses(t *testing.T) {
	seen := map[int]int{}
	for n := 1; n <= ownUnits; n++ {
		list, units := class(n)
		switch {
		case list < 0 || list >= classes:
			t.Fatalf("%d units: list %d", n, list)
		case units < n || units > n+n/8:
			t.Fatalf("%d units take %d", n, units)
		case seen[list] != 0 && seen[list] != units:
			t.Fatalf("list %d has places of %d and of %d units", list, units, seen[list])
		case n > sharedUnits && units%grainUnits != 0:
			t.Fatalf("%d units take %d, not whole grains", n, units)
		}
		seen[list] = units
	}
	for n := ownUnits + 1; n < 1<<20; n += 1 + n/500 {
		if list, units := class(n); list >= 0 || units < n || units > n+n/8 {
			t.Fatalf("a record of %d units is on list %d and takes %d", n, list, units)
		}
	}
	if len(seen) != classes-1 {
		t.Errorf("%d lists are in use, want %d", len(seen), classes-1)
	}
}

// TestForestBehind64GiB applies random blocks to forests whose pools have given
// out 65,536 chunks and more, the end of refs of 32 bits: what lies there is
// found, written and freed as what lies before.
func TestForestBehind64GiB(t *testing.T) {
	const given = 70_000
	m, f := newMemory(), NewForest(2, nil)
	for i := range f.pools {
		p := &f.pools[i]
		list := make([][]byte, given+4)
		p.chunks.Store(&list)
		p.used, p.slabs = given, make([]slab, given)
	}
	rng := rand.New(rand.NewPCG(3, 7))
	im := f.EmptyImage()
	for block := range 60 {
		d := randomWrites(rng, 40, 400)
		if block%8 == 0 {
			addCrowd(rng, d)
		}
		up := m.apply(t, d)
		next, err := f.Apply(im, d)
		check(t, err)
		if next.Root != up.Root {
			t.Fatalf("block %d: root %s, plain %s", block, next.Root, up.Root)
		}
		compareRows(t, next, up)
		f.retirePoisoned(next)
		im = next
	}
	compareAccounts(t, f, im, m)
	if chunk := im.top.chunk(); chunk < given {
		t.Fatalf("the top lies in chunk %d", chunk)
	}
	if u := f.Use(); u.Chunks <= pools*given || u.Most <= given {
		t.Errorf("use of the arena: %+v", u)
	}
}

// TestArenaTellsItsUse fills an arena of a few chunks: what it says of its use
// rises towards the end long before ErrArenaFull.
func TestArenaTellsItsUse(t *testing.T) {
	f := NewForest(1, nil)
	const limit = 40
	for i := range f.pools {
		f.pools[i].limit = limit
	}
	im, last := f.EmptyImage(), Use{}
	for block := 0; ; block++ {
		d := randomWrites(rand.New(rand.NewPCG(uint64(block), 7)), 40, 40)
		addCrowd(rand.New(rand.NewPCG(uint64(block), 8)), d)
		next, err := f.Apply(im, d)
		if err != nil {
			break // nothing is retired, so the end comes
		}
		if im, last = next, f.Use(); last.Limit != limit || last.Most > limit {
			t.Fatalf("use of the arena: %+v", last)
		}
	}
	if last.Most < limit*9/10 {
		t.Errorf("full at a use of %d of %d chunks", last.Most, limit)
	}
	if s := fmt.Sprint(last.Share()); last.Share() < 0.9 || last.Share() > 1 {
		t.Errorf("share in use %s", s)
	}
}

// TestResidentBytesOfEntries stores values of sizes that suit the arena least, in
// one storage and in storages of one entry each: the tries take at most a quarter
// more than the protocol counts (state.entry_bytes besides key and value), from
// which operators plan their memory (node/ops).
func TestResidentBytesOfEntries(t *testing.T) {
	const counted = 180 // of an entry, and of an account
	for _, size := range []int{0, 16, 17, 300, 976, 977, 1000, 1232, 1500, 2000, 4000, 8200, 11_000, 17_000, 21_000, 25_000, 33_000, 50_000} {
		for _, apart := range []bool{false, true} {
			n := max(200, min(40_000, 8_000_000/(size+counted)))
			f := NewForest(1, nil)
			im := f.EmptyImage()
			sum := int64(0)
			for from := 0; from < n; from += 4096 {
				d := state.NewDelta()
				for i := from; i < min(n, from+4096); i++ {
					key := binary.BigEndian.AppendUint32(nil, uint32(i))
					addr := chain.Address{1}
					if apart {
						copy(addr[4:], key)
						d.SetAccount(addr, state.Account{Nonce: 1})
						sum += counted
					}
					d.SetStorage(addr, state.NewStorageKey(1, key), make([]byte, size))
					sum += counted + 5 + int64(size)
				}
				next, err := f.Apply(im, d)
				check(t, err)
				f.Retire(next)
				f.ForgetRows(next)
				im = next
			}
			got := f.Footprint().Bytes - f.unused()
			if got > sum+sum/4 {
				t.Errorf("%d values of %d bytes, apart %v: %d resident bytes for %d counted, %.2f times", n, size, apart, got, sum, float64(got)/float64(sum))
			}
			t.Logf("%5d bytes, apart %v: %.2f", size, apart, float64(got)/float64(sum))
		}
	}
}

// unused is the memory that nothing was put in so far: free acres and parts of them, and
// the rest of the slab that each pool fills, of each ground.
func (f *Forest) unused() int64 {
	held, _ := f.held()
	return f.yard.bytes - held + f.open()
}

// open is the rest of the slabs that are being filled.
func (f *Forest) open() (bytes int64) {
	for i := range f.pools {
		for g := range f.pools[i].plots {
			at := &f.pools[i].plots[g]
			switch {
			case at.open < 0:
			case ground(g) == large:
				bytes += int64(acreBytes - at.next*grainBytes)
			default:
				bytes += int64((chunkUnits - at.next) * unitBytes)
			}
		}
	}
	return bytes
}

// TestNumbersEndWithTheirTurns gives chunks back whose turns are at their end: the number is
// not used again, since places on free lists could be taken for those of its first turn.
func TestNumbersEndWithTheirTurns(t *testing.T) {
	for _, turn := range []uint32{5, turnMax - 3, turnMax - 2, turnMax - 1} {
		f := NewForest(1, nil)
		p := &f.pools[2]
		for _, units := range []int{40, 2 * sharedUnits} {
			first, _ := p.alloc(units, common)
			slabs, at, spare := &p.slabs, &p.plots[common], &p.spare
			number := first.chunk()
			if units > sharedUnits {
				number = int(p.slabs[number].where >> grainBits)
				slabs, at, spare = &p.large, &p.plots[large], &p.empty
			}
			at.open = -1
			(*slabs)[number].turn = turn
			p.release(first, units)
			if again := slices.Contains(*spare, number); again != (turn < turnMax-2) {
				t.Errorf("turn %d, %d units: used again %v", turn, units, again)
			}
			if p.live != 0 || p.held != 0 {
				t.Errorf("%d bytes live, %d held", p.live, p.held)
			}
		}
	}
}
