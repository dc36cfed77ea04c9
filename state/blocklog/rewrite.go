package blocklog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrOtherSize means parts that do not fill the place of a record to the byte.
var ErrOtherSize = errors.New("the parts do not take the place of the record")

// Salvage returns what is whole of a record: nil in place of each part that is
// damaged, and whether the record has no damage at all. It reads the file that has the
// segment's name now, whatever is open for readers. An error says that nothing could be
// read; a file that ends too early is none, nor are sectors that the disk does not give
// back.
func (l *Log) Salvage(height uint64, p Place) (parts [][]byte, whole bool, err error) {
	record, gaps, err := l.readByName(height, p)
	if err != nil {
		return nil, false, err
	}
	whole = !gaps && checkHead(record, height, p) == ""
	parts = make([][]byte, p.Parts)
	for i := range p.Parts {
		start, end, sum, ok := entryOf(record[headBytes:], i, p)
		if ok && partSum(p.Salt, height, i, record[start:end]) == sum {
			parts[i] = record[start:end:end]
		}
		whole = whole && parts[i] != nil
	}
	if whole { // readers who found it damaged had another file open, or came while it was written
		l.reading.invalidate(p.Segment)
	}
	return parts, whole, nil
}

// readByName reads the bytes of a record out of the file that has the segment's name,
// zeros where the file has ended or the disk gives nothing back, and says whether there
// are such gaps.
func (l *Log) readByName(height uint64, p Place) (record []byte, gaps bool, err error) {
	file, err := l.cfg.FS.Open(l.path(p.Segment))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, l.damaged(height, p, missing)
	}
	if Unreadable(err) {
		return nil, false, l.unread(height, p, err)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read block %d from %s: %w", height, name(p.Segment), err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	record = make([]byte, headBytes+int(p.Length))
	n, err := file.ReadAt(record, int64(p.Offset))
	if gaps = Unreadable(err); gaps {
		clear(record)
		n, err = readSectors(file, record, int64(p.Offset))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("read block %d from %s: %w", height, name(p.Segment), err)
	}
	return record, gaps || n < len(record), nil
}

// missing is the reason of a segment without a file.
const missing = "the file is missing"

// Rewrite writes a damaged record again, at its place, from its parts, which must fill
// it to the byte ([ErrOtherSize]); salt, length and number of parts are those of the
// index, so that it becomes what it was where the parts are. No byte of another record
// is written. It returns when the record is durable and was read back; until then, and
// after an error, the record is damaged as it was, or more, or whole: it may be
// written again. It does not hold up Append, and never makes it fail.
//
// A disk that cannot read a sector cannot write a part of it either, and other records
// have theirs in the first and the last of this one. With others, which says that they
// can be had from somebody else, what cannot be read of those two is given up where it
// has to be: it becomes zeros, which is damage as well, and can be written again.
func (l *Log) Rewrite(height uint64, p Place, parts [][]byte, others bool) error {
	if uint32(len(parts)) != p.Parts || lengthOf(parts) != int(p.Length) {
		return fmt.Errorf("%w: block %d: %d parts in %d bytes, the place has %d in %d", ErrOtherSize, height, len(parts), lengthOf(parts), p.Parts, p.Length)
	}
	l.rewriting.Lock()
	defer l.rewriting.Unlock()
	if err := l.rewrite(p, appendRecord(nil, height, p, parts), others); err != nil {
		return fmt.Errorf("write block %d again: %w", height, err)
	}
	// A file that was put in the place of another is the one to read from now on.
	l.reading.invalidate(p.Segment)
	if _, err := l.Read(height, p); err != nil {
		return fmt.Errorf("block %d was written again: %w", height, err)
	}
	return nil
}

