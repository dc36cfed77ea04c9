// Package badsector is a disk that loses sectors, for tests: what stands in one is not
// given back, and a part of it cannot be written, because the rest would have to be read.
// Written as a whole, it is good again, as on disks that put another in its place.
package badsector

import (
	"io/fs"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Bytes is the size of a sector.
const Bytes = 4096

// Disk is a file system on such a disk.
type Disk struct {
	vfs.FS

	mu  sync.Mutex // guards bad
	bad map[sector]bool
}

type sector struct {
	file   string // without its folders
	number int64
}

// New returns a disk without bad sectors.
func New(on vfs.FS) *Disk { return &Disk{FS: on, bad: map[sector]bool{}} }

// Lose has the disk lose all sectors of a file in which bytes from one on and before
// another stand.
func (d *Disk) Lose(file string, from, to int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for n := from / Bytes; n*Bytes < to; n++ {
		d.bad[sector{file, n}] = true
	}
}

// Find has the disk read the sector with a byte again.
func (d *Disk) Find(file string, at int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.bad, sector{file, at / Bytes})
}

// Bad is how many sectors are lost.
func (d *Disk) Bad() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.bad)
}

// fails reports whether a part of a sector that is lost would have to be read. Those that
// are written as a whole are good from now on.
func (d *Disk) fails(file string, from, to int64, writes bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for n := from / Bytes; n*Bytes < to; n++ {
		at := sector{file, n}
		switch {
		case !d.bad[at]:
		case writes && n*Bytes >= from && (n+1)*Bytes <= to:
			delete(d.bad, at)
		default:
			return &fs.PathError{Op: "read", Path: file, Err: syscall.EIO}
		}
	}
	return nil
}

// Open implements [vfs.FS].
func (d *Disk) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	f, err := d.FS.Open(name, o...)
	return d.file(f, name, err)
}

// OpenReadWrite implements [vfs.FS].
func (d *Disk) OpenReadWrite(name string, category vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	f, err := d.FS.OpenReadWrite(name, category, o...)
	return d.file(f, name, err)
}

func (d *Disk) file(f vfs.File, name string, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &file{f, d, d.PathBase(name)}, nil
}

type file struct {
	vfs.File
	disk *Disk
	name string
}

// ReadAt implements [vfs.File].
func (f *file) ReadAt(b []byte, at int64) (int, error) {
	if err := f.disk.fails(f.name, at, at+int64(len(b)), false); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, at)
}

// WriteAt implements [vfs.File].
func (f *file) WriteAt(b []byte, at int64) (int, error) {
	if err := f.disk.fails(f.name, at, at+int64(len(b)), true); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, at)
}
