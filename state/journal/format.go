package journal

import (
	"bytes"
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
	formatVersion = 3
	fileHeader    = 8 + 4 + kindBytes + 8 + 4
	recordHeader  = 4 + 8 + 8 + 8

	// Files of earlier versions are read and replaced when they are opened. Version 1 had no
	// kind, and is read as any. Up to version 2 heads of records had no sum of their own.
	versionWithoutKind = 1
	headerWithoutKind  = fileHeader - kindBytes
	versionWithoutSums = 2
	headWithoutSum     = recordHeader - 8
)

// Kind says what the records of a file are, so that files which changed their
// names are told apart. It has at most 8 bytes.
type Kind string

const kindBytes = 8

// KindVotes is the kind of a validator's journal of votes. Other owners of
// journals name theirs where they open them.
const KindVotes Kind = "votes"

// text is the kind as a file has it.
func (k Kind) text() (b [kindBytes]byte) {
	copy(b[:], k)
	return b
}

// salt is what the checksums of one file have in common.
type salt [8]byte

// layout is how the records of one file are written.
type layout struct {
	salt    salt
	headSum bool // heads have a sum of their own
}

// headBytes is the size of a record's head.
func (l layout) headBytes() int64 {
	if l.headSum {
		return recordHeader
	}
	return headWithoutSum
}

// newFileHeader returns what a file of the given kind and salt begins with.
func newFileHeader(k Kind, s salt) []byte {
	b := append(make([]byte, 0, fileHeader), magic...)
	b = binary.LittleEndian.AppendUint32(b, formatVersion)
	kind := k.text()
	return sealed(append(append(b, kind[:]...), s[:]...))
}

// sealed appends the checksum of a header.
func sealed(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// readFileHeader returns how the file's records are written, and where they begin. A file
// is only ever seen with a whole header, because it gets its name after its header is
// durable.
func readFileHeader(r io.ReaderAt, size int64, want Kind) (l layout, start int64, err error) {
	short := &DamageError{Reason: fmt.Sprintf("file of %d bytes has no header", size)}
	if size < headerWithoutKind {
		return l, 0, short
	}
	var b [fileHeader]byte
	if _, err := r.ReadAt(b[:min(size, fileHeader)], 0); err != nil {
		return l, 0, fmt.Errorf("read journal header: %w", err)
	}
	wrong := &DamageError{Reason: "header has a wrong checksum"}
	version := binary.LittleEndian.Uint32(b[8:])
	switch {
	case string(b[:8]) != magic:
		return l, 0, &DamageError{Reason: "file is not a journal"}
	case version == versionWithoutKind:
		if !isSealed(b[:headerWithoutKind]) {
			return l, 0, wrong
		}
		return layout{salt: salt(b[12:20])}, headerWithoutKind, nil
	case size < fileHeader:
		return l, 0, short
	case !isSealed(b[:]):
		return l, 0, wrong
	case version != formatVersion && version != versionWithoutSums:
		return l, 0, fmt.Errorf("%w %d, this program writes %d", ErrVersion, version, formatVersion)
	}
	if kind := want.text(); string(b[12:][:kindBytes]) != string(kind[:]) {
		return l, 0, &KindError{Found: Kind(bytes.TrimRight(b[12:][:kindBytes], "\x00")), Want: want}
	}
	return layout{salt(b[12+kindBytes:][:8]), version > versionWithoutSums}, fileHeader, nil
}

func isSealed(header []byte) bool {
	at := len(header) - 4
	return bytes.Equal(sealed(bytes.Clone(header[:at]))[at:], header[at:])
}

// appendRecord appends record number n.
func (l layout) appendRecord(dst []byte, n uint64, payload []byte) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	dst = binary.LittleEndian.AppendUint64(dst, n)
	if l.headSum {
		dst = binary.LittleEndian.AppendUint64(dst, checksum(l.salt, dst[at:at+12], nil))
	}
	dst = binary.LittleEndian.AppendUint64(dst, checksum(l.salt, dst[at:at+12], payload))
	return append(dst, payload...)
}

// isHead reports whether bytes can be the head of a record of the file: what has no sum of
// its own can.
func (l layout) isHead(b []byte) bool {
	return !l.headSum || checksum(l.salt, b[:12], nil) == binary.LittleEndian.Uint64(b[12:])
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
	r     io.ReaderAt
	start int64 // of the first record
	size  int64
	layout
	head [recordHeader]byte // of the last record
	buf  []byte             // payload of the last record, reused
}

