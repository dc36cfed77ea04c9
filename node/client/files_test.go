package client

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestOverwriteTakesThePlace: the old file is never written to, so that it is whole whenever
// the new one is not; links and modes stay.
func TestOverwriteTakesThePlace(t *testing.T) {
	dir := t.TempDir()
	path, other, link := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	for _, step := range []error{
		Overwrite(path, []byte("old"), 0o640), os.Link(path, other), os.Symlink(path, link), Overwrite(link, []byte("new"), 0o600),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o640 || readText(t, path) != "new" || readText(t, link) != "new" || readText(t, other) != "old" {
		t.Errorf("%v, %v: %q, by its link %q; before %q", info.Mode(), err, readText(t, path), readText(t, link), readText(t, other))
	}
	if found, err := os.Readlink(link); err != nil || found != path {
		t.Errorf("the link points to %q: %v", found, err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() {
		b, err := os.ReadFile(pipe)
		got <- string(b) + errorText(err)
	}()
	if err := Overwrite(pipe, []byte("through"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "through" {
		t.Errorf("through a pipe came %q", text)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 4 {
		t.Errorf("files: %v, %v", names, err)
	}
	if err := WriteNew(path, []byte("third"), 0o600); !errors.Is(err, fs.ErrExist) || readText(t, path) != "new" {
		t.Errorf("a new file over another: %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestReplacedKeyIsAlwaysThere reads the key file all the time while the key is replaced: a
// key is there at every moment, and so it is after a crash at any.
func TestReplacedKeyIsAlwaysThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	replace := func() {
		key, err := NewKey()
		if err == nil {
			_, err = ReplaceKey(path, key)
		}
		if err != nil {
			t.Error(err)
		}
	}
	replace()
	var over atomic.Bool
	missed := make(chan error, 1)
	go func() {
		for !over.Load() {
			if _, err := ReadKey(path); err != nil {
				missed <- err
				return
			}
		}
		missed <- nil
	}()
	for range 100 {
		replace()
	}
	over.Store(true)
	if err := <-missed; err != nil {
		t.Error(err)
	}
	if olds, err := filepath.Glob(path + ".old*"); err != nil || len(olds) != 100 {
		t.Errorf("%d old keys are kept of 100: %v", len(olds), err)
	}
}

// TestReplaceKeyCutShort: the key that a command was to put in place when it was cut short is
// not lost either.
func TestReplaceKeyCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.WriteFile(path+nextKey, []byte("next"), 0o600)); err != nil {
		t.Fatal(err)
	}
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, err = ReplaceKey(path, key); !errors.Is(err, ErrKeyExists) || !strings.Contains(err.Error(), path+nextKey) {
		t.Errorf("%v, want that %s is in the way", err, path+nextKey)
	}
	if readText(t, path) != "old" || readText(t, path+nextKey) != "next" {
		t.Error("a key is lost")
	}
}

// TestForeignProjects: a project that others can change is not used.
func TestForeignProjects(t *testing.T) {
	me := os.Geteuid()
	for name, mode := range map[string]fs.FileMode{".": 0o700, settingsName: 0o600, keyName: 0o600} {
		dir := t.TempDir()
		if err := NewSettings().Write(filepath.Join(dir, projectFolder, settingsName)); err != nil {
			t.Fatal(err)
		}
		key, err := NewKey()
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteKey(filepath.Join(dir, projectFolder, keyName), key); err != nil {
			t.Fatal(err)
		}
		find := func() error { _, err := FindProject(dir); return err }
		if err := find(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, projectFolder, name)
		for _, open := range []fs.FileMode{0o020, 0o002} {
			if err := os.Chmod(path, mode|open); err != nil {
				t.Fatal(err)
			}
			if err := find(); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "chmod go-w "+path) {
				t.Errorf("%s with the mode %o: %v", name, mode|open, err)
			}
		}
		if err := os.Chmod(path, mode|0o055); err != nil {
			t.Fatal(err)
		}
		if err := find(); err != nil {
			t.Errorf("%s that others may read: %v", name, err)
		}
		if me != 0 {
			if err := checkOwner(path, me+1); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "chown") {
				t.Errorf("%s of another: %v", name, err)
			}
			continue
		}
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if err := find(); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "chown -R 0 "+path) {
			t.Errorf("%s of another: %v", name, err)
		}
	}
}

// TestHideKeys hides what may be a key, and neither addresses nor the parts of paths.
func TestHideKeys(t *testing.T) {
	key := strings.Repeat("1f", 32)
	for text, want := range map[string]string{
		"open 0x" + key + ": no such file": "open (66 letters and digits, not repeated: they may be a private key): no such file",
		"keys/" + key[1:] + ".txt":         "keys/(63 letters and digits, not repeated: they may be a private key).txt",
		"0x" + key[:40] + " is not there":  "0x" + key[:40] + " is not there",
		"/home/ann/project/.cowboy/key":    "/home/ann/project/.cowboy/key",
	} {
		if got := HideKeys(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
