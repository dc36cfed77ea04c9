package client

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
)

// WriteNew writes a file that must not exist: all of it is on the disk, under its name, or
// nothing is. Of several that write the same name at once one succeeds, and the others get
// [fs.ErrExist].
func WriteNew(path string, text []byte, mode fs.FileMode) error {
	part, err := writePart(path, text, mode)
	if err != nil {
		return err
	}
	err = os.Link(part, path) // unlike a rename, it takes no file's place
	if err = errors.Join(err, os.Remove(part)); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// Overwrite writes a file in the place of the one that is there, if any: whoever reads, and
// whatever ends the process, finds the old or the new one. What is no regular file, such as
// a pipe, is written to.
func Overwrite(path string, text []byte, mode fs.FileMode) error {
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return os.WriteFile(path, text, mode)
	case err == nil:
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	part, err := writePart(path, text, mode)
	if err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return SyncFolder(filepath.Dir(path))
}

// writePart writes a file beside its place, which is on the disk when it returns.
func writePart(path string, text []byte, mode fs.FileMode) (string, error) {
	part := path + ".part-" + rand.Text()
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(part))
	}
	return part, nil
}

// SyncFolder makes the names of a folder durable: a file that is on the disk is lost as long
// as its name is not.
func SyncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open folder: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// ErrForeign means that somebody else than the user of the process can change a file.
var ErrForeign = errors.New("not safe to use")

// checkOwner returns [ErrForeign] if others than a user, and root, can change a file or
// folder: a configuration says which node is believed and which key signs. What does not
// exist is fine.
func checkOwner(path string, user int) error {
	info, err := os.Stat(path)
	if err != nil {
		if isMissing(err) {
			return nil
		}
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != user && stat.Uid != 0 {
		return fmt.Errorf("%s is %w: it belongs to user %d, and you are user %d. If you trust what it holds, run `chown -R %[4]d %[1]s`; otherwise work in another folder, or name one with --dir",
			path, ErrForeign, stat.Uid, user)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is %w: others may write to it. If you trust what it holds, run `chmod go-w %[1]s`", path, ErrForeign)
	}
	return nil
}

// secretDigits is a word that may be a private key, or one with a typing error: longer than
// an address, and without what separates the parts of a path.
var secretDigits = regexp.MustCompile(`[0-9A-Za-z]{48,}`)

// HideKeys replaces what may be a private key in a text, which somebody gave in the wrong
// place: errors end up in log files.
func HideKeys(text string) string {
	return secretDigits.ReplaceAllStringFunc(text, func(word string) string {
		return "(" + strconv.Itoa(len(word)) + " letters and digits, not repeated: they may be a private key)"
	})
}
