package tree

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
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
// and at most an eighth more.
func TestClasses(t *testing.T) {
	seen := map[int]int{}
	for n := 1; n <= sharedUnits; n++ {
		list, units := class(n)
		switch {
		case list < 0 || list >= classes:
			t.Fatalf("%d units: list %d", n, list)
		case units < n || units > n+n/8:
			t.Fatalf("%d units take %d", n, units)
		case unitsOfClass(list) != units || seen[list] != 0 && seen[list] != units:
			t.Fatalf("list %d has places of %d and of %d units", list, units, unitsOfClass(list))
		}
		seen[list] = units
	}
	for n := sharedUnits + 1; n < 1<<20; n += 1 + n/500 {
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
		p.used, p.kinds = given, make([]ground, given)
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
			// Sixteen pools have an open chunk each, of either ground.
			got, open := f.Footprint().Bytes, int64(2*pools*chunkUnits*unitBytes)
			if got > sum+sum/4+open {
				t.Errorf("%d values of %d bytes, apart %v: %d resident bytes for %d counted, %.2f times", n, size, apart, got, sum, float64(got)/float64(sum))
			}
			t.Logf("%5d bytes, apart %v: %.2f", size, apart, float64(got-open/2)/float64(sum))
		}
	}
}
