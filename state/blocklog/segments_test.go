package blocklog

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// countedFS counts the files that are opened for reading and those that are still
// open, and refuses to read what is closed.
type countedFS struct {
	vfs.FS
	opened, open, most atomic.Int64
}

func (c *countedFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	file, err := c.FS.Open(name, opts...)
	if err != nil {
		return nil, err
	}
	c.opened.Add(1)
	for n, most := c.open.Add(1), c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	return &countedFile{File: file, fs: c}, nil
}

type countedFile struct {
	vfs.File
	fs     *countedFS
	closed atomic.Bool
}

var errReadClosed = errors.New("read of a closed file")

func (f *countedFile) ReadAt(b []byte, at int64) (int, error) {
	if f.closed.Load() {
		return 0, errReadClosed
	}
	n, err := f.File.ReadAt(b, at)
	if f.closed.Load() && (err == nil || errors.Is(err, io.EOF)) {
		return 0, errReadClosed // it was closed under the reader
	}
	return n, err
}

func (f *countedFile) Close() error {
	if f.closed.Swap(true) {
		return errors.New("closed twice")
	}
	f.fs.open.Add(-1)
	return f.File.Close()
}

// TestSegmentsStayOpen reads one block again and again, which opens its file once.
func TestSegmentsStayOpen(t *testing.T) {
	fs, k := &countedFS{FS: vfs.NewMem()}, new(kept)
	l := open(t, fs, k)
	check(t, k.add(l, rand.New(rand.NewPCG(1, 1))))
	before := fs.opened.Load()
	for range 100 {
		check(t, k.verify(l))
	}
	if n := fs.opened.Load() - before; n != 1 {
		t.Errorf("%d openings of one file", n)
	}
	check(t, l.Close())
	check(t, k.verify(l)) // as readers do that come late
	if n := fs.open.Load(); n != 0 {
		t.Errorf("%d files are open after the end", n)
	}
}

// TestSegmentsAreClosedBehindReaders has eight goroutines read blocks of many more
// segments than stay open, while segments lose their places and the log is closed:
// every read is right, and of the files few are open at a time and none at the end.
func TestSegmentsAreClosedBehindReaders(t *testing.T) {
	const readers, rounds = 8, 400
	fs, k, rng := &countedFS{FS: vfs.NewMem()}, new(kept), rand.New(rand.NewPCG(2, 2))
	l := open(t, fs, k)
	for l.number < 3*segmentsOpenMax {
		check(t, k.add(l, rng))
	}
	var reading sync.WaitGroup
	half := make(chan struct{}, readers)
	for i := range readers {
		reading.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(i)))
			for n := range rounds {
				if n == rounds/2 {
					half <- struct{}{}
				}
				at := rng.IntN(len(k.places))
				if parts, err := l.Read(uint64(at+1), k.places[at]); err != nil || !slices.EqualFunc(parts, k.parts[at], bytes.Equal) {
					t.Errorf("block %d: %d parts, %v", at+1, len(parts), err)
					return
				}
			}
		})
	}
	for range readers {
		<-half
	}
	check(t, l.Close())
	reading.Wait()
	if n := fs.open.Load(); n != 0 {
		t.Errorf("%d files are open after the end", n)
	}
	if n := fs.most.Load(); n > segmentsOpenMax+readers {
		t.Errorf("%d files were open at a time, at most %d may stay so and each reader has one", n, segmentsOpenMax)
	}
}