func (l *Log) rewrite(p Place, record []byte, others bool) error {
	// To open a file for writing makes it where there is none, and a segment of one
	// record would pass for a whole one at the next start.
	if err := l.checkHeader(p.Segment); err != nil {
		return err
	}
	file, err := l.cfg.FS.OpenReadWrite(l.path(p.Segment), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(record, int64(p.Offset))
	if others && Unreadable(err) {
		if err = blank(file, int64(p.Offset), p.end()); err == nil {
			_, err = file.WriteAt(record, int64(p.Offset))
		}
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	back := make([]byte, len(record))
	if file, err = l.cfg.FS.Open(l.path(p.Segment)); err != nil {
		return err
	}
	if _, err = file.ReadAt(back, int64(p.Offset)); errors.Is(err, io.EOF) || err == nil && !bytes.Equal(back, record) {
		err = errors.New("it is not what was written")
	}
	return errors.Join(err, file.Close())
}

// CheckFiles returns what is wrong with the files of the segments up to last: a file
// without its name, one with another's header, or one that is shorter than what is open
// for readers. Readers may not notice it before the log is opened again, because files
// stay open.
func (l *Log) CheckFiles(last uint32) (found []*DamageError, err error) {
	for n := uint32(1); n <= last; n++ {
		damage := new(DamageError)
		switch fault := l.checkFile(n); {
		case errors.Is(fault, fs.ErrNotExist):
			found = append(found, &DamageError{File: name(n), Reason: missing})
		case errors.As(fault, &damage):
			found = append(found, damage)
		case Unreadable(fault):
			found = append(found, &DamageError{File: name(n), Reason: unreadable, Cause: fault})
		case fault != nil:
			err = errors.Join(err, fmt.Errorf("look at %s: %w", name(n), fault))
		}
	}
	return found, err
}

func (l *Log) checkFile(number uint32) error {
	known := l.reading.sizeOf(number)
	if err := l.checkHeader(number); err != nil {
		return err
	}
	info, err := l.cfg.FS.Stat(l.path(number))
	if err == nil && info.Size() < known {
		err = &DamageError{File: name(number), Reason: fmt.Sprintf("it has %d bytes, and had %d", info.Size(), known)}
	}
	return err
}

// partsAtOnce bounds how many parts ReadSome returns.
const partsAtOnce = 4096

// ReadSome returns the parts of a record from part first on and before part end, as many
// as fit into bytesMax bytes: none if the first of them does not. It reads little else.
func (l *Log) ReadSome(height uint64, p Place, first, end uint32, bytesMax int) (parts [][]byte, err error) {
	end = min(end, p.Parts)
	if first >= end {
		return nil, l.damaged(height, p, fmt.Sprintf("no part %d in %d", first, p.Parts))
	}
	at, err := l.segment(height, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.reading.give(at)) }()
	from := max(first, 1) - 1 // its entry says where the first part begins
	entries := make([]byte, entryBytes*int(min(end, first+partsAtOnce)-from))
	if err := l.readAt(at, entries, height, p, headBytes+int64(from)*entryBytes); err != nil {
		return nil, err
	}
	read := partsRead{place: p, first: first, entries: entries}
	if first == 0 {
		read.entries = append(make([]byte, entryBytes), entries...) // as boundsOf has it
	}
	n, start, stop, ok := read.fit(bytesMax)
	if !ok {
		return nil, l.damaged(height, p, "its parts overlap")
	}
	if n == 0 {
		return nil, nil
	}
	all := make([]byte, stop-start)
	if err := l.readAt(at, all, height, p, int64(start)); err != nil {
		return nil, err
	}
	for i := range n {
		from, to, sum, _ := read.bounds(i)
		part := all[from-start : to-start : to-start]
		if partSum(p.Salt, height, first+uint32(i), part) != sum {
			return nil, l.damaged(height, p, fmt.Sprintf("part %d has a wrong checksum", first+uint32(i)))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// partsRead is a stretch of a record's entries, beginning with the one before first.
type partsRead struct {
	place   Place
	first   uint32
	entries []byte
}

func (r *partsRead) bounds(i int) (start, end int, sum uint64, ok bool) {
	return boundsOf(r.entries[i*entryBytes:][:2*entryBytes], r.place)
}

// fit returns how many parts take bytesMax bytes at most, and where they stand.
func (r *partsRead) fit(bytesMax int) (n, start, end int, ok bool) {
	for n < len(r.entries)/entryBytes-1 {
		from, to, _, ok := r.bounds(n)
		if n > 0 && from != end || !ok {
			return 0, 0, 0, false
		}
		if n == 0 {
			start, end = from, from
		}
		if to-start > bytesMax {
			break
		}
		n, end = n+1, to
	}
	return n, start, end, true
}
