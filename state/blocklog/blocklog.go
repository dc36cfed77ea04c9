package blocklog

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

var (
	// ErrDamaged means that stored blocks are damaged; see [DamageError].
	ErrDamaged = errors.New("stored blocks are damaged")
	// ErrFailed means that an earlier append failed. What of it is on disk is
	// unknown: the process has to stop.
	ErrFailed = errors.New("block log stopped after a failed write")
	// ErrTooLarge means that a record has more than MaxRecordBytes.
	ErrTooLarge = errors.New("block record is too large")
)

// DamageError says what is damaged. It matches [ErrDamaged].
type DamageError struct {
	File   string // name in the log's folder
	Offset int64  // of the record, 0 for the file
	Height uint64 // of the record, 0 for the file
	Reason string
	Cause  error // what the disk answered, nil where it gave bytes, and they are wrong
}

func (e *DamageError) Error() string {
	reason := e.Reason
	if e.Cause != nil {
		reason = fmt.Sprintf("%s: %v", reason, e.Cause)
	}
	if e.Height == 0 {
		return fmt.Sprintf("%v: %s: %s", ErrDamaged, e.File, reason)
	}
	return fmt.Sprintf("%v: block %d in %s at byte %d: %s", ErrDamaged, e.Height, e.File, e.Offset, reason)
}

// Unwrap makes the error match ErrDamaged, and what the disk answered.
func (e *DamageError) Unwrap() []error {
	if e.Cause == nil {
		return []error{ErrDamaged}
	}
	return []error{ErrDamaged, e.Cause}
}

// Config says how blocks are kept.
type Config struct {
	FS           vfs.FS
	Dir          string // a folder of the log's own
	SegmentBytes int64  // size past which no record is added to a segment
}

// DefaultSegmentBytes keeps a year of small blocks in some dozens of files.
const DefaultSegmentBytes = 256 << 20

// Check returns an error for settings that cannot work.
func (c *Config) Check() error {
	if c.FS == nil || c.Dir == "" {
		return errors.New("block log: no folder")
	}
	if c.SegmentBytes < 4<<10 || c.SegmentBytes > 1<<40 {
		return errors.New("block log: segments outside 4 KiB to 1 TiB")
	}
	return nil
}

// Log is an open block log.
type Log struct {
	cfg     Config
	reading *segments
	bytes   atomic.Int64 // of all segments
	number  uint32       // of the segment that takes records; 0 before the first
	file    vfs.File     // nil while number is 0
	end     int64        // of the last record
	buffer  []byte
	failed  error

	rewriting sync.Mutex // held by the one record that is written again
}

// Open opens the log in cfg.Dir, or makes an empty one. last is the place of the
// newest record that is indexed, at height; the zero Place if there is none.
func Open(cfg Config, height uint64, last Place) (*Log, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	l := newLog(cfg)
	if err := l.open(height, last); err != nil {
		return nil, errors.Join(fmt.Errorf("open block log: %w", err), l.Close())
	}
	return l, nil
}

func newLog(cfg Config) *Log {
	l := &Log{cfg: cfg}
	l.reading = newSegments(cfg.FS, l.path)
	return l
}

