package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// folder is the part of a file system that a guard needs. Tests put a model of
// a crashing disk in its place.
type folder interface {
	open(name string) (file, error)   // an existing file, locked
	create(name string) (file, error) // an empty file, locked
	rename(from, to string) error
	sync() error // makes names durable
}

// file is written in place.
type file interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
	Close() error
}

type osFolder string

func (d osFolder) path(name string) string { return filepath.Join(string(d), name) }

func (d osFolder) open(name string) (file, error) { return d.locked(name, os.O_RDWR) }

func (d osFolder) create(name string) (file, error) {
	f, err := d.locked(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	// Emptied only once locked: the file might be another process's.
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d osFolder) locked(name string, flags int) (*os.File, error) {
	f, err := os.OpenFile(d.path(name), flags, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%w: %s", ErrInUse, f.Name())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d osFolder) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d osFolder) sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
