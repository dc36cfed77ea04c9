package blocklog

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// segmentsOpenMax is how many segments stay open for reading: the newest, which
// everybody reads, and those of a few readers that catch up. Opening a file takes as
// long as reading a small block out of it ten times.
const segmentsOpenMax = 16

// segments are the files that are open for reading. A file is closed when its last
// reader has let go of it and it has lost its place, or the log is closed. Any
// goroutine may use them.
type segments struct {
	fs   vfs.FS
	path func(number uint32) string

	mu     sync.Mutex // guards all below; never held over the disk
	open   map[uint32]*segment
	uses   uint64 // so far; orders segments by their last one
	closed bool   // nothing is kept any more
}

// segment is a file that is open for reading. All but file is guarded by segments.mu.
type segment struct {
	file    vfs.File
	size    int64 // of the file at least: it only grows
	readers int
	kept    bool // it has its place
	used    uint64
}

func newSegments(on vfs.FS, path func(uint32) string) *segments {
	return &segments{fs: on, path: path, open: map[uint32]*segment{}}
}

// acquire returns the segment that holds what ends at a byte, for reading until give.
// The error matches fs.ErrNotExist or errShort where that is why.
func (s *segments) acquire(number uint32, end int64) (*segment, error) {
	at := s.acquireOpen(number)
	if at == nil {
		file, err := s.fs.Open(s.path(number))
		if err != nil {
			return nil, err
		}
		at = s.cacheOpen(number, file)
	}
	if err := s.reaches(at, end); err != nil {
		return nil, errors.Join(err, s.give(at))
	}
	return at, nil
}

// acquireOpen returns a segment that is open, with one reader more, or nil.
func (s *segments) acquireOpen(number uint32) *segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.open[number]
	if at != nil {
		s.uses++
		at.readers, at.used = at.readers+1, s.uses
	}
	return at
}

// cacheOpen gives an open file a place, unless another reader was first or nothing is kept.
func (s *segments) cacheOpen(number uint32, file vfs.File) *segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uses++
	at := &segment{file: file, readers: 1, used: s.uses}
	if s.closed || s.open[number] != nil {
		return at // closed by its reader
	}
	if len(s.open) >= segmentsOpenMax {
		s.dropOldest()
	}
	s.open[number], at.kept = at, true
	return at
}

// dropOldest takes its place from the segment that was read longest ago. s.mu is held.
func (s *segments) dropOldest() {
	oldest := uint32(0)
	for number, at := range s.open {
		if oldest == 0 || at.used < s.open[oldest].used {
			oldest = number
		}
	}
	s.evict(oldest)
}

// evict takes its place from a segment, which is closed now or by its last reader. s.mu
// is held; closing a file that was only read waits for nothing.
func (s *segments) evict(number uint32) {
	at := s.open[number]
	delete(s.open, number)
	if at.kept = false; at.readers == 0 {
		_ = at.file.Close() // only read
	}
}

// invalidate has the next reader open a segment's file anew.
func (s *segments) invalidate(number uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[number] != nil {
		s.evict(number)
	}
}

// sizeOf is how long the file of a segment was when readers last looked, 0 where it is
// not open.
func (s *segments) sizeOf(number uint32) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.open[number]; at != nil {
		return at.size
	}
	return 0
}

// errShort means that a segment ends before the record does.
var errShort = errors.New("the file ends too early")

// reaches reports an error where the file ends before that byte.
func (s *segments) reaches(at *segment, end int64) error {
	s.mu.Lock()
	size := at.size
	s.mu.Unlock()
	if size >= end {
		return nil
	}
	info, err := at.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < end {
		return fmt.Errorf("%w: at byte %d", errShort, info.Size())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at.size = max(at.size, info.Size())
	return nil
}

// give ends a reader's use of a segment.
func (s *segments) give(at *segment) error {
	s.mu.Lock()
	at.readers--
	last := at.readers == 0 && !at.kept
	s.mu.Unlock()
	if last {
		return at.file.Close()
	}
	return nil
}

// close closes what nobody reads, and the rest when it is given back. Reads after it
// open their file each.
func (s *segments) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for number := range s.open {
		s.evict(number)
	}
}

// segment takes the file of a record, which must hold all of it.
func (l *Log) segment(height uint64, p Place) (*segment, error) {
	at, err := l.reading.acquire(p.Segment, p.end())
	switch {
	case err == nil:
		return at, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, l.damaged(height, p, missing)
	case errors.Is(err, errShort):
		return nil, l.damaged(height, p, err.Error())
	case Unreadable(err):
		return nil, l.unread(height, p, err)
	}
	return nil, fmt.Errorf("read block %d: %w", height, err)
}
