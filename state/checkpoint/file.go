package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// A checkpoint in a file:
//
//	magic (16) ‖ record*
//	record = length (u32) ‖ crc32c of the payload (u32) ‖ payload
//
// The payloads are the head, all chunks in the order of [Sequence], and an end:
// 'e' ‖ number of chunks (u64). The checksum only tells a damaged disk from a
// lie; what the file says is proved by the chunks.
const (
	magic       = "cowboy-snapshot\x01"
	recordBytes = 8
	tagEnd      = 'e'
	endBytes    = 1 + 8
)

// Faults of a file.
var (
	// ErrNoSnapshot means that the bytes do not begin like a snapshot.
	ErrNoSnapshot = errors.New("not a snapshot file of this version")
	// ErrDamaged means that a record is cut off or changed.
	ErrDamaged = errors.New("snapshot is damaged")
)

// Writer writes a snapshot.
type Writer struct {
	w      io.Writer
	buffer []byte
	chunks uint64
	bytes  int64
}

// NewWriter begins a snapshot with its head.
func NewWriter(w io.Writer, h *Head) (*Writer, error) {
	out := &Writer{w: w}
	n, err := io.WriteString(w, magic)
	out.bytes = int64(n)
	if err != nil {
		return nil, fmt.Errorf("write snapshot: %w", err)
	}
	return out, out.record(h.Append)
}

func (w *Writer) record(payload func([]byte) []byte) error {
	w.buffer = payload(append(w.buffer[:0], make([]byte, recordBytes)...))
	body := w.buffer[recordBytes:]
	binary.BigEndian.PutUint32(w.buffer, uint32(len(body)))
	binary.BigEndian.PutUint32(w.buffer[4:], checksum(body))
	n, err := w.w.Write(w.buffer)
	w.bytes += int64(n)
	if err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// Chunk adds a chunk.
func (w *Writer) Chunk(c Chunk) error {
	w.chunks++
	if err := w.record(c.Append); err != nil {
		return err
	}
	if n := len(w.buffer) - recordBytes; n > MaxChunkBytes {
		return fmt.Errorf("write snapshot: a chunk takes %d bytes, at most %d are read", n, MaxChunkBytes)
	}
	return nil
}

// Finish writes the end and returns the size of the whole.
func (w *Writer) Finish() (bytes int64, err error) {
	err = w.record(func(dst []byte) []byte { return appendU64(append(dst, tagEnd), w.chunks) })
	return w.bytes, err
}

// Reader reads a snapshot from its beginning.
type Reader struct {
	r      io.Reader
	head   *Head
	chunks uint64
}

// NewReader reads the head.
func NewReader(r io.Reader) (*Reader, error) {
	var first [len(magic)]byte
	if _, err := io.ReadFull(r, first[:]); err != nil || string(first[:]) != magic {
		return nil, notOne(ErrNoSnapshot, err)
	}
	out := &Reader{r: r}
	payload, err := out.record(maxHeadBytes)
	if err != nil {
		return nil, err
	}
	out.head, err = DecodeHead(payload)
	return out, err
}

// Head is the head, unchecked.
func (r *Reader) Head() *Head { return r.head }

// readFault tells an end where there should be none from what the machine says.
func readFault(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends too early", ErrDamaged)
	}
	return err
}

// notOne is the verdict on a file that cannot be read as one, unless the machine
// could not read it.
func notOne(verdict, err error) error {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return errors.Join(verdict, readFault(err))
}

// growBytes is the memory taken for a record before any of it has come.
const growBytes = 1 << 20

func (r *Reader) record(bytesMax int) ([]byte, error) {
	var head [recordBytes]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return nil, readFault(err)
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	if size == 0 || size > int64(bytesMax) {
		return nil, fmt.Errorf("%w: a record of %d bytes", ErrDamaged, size)
	}
	var payload []byte
	for int64(len(payload)) < size {
		n := int(min(size-int64(len(payload)), growBytes))
		payload = slices.Grow(payload, n)[:len(payload)+n]
		if _, err := io.ReadFull(r.r, payload[len(payload)-n:]); err != nil {
			return nil, readFault(err)
		}
	}
	if checksum(payload) != binary.BigEndian.Uint32(head[4:]) {
		return nil, fmt.Errorf("%w: a record has another checksum", ErrDamaged)
	}
	return payload, nil
}

