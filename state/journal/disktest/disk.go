// Package disktest is a folder on a model of a disk that fails and loses power,
// for the tests of whoever writes files that must survive both: the journal and
// the watermark of a validator's votes. It is a test kit: only tests import it.
//
// In flow operations on files, the number of the operation that is to fail, and
// what a power cut keeps. Out flows the disk as the next process finds it.
//
// # The model
//
//   - Bytes are durable once their file is synced, names once the folder is.
//   - A power cut keeps any part of the rest: [Disk.Cut] for files that are
//     written in place, [Disk.CutTails] for files that only grow.
//   - An operation that fails has taken effect or not; all after it fail too
//     and take none. That is a disk which is gone, and a process that goes on.
//   - Every draw comes from the generator passed in.
package disktest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
)

var (
	// ErrDisk is what failing operations return.
	ErrDisk = errors.New("disk error")
	// ErrLocked means that the file is open already.
	ErrLocked = errors.New("file is locked")
)

// sectorBytes is the size of what a disk writes as a whole.
const sectorBytes = 512

// Disk is a folder that can lose power. It is for one goroutine.
type Disk struct {
	// FailIn is the number of operations until all fail, below 0 for never.
	// Opening and reading are not counted, and do not fail.
	FailIn int
	// Landed says that the first failing operation takes effect all the same.
	Landed bool

	names   map[string]*inode // as processes see them
	durable map[string]*inode
}

type inode struct {
	data, durable []byte
	locked        bool
}

// New returns an empty folder on a disk that works.
func New() *Disk {
	return &Disk{names: map[string]*inode{}, durable: map[string]*inode{}, FailIn: -1}
}

// countOperation counts one operation and says whether it takes effect and what it
// returns.
func (d *Disk) countOperation() (effect bool, err error) {
	if d.FailIn == 0 {
		effect = d.Landed
		d.Landed = false
		return effect, ErrDisk
	}
	d.FailIn--
	return true, nil
}

// Put makes a durable file of the given contents.
func (d *Disk) Put(name string, data []byte) {
	node := &inode{data: bytes.Clone(data), durable: bytes.Clone(data)}
	d.names[name], d.durable[name] = node, node
}

// Bytes returns the contents of a file as processes see them. The caller may
// change them, as a disk that rots does.
func (d *Disk) Bytes(name string) []byte { return d.names[name].data }

// Durable returns what a power cut that keeps nothing leaves of a file.
func (d *Disk) Durable(name string) []byte {
	if node := d.durable[name]; node != nil {
		return node.durable
	}
	return nil
}

// Kill returns the disk after the death of the process: everything written is
// still there, and the disk works again.
func (d *Disk) Kill() *Disk {
	d.FailIn = -1
	for _, node := range d.names {
		node.locked = false
	}
	return d
}

// Clone returns a disk of its own that is as this one is after the death of its
// process: what is not durable is there, and not durable yet.
func (d *Disk) Clone() *Disk {
	after := New()
	copies := map[*inode]*inode{}
	copied := func(names map[string]*inode) map[string]*inode {
		out := map[string]*inode{}
		for name, node := range names {
			if copies[node] == nil {
				copies[node] = &inode{data: bytes.Clone(node.data), durable: bytes.Clone(node.durable)}
			}
			out[name] = copies[node]
		}
		return out
	}
	after.names, after.durable = copied(d.names), copied(d.durable)
	return after
}

// Cut returns the disk after a power cut. Of what was not synced, every name and
// every sector is kept with a probability of keep percent. A sector that is not
// kept is the old one; one behind the old end may also be zeros.
func (d *Disk) Cut(keep int, rng *rand.Rand) *Disk {
	return d.cut(keep, rng, func(node *inode) []byte {
		data := make([]byte, len(node.data))
		for at := 0; at < len(data); at += sectorBytes {
			end := min(at+sectorBytes, len(data))
			switch {
			case rng.IntN(100) < keep:
				copy(data[at:end], node.data[at:end])
			case at < len(node.durable):
				copy(data[at:end], node.durable[at:min(end, len(node.durable))])
			}
		}
		if keep == 0 {
			return data[:min(len(data), len(node.durable))]
		}
		return data
	})
}

