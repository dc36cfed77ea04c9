package journal

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
)

var errDisk = errors.New("disk error")

// disk is a folder that can lose power. Bytes and names are durable once
// synced; of the rest a crash keeps a random part.
type disk struct {
	names   map[string]*inode // as the process sees them
	durable map[string]*inode
	failIn  int  // operations until one fails; below 0 for never
	landed  bool // the failing operation takes effect all the same
}

type inode struct {
	data   []byte
	synced int // data[:synced] is durable
	open   bool
}

func newDisk() *disk {
	return &disk{names: map[string]*inode{}, durable: map[string]*inode{}, failIn: -1}
}

// step counts one operation and says whether it takes effect and what it
// returns.
func (d *disk) step() (effect bool, err error) {
	if d.failIn == 0 {
		return d.landed, errDisk
	}
	d.failIn--
	return true, nil
}

// crash returns the disk after a power cut: of unsynced bytes a beginning is
// left, perhaps followed by zeros, and of unsynced names any.
func (d *disk) crash(rng *rand.Rand) *disk {
	after := newDisk()
	for name := range maps.Clone(d.names) {
		node := d.durable[name]
		if rng.IntN(2) == 0 {
			node = d.names[name]
		}
		if node == nil {
			continue
		}
		lost := len(node.data) - node.synced
		data := append([]byte{}, node.data[:node.synced+rng.IntN(lost+1)]...)
		if rng.IntN(4) == 0 {
			data = append(data, make([]byte, len(node.data)-len(data))...)
		}
		after.names[name] = &inode{data: data, synced: len(data)}
	}
	after.durable = maps.Clone(after.names)
	return after
}

func (d *disk) open(name string) (file, error) {
	node := d.names[name]
	if node == nil {
		return nil, fs.ErrNotExist
	}
	if node.open {
		return nil, ErrInUse
	}
	node.open = true
	return &openFile{d, node}, nil
}

func (d *disk) create(name string) (file, error) {
	effect, err := d.step()
	if effect {
		d.names[name] = &inode{open: true}
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

func (d *disk) remove(name string) error {
	delete(d.names, name)
	return nil
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
	if off > int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *openFile) Write(p []byte) (int, error) {
	effect, err := f.d.step()
	if effect {
		f.data = append(f.data, p...)
	}
	return len(p), err
}

func (f *openFile) Sync() error {
	effect, err := f.d.step()
	if effect {
		f.synced = len(f.data)
	}
	return err
}

func (f *openFile) Truncate(size int64) error {
	f.data = f.data[:size]
	f.synced = min(f.synced, len(f.data))
	return nil
}

func (f *openFile) size() (int64, error) { return int64(len(f.data)), nil }

func (f *openFile) Close() error {
	f.open = false
	return nil
}