func (l *Log) open(height uint64, last Place) error {
	if err := l.cfg.FS.MkdirAll(l.cfg.Dir, 0o755); err != nil {
		return err
	}
	if err := syncDir(l.cfg.FS, l.cfg.FS.PathDir(l.cfg.Dir)); err != nil {
		return err
	}
	if err := l.takeStock(last.Segment); err != nil || last == (Place{}) {
		return err
	}
	if _, err := l.Read(height, last); err != nil {
		return err
	}
	file, err := l.cfg.FS.OpenReadWrite(l.path(last.Segment), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	l.number, l.file, l.end = last.Segment, file, last.end()
	return l.cutOff()
}

// takeStock counts the bytes of all segments and misses none up to last.
func (l *Log) takeStock(last uint32) error {
	names, err := l.cfg.FS.List(l.cfg.Dir)
	if err != nil {
		return err
	}
	for n := uint32(1); n <= last; n++ {
		if !slices.Contains(names, name(n)) {
			return &DamageError{File: name(n), Reason: missing}
		}
		if err := l.checkHeader(n); err != nil {
			return err
		}
	}
	for _, file := range names {
		if !strings.HasSuffix(file, suffix) {
			continue
		}
		info, err := l.cfg.FS.Stat(l.cfg.FS.PathJoin(l.cfg.Dir, file))
		if err != nil {
			return err
		}
		l.bytes.Add(info.Size())
	}
	return nil
}

func (l *Log) checkHeader(number uint32) (err error) {
	file, err := l.cfg.FS.Open(l.path(number))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var header [headerBytes]byte
	if _, err := file.ReadAt(header[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.Equal(header[:], segmentHeader(number)) {
		return &DamageError{File: name(number), Reason: "the header is not that of this segment"}
	}
	return nil
}

// cutOff drops what a crash left behind the last record.
func (l *Log) cutOff() error {
	info, err := l.file.Stat()
	if err != nil || info.Size() == l.end {
		return err
	}
	// Files of the machine can be shortened although vfs does not say so; in
	// others the next append writes over what is left.
	shorten, ok := l.file.(interface{ Truncate(size int64) error })
	if !ok {
		return nil
	}
	if err := shorten.Truncate(l.end); err != nil {
		return err
	}
	l.bytes.Add(l.end - info.Size())
	l.reading.invalidate(l.number) // the last record was read when the file was longer
	return l.file.Sync()
}

const suffix = ".blocks"

func name(segment uint32) string { return fmt.Sprintf("%06d%s", segment, suffix) }

func (l *Log) path(segment uint32) string { return l.cfg.FS.PathJoin(l.cfg.Dir, name(segment)) }

func syncDir(on vfs.FS, dir string) error {
	if dir == "" {
		dir = "."
	}
	f, err := on.OpenDir(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Append writes a record and syncs it. When it returns, the record survives a
// power cut, and the caller may index its place. It keeps no part.
func (l *Log) Append(height uint64, parts [][]byte) (Place, error) {
	if l.failed != nil {
		return Place{}, l.failed
	}
	place, err := l.add(height, parts)
	if err != nil && !errors.Is(err, ErrTooLarge) {
		l.failed = fmt.Errorf("%w: %w", ErrFailed, err)
		err = l.failed
	}
	if err != nil {
		return Place{}, fmt.Errorf("append block %d: %w", height, err)
	}
	return place, nil
}

func (l *Log) add(height uint64, parts [][]byte) (Place, error) {
	length := lengthOf(parts)
	if length > MaxRecordBytes {
		return Place{}, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, length, MaxRecordBytes)
	}
	place := Place{Length: uint32(length), Parts: uint32(len(parts))}
	if l.number == 0 || l.end > headerBytes && l.end+int64(headBytes+length) > l.cfg.SegmentBytes {
		if err := l.roll(); err != nil {
			return Place{}, err
		}
	}
	place.Segment, place.Offset = l.number, uint64(l.end)
	var salt [8]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return Place{}, err
	}
	place.Salt = binary.LittleEndian.Uint64(salt[:])
	l.buffer = appendRecord(l.buffer[:0], height, place, parts)
	_, err := l.file.WriteAt(l.buffer, l.end)
	if err == nil {
		err = l.file.SyncData()
	}
	if err != nil {
		return Place{}, err
	}
	l.bytes.Add(int64(len(l.buffer)))
	l.end = place.end()
	if cap(l.buffer) > bufferKept {
		l.buffer = nil
	}
	return place, nil
}

// lengthOf is what the entries and parts of a record take.
func lengthOf(parts [][]byte) int {
	length := entryBytes * len(parts)
	for _, part := range parts {
		length += len(part)
	}
	return length
}

// bufferKept is how much memory an append leaves for the next.
const bufferKept = 16 << 20

// roll begins the next segment. A file of that name can be there, from before a
// crash, but nothing in it is indexed.
func (l *Log) roll() error {
	number := l.number + 1
	file, err := l.cfg.FS.OpenReadWrite(l.path(number), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(segmentHeader(number), 0)
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = syncDir(l.cfg.FS, l.cfg.Dir)
	}
	if err == nil && l.file != nil {
		err = l.file.Close()
		l.file = nil
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	l.number, l.file, l.end = number, file, headerBytes
	l.bytes.Add(headerBytes)
	return nil
}

// Bytes returns the size of all segments.
func (l *Log) Bytes() int64 { return l.bytes.Load() }

// Close closes the log. Reads that are under way go on.
func (l *Log) Close() error {
	l.reading.close()
	if l.file == nil {
		return nil
	}
	file := l.file
	l.file = nil
	if l.failed == nil {
		l.failed = fmt.Errorf("%w: it is closed", ErrFailed)
	}
	return file.Close()
}

// Read returns all parts of the record at a place.
func (l *Log) Read(height uint64, p Place) (parts [][]byte, err error) {
	at, err := l.segment(height, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.reading.give(at)) }()
	record := make([]byte, headBytes+int(p.Length))
	if err := l.readAt(at, record, height, p, 0); err != nil {
		return nil, err
	}
	if reason := checkHead(record, height, p); reason != "" {
		return nil, l.damaged(height, p, reason)
	}
	for i := range p.Parts {
		start, end, sum, ok := entryOf(record[headBytes:], i, p)
		if !ok || partSum(p.Salt, height, i, record[start:end]) != sum {
			return nil, l.damaged(height, p, fmt.Sprintf("part %d has a wrong checksum", i))
		}
		parts = append(parts, record[start:end:end])
	}
	return parts, nil
}

// ReadPart returns one part of the record at a place, and reads little else.
func (l *Log) ReadPart(height uint64, p Place, i uint32) (part []byte, err error) {
	at, err := l.segment(height, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.reading.give(at)) }()
	start, end, sum, err := l.bounds(at, height, p, i)
	if err != nil {
		return nil, err
	}
	part = make([]byte, end-start)
	if err := l.readAt(at, part, height, p, int64(start)); err != nil {
		return nil, err
	}
	if partSum(p.Salt, height, i, part) != sum {
		return nil, l.damaged(height, p, fmt.Sprintf("part %d has a wrong checksum", i))
	}
	return part, nil
}

// PartSize returns how many bytes a part has, and reads nothing of it.
func (l *Log) PartSize(height uint64, p Place, i uint32) (bytes int, err error) {
	at, err := l.segment(height, p)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.reading.give(at)) }()
	start, end, _, err := l.bounds(at, height, p, i)
	return end - start, err
}

