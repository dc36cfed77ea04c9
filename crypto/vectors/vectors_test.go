package vectors

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// recorder is a test whose end is looked at.
type recorder struct {
	testing.TB
	skipped, failed bool
}

func (r *recorder) Helper() {}

func (r *recorder) Skipf(string, ...any) {
	r.skipped = true
	runtime.Goexit()
}

func (r *recorder) Fatalf(string, ...any) {
	r.failed = true
	runtime.Goexit()
}

// of runs f as the body of a test.
func of(f func(testing.TB)) *recorder {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

func TestAbsentVectors(t *testing.T) {
	t.Setenv("COWBOY_VECTORS", t.TempDir())
	read := func(t testing.TB) { Read(t, "a/b.json") }
	t.Setenv("CI", "")
	if r := of(read); !r.skipped || r.failed {
		t.Errorf("absent: skipped %v, failed %v", r.skipped, r.failed)
	}
	t.Setenv("CI", "true")
	if r := of(read); r.skipped || !r.failed {
		t.Errorf("absent in CI: skipped %v, failed %v", r.skipped, r.failed)
	}
}

func TestDecode(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("COWBOY_VECTORS", dir)
	for name, text := range map[string]string{"good.json": "[1,2]", "bad.json": "[1,"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []int
	if Decode(t, "good.json", &got); len(got) != 2 || got[1] != 2 {
		t.Errorf("decoded %v", got)
	}
	if r := of(func(t testing.TB) { Decode(t, "bad.json", &got) }); !r.failed {
		t.Error("a damaged file passes")
	}
}

// TestFolder finds the folder beside the repository from a package of it.
func TestFolder(t *testing.T) {
	t.Setenv("COWBOY_VECTORS", "")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := folder(t), filepath.Join(here, "..", "..", "..", "shared", "vectors"); got != want {
		t.Errorf("folder %s, want %s", got, want)
	}
}
