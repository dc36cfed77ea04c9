package tree

import (
	"errors"
	"math/bits"
	"sync/atomic"
)

// ErrArenaFull means that the resident tries outgrew the space that refs can
// name: 16,777,216 chunks in each of sixteen pools, of 64 KiB (16 TiB in all), or
// as large as a storage value of more than 8 KiB that has one of its own, of
// which there can be 268 million. The chain's limit of state and the memory of any
// machine end long before. The version that a block was applied to stays as it
// was, and so do those before it; what the block took is lost until the next
// start.
var ErrArenaFull = errors.New("tree: no room for more resident nodes")

// ref40 names a record of the arena: pool (4 bits), chunk (24), unit (12). Zero
// is no record, since no pool gives out its chunk 0. In records it takes refBytes.
//
// A ref is valid in the versions that hold the record, from [Forest.Apply] that made it to
// [Forest.Retire] or [Forest.Release]; afterwards the same number names another record.
// Nothing checks this: the order in which the store retires versions does (state/store).
type ref40 uint64

const (
	unitBytes  = 16
	unitBits   = 12
	chunkUnits = 1 << unitBits
	chunkBits  = 24
	chunkMax   = 1 << chunkBits
	pools      = 16
	refBytes   = (4 + chunkBits + unitBits) / 8

	// Records of up to exactUnits have a list of free places for each size;
	// larger ones share a list for each eighth of a power of two, so that a
	// record takes at most an eighth more than it needs. Beyond sharedUnits a
	// record has a chunk number of its own and lies in a slab of large ones: at
	// the end of a chunk it could leave as much as it takes. Beyond ownUnits, which
	// no value of a chain comes to, it has memory of its own.
	exactUnits  = 64
	sharedUnits = chunkUnits / 8
	ownUnits    = 16 * sharedUnits
	classes     = exactUnits + 1 + 8*7
)

func (r ref40) pool() int { return int(r >> (chunkBits + unitBits)) }

// chunk is the number of the record's chunk in its pool.
func (r ref40) chunk() int { return int(r >> unitBits & (chunkMax - 1)) }

// offset is where the record begins in its chunk, in bytes.
func (r ref40) offset() int { return int(r&(chunkUnits-1)) * unitBytes }

// pool is the memory of one sixteenth of the records. It holds no Go pointers
// but those to its chunks, so that the garbage collector has nothing to follow.
// One goroutine at a time allocates and frees; any number may read records that
// were there when their version was made.
//
// Owner: Forest.mu, and within a batch the worker whose unit has the pool's number
// (batch.each), so no two goroutines allocate in one pool. Range: sixteen pools of at most
// chunkMax chunks. Memory order: a reader learns of a record only from an image that was
// handed to it after the batch had ended, by whatever published the image (a lock or an
// atomic pointer of the store). The record's bytes, its chunk's place in the list and the
// list itself were written before that, so a reader needs no other synchronization than
// the load of chunks; a longer list has the same chunks at the same places.
type pool struct {
	number uint32
	yard   *yard
	// chunks is replaced when it must grow, so that readers of older versions
	// go on with the one they took.
	chunks atomic.Pointer[[][]byte]
	used   int   // chunks in the list
	limit  int   // of used
	spare  []int // chunks given back, whose number can be used again

	slabs  []slab   // by number of chunk
	large  []slab   // of records beyond sharedUnits
	memory [][]byte // of large
	empty  []int    // of large, the numbers that can be used again
	plots  [grounds]plot
	own    map[int][][]byte // by size, the memory of records beyond ownUnits that was given back

	held   int64 // bytes of chunks and slabs
	live   int64 // of them, in records
	made   int64 // bytes of all records so far
	poison bool  // overwrite what is given back, so that a test sees its use
}

// ground is a kind of chunks. What most blocks rewrite, accounts and small
// tries, lies close together in memory, though it changes place with each
// writing: it never takes the place of a record of a vast trie, which may be
// anywhere in gigabytes.
type ground uint8

const (
	common  ground = iota
	vast           // of storage tries of vastMin entries or more
	large          // of records beyond sharedUnits, of any trie
	grounds = 3
)

