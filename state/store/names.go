package store

import (
	"errors"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// orderedNames makes the names in a folder durable before a marker refers to
// them. Pebble names its newest manifest by the name of an empty marker file and
// syncs the folder once, after both are there. POSIX lets a power cut keep the
// marker and lose the manifest then, and the database does not open any more;
// file systems with a journal happen not to do that.
type orderedNames struct{ vfs.FS }

const markerPrefix = "marker."

// Create implements [vfs.FS].
func (n orderedNames) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasPrefix(n.PathBase(name), markerPrefix) {
		folder, err := n.OpenDir(n.PathDir(name))
		if err != nil {
			return nil, err
		}
		if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
			return nil, err
		}
	}
	return n.FS.Create(name, c)
}

// Unwrap implements [vfs.FS].
func (n orderedNames) Unwrap() vfs.FS { return n.FS }