// at reads the record at off. It returns its number and the place behind it, or
// errBad. The payload stays valid until the next call.
func (r *reader) at(off int64) (payload []byte, n uint64, end int64, err error) {
	size := r.headBytes()
	if r.size-off < size {
		return nil, 0, 0, errBad
	}
	head := r.head[:size]
	if _, err := r.r.ReadAt(head, off); err != nil {
		return nil, 0, 0, fmt.Errorf("read journal at %d: %w", off, err)
	}
	length := int64(binary.LittleEndian.Uint32(head))
	if !r.isHead(head) || length > MaxRecordBytes || length > r.size-off-size {
		return nil, 0, 0, errBad
	}
	if int64(cap(r.buf)) < length {
		r.buf = make([]byte, length)
	}
	payload = r.buf[:length]
	if _, err := r.r.ReadAt(payload, off+size); err != nil {
		return nil, 0, 0, fmt.Errorf("read journal at %d: %w", off, err)
	}
	if checksum(r.salt, head[:12], payload) != binary.LittleEndian.Uint64(head[size-8:]) {
		return nil, 0, 0, errBad
	}
	return payload, binary.LittleEndian.Uint64(head[4:]), off + size + length, nil
}

// scanWindow is how much of the file a scan reads at once.
const scanWindow = 256 << 10

// window reads ahead, for who reads from the front to the back.
type window struct {
	r    io.ReaderAt
	size int64 // of the file
	at   int64 // of buf
	buf  []byte
}

// ReadAt implements [io.ReaderAt].
func (w *window) ReadAt(p []byte, off int64) (int, error) {
	if len(p) > scanWindow || off+int64(len(p)) > w.size {
		return w.r.ReadAt(p, off)
	}
	if off < w.at || off+int64(len(p)) > w.at+int64(len(w.buf)) {
		if w.buf == nil {
			w.buf = make([]byte, min(scanWindow, w.size))
		}
		part := w.buf[:min(int64(cap(w.buf)), w.size-off)]
		w.buf = part[:0]
		if _, err := w.r.ReadAt(part, off); err != nil {
			return 0, err
		}
		w.at, w.buf = off, part
	}
	return copy(p, w.buf[off-w.at:]), nil
}

// scan calls f with each record up to the first bad one or the end. It returns
// the place it came to and the number of records.
func (r *reader) scan(f func(payload []byte) error) (end int64, n uint64, err error) {
	direct := r.r
	r.r = &window{r: direct, size: r.size}
	defer func() { r.r = direct }()
	for end = r.start; end < r.size; n++ {
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

// searchTimes is how often the bytes behind a bad record may be read in the search for a
// good one, beside one record of any size, in files whose heads have no sums.
const searchTimes = 8

// goodAfter looks for a good record anywhere behind off, where record n is bad. Numbers
// that cannot follow n are passed over before any checksum, and heads whose own sum is
// wrong before any payload: who chooses payloads can write a head at every other byte, and
// knows no salt. Where heads have no sums, payloads are read for so many bytes in all, and
// beyond that nobody can say what follows: a [*DamageError], the safe side.
func (r *reader) goodAfter(off int64, n uint64) (found bool, err error) {
	const window = 1 << 20
	size := r.headBytes()
	left := MaxRecordBytes + searchTimes*(r.size-off)
	buf := make([]byte, window+size)
	for start := off + 1; r.size-start >= size; start += window {
		part := buf[:min(int64(len(buf)), r.size-start)]
		if _, err := r.r.ReadAt(part, start); err != nil {
			return false, fmt.Errorf("read journal at %d: %w", start, err)
		}
		for i := 0; i < window && i+int(size) <= len(part); i++ {
			number := binary.LittleEndian.Uint64(part[i+4:])
			if number <= n || number-n > uint64((r.size-off)/size) || !r.isHead(part[i:]) {
				continue
			}
			if length := int64(binary.LittleEndian.Uint32(part[i:])); !r.headSum && length <= r.size-start-int64(i)-size {
				if left -= size + length; left < 0 {
					return false, &DamageError{Offset: off, Reason: fmt.Sprintf("record %d is bad, and too much behind it looks like records", n)}
				}
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