// CutTails returns the disk after a power cut, of files that only grow: every
// name that was not synced is kept with a probability of keep percent; of bytes
// that were not synced a beginning is left, perhaps followed by zeros, none for
// 0 and all for 100.
func (d *Disk) CutTails(keep int, rng *rand.Rand) *Disk {
	return d.cut(keep, rng, func(node *inode) []byte {
		begin := min(len(node.durable), len(node.data))
		left := rng.IntN(len(node.data) - begin + 1)
		switch keep {
		case 0:
			left = 0
		case 100:
			left = len(node.data) - begin
		}
		data := bytes.Clone(node.data[:begin+left])
		if keep > 0 && rng.IntN(4) == 0 {
			data = append(data, make([]byte, len(node.data)-len(data))...)
		}
		return data
	})
}

// cut makes the disk after a power cut, where left says what is left of a file.
func (d *Disk) cut(keep int, rng *rand.Rand, left func(*inode) []byte) *Disk {
	after := New()
	for _, name := range d.allNames() {
		node := d.durable[name]
		if rng.IntN(100) < keep {
			node = d.names[name]
		}
		if node != nil {
			after.Put(name, leftOf(node, keep, rng, left))
		}
	}
	return after
}

// leftOf returns what a power cut leaves of a file. What was cut off of it may
// be there again.
func leftOf(node *inode, keep int, rng *rand.Rand, left func(*inode) []byte) []byte {
	if len(node.data) < len(node.durable) && rng.IntN(100) >= keep {
		return node.durable
	}
	return left(node)
}

func (d *Disk) allNames() []string {
	all := maps.Clone(d.names)
	maps.Copy(all, d.durable)
	return slices.Sorted(maps.Keys(all))
}

// Open opens and locks an existing file.
func (d *Disk) Open(name string) (*File, error) {
	node := d.names[name]
	if node == nil {
		return nil, fs.ErrNotExist
	}
	if node.locked {
		return nil, ErrLocked
	}
	node.locked = true
	return &File{d, node}, nil
}

// Create makes, opens and locks an empty file.
func (d *Disk) Create(name string) (*File, error) {
	effect, err := d.countOperation()
	if effect {
		d.names[name] = &inode{locked: true}
	}
	if err != nil {
		return nil, err
	}
	return &File{d, d.names[name]}, nil
}

// Rename gives a file another name.
func (d *Disk) Rename(from, to string) error {
	effect, err := d.countOperation()
	if effect {
		d.names[to] = d.names[from]
		delete(d.names, from)
	}
	return err
}

// Remove takes a name away; nothing to remove is no error.
func (d *Disk) Remove(name string) error {
	effect, err := d.countOperation()
	if effect {
		delete(d.names, name)
	}
	return err
}

// Sync makes the names durable.
func (d *Disk) Sync() error {
	effect, err := d.countOperation()
	if effect {
		d.durable = maps.Clone(d.names)
	}
	return err
}

// File is an open file of a Disk.
type File struct {
	d *Disk
	*inode
}

// ReadAt implements [io.ReaderAt].
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if off > int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Write appends.
func (f *File) Write(p []byte) (int, error) { return f.WriteAt(p, int64(len(f.data))) }

// WriteAt implements [io.WriterAt].
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	effect, err := f.d.countOperation()
	if effect {
		data := make([]byte, max(len(f.data), int(off)+len(p)))
		copy(data, f.data)
		copy(data[off:], p)
		f.data = data
	}
	return len(p), err
}

// Sync makes the contents durable.
func (f *File) Sync() error {
	effect, err := f.d.countOperation()
	if effect {
		f.durable = bytes.Clone(f.data)
	}
	return err
}

// Truncate cuts the file off. What is cut off comes back after a power cut, as
// long as the file is not synced.
func (f *File) Truncate(size int64) error {
	effect, err := f.d.countOperation()
	if effect {
		f.data = bytes.Clone(f.data[:size])
	}
	return err
}

// Size returns how many bytes the file has.
func (f *File) Size() (int64, error) { return int64(len(f.data)), nil }

// Close frees the file for others.
func (f *File) Close() error {
	f.locked = false
	return nil
}
