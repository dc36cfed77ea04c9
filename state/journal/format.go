package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cespare/xxhash/v2"
)

// MaxRecordBytes bounds the payload of a record. It is twice the largest block
// of any shipped genesis, because a validator journals the blocks it votes for.
const MaxRecordBytes = 128 << 20

const (
	magic         = "cowboyJ\n"
	formatVersion = 1
	fileHeader    = 8 + 4 + 8 + 4
	recordHeader  = 4 + 8 + 8
)

// salt is what the checksums of one file have in common.
type salt [8]byte

// newFileHeader returns what a file with the given salt begins with.
func newFileHeader(s salt) []byte {
	b := append(make([]byte, 0, fileHeader), magic...)
	b = binary.LittleEndian.AppendUint32(b, formatVersion)
	b = append(b, s[:]...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// readFileHeader returns the file's salt. A file is only ever seen with a whole
// header, because it gets its name after its header is durable.
func readFileHeader(r io.ReaderAt, size int64) (salt, error) {
	if size < fileHeader {
		return salt{}, &DamageError{Reason: fmt.Sprintf("file of %d bytes has no header", size)}
	}
	var b [fileHeader]byte
	if _, err := r.ReadAt(b[:], 0); err != nil {
		return salt{}, fmt.Errorf("read journal header: %w", err)
	}
	s := salt(b[12:20])
	switch version := binary.LittleEndian.Uint32(b[8:]); {
	case string(b[:8]) != magic:
		return salt{}, &DamageError{Reason: "file is not a journal"}
	case binary.LittleEndian.Uint32(b[20:]) != crc32.Checksum(b[:20], crc32.MakeTable(crc32.Castagnoli)):
		return salt{}, &DamageError{Reason: "header has a wrong checksum"}
	case version != formatVersion:
		return salt{}, fmt.Errorf("%w %d, this program writes %d", ErrVersion, version, formatVersion)
	}
	return s, nil
}

// appendRecord appends record number n.
func appendRecord(dst []byte, s salt, n uint64, payload []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	dst = binary.LittleEndian.AppendUint64(dst, n)
	dst = binary.LittleEndian.AppendUint64(dst, checksum(s, dst[len(dst)-12:], payload))
	return append(dst, payload...)
}

// checksum covers the salt, length and number of a record, then the payload.
func checksum(s salt, head, payload []byte) uint64 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.Write(s[:]) // never fails
	_, _ = d.Write(head)
	_, _ = d.Write(payload)
	return d.Sum64()
}

// errBad means that there is no good record at a place. It never leaves the
// package.
var errBad = errors.New("bad record")

// reader reads records from a file of a fixed size.
type reader struct {
	r    io.ReaderAt
	size int64
	salt salt
	buf  []byte // payload of the last record, reused
}

// at reads the record at off. It returns its number and the place behind it, or
// errBad. The payload stays valid until the next call.
func (r *reader) at(off int64) (payload []byte, n uint64, end int64, err error) {
	if r.size-off < recordHeader {
		return nil, 0, 0, errBad
	}
	var head [recordHeader]byte
	if _, err := r.r.ReadAt(head[:], off); err != nil {
		return nil, 0, 0, fmt.Errorf("read journal at %d: %w", off, err)
	}
	length := int64(binary.LittleEndian.Uint32(head[:]))
	if length > MaxRecordBytes || length > r.size-off-recordHeader {
		return nil, 0, 0, errBad
	}
	if int64(cap(r.buf)) < length {
		r.buf = make([]byte, length)
	}
	payload = r.buf[:length]
	if _, err := r.r.ReadAt(payload, off+recordHeader); err != nil {
		return nil, 0, 0, fmt.Errorf("read journal at %d: %w", off, err)
	}
	if checksum(r.salt, head[:12], payload) != binary.LittleEndian.Uint64(head[12:]) {
		return nil, 0, 0, errBad
	}
	return payload, binary.LittleEndian.Uint64(head[4:]), off + recordHeader + length, nil
}

// scan calls f with each record up to the first bad one or the end. It returns
// the place it came to and the number of records.
func (r *reader) scan(f func(payload []byte) error) (end int64, n uint64, err error) {
	for end = fileHeader; end < r.size; n++ {
		payload, number, next, err := r.at(end)
		if errors.Is(err, errBad) {
			return end, n, nil
		}
		if err != nil {
			return end, n, err
		}
		if number != n {
			return end, n, &DamageError{Offset: end, Reason: fmt.Sprintf("record %d stands where %d belongs", number, n)}
		}
		if err := f(payload); err != nil {
			return end, n, err
		}
		end = next
	}
	return end, n, nil
}

// goodAfter looks for a good record anywhere behind off, where record n is bad.
// Numbers that cannot follow n are passed over before any checksum, so that
// payloads which look like records cost little.
func (r *reader) goodAfter(off int64, n uint64) (found bool, err error) {
	const window = 1 << 20
	buf := make([]byte, window+recordHeader)
	for start := off + 1; r.size-start >= recordHeader; start += window {
		part := buf[:min(int64(len(buf)), r.size-start)]
		if _, err := r.r.ReadAt(part, start); err != nil {
			return false, fmt.Errorf("read journal at %d: %w", start, err)
		}
		for i := 0; i < window && i+recordHeader <= len(part); i++ {
			number := binary.LittleEndian.Uint64(part[i+4:])
			if number <= n || number-n > uint64(r.size-off)/recordHeader {
				continue
			}
			if _, _, _, err := r.at(start + int64(i)); err == nil {
				return true, nil
			} else if !errors.Is(err, errBad) {
				return false, err
			}
		}
	}
	return false, nil
}
