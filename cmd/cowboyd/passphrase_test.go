package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/keystore"
)

func TestPassphraseFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "passphrase")
	f := func(content string, mode os.FileMode, want string, fails bool) {
		t.Helper()
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		got, err := passphraseFile(name)
		if (err != nil) != fails || string(got) != want {
			t.Errorf("%.20q, mode %o: %q, %v", content, mode, got, err)
		}
	}
	f("two words\n", 0o600, "two words", false)
	f("two words\r\n", 0o400, "two words", false)
	f("two\nlines\n\n", 0o600, "two\nlines\n", false)
	f("open to others", 0o644, "", true)
	f(strings.Repeat("x", keystore.PassphraseBytesMax)+"\r\n", 0o600, strings.Repeat("x", keystore.PassphraseBytesMax), false)
	f(strings.Repeat("x", keystore.PassphraseBytesMax+1), 0o600, "", true)
	f(strings.Repeat("x", 1<<20), 0o600, "", true)
}

// TestPassphraseLine: what a person types ends with the line, and nothing behind it is
// read.
func TestPassphraseLine(t *testing.T) {
	r := strings.NewReader("first\r\nsecond\nlast")
	for _, want := range []string{"first", "second", "last"} {
		if got, err := readLine(r); err != nil || string(got) != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if _, err := readLine(r); err == nil {
		t.Error("a line where there is none")
	}
	if _, err := readLine(strings.NewReader(strings.Repeat("x", 1<<20))); err == nil {
		t.Error("a line without end is taken")
	}
}

// TestPassphraseDescriptor reads a pipe to its end, once for two who ask.
func TestPassphraseDescriptor(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString("by a pipe\n"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Dup(int(r.Fd())) // the flag's reader closes it
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	flags := passphraseFlags{FD: fd}
	source := once(flags.source(false))
	for range 2 {
		if got, err := source(); err != nil || string(got) != "by a pipe" {
			t.Errorf("%q, %v", got, err)
		}
	}
	failing := errors.New("no")
	if _, err := once(func() ([]byte, error) { return nil, failing })(); !errors.Is(err, failing) {
		t.Error(err)
	}
	if once(nil) != nil {
		t.Error("a source out of nothing")
	}
}
