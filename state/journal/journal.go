package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

var (
	// ErrDamaged means that the journal lost or changed something it had made
	// durable; see [DamageError]. Its owner must not act on what is left.
	ErrDamaged = errors.New("journal is damaged")
	// ErrVersion means that another version of this code wrote the file.
	ErrVersion = errors.New("journal has format version")
	// ErrKind means that the file is a journal of something else; see [KindError].
	ErrKind = errors.New("journal holds something else")
	// ErrInUse means that another journal has the file open.
	ErrInUse = errors.New("journal is in use by another process, stop that first")
	// ErrTooLarge means that a record has more than MaxRecordBytes.
	ErrTooLarge = errors.New("journal record is too large")
	// ErrFailed means that an earlier write failed. The process has to stop.
	ErrFailed = errors.New("journal stopped after a failed write")
)

// DamageError says where a journal is damaged. It matches [ErrDamaged].
type DamageError struct {
	Offset int64 // of the first bad byte's record
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%v at byte %d: %s", ErrDamaged, e.Offset, e.Reason)
}

// Unwrap makes the error match ErrDamaged.
func (e *DamageError) Unwrap() error { return ErrDamaged }

// KindError says what a journal holds. It matches [ErrKind].
type KindError struct{ Found, Want Kind }

func (e *KindError) Error() string {
	return fmt.Sprintf("%v: it is a journal of %q, not of %q: was the file put under another's name?", ErrKind, e.Found, e.Want)
}

// Unwrap makes the error match ErrKind.
func (e *KindError) Unwrap() error { return ErrKind }

const (
	// bufferBytes is the size of the buffer past which Append writes without being
	// asked to sync.
	bufferBytes = 1 << 20
	// bufferKept is how much memory a write leaves for the next.
	bufferKept = 16 << 20
)

// Journal is an open log. It is for one goroutine at a time.
type Journal struct {
	dir      Folder
	name     string
	kind     Kind
	file     File
	layout   layout
	start    int64  // of the first record in the file
	written  int64  // size of the file
	buffer   []byte // records that are not written yet
	records  uint64 // in file and buffer
	repaired int64
	failed   error
	closed   bool
}

// Open opens the journal of a kind at path, or makes an empty one in an existing
// folder. What a crash left of unsynced records is cut off, and a file of an earlier
// version is replaced by one of this.
func Open(path string, kind Kind) (*Journal, error) {
	return OpenIn(osFolder(filepath.Dir(path)), filepath.Base(path), kind)
}

// tempSuffix marks a file that is to replace the journal.
const tempSuffix = ".new"

// OpenIn opens a journal in a folder that need not be one of the operating system.
func OpenIn(dir Folder, name string, kind Kind) (*Journal, error) {
	if len(kind) == 0 || len(kind) > kindBytes {
		return nil, fmt.Errorf("open journal %s: kind %q has %d bytes, want 1 to %d", name, kind, len(kind), kindBytes)
	}
	j := &Journal{dir: dir, name: name, kind: kind}
	f, err := dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := j.replace(func(func([]byte) error) error { return nil }); err != nil {
			return nil, fmt.Errorf("create journal %s: %w", name, err)
		}
		return j, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open journal %s: %w", name, err)
	}
	j.file = f
	if err := j.loadAndRepair(); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", name, err), f.Close())
	}
	if err := j.modernize(); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", name, err), j.file.Close())
	}
	return j, nil
}

// modernize replaces a file of an earlier version: as long as heads have no sums, each
// opening after a crash may have to read what follows the last good record many times.
// On a disk without room for a second file the earlier one is gone on with: it is as good
// for all but that.
func (j *Journal) modernize() error {
	if j.layout.headSum {
		return nil
	}
	old := j.file
	err := j.replace(func(add func(rec []byte) error) error { return j.Replay(add) })
	switch {
	case err == nil:
		return old.Close()
	case !errors.Is(err, errReplaced) && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)):
		return nil
	}
	return fmt.Errorf("write it anew: %w", err)
}

// loadAndRepair checks the whole file and repairs its end.
func (j *Journal) loadAndRepair() error {
	// A crash while pruning may have left a file without use.
	if err := j.dir.Remove(j.name + tempSuffix); err != nil {
		return err
	}
	size, err := j.file.Size()
	if err != nil {
		return err
	}
	if j.layout, j.start, err = readFileHeader(j.file, size, j.kind); err != nil {
		return err
	}
	r := &reader{r: j.file, start: j.start, size: size, layout: j.layout}
	end, n, err := r.scan(func([]byte) error { return nil })
	if err != nil {
		return err
	}
	j.written, j.records = end, n
	if end == size {
		return j.syncFound()
	}
	lost, err := r.goodAfter(end, n)
	if err != nil {
		return err
	}
	if lost {
		return &DamageError{Offset: end, Reason: fmt.Sprintf("record %d is bad, good ones follow", n)}
	}
	j.repaired = size - end
	if err := j.file.Truncate(end); err != nil {
		return err
	}
	return j.syncFound()
}