// vastMin is from how many entries on new records of a storage trie lie among
// those of vast ones.
const vastMin = 1 << 16

func (p *pool) init(number int, y *yard) {
	p.number, p.yard, p.limit = uint32(number), y, chunkMax
	for g := range p.plots {
		p.plots[g].open = -1
	}
	list := make([][]byte, 4)
	p.chunks.Store(&list)
	p.used, p.slabs, p.own = 1, make([]slab, 1), map[int][][]byte{} // ref 0 is no record
}

// at returns the record r and what follows it in its chunk.
func (f *Forest) at(r ref40) []byte {
	chunk := (*f.pools[r.pool()&(pools-1)].chunks.Load())[r.chunk()]
	return chunk[r.offset():]
}

// class returns the free list for records of n units, and the units that such a
// record takes. Class -1 has memory of its own.
//
// Above exactUnits, with 2^power < n <= 2^(power+1), a size is rounded up to the next
// multiple of 2^(power-3): by less than 2^(power-3), which is less than an eighth of n. So
// free lists never merge or split records, and what a list holds fits every record of its
// class (segregated fits; Wilson et al., "Dynamic Storage Allocation", 1995): the waste
// inside records is bounded by an eighth. What lies on free lists is bounded by slabs that
// are given back whole, and by [Forest.choose].
func class(n int) (list, units int) {
	if n <= exactUnits {
		return n, n
	}
	power := bits.Len(uint(n-1)) - 1 // 6 to 8 where chunks are shared, to 12 in slabs of large records
	eighth := (n - 1) >> (power - 3) // 8 to 15
	units = (eighth + 1) << (power - 3)
	if n > ownUnits {
		return -1, units
	}
	return exactUnits + 1 + 8*(power-6) + eighth - 8, units
}

func unitsOf(bytes int) int { return (bytes + unitBytes - 1) / unitBytes }

func (p *pool) refOf(chunk, unit int) ref40 {
	return ref40(p.number)<<(chunkBits+unitBits) | ref40(chunk)<<unitBits | ref40(unit)
}

// alloc returns a record of n units with undefined contents. It panics with
// ErrArenaFull, which Forest turns into an error.
func (p *pool) alloc(n int, g ground) (ref40, []byte) {
	list, units := class(n)
	if n > sharedUnits {
		return p.allocLarge(list, units)
	}
	number, unit, ok := p.plots[g].reuse(p.slabs, list, units)
	if !ok {
		number, unit = p.cutShared(g, units)
	}
	p.live += int64(units * unitBytes)
	p.made += int64(units * unitBytes)
	return p.refOf(number, unit), (*p.chunks.Load())[number][unit*unitBytes:]
}

// cutShared takes so many units from the open chunk, or from a new one.
func (p *pool) cutShared(g ground, units int) (number, unit int) {
	at := &p.plots[g]
	if at.open < 0 || at.next+units > chunkUnits {
		number := p.addChunk()
		mem, where := p.yard.part()
		(*p.chunks.Load())[number] = mem
		p.slabs[number].set(where, g)
		p.held += chunkUnits * unitBytes
		closed := at.open
		at.open, at.next = number, 0
		if closed >= 0 && p.slabs[closed].live == 0 {
			p.dropChunk(closed)
		}
	}
	unit = at.next
	at.next += units
	p.slabs[at.open].live += uint16(units)
	return at.open, unit
}

// allocLarge returns a record that has a chunk number of its own.
func (p *pool) allocLarge(list, units int) (ref40, []byte) {
	number := p.addChunk() // first, since it may fail
	var mem []byte
	where := uint32(noSlab)
	if list < 0 {
		mem = p.ownMemory(units * unitBytes)
	} else {
		at, grains := &p.plots[large], units/grainUnits
		place, grain, ok := at.reuse(p.large, list, grains)
		if !ok {
			place, grain = p.cutLarge(grains)
		}
		mem = p.memory[place][grain*grainBytes:][:units*unitBytes]
		where = uint32(place<<grainBits | grain)
	}
	(*p.chunks.Load())[number] = mem
	p.slabs[number].set(where, large)
	p.live += int64(units * unitBytes)
	p.made += int64(units * unitBytes)
	return p.refOf(number, 0), mem
}

