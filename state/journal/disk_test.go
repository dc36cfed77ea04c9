package journal

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/state/journal/disktest"
)

// model is a disk of the test kit as a folder of journals.
type model struct{ *disktest.Disk }

func newDisk() model { return model{disktest.New()} }

func (m model) Open(name string) (File, error) { return asFile(m.Disk.Open(name)) }

func (m model) Create(name string) (File, error) { return asFile(m.Disk.Create(name)) }

func asFile(f *disktest.File, err error) (File, error) {
	switch {
	case errors.Is(err, disktest.ErrLocked):
		return nil, ErrInUse
	case err != nil:
		return nil, err
	}
	return f, nil
}
