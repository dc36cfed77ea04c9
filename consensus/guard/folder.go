package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Folder is the part of a file system that a guard needs. Tests, and the
// simulation of whole nodes, put a model of a crashing disk in its place.
type Folder interface {
	Open(name string) (File, error)   // an existing file, locked
	Create(name string) (File, error) // an empty file, locked
	Rename(from, to string) error
	Sync() error // makes names durable
}

// File is written in place.
type File interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
	Close() error
}

type osFolder string

func (d osFolder) path(name string) string { return filepath.Join(string(d), name) }

func (d osFolder) Open(name string) (File, error) { return d.locked(name, os.O_RDWR) }

func (d osFolder) Create(name string) (File, error) {
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

func (d osFolder) Rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d osFolder) Sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
