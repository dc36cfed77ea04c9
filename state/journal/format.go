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
	formatVersion = 2
	fileHeader    = 8 + 4 + kindBytes + 8 + 4
	recordHeader  = 4 + 8 + 8

	// Version 1 had no kind. It is read as any, and replaced when it is pruned.
	versionWithoutKind = 1
	headerWithoutKind  = fileHeader - kindBytes
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

// readFileHeader returns the file's salt, and where its records begin. A file is
// only ever seen with a whole header, because it gets its name after its header is
// durable.
func readFileHeader(r io.ReaderAt, size int64, want Kind) (s salt, start int64, err error) {
	short := &DamageError{Reason: fmt.Sprintf("file of %d bytes has no header", size)}
	if size < headerWithoutKind {
		return s, 0, short
	}
	var b [fileHeader]byte
	if _, err := r.ReadAt(b[:min(size, fileHeader)], 0); err != nil {
		return s, 0, fmt.Errorf("read journal header: %w", err)
	}
	wrong := &DamageError{Reason: "header has a wrong checksum"}
	version := binary.LittleEndian.Uint32(b[8:])
	switch {
	case string(b[:8]) != magic:
		return s, 0, &DamageError{Reason: "file is not a journal"}
	case version == versionWithoutKind:
		if !isSealed(b[:headerWithoutKind]) {
			return s, 0, wrong
		}
		return salt(b[12:20]), headerWithoutKind, nil
	case size < fileHeader:
		return s, 0, short
	case !isSealed(b[:]):
		return s, 0, wrong
	case version != formatVersion:
		return s, 0, fmt.Errorf("%w %d, this program writes %d", ErrVersion, version, formatVersion)
	}
	if kind := want.text(); string(b[12:][:kindBytes]) != string(kind[:]) {
		return s, 0, &KindError{Found: Kind(bytes.TrimRight(b[12:][:kindBytes], "\x00")), Want: want}
	}
	return salt(b[12+kindBytes:][:8]), fileHeader, nil
}

func isSealed(header []byte) bool {
	at := len(header) - 4
	return bytes.Equal(sealed(bytes.Clone(header[:at]))[at:], header[at:])
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
	r     io.ReaderAt
	start int64 // of the first record
	size  int64
	salt  salt
	buf   []byte // payload of the last record, reused
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
