package cpython

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Library returns the folder of CPython's standard library and the Python files in
// it, always in the same order; site packages are left out.
func Library(t testing.TB) (folder string, files []string) {
	t.Helper()
	folder = strings.TrimSpace(string(Run(t, "import sysconfig; print(sysconfig.get_paths()['stdlib'])", nil)))
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "site-packages" {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(name, ".py") {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return folder, files
}