// syncFound makes durable what was found. A process that was killed leaves bytes, and
// perhaps the journal's name, that only the system's cache has: who replays them takes
// them for durable, and says again what a power cut would then make it forget.
func (j *Journal) syncFound() error {
	if err := j.file.Sync(); err != nil {
		return err
	}
	return j.dir.Sync()
}

// Repaired returns how many bytes of a torn write Open cut off.
func (j *Journal) Repaired() int64 { return j.repaired }

// Size returns the bytes that the journal takes, buffered ones included.
func (j *Journal) Size() int64 { return j.written + int64(len(j.buffer)) }

// Append adds a record, which is durable only after the next [Journal.Sync].
// It keeps no reference to rec.
func (j *Journal) Append(rec []byte) error {
	if j.failed != nil {
		return j.failed
	}
	if len(rec) > MaxRecordBytes {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(rec), MaxRecordBytes)
	}
	j.buffer = j.layout.appendRecord(j.buffer, j.records, rec)
	j.records++
	if len(j.buffer) >= bufferBytes {
		return j.flush()
	}
	return nil
}

// Sync makes every appended record durable.
func (j *Journal) Sync() error {
	if err := j.flush(); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return j.failWith(fmt.Errorf("sync journal: %w", err))
	}
	return nil
}

// flush writes the buffer.
func (j *Journal) flush() error {
	if j.failed != nil {
		return j.failed
	}
	if len(j.buffer) == 0 {
		return nil
	}
	if _, err := j.file.Write(j.buffer); err != nil {
		return j.failWith(fmt.Errorf("write journal: %w", err))
	}
	j.written += int64(len(j.buffer))
	if j.buffer = j.buffer[:0]; cap(j.buffer) > bufferKept {
		j.buffer = nil
	}
	return nil
}

// failWith makes err the end of the journal.
func (j *Journal) failWith(err error) error {
	j.failed = fmt.Errorf("%w: %w", ErrFailed, err)
	return j.failed
}

// Replay calls f with each record, oldest first, and ends with its first error.
// The slice is valid only during the call.
func (j *Journal) Replay(f func(rec []byte) error) error {
	if err := j.flush(); err != nil {
		return err
	}
	r := &reader{r: j.file, start: j.start, size: j.written, layout: j.layout}
	end, n, err := r.scan(f)
	if err != nil {
		return err
	}
	if end != j.written || n != j.records {
		return &DamageError{Offset: end, Reason: fmt.Sprintf("record %d of %d went bad since the journal was opened", n, j.records)}
	}
	return nil
}

// Prune drops the records for which keep is false, in one atomic step, and
// makes the others durable. A crash leaves either the old or the new journal.
func (j *Journal) Prune(keep func(rec []byte) bool) error {
	if err := j.flush(); err != nil {
		return err
	}
	old := j.file
	err := j.replace(func(add func(rec []byte) error) error {
		return j.Replay(func(rec []byte) error {
			if !keep(rec) {
				return nil
			}
			return add(rec)
		})
	})
	if err == nil {
		err = old.Close()
	}
	if err != nil {
		return j.failWith(fmt.Errorf("prune journal: %w", err))
	}
	return nil
}

// errReplaced means that a new file has the journal's name, and that a crash may undo it.
var errReplaced = errors.New("journal is replaced")

// replace makes a new file with the records that fill adds, and only then gives
// it the journal's name. Until the name is durable the old file is the journal. An error that
// is no errReplaced leaves everything as it was.
func (j *Journal) replace(fill func(add func(rec []byte) error) error) (err error) {
	f, err := j.dir.Create(j.name + tempSuffix)
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		if err = errors.Join(err, f.Close()); !errors.Is(err, errReplaced) {
			err = errors.Join(err, j.dir.Remove(j.name+tempSuffix)) // it takes room
		}
	}()
	next := &Journal{file: f, start: fileHeader, layout: layout{headSum: true}}
	if _, err := rand.Read(next.layout.salt[:]); err != nil {
		return err
	}
	next.buffer = newFileHeader(j.kind, next.layout.salt)
	if err := fill(next.Append); err != nil {
		return err
	}
	if err := next.Sync(); err != nil {
		return err
	}
	if err := j.dir.Rename(j.name+tempSuffix, j.name); err != nil {
		return err
	}
	if err := j.dir.Sync(); err != nil {
		return fmt.Errorf("%w: %w", errReplaced, err)
	}
	j.file, j.layout, j.start, j.written = next.file, next.layout, next.start, next.written
	j.records, j.buffer = next.records, next.buffer
	return nil
}

// Close makes all records durable and closes the file. Closing again does
// nothing.
func (j *Journal) Close() error {
	if j.closed {
		return nil
	}
	j.closed = true
	err := j.failed
	if err == nil {
		err = j.Sync()
		j.failed = fmt.Errorf("%w: it is closed", ErrFailed)
	}
	return errors.Join(err, j.file.Close())
}
