package scope

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

var all = flag.Bool("all", false, "compare every file of Python's library instead of a sample")

// oracle is a running CPython 3.11 that dumps symbol tables.
type oracle struct {
	*cpython.Dialogue
	t *testing.T
}

func startOracle(t *testing.T) *oracle {
	t.Helper()
	return &oracle{cpython.Start(t, "testdata/symdump.py"), t}
}

// ask returns the dump of a path, or of a source in hexadecimal after "=".
func (o *oracle) ask(what string) string {
	o.t.Helper()
	head := o.Ask(what)
	n, err := strconv.Atoi(strings.TrimSpace(head))
	if err != nil {
		o.t.Fatalf("oracle: %q: %v", head, err)
	}
	return o.Rest(n)
}

func (o *oracle) askSource(src string) string {
	o.t.Helper()
	return o.ask("=" + hex.EncodeToString([]byte(src)))
}

// dump writes our table in the oracle's notation.
func dump(s *Scope, depth int, out *strings.Builder) {
	kind, line := "function", s.pos().Line
	switch s.Kind {
	case Module:
		kind, line = "module", 0
	case Class:
		kind = "class"
	}
	nested := 0
	if s.Nested {
		nested = 1
	}
	fmt.Fprintf(out, "%d %s %s %d %d\n", depth, kind, s.Name, line, nested)
	var rows, params []string
	for _, sym := range s.Symbols {
		rows = append(rows, fmt.Sprintf(" %s %d\n", sym.Name, int(sym.Flags)|int(sym.Resolution)<<11))
	}
	slices.Sort(rows)
	for _, p := range s.Params {
		params = append(params, p.Name)
	}
	fmt.Fprintf(out, "%s params %s\n", strings.Join(rows, ""), strings.Join(params, ","))
	for _, c := range s.Children {
		dump(c, depth+1, out)
	}
}

// sortedRows sorts the symbols between the other lines, since Python sorts names
// and we whole rows.
func sortedRows(dump string) string {
	lines := strings.Split(dump, "\n")
	for i := 0; i < len(lines); {
		j := i
		for j < len(lines) && strings.HasPrefix(lines[j], " ") && !strings.HasPrefix(lines[j], " params ") {
			j++
		}
		slices.Sort(lines[i:j])
		i = j + 1
	}
	return strings.Join(lines, "\n")
}

// codes counts what the scopes say of the code objects that they become.
func codes(s *Scope, out map[string]int) {
	names := func(syms []*Symbol, more bool) string {
		var all []string
		for _, sym := range syms {
			all = append(all, sym.Name)
		}
		if more {
			all = append(all, "__class__")
		}
		slices.Sort(all)
		return strings.Join(all, ",")
	}
	name, line := s.Name, s.pos().Line
	switch n := s.Node.(type) {
	case nil:
		name = "<module>"
	case *syntax.FunctionDef:
		line = firstLine(line, n.DecoratorList)
	case *syntax.AsyncFunctionDef:
		line = firstLine(line, n.DecoratorList)
	case *syntax.ClassDef:
		line = firstLine(line, n.DecoratorList)
	default:
		name = "<" + name + ">"
	}
	flags := 0
	for _, f := range []struct {
		on  bool
		bit int
	}{
		{s.VarArgs, 4},
		{s.VarKeywords, 8},
		{s.Generator && !s.Coroutine, 0x20},
		{s.Coroutine && !s.Generator, 0x80},
		{s.AsyncGenerator(), 0x200},
	} {
		if f.on {
			flags |= f.bit
		}
	}
	if s.Kind == Module {
		line = 1
	}
	out[fmt.Sprintf("code %s %d %d %s %s", name, line, flags, names(s.Cells(), s.NeedsClassCell), names(s.Frees(), false))]++
	for _, c := range s.Children {
		codes(c, out)
	}
}

func firstLine(line int32, decorators []syntax.Expr) int32 {
	if len(decorators) > 0 {
		return decorators[0].Position().Line
	}
	return line
}

