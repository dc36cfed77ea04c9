package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/cowboy-foundation/cowboy/state/owner"
)

// Folder is the part of a file system that a journal needs. Tests, and the
// simulation of whole nodes, put a model of a crashing disk in its place.
type Folder interface {
	Open(name string) (File, error)   // an existing file, locked
	Create(name string) (File, error) // an empty file, locked
	Rename(from, to string) error     // of a file that is to be whoever's the other one is
	Remove(name string) error         // nothing to remove is no error
	Sync() error                      // makes names durable
}

// File is written at its end only.
type File interface {
	io.ReaderAt
	io.Writer
	Sync() error
	Truncate(size int64) error // and go on writing there
	Size() (int64, error)
	Close() error
}

type osFolder string

func (d osFolder) path(name string) string { return filepath.Join(string(d), name) }

func (d osFolder) Open(name string) (File, error) { return d.locked(name, os.O_RDWR|os.O_APPEND) }

func (d osFolder) Create(name string) (File, error) {
	f, err := d.locked(name, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	// Emptied only once locked: the file might be another process's.
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d osFolder) locked(name string, flags int) (File, error) {
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
	return osFile{f}, nil
}

// Rename leaves the name with its owner: a tool that root runs opens the node's journals,
// and the node must be able to open them again.
func (d osFolder) Rename(from, to string) error { return owner.Rename(d.path(from), d.path(to)) }

func (d osFolder) Remove(name string) error {
	if err := os.Remove(d.path(name)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (d osFolder) Sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