// bounds reads where a part lies in a segment, and its checksum.
func (l *Log) bounds(at *segment, height uint64, p Place, i uint32) (start, end int, sum uint64, err error) {
	if i >= p.Parts {
		return 0, 0, 0, l.damaged(height, p, fmt.Sprintf("no part %d in %d", i, p.Parts))
	}
	// The entry of the part and the one before it, which says where it begins.
	var entries [2 * entryBytes]byte
	first, pair := uint32(0), entries[entryBytes:]
	if i > 0 {
		first, pair = i-1, entries[:]
	}
	if err := l.readAt(at, pair, height, p, headBytes+int64(first)*entryBytes); err != nil {
		return 0, 0, 0, err
	}
	start, end, sum, ok := boundsOf(entries[:], p)
	if !ok {
		err = l.damaged(height, p, fmt.Sprintf("part %d has a wrong checksum", i))
	}
	return start, end, sum, err
}

// ReadFirst returns the first n parts of the record at a place, and reads little else:
// nothing of them if they take more than bytesMax bytes, which fits says.
func (l *Log) ReadFirst(height uint64, p Place, n uint32, bytesMax int) (parts [][]byte, fits bool, err error) {
	if n == 0 || n > p.Parts {
		return nil, false, l.damaged(height, p, fmt.Sprintf("no %d parts in %d", n, p.Parts))
	}
	at, err := l.segment(height, p)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, l.reading.give(at)) }()
	entries := make([]byte, entryBytes*int(n))
	if err := l.readAt(at, entries, height, p, headBytes); err != nil {
		return nil, false, err
	}
	first, end, _, ok := entryOf(entries, 0, p)
	for i := uint32(1); ok && i < n; i++ {
		_, end, _, ok = entryOf(entries, i, p)
	}
	switch {
	case !ok:
		return nil, false, l.damaged(height, p, "its parts overlap")
	case end-first > bytesMax:
		return nil, false, nil
	}
	all := make([]byte, end-first)
	if err := l.readAt(at, all, height, p, int64(first)); err != nil {
		return nil, false, err
	}
	for i := range n {
		start, end, sum, _ := entryOf(entries, i, p)
		part := all[start-first : end-first : end-first]
		if partSum(p.Salt, height, i, part) != sum {
			return nil, false, l.damaged(height, p, fmt.Sprintf("part %d has a wrong checksum", i))
		}
		parts = append(parts, part)
	}
	return parts, true, nil
}

// readAt reads at a distance from the beginning of the record.
func (l *Log) readAt(at *segment, b []byte, height uint64, p Place, distance int64) error {
	if len(b) == 0 {
		return nil // at the end of the file, that would be an error
	}
	_, err := at.file.ReadAt(b, int64(p.Offset)+distance)
	switch {
	case errors.Is(err, io.EOF):
		return l.damaged(height, p, "the file was cut while it was open")
	case Unreadable(err):
		return l.unread(height, p, err)
	case err != nil:
		return fmt.Errorf("read block %d from %s: %w", height, name(p.Segment), err)
	}
	return nil
}

func (l *Log) damaged(height uint64, p Place, reason string) error {
	return &DamageError{File: name(p.Segment), Offset: int64(p.Offset), Height: height, Reason: reason}
}

// unread is damage that the disk itself reports.
func (l *Log) unread(height uint64, p Place, cause error) error {
	return &DamageError{File: name(p.Segment), Offset: int64(p.Offset), Height: height, Reason: unreadable, Cause: cause}
}
