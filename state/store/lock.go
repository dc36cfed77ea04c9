package store

import (
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// folderLock keeps other processes out of a folder. The database holds it too,
// and a frozen one would never let go: release does not ask it.
type folderLock struct {
	*pebble.Lock
	held *once
}

// lockFolder locks dir until release.
func lockFolder(on vfs.FS, dir string) (*folderLock, error) {
	catcher := &lockCatcher{FS: on}
	lock, err := pebble.LockDirectory(dir, catcher)
	if err != nil {
		return nil, err
	}
	return &folderLock{lock, catcher.held}, nil
}

func (l *folderLock) release() error { return l.held.Close() }

// lockCatcher keeps what it hands out.
type lockCatcher struct {
	vfs.FS
	held *once
}

// Lock implements [vfs.FS].
func (c *lockCatcher) Lock(name string) (io.Closer, error) {
	held, err := c.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	c.held = &once{closer: held}
	return c.held, nil
}

// once closes once, whoever asks.
type once struct {
	closer io.Closer
	do     sync.Once
	err    error
}

func (o *once) Close() error {
	o.do.Do(func() { o.err = o.closer.Close() })
	return o.err
}
