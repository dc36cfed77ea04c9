package syntax

import (
	"bufio"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
)

var all = flag.Bool("all", false, "compare every file of Python's library instead of a sample")

// oracle is a running CPython 3.11 that dumps trees.
type oracle struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
	lib string // folder of its standard library
}

func startOracle(t *testing.T) *oracle {
	t.Helper()
	python := cpython.Path(t)
	lib := cpython.Run(t, "import sysconfig; print(sysconfig.get_paths()['stdlib'])", nil)
	cmd := exec.Command(python, "testdata/astdump.py")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("oracle: %v", err)
		}
	})
	return &oracle{t, in, bufio.NewReaderSize(out, 1<<20), strings.TrimSpace(string(lib))}
}

// ask returns the tree, or CPython's refusal.
func (o *oracle) ask(mode, what string) (tree, refusal string) {
	o.t.Helper()
	if _, err := fmt.Fprintf(o.in, "%s %s\n", mode, what); err != nil {
		o.t.Fatalf("oracle: %v", err)
	}
	head, err := o.out.ReadString('\n')
	if err != nil {
		o.t.Fatalf("oracle on %s: %v", what, err)
	}
	var n int
	if _, err := fmt.Sscanf(head, "ok %d", &n); err != nil {
		return "", strings.TrimSpace(strings.TrimPrefix(head, "error 0 "))
	}
	buf := make([]byte, n)
	if _, err := io.ReadFull(o.out, buf); err != nil {
		o.t.Fatalf("oracle: %v", err)
	}
	return string(buf), ""
}

func (o *oracle) askSource(mode string, src []byte) (tree, refusal string) {
	o.t.Helper()
	return o.ask(mode, "="+hex.EncodeToString(src))
}

// library lists the Python files of the standard library, site packages left
// out.
func (o *oracle) library() []string {
	o.t.Helper()
	var files []string
	err := filepath.WalkDir(o.lib, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "site-packages" {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(name, ".py") {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return files
}

// roomy are limits that no file of the library meets.
func roomy() Limits {
	l := DefaultLimits()
	l.SourceBytes, l.Tokens, l.Constants, l.TreeHeight = 8<<20, 1<<22, 1<<20, 4000
	return l
}

// TestLibraryTrees holds the parser to CPython's over its standard library:
// equal verdicts and equal trees, places included. What the PVM refuses on
// purpose is counted by reason. -args -all compares every file.
func TestLibraryTrees(t *testing.T) {
	o := startOracle(t)
	files := o.library()
	step := 1
	if !*all {
		step = 24
	}
	compared, refused, overDefault := 0, map[string]int{}, 0
	for i := 0; i < len(files); i += step {
		src, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(files[i], o.lib+"/")
		mod, err := Parse(src, roomy())
		if errors.Is(err, ErrUnsupported) {
			var e *Error
			errors.As(err, &e)
			refused[e.Msg]++
			continue
		}
		want, refusal := o.ask("parse", files[i])
		compareVerdict(t, name, mod, err, want, refusal)
		compared++
		if _, err := Parse(src, DefaultLimits()); errors.Is(err, ErrLimit) {
			overDefault++
		}
	}
	t.Logf("compared %d of %d files; refused on purpose: %v; beyond the default limits: %d", compared, len(files), refused, overDefault)
}

func compareVerdict(t *testing.T, name string, mod *Module, err error, want, refusal string) {
	t.Helper()
	switch {
	case err != nil && refusal == "":
		t.Errorf("%s: we refuse (%v), CPython accepts", name, err)
	case err == nil && refusal != "":
		t.Errorf("%s: we accept, CPython refuses (%s)", name, refusal)
	case err == nil:
		compareTrees(t, name, dump(mod), want)
	}
}

func compareTrees(t *testing.T, name, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	what := "places"
	if g, w := withoutPlaces(got), withoutPlaces(want); g != w {
		what, got, want = "trees", g, w
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-120)
	t.Errorf("%s: %s differ:\n got …%s\nwant …%s", name, what, got[from:min(len(got), i+120)], want[from:min(len(want), i+120)])
}

// TestRefusalsAreCPythons asks CPython about the table of refusals.
func TestRefusalsAreCPythons(t *testing.T) {
	o := startOracle(t)
	for _, c := range refusals {
		_, refusal := o.askSource("parse", []byte(c.src))
		ours := errors.Is(c.kind, ErrUnsupported)
		if accepts := refusal == ""; accepts != ours {
			t.Errorf("%.60q: CPython says %q, we %q", c.src, refusal, c.msg)
		}
	}
}