// roomy are limits that no file of the library meets.
func roomy() (syntax.Limits, Limits) {
	l := syntax.DefaultLimits()
	l.SourceBytes, l.Tokens, l.Constants, l.TreeHeight = 8<<20, 1<<22, 1<<20, 4000
	return l, Limits{Scopes: 1 << 20, Symbols: 1 << 22, MangledBytes: 1 << 24}
}

// compare holds one table to CPython's. Code that CPython drops as unreachable
// has no code object, so only those that exist are looked for.
func compare(t *testing.T, name string, table *Table, want string) {
	t.Helper()
	want, wantCodes, _ := strings.Cut(want, "\ncodes\n")
	var b strings.Builder
	dump(table.Module, 0, &b)
	got := strings.Split(sortedRows(strings.TrimSuffix(b.String(), "\n")), "\n")
	wants := strings.Split(sortedRows(want), "\n")
	scope := ""
	for i, w := range wants {
		if !strings.HasPrefix(w, " ") {
			scope = w
		}
		if i >= len(got) || got[i] != w {
			t.Errorf("%s: in %q we say %q, CPython %q", name, scope, got[min(i, len(got)-1)], w)
			return
		}
	}
	if len(got) > len(wants) {
		t.Errorf("%s: we say %q, CPython nothing more", name, got[len(wants)])
	}
	ours := map[string]int{}
	codes(table.Module, ours)
	for code := range strings.SplitSeq(wantCodes, "\n") {
		if ours[code]--; ours[code] < 0 {
			t.Errorf("%s: CPython has %q, we do not", name, code)
		}
	}
}

// TestLibraryTables holds the tables to CPython's over its standard library:
// scopes, names, flags, resolutions, and the cells of its code objects.
// -args -all compares every file.
func TestLibraryTables(t *testing.T) {
	o := startOracle(t)
	lib, files := cpython.Library(t)
	step := 1
	if !*all {
		step = 24
	}
	compared, refused, beyond := 0, 0, 0
	sl, l := roomy()
	for i := 0; i < len(files); i += step {
		src, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		mod, err := syntax.Parse(src, sl)
		if err != nil {
			refused++
			continue
		}
		name := strings.TrimPrefix(files[i], lib+"/")
		table, err := Analyze(mod, l)
		want := o.ask(files[i])
		switch {
		case err == nil && strings.HasPrefix(want, "error "):
			if syntax.Check(mod) == nil { // else the compiler's refusal, not the table's
				t.Errorf("%s: we accept, CPython says %q", name, want)
			}
			continue
		case err != nil && !strings.HasPrefix(want, "error "):
			t.Errorf("%s: %v, CPython accepts", name, err)
			continue
		case err != nil:
			compareError(t, name, err, want)
			continue
		}
		compare(t, name, table, want)
		compared++
		if _, err := Analyze(mod, DefaultLimits()); err != nil {
			beyond++
		}
	}
	t.Logf("compared %d of %d files; refused by the parser: %d; beyond the default limits: %d", compared, len(files), refused, beyond)
}

func compareError(t *testing.T, name string, err error, want string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%s: %v is no *Error", name, err)
		return
	}
	if got := fmt.Sprintf("error %d %d %s", e.Line, e.Col+1, e.Msg); got != want {
		t.Errorf("%s: we say %q, CPython %q", name, got, want)
	}
}

// TestTablesAreCPythons asks CPython about the tables of this package's tests.
func TestTablesAreCPythons(t *testing.T) {
	o := startOracle(t)
	for _, src := range programs {
		table, err := analyze(t, src)
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		compare(t, fmt.Sprintf("%q", src), table, o.askSource(src))
	}
	for _, c := range refusals {
		_, err := analyze(t, c.src)
		compareError(t, fmt.Sprintf("%q", c.src), err, o.askSource(c.src))
	}
}
