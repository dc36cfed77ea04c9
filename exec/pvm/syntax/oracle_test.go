package syntax

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
)

var all = flag.Bool("all", false, "compare every file of Python's library instead of a sample")

// oracle is a running CPython 3.11 that dumps trees.
type oracle struct {
	*cpython.Dialogue
	t     *testing.T
	lib   string   // folder of its standard library
	files []string // of it
}

func startOracle(t *testing.T) *oracle {
	t.Helper()
	o := &oracle{Dialogue: cpython.Start(t, "testdata/astdump.py"), t: t}
	o.lib, o.files = cpython.Library(t)
	return o
}

// verdict is CPython's answer on one source.
type verdict struct {
	tree   string
	parser string // why ast.parse refuses, or empty
	later  string // why the compiler refuses what ast.parse took, or empty
}

func (o *oracle) ask(mode, what string) verdict {
	o.t.Helper()
	head := o.Ask(mode + " " + what)
	parts := strings.SplitN(head, " ", 3)
	if parts[0] == "error" {
		return verdict{parser: parts[2]}
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		o.t.Fatalf("oracle: %q: %v", head, err)
	}
	return verdict{tree: o.Rest(n), later: parts[2]}
}

func (o *oracle) askSource(src []byte) verdict {
	o.t.Helper()
	return o.ask("compile", "="+hex.EncodeToString(src))
}

// roomy are limits that no file of the library meets.
func roomy() Limits {
	l := DefaultLimits()
	l.SourceBytes, l.Tokens, l.Constants, l.TreeHeight = 8<<20, 1<<22, 1<<20, 4000
	return l
}

// What the PVM refuses is taken out of a file, the same for both parsers, so
// that the rest of it can be compared.
var (
	imaginary = regexp.MustCompile(`([0-9.])[jJ]\b`)
	byName    = regexp.MustCompile(`\\N\{[^}]*\}`)
)

// TestLibraryTrees holds the parser to CPython's over its standard library:
// equal verdicts and equal trees, places included. What the PVM refuses on
// purpose is counted by reason. -args -all compares every file.
func TestLibraryTrees(t *testing.T) {
	o := startOracle(t)
	step := 1
	if !*all {
		step = 24
	}
	compared, altered, refused, overDefault := 0, 0, map[string]int{}, 0
	for i := 0; i < len(o.files); i += step {
		src, err := os.ReadFile(o.files[i])
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(o.files[i], o.lib+"/")
		mod, err := Parse(src, roomy())
		if msg, ok := unsupported(err); ok {
			refused[msg]++
			src = imaginary.ReplaceAll(byName.ReplaceAll(src, []byte("?")), []byte("$1"))
			if mod, err = Parse(src, roomy()); errors.Is(err, ErrUnsupported) {
				continue
			}
			altered++
		}
		compareVerdict(t, name, mod, err, o.askSource(src))
		compared++
		if _, err := Parse(src, DefaultLimits()); errors.Is(err, ErrLimit) {
			overDefault++
		}
	}
	t.Logf("compared %d of %d files, %d of them with what we refuse taken out; refused on purpose: %v; beyond the default limits: %d", compared, len(o.files), altered, refused, overDefault)
}

// unsupported returns the reason of a refusal that is ours alone.
func unsupported(err error) (string, bool) {
	var e *Error
	if errors.As(err, &e) && errors.Is(e, ErrUnsupported) {
		return e.Msg, true
	}
	return "", false
}

func compareVerdict(t *testing.T, name string, mod *Module, err error, want verdict) {
	t.Helper()
	switch {
	case err != nil && want.parser == "":
		t.Errorf("%s: we refuse (%v), CPython accepts", name, err)
		return
	case err == nil && want.parser != "":
		t.Errorf("%s: we accept, CPython refuses (%s)", name, want.parser)
		return
	case err != nil:
		return
	}
	compareTrees(t, name, dump(mod), want.tree)
	if later := Check(mod); (later == nil) != (want.later == "") {
		t.Errorf("%s: Check says %v, CPython's compiler %q", name, later, want.later)
	}
}

