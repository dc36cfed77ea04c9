package owner_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cowboy-foundation/cowboy/state/owner"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A file that root replaces keeps its user and group, with the mode of the draft.
func TestRootLeavesFilesToTheirOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: only root can give files to others")
	}
	for _, ids := range [][2]int{{1234, 1235}, {0, 1235}, {1234, 0}, {0, 0}} {
		dir := t.TempDir()
		name, draft := filepath.Join(dir, "keys"), filepath.Join(dir, "keys.new")
		write(t, name, "old")
		if err := os.Chown(name, ids[0], ids[1]); err != nil {
			t.Fatal(err)
		}
		write(t, draft, "new")
		if err := owner.Rename(draft, name); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		is := info.Sys().(*syscall.Stat_t)
		if got := [2]int{int(is.Uid), int(is.Gid)}; got != ids || info.Mode() != 0o600 {
			t.Errorf("a file of %v is now of %v, mode %v", ids, got, info.Mode())
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != "new" {
			t.Errorf("%q, %v", text, err)
		}
	}
}

// A name that nobody has yet is taken, and a draft that is not there is an error which
// leaves the name alone.
func TestRename(t *testing.T) {
	dir := t.TempDir()
	name, draft := filepath.Join(dir, "keys"), filepath.Join(dir, "keys.new")
	write(t, draft, "first")
	if err := owner.Rename(draft, name); err != nil {
		t.Fatal(err)
	}
	if err := owner.Rename(draft, name); err == nil {
		t.Error("a draft that is not there was renamed")
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "first" {
		t.Errorf("%q, %v", text, err)
	}
}

// Root gives nothing away through a link that somebody has put in the draft's place.
func TestLinksAreNotFollowed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: only root can give files to others")
	}
	for what, link := range map[string]func(from, to string) error{"symbolic": os.Symlink, "hard": os.Link} {
		dir := t.TempDir()
		name, draft, other := filepath.Join(dir, "keys"), filepath.Join(dir, "keys.new"), filepath.Join(dir, "other")
		write(t, name, "old")
		write(t, other, "of root")
		if err := errors.Join(os.Chown(name, 1234, 1235), link(other, draft)); err != nil {
			t.Fatal(err)
		}
		if err := owner.Rename(draft, name); err == nil {
			t.Errorf("a %s link was given away", what)
		}
		info, err := os.Stat(other)
		if err != nil {
			t.Fatal(err)
		}
		if is := info.Sys().(*syscall.Stat_t); is.Uid != 0 || is.Gid != 0 {
			t.Errorf("through a %s link the file is now of %d:%d", what, is.Uid, is.Gid)
		}
	}
}
