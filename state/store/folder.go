package store

import (
	"errors"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// makeFolder makes dir, and the folders above it that are missing, and makes
// their names durable: what is synced into a folder is lost with the name of
// the folder. The name of dir is made durable even if it is there already,
// because the process that made it may have been killed before it came to that.
func makeFolder(disk vfs.FS, dir string) error {
	made := []string{dir}
	for at := disk.PathDir(dir); at != disk.PathDir(at); at = disk.PathDir(at) {
		if _, err := disk.Stat(at); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		made = append(made, at)
	}
	if err := disk.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, at := range made {
		parent, err := disk.OpenDir(disk.PathDir(at))
		if err != nil {
			return err
		}
		if err := errors.Join(parent.Sync(), parent.Close()); err != nil {
			return err
		}
	}
	return nil
}
