package tree

import (
	"errors"
	"math/bits"
	"sync"
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
	// record has a chunk of its own, as large as it is: at the end of a shared one
	// it could leave as much as it takes.
	exactUnits  = 64
	sharedUnits = chunkUnits / 8
	classes     = exactUnits + 1 + 8*3
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
	chunks  atomic.Pointer[[][]byte]
	used    int      // chunks in the list
	limit   int      // of used
	kinds   []ground // of the chunks in the list
	grounds [grounds]plot

	spare  []int            // chunks given back, whose place in the list can be used again
	large  map[int][][]byte // by size, the memory of chunks given back
	bytes  int64            // of chunks
	idle   int64            // of them on free lists
	poison bool             // overwrite what is given back, so that a test sees its use
}

// ground is a kind of chunks. What most blocks rewrite, accounts and small
// tries, lies close together in memory, though it changes place with each
// writing: it never takes the place of a record of a vast trie, which may be
// anywhere in gigabytes.
type ground uint8

const (
	common  ground = iota
	vast           // of storage tries of vastMin entries or more
	grounds = 2
)

// vastMin is from how many entries on new records of a storage trie lie among
// those of vast ones.
const vastMin = 1 << 16

// plot is the room in the chunks of one ground.
type plot struct {
	open int // chunk that is being filled; -1 if none
	next int // first unit not yet given out in it
	lost int // units at the ends of chunks, too few for the next record
	free [classes][]ref40
}

func (p *pool) init(number int, y *yard) {
	p.number, p.yard, p.limit = uint32(number), y, chunkMax
	for g := range p.grounds {
		p.grounds[g].open = -1
	}
	list := make([][]byte, 4)
	p.chunks.Store(&list)
	p.used, p.kinds, p.large = 1, make([]ground, 1), map[int][][]byte{} // ref 0 is no record
}

// at returns the record r and what follows it in its chunk.
func (f *Forest) at(r ref40) []byte {
	chunk := (*f.pools[r.pool()&(pools-1)].chunks.Load())[r.chunk()]
	return chunk[r.offset():]
}

// class returns the free list for records of n units, and the units that such a
// record takes. Class -1 has chunks of its own.
//
// Above exactUnits, with 2^power < n <= 2^(power+1), a size is rounded up to the next
// multiple of 2^(power-3): by less than 2^(power-3), which is less than an eighth of n. So
// free lists never merge or split records, and what a list holds fits every record of its
// class: the waste inside records is bounded by an eighth, and what lies on free lists by
// the most that was ever in use of each class (segregated fits; Wilson et al., "Dynamic
// Storage Allocation", 1995).
func class(n int) (list, units int) {
	if n <= exactUnits {
		return n, n
	}
	power := bits.Len(uint(n-1)) - 1 // 6 to 8 where chunks are shared
	eighth := (n - 1) >> (power - 3) // 8 to 15
	units = (eighth + 1) << (power - 3)
	if n > sharedUnits {
		return -1, units
	}
	return exactUnits + 1 + 8*(power-6) + eighth - 8, units
}

// unitsOfClass is the size of the records on a free list.
func unitsOfClass(list int) int {
	if list <= exactUnits {
		return list
	}
	list -= exactUnits + 1
	return (list%8 + 9) << (list/8 + 3)
}

func unitsOf(bytes int) int { return (bytes + unitBytes - 1) / unitBytes }

// alloc returns a record of n units with undefined contents. It panics with
// ErrArenaFull, which Forest turns into an error.
func (p *pool) alloc(n int, g ground) (ref40, []byte) {
	list, units := class(n)
	if list < 0 {
		number := p.addChunk(units*unitBytes, g)
		return p.refOf(number, 0), (*p.chunks.Load())[number]
	}
	at := &p.grounds[g]
	if free := at.free[list]; len(free) > 0 {
		r := free[len(free)-1]
		at.free[list] = free[:len(free)-1]
		p.idle -= int64(units * unitBytes)
		return r, (*p.chunks.Load())[r.chunk()][r.offset():]
	}
	if at.open < 0 || at.next+units > chunkUnits {
		if at.open >= 0 {
			at.lost += chunkUnits - at.next
		}
		at.open, at.next = p.addChunk(chunkUnits*unitBytes, g), 0
	}
	r := p.refOf(at.open, at.next)
	chunk := (*p.chunks.Load())[at.open][at.next*unitBytes:]
	at.next += units
	return r, chunk
}

func (p *pool) refOf(chunk, unit int) ref40 {
	return ref40(p.number)<<(chunkBits+unitBits) | ref40(chunk)<<unitBits | ref40(unit)
}

// addChunk returns the number of a new chunk.
func (p *pool) addChunk(size int, g ground) int {
	number := p.used
	list := *p.chunks.Load()
	if n := len(p.spare); n > 0 {
		number, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
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
		p.kinds = append(p.kinds, g)
	}
	p.kinds[number] = g
	list[number] = p.memory(size)
	return number
}

// memory returns that of a chunk: of one that was given back, or new.
func (p *pool) memory(size int) []byte {
	if free := p.large[size]; len(free) > 0 {
		p.large[size] = free[:len(free)-1]
		p.idle -= int64(size)
		return free[len(free)-1]
	}
	p.bytes += int64(size)
	return p.yard.cut(size)
}

// yard cuts chunks from larger pieces of memory, so that the operating system
// can back them with large pages: records are met in random order, and with
// small pages the processor spends as long on finding a page as on the memory.
//
// All pools share it, several workers of a batch at a time: mu is held for one cut, and
// take is called under it. Pieces double from one chunk to yardMax, so that a small chain
// takes little.
type yard struct {
	mu   sync.Mutex
	rest []byte
	size int
	take func(bytes int) []byte
}

const yardMax = 32 << 20

// cut returns so many bytes. A piece with too few left is given up: of a large one
// that is next to nothing.
func (y *yard) cut(size int) []byte {
	y.mu.Lock()
	defer y.mu.Unlock()
	if size > yardMax/8 {
		return y.take(size)
	}
	if len(y.rest) < size {
		y.size = max(min(2*y.size, yardMax), chunkUnits*unitBytes, size)
		y.rest = y.take(y.size)
	}
	part := y.rest[:size:size]
	y.rest = y.rest[size:]
	return part
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
	if list < 0 {
		number := r.chunk()
		chunks := *p.chunks.Load()
		p.idle += int64(len(chunks[number]))
		p.large[units*unitBytes] = append(p.large[units*unitBytes], chunks[number])
		chunks[number] = nil
		p.spare = append(p.spare, number)
		return
	}
	p.idle += int64(units * unitBytes)
	at := &p.grounds[p.kinds[r.chunk()]]
	at.free[list] = append(at.free[list], r)
}