func compareTrees(t *testing.T, name, got, want string) {
	t.Helper()
	if !places.MatchString(want) {
		got = withoutPlaces(got)
	}
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

// TestRefusalsAreCPythons asks CPython about the tables of refusals.
func TestRefusalsAreCPythons(t *testing.T) {
	o := startOracle(t)
	for _, c := range refusals {
		v := o.askSource([]byte(c.src))
		ours := errors.Is(c.kind, ErrUnsupported)
		if accepts := v.parser == ""; accepts != ours {
			t.Errorf("%.60q: CPython says %q, we %q", c.src, v.parser, c.msg)
		}
	}
	for _, c := range checks {
		if v := o.askSource([]byte(c.src)); !strings.Contains(v.later, c.msg) {
			t.Errorf("%q: CPython says %q, we %q", c.src, v.later, c.msg)
		}
	}
}

// corpora are the tests of CPython whose string literals and doctests are
// sources, many of them wrong on purpose.
var corpora = []string{
	"syntax", "exceptions", "fstring", "named_expressions", "patma", "grammar", "positional_only_arg",
	"keywordonlyarg", "unpack_ex", "extcall", "string_literals", "scope", "global", "except_star",
	"coroutines", "asyncgen", "genexps", "generators", "future", "compile", "ast", "eof", "tokenize",
	"codeop", "dictcomps", "setcomps", "listcomps", "decorators", "symtable", "super", "yield_from",
	"with", "unparse", "augassign", "annotations", "type_annotations", "unpack", "utf8source", "bytes",
	"unicode_identifiers", "int", "float", "long", "indent", "traceback", "opcodes", "pep646_syntax",
	"metaclass", "class", "source_encoding", "parser", "exception_variations",
}

// multilineField finds an f-string field that holds a literal with a newline:
// CPython 3.11 miscounts the columns behind it (mended in 3.12), so places are
// not compared there. No file of the library has one.
var multilineField = regexp.MustCompile(`\(FormattedValue@[0-9:]+ .{0,200}Constant@[0-9:]+ x[0-9a-f]*0a`)

// TestRejectionCorpus compares the verdicts on every string of those tests. By
// default it takes a sample.
func TestRejectionCorpus(t *testing.T) {
	o := startOracle(t)
	step := 1
	if !*all {
		step = 9
	}
	accepted, rejected, ours := 0, 0, map[string]int{}
	for _, name := range corpora {
		file := filepath.Join(o.lib, "test", "test_"+name+".py")
		if _, err := os.Stat(file); err != nil {
			continue
		}
		sources := strings.Split(o.ask("strings", file).tree, "\n")
		for i := 0; i < len(sources); i += step {
			src, err := hex.DecodeString(sources[i])
			if err != nil {
				t.Fatal(err)
			}
			mod, err := Parse(src, roomy())
			if err == nil {
				if later, ok := unsupported(Check(mod)); ok {
					ours[later]++
					continue
				}
			}
			if msg, ok := unsupported(err); ok {
				ours[msg]++
				continue
			}
			if errors.Is(err, ErrLimit) {
				ours["limit"]++
				continue
			}
			v := o.askSource(src)
			if v.parser == "" && v.later == "" {
				accepted++
			} else {
				rejected++
			}
			if strings.Contains(v.later, "too many statically nested blocks") {
				ours["CPython's own limit of 20 nested blocks"]++
				continue
			}
			if multilineField.MatchString(v.tree) {
				v.tree = withoutPlaces(v.tree)
			}
			compareVerdict(t, fmt.Sprintf("%s: %.200q", name, src), mod, err, v)
		}
	}
	t.Logf("CPython accepts %d, refuses %d; refused on purpose: %v", accepted, rejected, ours)
}
