package guard

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
)

var errDisk = errors.New("disk error")

// disk is a folder that can lose power. What was not synced is lost in part:
// any sector and any name may be the old or the new one.
type disk struct {
	names   map[string]*inode // as processes see them
	durable map[string]*inode
	failIn  int  // operations until all fail; below 0 for never
	landed  bool // the first failing operation takes effect all the same
}

type inode struct {
	data, durable []byte
	locked        bool
}

func newDisk() *disk {
	return &disk{names: map[string]*inode{}, durable: map[string]*inode{}, failIn: -1}
}

// step counts one operation and says whether it takes effect and what it
// returns.
func (d *disk) step() (effect bool, err error) {
	if d.failIn == 0 {
		effect = d.landed
		d.landed = false
		return effect, errDisk
	}
	d.failIn--
	return true, nil
}

// kill returns the disk after the death of the process: everything written is
// still there.
func (d *disk) kill() *disk {
	d.failIn = -1
	for _, node := range d.names {
		node.locked = false
	}
	return d
}

const sectorBytes = 512

// cut returns the disk after a power cut.
func (d *disk) cut(rng *rand.Rand) *disk {
	after := newDisk()
	for _, name := range []string{FileName, FileName + ".new"} {
		node := d.durable[name]
		if rng.IntN(2) == 0 {
			node = d.names[name]
		}
		if node == nil {
			continue
		}
		data := make([]byte, len(node.data))
		for at := 0; at < len(data); at += sectorBytes {
			end := min(at+sectorBytes, len(data))
			from := node.data
			if at < len(node.durable) && rng.IntN(2) == 0 || at < len(node.durable) && bytes.Equal(node.durable[at:min(end, len(node.durable))], node.data[at:end]) {
				from = node.durable
			} else if rng.IntN(4) == 0 {
				continue // zeros
			}
			copy(data[at:end], from[at:min(end, len(from))])
		}
		after.names[name] = &inode{data: data, durable: bytes.Clone(data)}
	}
	after.durable = maps.Clone(after.names)
	return after
}

func (d *disk) open(name string) (file, error) {
	node := d.names[name]
	if node == nil {
		return nil, fs.ErrNotExist
	}
	if node.locked {
		return nil, ErrInUse
	}
	node.locked = true
	return &openFile{d, node}, nil
}

func (d *disk) create(name string) (file, error) {
	effect, err := d.step()
	if effect {
		d.names[name] = &inode{locked: true}
	}
	if err != nil {
		return nil, err
	}
	return &openFile{d, d.names[name]}, nil
}

func (d *disk) rename(from, to string) error {
	effect, err := d.step()
	if effect {
		d.names[to] = d.names[from]
		delete(d.names, from)
	}
	return err
}

func (d *disk) sync() error {
	effect, err := d.step()
	if effect {
		d.durable = maps.Clone(d.names)
	}
	return err
}

type openFile struct {
	d *disk
	*inode
}

func (f *openFile) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *openFile) WriteAt(p []byte, off int64) (int, error) {
	effect, err := f.d.step()
	if effect {
		data := make([]byte, max(len(f.data), int(off)+len(p)))
		copy(data, f.data)
		copy(data[off:], p)
		f.data = data
	}
	return len(p), err
}

func (f *openFile) Sync() error {
	effect, err := f.d.step()
	if effect {
		f.durable = bytes.Clone(f.data)
	}
	return err
}

func (f *openFile) Close() error {
	f.locked = false
	return nil
}
