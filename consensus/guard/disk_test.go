package guard

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/state/journal/disktest"
)

// model is a disk of the test kit as the folder of a guard.
type model struct{ *disktest.Disk }

func newDisk() model { return model{disktest.New()} }

func (m model) open(name string) (file, error) { return asFile(m.Open(name)) }

func (m model) create(name string) (file, error) { return asFile(m.Create(name)) }

func (m model) rename(from, to string) error { return m.Rename(from, to) }

func (m model) sync() error { return m.Sync() }

func asFile(f *disktest.File, err error) (file, error) {
	switch {
	case errors.Is(err, disktest.ErrLocked):
		return nil, ErrInUse
	case err != nil:
		return nil, err
	}
	return f, nil
}