// Chunk returns the bytes of the next chunk, which are the caller's, and io.EOF
// behind the last one.
func (r *Reader) Chunk() ([]byte, error) {
	payload, err := r.record(MaxChunkBytes)
	if err != nil || payload[0] != tagEnd {
		r.chunks++
		return payload, err
	}
	if len(payload) != endBytes || binary.BigEndian.Uint64(payload[1:]) != r.chunks {
		return nil, fmt.Errorf("%w: %d chunks, the end says otherwise", ErrDamaged, r.chunks)
	}
	if _, err := io.ReadFull(r.r, make([]byte, 1)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: bytes behind its end", ErrDamaged)
	}
	return nil, io.EOF
}

// Index finds chunks in a snapshot for those who ask for them.
type Index struct {
	file   io.ReaderAt
	head   []byte
	places []indexed // ascending
}

type indexed struct {
	key    Request
	offset int64 // of the payload
	size   uint32
	sum    uint32
}

// NewIndex reads where the chunks of a snapshot are. It trusts the file to be
// one that this node wrote, and reads the beginning of each record only.
func NewIndex(file io.ReaderAt) (*Index, error) {
	x := &Index{file: file}
	var first [len(magic)]byte
	if _, err := file.ReadAt(first[:], 0); err != nil || string(first[:]) != magic {
		return nil, notOne(ErrNoSnapshot, err)
	}
	for at := int64(len(magic)); ; {
		var b [recordBytes + keyBytes]byte
		n, err := file.ReadAt(b[:], at)
		if n < recordBytes+1 {
			return nil, notOne(ErrDamaged, err)
		}
		p := indexed{offset: at + recordBytes, size: binary.BigEndian.Uint32(b[:]), sum: binary.BigEndian.Uint32(b[4:])}
		at = p.offset + int64(p.size)
		switch tag := b[recordBytes]; {
		case tag == tagEnd:
			if x.head == nil {
				return nil, fmt.Errorf("%w: no head", ErrDamaged)
			}
			slices.SortFunc(x.places, func(a, b indexed) int { return a.key.compare(b.key) })
			return x, nil
		case tag == tagHead && x.head == nil && p.size <= maxHeadBytes:
			if x.head, err = x.read(p); err != nil {
				return nil, err
			}
			continue
		}
		body := b[recordBytes:n]
		if p.key, err = keyOf(body[:min(len(body), int(p.size))]); err != nil || p.size > MaxChunkBytes {
			return nil, errors.Join(ErrDamaged, err)
		}
		x.places = append(x.places, p)
	}
}

// HeadBytes is the encoded head.
func (x *Index) HeadBytes() []byte { return x.head }

// Find returns the chunk that answers a request: the last one that begins at or
// before what is asked for. It is false if there is none.
func (x *Index) Find(q Request) (chunk []byte, ok bool, err error) {
	n, exact := slices.BinarySearchFunc(x.places, q, func(p indexed, q Request) int { return p.key.compare(q) })
	if !exact {
		n--
	}
	if n < 0 || x.places[n].key.Kind != q.Kind || x.places[n].key.Account != q.Account || q.Kind == AskList && !exact {
		return nil, false, nil
	}
	chunk, err = x.read(x.places[n])
	return chunk, err == nil, err
}

func (x *Index) read(p indexed) ([]byte, error) {
	b := make([]byte, p.size)
	if _, err := x.file.ReadAt(b, p.offset); err != nil {
		return nil, readFault(err)
	}
	if checksum(b) != p.sum {
		return nil, fmt.Errorf("%w: a record has another checksum", ErrDamaged)
	}
	return b, nil
}
