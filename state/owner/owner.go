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

// ErrShared means a draft that has a second name, which its owner might have given it.
var ErrShared = errors.New("the draft is no file of its own")

// Rename gives a draft a name. Where root renames over a file of somebody else, the draft
// is given to that user and group first, so at no time has the name another owner. Others
// cannot give files away: for them it is [os.Rename].
//
// Whoever owns the folder may put anything in the draft's place meanwhile, so it is given
// away by its open file, never through a link.
func Rename(draft, name string) error {
	info, err := os.Lstat(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err == nil && os.Geteuid() == 0 {
		if was, ok := info.Sys().(*syscall.Stat_t); ok && (was.Uid != 0 || was.Gid != 0) {
			if err := give(draft, int(was.Uid), int(was.Gid)); err != nil {
				return err
			}
		}
	}
	return os.Rename(draft, name)
}

func give(draft string, uid, gid int) error {
	f, err := os.OpenFile(draft, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		if is, ok := info.Sys().(*syscall.Stat_t); !ok || is.Nlink != 1 || !info.Mode().IsRegular() {
			err = ErrShared
		}
	}
	if err == nil {
		err = f.Chown(uid, gid)
	}
	return errors.Join(err, f.Close())
}
