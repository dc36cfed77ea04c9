package snapshot

import (
	"errors"
	"io/fs"
	"os"
)

// scratch is a file that nobody else sees and that is gone when it is closed.
type scratch struct{ *os.File }

func newScratch(dir string) (*scratch, error) {
	file, err := os.CreateTemp(dir, "sorting-*.part")
	if err != nil {
		return nil, err
	}
	// Where an open file may lose its name, as on Linux, a crash leaves nothing.
	_ = os.Remove(file.Name())
	return &scratch{file}, nil
}

// Close lets go of the room.
func (s *scratch) Close() error {
	err := s.File.Close()
	if gone := os.Remove(s.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
