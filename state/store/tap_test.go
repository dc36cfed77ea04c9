package store

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fileOp is one operation on a disk.
type fileOp struct {
	number int
	kind   string
	path   string
	data   []byte // of a write
	at     int64  // where it begins
}

func (o fileOp) String() string {
	if o.data != nil {
		return fmt.Sprintf("operation %d, %s of %d bytes at %d of %s", o.number, o.kind, len(o.data), o.at, o.path)
	}
	return fmt.Sprintf("operation %d, %s %s", o.number, o.kind, o.path)
}

// tapFS calls before with every operation that changes the disk, one at a time.
// An error from it takes the place of the operation. With reads it is called
// for operations that only look, too.
type tapFS struct {
	vfs.FS
	reads  bool
	before func(fileOp) error

	mu sync.Mutex // held during an operation
	n  int        // of operations begun
}

func (t *tapFS) do(op fileOp, effect func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	op.number = t.n
	t.n++
	if err := t.before(op); err != nil {
		return err
	}
	return effect()
}

func (t *tapFS) look(kind, path string, effect func() error) error {
	if !t.reads {
		return effect()
	}
	return t.do(fileOp{kind: kind, path: path}, effect)
}

// file does an operation that opens a file.
func (t *tapFS) file(kind, name string, changes bool, open func() (vfs.File, error)) (f vfs.File, err error) {
	effect := func() (err error) {
		f, err = open()
		return err
	}
	if changes {
		err = t.do(fileOp{kind: kind, path: name}, effect)
	} else {
		err = t.look(kind, name, effect)
	}
	if err != nil {
		return nil, err
	}
	return &tapFile{File: f, tap: t, path: name}, nil
}

func (t *tapFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return t.file("create", name, true, func() (vfs.File, error) { return t.FS.Create(name, c) })
}

func (t *tapFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, _ ...vfs.OpenOption) (vfs.File, error) {
	return t.file("open for writing", name, true, func() (vfs.File, error) { return t.FS.OpenReadWrite(name, c) })
}

func (t *tapFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return t.file("reuse as", to, true, func() (vfs.File, error) { return t.FS.ReuseForWrite(from, to, c) })
}

func (t *tapFS) Open(name string, _ ...vfs.OpenOption) (vfs.File, error) {
	return t.file("open", name, false, func() (vfs.File, error) { return t.FS.Open(name) })
}

func (t *tapFS) OpenDir(name string) (vfs.File, error) {
	return t.file("open folder", name, false, func() (vfs.File, error) { return t.FS.OpenDir(name) })
}

func (t *tapFS) Link(from, to string) error {
	return t.do(fileOp{kind: "link as", path: to}, func() error { return t.FS.Link(from, to) })
}

func (t *tapFS) Rename(from, to string) error {
	return t.do(fileOp{kind: "rename to", path: to}, func() error { return t.FS.Rename(from, to) })
}

func (t *tapFS) Remove(name string) error {
	return t.do(fileOp{kind: "remove", path: name}, func() error { return t.FS.Remove(name) })
}

func (t *tapFS) RemoveAll(name string) error {
	return t.do(fileOp{kind: "remove all of", path: name}, func() error { return t.FS.RemoveAll(name) })
}

func (t *tapFS) MkdirAll(name string, perm os.FileMode) error {
	return t.do(fileOp{kind: "make folder", path: name}, func() error { return t.FS.MkdirAll(name, perm) })
}

func (t *tapFS) List(name string) (names []string, err error) {
	err = t.look("list", name, func() (err error) {
		names, err = t.FS.List(name)
		return err
	})
	return names, err
}

func (t *tapFS) Stat(name string) (info vfs.FileInfo, err error) {
	err = t.look("stat", name, func() (err error) {
		info, err = t.FS.Stat(name)
		return err
	})
	return info, err
}

// tapFile is an open file of a tapFS.
type tapFile struct {
	vfs.File
	tap  *tapFS
	path string
	pos  int64 // where the next Write begins
}

func (f *tapFile) Write(p []byte) (n int, err error) {
	err = f.tap.do(fileOp{kind: "write", path: f.path, data: p, at: f.pos}, func() (err error) {
		n, err = f.File.Write(p)
		f.pos += int64(n)
		return err
	})
	if short := (*shortWrite)(nil); errors.As(err, &short) {
		n, _ = f.File.Write(p[:short.n])
		f.pos += int64(n)
	}
	return n, err
}

func (f *tapFile) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.tap.do(fileOp{kind: "write", path: f.path, data: p, at: at}, func() (err error) {
		n, err = f.File.WriteAt(p, at)
		return err
	})
	if short := (*shortWrite)(nil); errors.As(err, &short) {
		n, _ = f.File.WriteAt(p[:short.n], at)
	}
	return n, err
}

func (f *tapFile) Read(p []byte) (n int, err error) {
	err = f.tap.look("read", f.path, func() (err error) {
		n, err = f.File.Read(p)
		f.pos += int64(n)
		return err
	})
	return n, err
}

func (f *tapFile) ReadAt(p []byte, at int64) (n int, err error) {
	err = f.tap.look("read", f.path, func() (err error) {
		n, err = f.File.ReadAt(p, at)
		return err
	})
	return n, err
}

func (f *tapFile) Preallocate(at, length int64) error {
	return f.tap.do(fileOp{kind: "preallocate", path: f.path}, func() error { return f.File.Preallocate(at, length) })
}

func (f *tapFile) Sync() error {
	return f.tap.do(fileOp{kind: "sync", path: f.path}, f.File.Sync)
}

func (f *tapFile) SyncData() error {
	return f.tap.do(fileOp{kind: "sync", path: f.path}, f.File.SyncData)
}

func (f *tapFile) SyncTo(length int64) (full bool, err error) {
	err = f.tap.do(fileOp{kind: "sync a part of", path: f.path}, func() (err error) {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}
