package blocklog

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/cowboy-foundation/cowboy/chain"
)

// MaxRecordBytes bounds a record. No legal block with its receipts takes more:
// a genesis that would allow it is refused.
const MaxRecordBytes = chain.MaxFinalBytes

const (
	magic         = "cowboyB\n"
	formatVersion = 1
	headerBytes   = 8 + 4 + 4 + 8          // of a segment
	headBytes     = 8 + 8 + 4 + 4 + 8      // of a record
	entryBytes    = 4 + 8                  // of a part
	placeBytes    = 4 + 8 + 4 + 4 + 8      // of an encoded Place
	offsetMax     = 1<<62 - MaxRecordBytes // so that sums of offsets stay in range
)

// Place says where a record stands. The zero value is no place.
type Place struct {
	Segment uint32 // from 1
	Offset  uint64 // in the segment's file
	Length  uint32 // of all entries and parts
	Parts   uint32
	Salt    uint64
}

// PartBytes is what the parts of the record take together.
func (p *Place) PartBytes() int { return int(p.Length) - entryBytes*int(p.Parts) }

func (p *Place) end() int64 { return int64(p.Offset) + headBytes + int64(p.Length) }

// AppendPlace appends the encoding of a place, which takes [PlaceBytes] bytes.
func AppendPlace(dst []byte, p Place) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, p.Segment)
	dst = binary.LittleEndian.AppendUint64(dst, p.Offset)
	dst = binary.LittleEndian.AppendUint32(dst, p.Length)
	dst = binary.LittleEndian.AppendUint32(dst, p.Parts)
	return binary.LittleEndian.AppendUint64(dst, p.Salt)
}

// PlaceBytes is the size of an encoded place.
const PlaceBytes = placeBytes

// DecodePlace reads what AppendPlace wrote.
func DecodePlace(b []byte) (Place, error) {
	if len(b) != placeBytes {
		return Place{}, fmt.Errorf("%w: a place takes %d bytes, not %d", ErrDamaged, placeBytes, len(b))
	}
	p := Place{
		Segment: binary.LittleEndian.Uint32(b),
		Offset:  binary.LittleEndian.Uint64(b[4:]),
		Length:  binary.LittleEndian.Uint32(b[12:]),
		Parts:   binary.LittleEndian.Uint32(b[16:]),
		Salt:    binary.LittleEndian.Uint64(b[20:]),
	}
	if p.Segment == 0 || p.Offset < headerBytes || p.Offset > offsetMax || p.Length > MaxRecordBytes ||
		uint64(p.Parts)*entryBytes > uint64(p.Length) {
		return Place{}, fmt.Errorf("%w: no record can be at %+v", ErrDamaged, p)
	}
	return p, nil
}

func segmentHeader(number uint32) []byte {
	b := append(make([]byte, 0, headerBytes), magic...)
	b = binary.LittleEndian.AppendUint32(b, formatVersion)
	b = binary.LittleEndian.AppendUint32(b, number)
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

func appendRecord(dst []byte, height uint64, p Place, parts [][]byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, height)
	dst = binary.LittleEndian.AppendUint64(dst, p.Salt)
	dst = binary.LittleEndian.AppendUint32(dst, p.Length)
	dst = binary.LittleEndian.AppendUint32(dst, p.Parts)
	at := len(dst)
	dst = append(dst, make([]byte, 8)...)
	end := uint32(entryBytes * len(parts))
	for i, part := range parts {
		end += uint32(len(part))
		dst = binary.LittleEndian.AppendUint32(dst, end)
		dst = binary.LittleEndian.AppendUint64(dst, partSum(p.Salt, height, uint32(i), part))
	}
	binary.LittleEndian.PutUint64(dst[at:], headSum(dst[at-24:at], dst[at+8:]))
	for _, part := range parts {
		dst = append(dst, part...)
	}
	return dst
}

// headSum covers the fields before it and the entries behind it.
func headSum(fields, entries []byte) uint64 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.Write(fields) // never fails
	_, _ = d.Write(entries)
	return d.Sum64()
}

func partSum(salt, height uint64, i uint32, part []byte) uint64 {
	var seed [20]byte
	binary.LittleEndian.PutUint64(seed[:], salt)
	binary.LittleEndian.PutUint64(seed[8:], height)
	binary.LittleEndian.PutUint32(seed[16:], i)
	var d xxhash.Digest
	d.Reset()
	_, _ = d.Write(seed[:])
	_, _ = d.Write(part)
	return d.Sum64()
}

// checkHead says what is wrong with the head and the entries of a record.
func checkHead(record []byte, height uint64, p Place) (reason string) {
	switch {
	case binary.LittleEndian.Uint64(record) != height:
		return fmt.Sprintf("it says block %d", binary.LittleEndian.Uint64(record))
	case binary.LittleEndian.Uint64(record[8:]) != p.Salt:
		return "it is of another append"
	case binary.LittleEndian.Uint32(record[16:]) != p.Length || binary.LittleEndian.Uint32(record[20:]) != p.Parts:
		return "its size is not the one in the index"
	case binary.LittleEndian.Uint64(record[24:]) != headSum(record[:24], record[headBytes:headBytes+entryBytes*int(p.Parts)]):
		return "its head has a wrong checksum"
	}
	return ""
}

// entryOf returns bounds and sum of part i, relative to the record's beginning.
func entryOf(entries []byte, i uint32, p Place) (start, end int, sum uint64, ok bool) {
	var pair [2 * entryBytes]byte
	if i > 0 {
		copy(pair[:], entries[(i-1)*entryBytes:][:entryBytes])
	}
	copy(pair[entryBytes:], entries[i*entryBytes:])
	return boundsOf(pair[:], p)
}

// boundsOf reads a part's entry and the one before it, zeros for the first part.
func boundsOf(pair []byte, p Place) (start, end int, sum uint64, ok bool) {
	from, to := binary.LittleEndian.Uint32(pair), binary.LittleEndian.Uint32(pair[entryBytes:])
	from = max(from, entryBytes*p.Parts)
	if from > to || to > p.Length {
		return 0, 0, 0, false
	}
	return headBytes + int(from), headBytes + int(to), binary.LittleEndian.Uint64(pair[entryBytes+4:]), true
}
