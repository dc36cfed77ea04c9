package tree

import (
	"math/bits"
	"sync"
)

// yard gives memory to the pools and takes it back, in acres of half a MiB: whole for large
// records, or in eighths as chunks. It cuts acres from larger pieces, so that the operating
// system can back them with large pages: records are met in random order, and with
// small pages the processor spends as long on finding a page as on the memory. Pieces are
// never given back to the system: what is free waits for the next record of any size.
//
// All pools share it, several workers of a batch at a time: mu is held for one cut, and
// take is called under it. Pieces double from one acre to yardMax, so that a small chain
// takes little.
type yard struct {
	mu    sync.Mutex
	rest  []byte
	size  int
	take  func(bytes int) []byte
	acres []acre
	loose []uint32 // acres of which parts are free, and some that were
	idle  []uint32 // acres that are free as a whole, and some that were
	bytes int64    // of acres, and of records with memory of their own
}

const (
	yardMax   = 32 << 20
	acreParts = 8
	acreBytes = acreParts * chunkUnits * unitBytes
	wholeAcre = 1<<acreParts - 1
)

// acre is half a MiB.
type acre struct {
	mem     []byte
	free    uint8 // a bit for each part
	isLoose bool  // on the list
	isIdle  bool
}

// part returns the memory of a chunk, and where it is: eight times the acre plus the part.
func (y *yard) part() ([]byte, uint32) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for n := len(y.loose); n > 0; n = len(y.loose) {
		number := y.loose[n-1]
		a := &y.acres[number]
		if a.free == 0 {
			y.loose, a.isLoose = y.loose[:n-1], false
			continue
		}
		part := bits.TrailingZeros8(a.free)
		a.free &^= 1 << part
		return a.chunk(part), number*acreParts + uint32(part)
	}
	number := y.add()
	a := &y.acres[number]
	a.free, a.isLoose = wholeAcre&^1, true
	y.loose = append(y.loose, number)
	return a.chunk(0), number * acreParts
}

func (a *acre) chunk(part int) []byte {
	const size = chunkUnits * unitBytes
	return a.mem[part*size : (part+1)*size : (part+1)*size]
}

// whole returns the memory of an acre, and where it is.
func (y *yard) whole() ([]byte, uint32) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for n := len(y.idle); n > 0; n = len(y.idle) {
		number := y.idle[n-1]
		a := &y.acres[number]
		y.idle, a.isIdle = y.idle[:n-1], false
		if a.free == wholeAcre {
			a.free = 0
			return a.mem, number * acreParts
		}
	}
	number := y.add()
	return y.acres[number].mem, number * acreParts
}

// add makes a new acre, of which nothing is free.
func (y *yard) add() uint32 {
	y.acres = append(y.acres, acre{mem: y.cut(acreBytes)})
	return uint32(len(y.acres) - 1)
}

// giveBack takes back parts of an acre.
func (y *yard) giveBack(where uint32, parts uint8) {
	y.mu.Lock()
	defer y.mu.Unlock()
	number := where / acreParts
	a := &y.acres[number]
	a.free |= parts
	if !a.isLoose {
		y.loose, a.isLoose = append(y.loose, number), true
	}
	if a.free == wholeAcre && !a.isIdle {
		y.idle, a.isIdle = append(y.idle, number), true
	}
}

// own returns memory for one record.
func (y *yard) own(size int) []byte {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.cut(size)
}

// cut returns so many bytes. A piece with too few left is given up: of a large one
// that is next to nothing.
func (y *yard) cut(size int) []byte {
	y.bytes += int64(size)
	if size > yardMax/8 {
		return y.take(size)
	}
	if len(y.rest) < size {
		y.size = max(min(2*y.size, yardMax), acreBytes, size)
		y.rest = y.take(y.size)
	}
	part := y.rest[:size:size]
	y.rest = y.rest[size:]
	return part
}