// cutLarge takes so many grains from the open slab of large records, or from a new one.
func (p *pool) cutLarge(grains int) (number, grain int) {
	at := &p.plots[large]
	if at.open < 0 || at.next+grains > acreBytes/grainBytes {
		mem, where := p.yard.whole()
		number := len(p.large)
		if n := len(p.empty); n > 0 {
			number, p.empty = p.empty[n-1], p.empty[:n-1]
		} else {
			p.large, p.memory = append(p.large, slab{}), append(p.memory, nil)
		}
		p.memory[number] = mem
		p.large[number].set(where, large)
		p.held += acreBytes
		closed := at.open
		at.open, at.next = number, 0
		if closed >= 0 && p.large[closed].live == 0 {
			p.dropLarge(closed)
		}
	}
	grain = at.next
	at.next += grains
	p.large[at.open].live += uint16(grains)
	return at.open, grain
}

// addChunk returns a number for a new chunk.
func (p *pool) addChunk() int {
	list := *p.chunks.Load()
	if n := len(p.spare); n > 0 {
		number := p.spare[n-1]
		p.spare = p.spare[:n-1]
		return number
	}
	if p.used == p.limit {
		panic(ErrArenaFull)
	}
	if p.used == len(list) {
		longer := make([][]byte, 2*len(list))
		copy(longer, list)
		list = longer
		p.chunks.Store(&longer)
	}
	p.used++
	p.slabs = append(p.slabs, slab{})
	return p.used - 1
}

// ownMemory returns memory for a record beyond ownUnits. It is used again for one of the same
// size alone.
func (p *pool) ownMemory(size int) []byte {
	p.held += int64(size)
	if free := p.own[size]; len(free) > 0 {
		p.own[size] = free[:len(free)-1]
		return free[len(free)-1]
	}
	return p.yard.own(size)
}

// release gives back a record of n units.
func (p *pool) release(r ref40, n int) {
	list, units := class(n)
	if p.poison {
		chunk := (*p.chunks.Load())[r.chunk()][r.offset():]
		for i := range units * unitBytes {
			chunk[i] = 0xee
		}
	}
	p.live -= int64(units * unitBytes)
	if n > sharedUnits {
		p.releaseLarge(r.chunk(), list, units)
		return
	}
	number := r.chunk()
	at := &p.plots[p.slabs[number].ground]
	if at.giveBack(p.slabs, spot(number<<unitBits)|spot(r)&(chunkUnits-1), list, units) {
		p.dropChunk(number)
	}
}

func (p *pool) releaseLarge(number, list, units int) {
	chunks := *p.chunks.Load()
	mem := chunks[number]
	chunks[number] = nil
	p.spare = append(p.spare, number)
	if list < 0 {
		p.held -= int64(len(mem))
		p.own[len(mem)] = append(p.own[len(mem)], mem)
		return
	}
	where := int(p.slabs[number].where)
	place, grain := where>>grainBits, where&(1<<grainBits-1)
	if p.plots[large].giveBack(p.large, spot(place<<unitBits|grain), list, units/grainUnits) {
		p.dropLarge(place)
	}
}

// dropChunk gives back the memory of a chunk without records.
func (p *pool) dropChunk(number int) {
	s := &p.slabs[number]
	(*p.chunks.Load())[number] = nil
	p.held -= chunkUnits * unitBytes
	p.yard.giveBack(s.where, 1<<(s.where%acreParts))
	if p.plots[s.ground].forget(s) {
		p.spare = append(p.spare, number)
	}
}

// dropLarge gives back the memory of a slab of large records without any.
func (p *pool) dropLarge(number int) {
	s := &p.large[number]
	p.memory[number] = nil
	p.held -= acreBytes
	p.yard.giveBack(s.where, wholeAcre)
	if p.plots[large].forget(s) {
		p.empty = append(p.empty, number)
	}
}
