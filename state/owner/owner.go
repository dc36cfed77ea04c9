// Package owner keeps files with the user that a node runs as when root replaces them.
//
// In: a draft, and the name that it takes. Out: the draft under that name, with the owner
// that the name had. Operators run tools as root on the folder of a node that runs as
// another user; a file that root writes anew would be root's, and the node could not open
// it again.
package owner

import (
	"errors"
	"os"
	"syscall"
)

// Rename gives a draft a name. Where root renames over a file of somebody else, the draft
// is given to that user and group first, so at no time has the name another owner. Others
// cannot give files away: for them it is [os.Rename].
func Rename(draft, name string) error {
	info, err := os.Stat(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err == nil && os.Geteuid() == 0 {
		if was, ok := info.Sys().(*syscall.Stat_t); ok && (was.Uid != 0 || was.Gid != 0) {
			if err := os.Chown(draft, int(was.Uid), int(was.Gid)); err != nil {
				return err
			}
		}
	}
	return os.Rename(draft, name)
}
