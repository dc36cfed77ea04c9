package store

import (
	"errors"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// gate is the disk as the database sees it: with the first write or sync that
// fails it shuts, and whoever wants to write, or wrote, waits for ever.
//
// The database itself answers such errors in many ways: some it tries again
// without end, some end the process, and of a sync that failed and is tried
// again nobody knows what it says. Behind a shut gate it can do nothing more, so
// that the store can give the reason to its caller, and its folder to others.
//
// While the database opens, a read that fails shuts the gate as well: a database
// that gives up its opening frees what its goroutines in the background go on
// using, and they end the process.
type gate struct {
	vfs.FS
	stop *stop
}

// doWrite does what writes. It returns only while the gate is open, but for errors
// that tell of names and not of the disk.
func (s *stop) doWrite(do func() error) error {
	s.writing.RLock()
	if s.killed() {
		s.writing.RUnlock()
		s.freeze()
	}
	err := do()
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		s.writing.RUnlock()
		return err
	}
	s.kill(err)
	s.writing.RUnlock()
	s.freeze()
	return err
}

// doRead does what reads. What a file does not hold is an answer, not an error of
// the disk.
func (s *stop) doRead(do func() error) error {
	err := do()
	if err == nil || !s.opening.Load() {
		return err
	}
	for _, answer := range []error{io.EOF, io.ErrUnexpectedEOF, fs.ErrNotExist, fs.ErrExist, vfs.ErrUnsupported} {
		if errors.Is(err, answer) {
			return err
		}
	}
	s.kill(err)
	s.freeze()
	return err
}

// freeze keeps the goroutine for ever.
func (s *stop) freeze() { select {} }

func (g gate) file(open func() (vfs.File, error)) (f vfs.File, err error) {
	err = g.stop.doWrite(func() (err error) {
		f, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return gateFile{f, g.stop}, nil
}

// Create implements [vfs.FS].
func (g gate) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return g.file(func() (vfs.File, error) { return g.FS.Create(name, c) })
}

// OpenReadWrite implements [vfs.FS].
func (g gate) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return g.file(func() (vfs.File, error) { return g.FS.OpenReadWrite(name, c, o...) })
}

// ReuseForWrite implements [vfs.FS].
func (g gate) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return g.file(func() (vfs.File, error) { return g.FS.ReuseForWrite(from, to, c) })
}

// OpenDir implements [vfs.FS]: folders are opened to be synced.
func (g gate) OpenDir(name string) (vfs.File, error) {
	return g.file(func() (vfs.File, error) { return g.FS.OpenDir(name) })
}

// Open implements [vfs.FS].
func (g gate) Open(name string, o ...vfs.OpenOption) (f vfs.File, err error) {
	err = g.stop.doRead(func() (err error) {
		f, err = g.FS.Open(name, o...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return gateFile{f, g.stop}, nil
}

// List implements [vfs.FS].
func (g gate) List(dir string) (names []string, err error) {
	err = g.stop.doRead(func() (err error) {
		names, err = g.FS.List(dir)
		return err
	})
	return names, err
}

// Stat implements [vfs.FS].
func (g gate) Stat(name string) (i vfs.FileInfo, err error) {
	err = g.stop.doRead(func() (err error) {
		i, err = g.FS.Stat(name)
		return err
	})
	return i, err
}

// Link implements [vfs.FS].
func (g gate) Link(from, to string) error {
	return g.stop.doWrite(func() error { return g.FS.Link(from, to) })
}

// Rename implements [vfs.FS].
func (g gate) Rename(from, to string) error {
	return g.stop.doWrite(func() error { return g.FS.Rename(from, to) })
}

// Remove implements [vfs.FS].
func (g gate) Remove(name string) error {
	return g.stop.doWrite(func() error { return g.FS.Remove(name) })
}

// Unwrap implements [vfs.FS].
func (g gate) Unwrap() vfs.FS { return g.FS }

type gateFile struct {
	vfs.File
	stop *stop
}

func (f gateFile) Read(p []byte) (n int, err error) {
	err = f.stop.doRead(func() (err error) {
		n, err = f.File.Read(p)
		return err
	})
	return n, err
}

func (f gateFile) ReadAt(p []byte, at int64) (n int, err error) {
	err = f.stop.doRead(func() (err error) {
		n, err = f.File.ReadAt(p, at)
		return err
	})
	return n, err
}

func (f gateFile) Write(p []byte) (n int, err error) {
	err = f.stop.doWrite(func() (err error) {
		n, err = f.File.Write(p)
		return err
	})
	return n, err
}

func (f gateFile) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.stop.doWrite(func() (err error) {
		n, err = f.File.WriteAt(p, at)
		return err
	})
	return n, err
}

func (f gateFile) Sync() error { return f.stop.doWrite(f.File.Sync) }

func (f gateFile) SyncData() error { return f.stop.doWrite(f.File.SyncData) }

func (f gateFile) SyncTo(length int64) (full bool, err error) {
	err = f.stop.doWrite(func() (err error) {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}
