package journal

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// earlier is a file of version 2 with two records.
func earlier() []byte {
	l := layout{salt: salt{1, 2, 3}}
	old := binary.LittleEndian.AppendUint32([]byte(magic), versionWithoutSums)
	kind := KindVotes.text()
	old = sealed(append(append(old, kind[:]...), l.salt[:]...))
	return l.appendRecord(l.appendRecord(old, 0, []byte("first")), 1, []byte("second"))
}

// fullDisk is a folder on a disk on which no new file has room for a byte.
type fullDisk struct{ Folder }

func (d fullDisk) Create(name string) (File, error) {
	f, err := d.Folder.Create(name)
	return fullFile{f}, err
}

type fullFile struct{ File }

func (fullFile) Write([]byte) (int, error) { return 0, &os.PathError{Op: "write", Err: syscall.ENOSPC} }

// TestEarlierFileOnAFullDisk: a journal of an earlier version opens where a new one has no
// room, goes on in its own form, and takes none of the room that is left.
func TestEarlierFileOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "j"), earlier(), 0o600))
	j, err := OpenIn(fullDisk{osFolder(dir)}, "j", KindVotes)
	check(t, err)
	check(t, j.Append([]byte("third")))
	check(t, j.Sync())
	if got := replayed(t, j); !slices.Equal(got, []string{"first", "second", "third"}) {
		t.Errorf("replayed %q", got)
	}
	check(t, j.Close())
	if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 1 {
		t.Errorf("the folder has %v: %v", names, err)
	}
	j, err = Open(filepath.Join(dir, "j"), KindVotes) // there is room again
	check(t, err)
	if got := replayed(t, j); !slices.Equal(got, []string{"first", "second", "third"}) || !j.layout.headSum {
		t.Errorf("with room it is replayed as %q", got)
	}
	check(t, j.Close())
}

// brokenDisk fails in another way than for want of room.
type brokenDisk struct{ Folder }

func (brokenDisk) Rename(string, string) error { return syscall.EIO }

// TestEarlierFileOnABrokenDisk: other errors end the opening, and leave the file.
func TestEarlierFileOnABrokenDisk(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "j"), earlier(), 0o600))
	if _, err := OpenIn(brokenDisk{osFolder(dir)}, "j", KindVotes); !errors.Is(err, syscall.EIO) {
		t.Errorf("opened: %v", err)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 1 {
		t.Errorf("the folder has %v: %v", names, err)
	}
}

// TestJournalStaysItsOwners: root opens and prunes the journal of a node that is not root's.
func TestJournalStaysItsOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can write a file in another's name")
	}
	path := filepath.Join(t.TempDir(), "j")
	check(t, os.WriteFile(path, earlier(), 0o600))
	check(t, os.Chown(path, 12345, 23456))
	owned := func(when string) {
		t.Helper()
		info, err := os.Stat(path)
		check(t, err)
		if s := info.Sys().(*syscall.Stat_t); s.Uid != 12345 || s.Gid != 23456 || info.Mode() != 0o600 {
			t.Errorf("%s it belongs to %d and %d, with the mode %v", when, s.Uid, s.Gid, info.Mode())
		}
	}
	j, err := Open(path, KindVotes)
	check(t, err)
	owned("opened")
	check(t, j.Prune(func(rec []byte) bool { return string(rec) == "second" }))
	owned("pruned")
	check(t, j.Close())
}
