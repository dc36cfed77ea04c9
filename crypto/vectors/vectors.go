// Package vectors finds the public test vectors for tests: files of other
// projects (ethereum/tests, wycheproof, drand, the CFRG and more) that are no
// part of this repository. It is a test kit: only tests import it.
//
// In flow names of files below the vectors' folder, out flows their contents.
// The folder is the one that COWBOY_VECTORS names, or shared/vectors beside the
// repository. A test whose file is absent is skipped loudly, and fails with
// CI=true: there, nothing may go untested by mistake.
package vectors

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Path returns where a file or folder of the vectors is.
func Path(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(folder(t), filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("public vectors are required in CI: %v", err)
		}
		t.Skipf("SKIPPED, public vectors are absent: %v (set COWBOY_VECTORS)", err)
	}
	return path
}

// Read returns the contents of a file of the vectors.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Decode takes a JSON file of the vectors into what a pointer points to.
func Decode(t testing.TB, name string, into any) {
	t.Helper()
	if err := json.Unmarshal(Read(t, name), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// module is the first line of the repository's go.mod, which tells it from the
// nested modules.
const module = "module github.com/cowboy-foundation/cowboy\n"

func folder(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("COWBOY_VECTORS"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && bytes.HasPrefix(text, []byte(module)) {
			return filepath.Join(filepath.Dir(dir), "shared", "vectors")
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod of the repository above the test")
		}
		dir = filepath.Dir(dir)
	}
}
