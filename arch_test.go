// Package cowboy_test holds the architecture as tests: which folder may import
// which, what pure code may not touch, how long a file may be. A rule that no
// machine checks is a wish.
package cowboy_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/cowboy-foundation/cowboy"

// rootFolders is the exact list of folders in the root; docs/adr/0001 says why
// each stands there.
var (
	rootFolders = []string{".ci", "asm", "bench", "chain", "cmd", "consensus", "crypto", "docs", "exec", "lanes", "node", "profiles", "runner", "sdk", "state"}
	notOurs     = []string{".git", "bin", "devnet-data"}
)

// rank is rule R1: a folder imports only folders of lower rank, and itself.
var rank = map[string]int{
	"asm": 0, "crypto": 1, "chain": 2, "state": 3,
	"consensus": 4, "exec": 4, "lanes": 4, "runner": 4,
	"node": 5, "bench": 6, "cmd": 7,
}

// pure packages decide (rule R2): the same answer on every node, from the
// arguments alone. A trailing slash covers the folders below.
var pure = []string{
	"asm/", "crypto/keccak", "crypto/vrf", "crypto/ed25519", "chain/", "state", "state/tree", "state/checkpoint", "state/rent", "state/roles",
	"consensus/beacon", "consensus/shards", "consensus/simplex", "exec/", "node/light", "node/pyvalue", "node/manifest",
	"crypto/secp256k1", "crypto/bls", "runner/wire",
}

// impure may not be imported by pure packages: each would let in time, chance,
// the outside world or a second goroutine.
var impure = []string{
	"context", "crypto/rand", "io/fs", "log", "log/slog", "math/rand", "math/rand/v2",
	"net", "net/http", "os", "reflect", "runtime", "sync", "sync/atomic", "time", "unsafe",
}

// closed packages may fan out inside one call and join before it returns.
var closed = map[string][]string{
	"asm/cpu":          {"os", "sync"}, // COWBOY_CPU is read here, once; no result depends on it
	"asm/keccak":       {"sync"},       // the choice of a kernel, remembered
	"crypto/secp256k1": {"sync", "sync/atomic", "runtime"},
	"crypto/bls":       {"sync", "sync/atomic", "runtime"},
	"exec/parallel":    {"sync", "sync/atomic"},
	"state/tree":       {"sync", "sync/atomic", "runtime"},
}

// kits are packages for tests: nothing that ends up in a program imports them.
var kits = []string{"crypto/vectors", "state/blocklog/badsector", "state/journal/disktest", "state/statetest", "exec/pvm/cpython", "exec/pvm/attacks", "exec/pvm/soak", "node/devtest", "node/porttest", "node/simnode", "node/acceptance/process", "bench/boundary"}

// generators are programs beside the code they write; they are no part of the
// node.
var generators = []string{"chain/codecgen", "chain/docgen"}

const (
	fileLinesMax = 800
	funcLinesMax = 80
)

// long are functions that may be longer: the dispatch of the interpreter is one
// dense switch, so that the compiler makes a jump table of it.
var long = map[string]string{"exec/pvm/vm": "loop"}

// goFile is one parsed file of the module.
type goFile struct {
	path    string // slash-separated, from the root
	pkg     string // folder
	root    string // first element of pkg
	test    bool
	gen     bool
	lines   int
	ast     *ast.File
	fset    *token.FileSet
	imports []string
}

func TestArchitecture(t *testing.T) {
	files := parseModule(t)
	checks := []struct {
		name  string
		check func([]goFile) []string
	}{
		{"root folders", func([]goFile) []string { return breachesOfRoots(t) }},
		{"R1 layers", breachesOfLayers},
		{"lattice of imports", breachesOfLattice},
		{"R2 pure imports", breachesOfPurity},
		{"no goroutines in pure code", breachesOfGoroutines},
		{"no host floats in the machine", breachesOfFloats},
		{"no foreign readers of JSON", breachesOfJSON},
		{"test kits", breachesOfKits},
		{"black boxes", breachesOfBoxes},
		{"no init functions", breachesOfInit},
		{"loops are paid for", breachesOfPaid},
		{"one rule of validity", breachesOfRule},
		{"file length", breachesOfLength},
		{"package docs", breachesOfDocs},
		{"names", breachesOfNames},
		{"verbs", breachesOfVerbs},
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			for _, breach := range c.check(files) {
				t.Error(breach)
			}
		})
	}
}

// breachesOfRule finds checks of transactions that are composed by hand: who asks whether
// one is valid asks [fees.Validity], whose parts are for its own tests to name.
func breachesOfRule(files []goFile) []string {
	parts := []string{"CheckStatic", "CheckRole", "CheckSender", "CheckTarget"}
	var breaches []string
	for _, f := range files {
		if f.test || f.pkg == "chain/fees" || !slices.Contains(f.imports, module+"/chain/fees") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(parts, s.Sel.Name) {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "fees" {
				breaches = append(breaches, fmt.Sprintf("%s calls fees.%s: a transaction is judged by fees.Validity, whole", f.fset.Position(n.Pos()), s.Sel.Name))
			}
			return true
		})
	}
	return breaches
}

func parseModule(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (slices.Contains(notOurs, name) || d.Name() == "testdata" || d.Name() == "node_modules" || isNestedModule(name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || filepath.Dir(name) == "." {
			return nil
		}
		f, err := parseFile(filepath.ToSlash(name))
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no Go files found: the test runs from the module's root")
	}
	return files
}

func isNestedModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func parseFile(name string) (goFile, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return goFile{}, err
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	if err != nil {
		return goFile{}, err
	}
	f := goFile{
		path: name, pkg: path.Dir(name), root: strings.SplitN(name, "/", 2)[0],
		test: strings.HasSuffix(name, "_test.go"), gen: ast.IsGenerated(parsed),
		lines: strings.Count(string(src), "\n"), ast: parsed, fset: fset,
	}
	for _, spec := range parsed.Imports {
		f.imports = append(f.imports, strings.Trim(spec.Path.Value, `"`))
	}
	return f, nil
}

func breachesOfRoots(t *testing.T) []string {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var found, breaches []string
	for _, e := range entries {
		if !e.IsDir() || slices.Contains(notOurs, e.Name()) {
			continue
		}
		found = append(found, e.Name())
		if !slices.Contains(rootFolders, e.Name()) {
			breaches = append(breaches, fmt.Sprintf("folder %s/ is not in the list of root folders: put it where it belongs, or write an ADR", e.Name()))
		}
	}
	for _, want := range rootFolders {
		if !slices.Contains(found, want) {
			breaches = append(breaches, fmt.Sprintf("root folder %s/ is missing", want))
		}
	}
	return breaches
}

func breachesOfLayers(files []goFile) []string {
	var breaches []string
	for _, f := range files {
		for _, imp := range f.imports {
			to, ours := strings.CutPrefix(imp, module+"/")
			if !ours {
				continue
			}
			toRoot := strings.SplitN(to, "/", 2)[0]
			from, known := rank[f.root]
			if !known {
				breaches = append(breaches, fmt.Sprintf("%s: folder %s has no place in the layers", f.path, f.root))
				continue
			}
			if toRoot != f.root && rank[toRoot] >= from {
				breaches = append(breaches, fmt.Sprintf("%s imports %s: %s may import only layers below it (R1)", f.path, to, f.root))
			}
		}
	}
	return breaches
}

func isPure(pkg string) bool {
	if slices.Contains(generators, pkg) || slices.Contains(kits, pkg) {
		return false
	}
	return slices.ContainsFunc(pure, func(p string) bool {
		dir, subtree := strings.CutSuffix(p, "/")
		return pkg == dir || subtree && strings.HasPrefix(pkg, p)
	})
}

func breachesOfPurity(files []goFile) []string {
	var breaches []string
	for _, f := range files {
		if f.test || !isPure(f.pkg) {
			continue
		}
		for _, imp := range f.imports {
			if slices.Contains(impure, imp) && !slices.Contains(closed[f.pkg], imp) && !(imp == "unsafe" && f.root == "asm") {
				breaches = append(breaches, fmt.Sprintf("%s imports %q: pure packages decide from their arguments alone (R2)", f.path, imp))
			}
		}
	}
	return breaches
}

func breachesOfGoroutines(files []goFile) []string {
	var breaches []string
	for _, f := range files {
		if f.test || !isPure(f.pkg) || closed[f.pkg] != nil {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt, *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
				breaches = append(breaches, fmt.Sprintf("%s: goroutine or channel in pure code (R2)", f.fset.Position(n.Pos())))
			}
			return true
		})
	}
	return breaches
}

// jsonFiles may use encoding/json below the node: they write documents for people, or
// read such as no state follows from. What the state transition and the genesis read is
// read by chain/document itself, so that no release of a library changes it.
var jsonFiles = []string{"chain/genesis/json.go", "chain/params/lanes.go", "exec/pvm/dump.go", "consensus/guard/interchange.go"}

func breachesOfJSON(files []goFile) []string {
	var breaches []string
	for _, f := range files {
		if f.test || slices.Contains(kits, f.pkg) || rank[f.root] >= rank["node"] || slices.Contains(jsonFiles, f.path) {
			continue
		}
		if slices.Contains(f.imports, "encoding/json") {
			breaches = append(breaches, fmt.Sprintf("%s imports encoding/json: what it takes depends on its release (ADR 87)", f.path))
		}
	}
	return breaches
}

func breachesOfKits(files []goFile) []string {
	var breaches []string
	for _, f := range files {
		if f.test || slices.Contains(kits, f.pkg) {
			continue
		}
		for _, imp := range f.imports {
			if to, ours := strings.CutPrefix(imp, module+"/"); ours && slices.Contains(kits, to) {
				breaches = append(breaches, fmt.Sprintf("%s imports %s: it is a kit for tests", f.path, to))
			}
		}
	}
	return breaches
}

// boxes are packages that know the chain from outside: what they expect comes from the texts,
// so not even their tests import what decides (ADR 224).
var boxes = []string{"node/acceptance", "node/acceptance/examples", "node/acceptance/process"}

func breachesOfBoxes(files []goFile) []string {
	var breaches []string
	for _, f := range files {
		if !slices.Contains(boxes, f.pkg) {
			continue
		}
		for _, imp := range f.imports {
			to, _ := strings.CutPrefix(imp, module+"/")
			if root := strings.SplitN(to, "/", 2)[0]; root == "exec" || root == "state" {
				breaches = append(breaches, fmt.Sprintf("%s imports %s: it sees the chain from outside", f.path, to))
			}
		}
	}
	return breaches
}

// breachesOfFloats keeps the processor's floating point out of the Python
// machine: no value of a float type can come to be where neither the types, nor
// a literal, nor the packages and methods that return one are named.
func breachesOfFloats(files []goFile) []string {
	types := []string{"float32", "float64", "complex64", "complex128"}
	calls := []string{
		"Float", "Float32", "Float64", "NewFloat", "SetFloat64", "ApproxFloat64",
		"ParseFloat", "FormatFloat", "AppendFloat", "ParseComplex",
	}
	banned := []string{"math", "math/cmplx"}
	var breaches []string
	for _, f := range files {
		if f.test || f.pkg != "exec/pvm" && !strings.HasPrefix(f.pkg, "exec/pvm/") {
			continue
		}
		breach := func(pos token.Pos, what string) {
			breaches = append(breaches, fmt.Sprintf("%s: %s: the machine's floats are exec/pvm/softfloat's", f.fset.Position(pos), what))
		}
		for _, spec := range f.ast.Imports {
			if slices.Contains(banned, strings.Trim(spec.Path.Value, `"`)) {
				breach(spec.Pos(), "imports "+spec.Path.Value)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if slices.Contains(types, n.Name) {
					breach(n.Pos(), n.Name)
				}
			case *ast.BasicLit:
				if n.Kind == token.FLOAT || n.Kind == token.IMAG {
					breach(n.Pos(), "literal "+n.Value)
				}
			case *ast.SelectorExpr:
				if slices.Contains(calls, n.Sel.Name) {
					breach(n.Pos(), n.Sel.Name)
				}
			}
			return true
		})
	}
	return breaches
}

func breachesOfInit(files []goFile) []string {
	var breaches []string
	for _, f := range files {
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv == nil && fn.Name.Name == "init" {
				breaches = append(breaches, fmt.Sprintf("%s: init function: construct it where it is used", f.fset.Position(fn.Pos())))
			}
		}
	}
	return breaches
}

func breachesOfLength(files []goFile) []string {
	var breaches []string
	for _, f := range files {
		if f.gen {
			continue
		}
		if f.lines > fileLinesMax {
			breaches = append(breaches, fmt.Sprintf("%s has %d lines, at most %d: split it on nouns", f.path, f.lines, fileLinesMax))
		}
		if f.test {
			continue
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			lines := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1
			if lines > funcLinesMax && long[f.pkg] != fn.Name.Name {
				breaches = append(breaches, fmt.Sprintf("%s: %s has %d lines, at most %d", f.fset.Position(fn.Pos()), fn.Name.Name, lines, funcLinesMax))
			}
		}
	}
	return breaches
}

func breachesOfDocs(files []goFile) []string {
	docs := map[string]int{}
	for _, f := range files {
		if f.test {
			continue
		}
		if _, ok := docs[f.pkg]; !ok {
			docs[f.pkg] = 0
		}
		if f.ast.Doc != nil && len(strings.TrimSpace(f.ast.Doc.Text())) > 40 {
			docs[f.pkg]++
		}
	}
	var breaches []string
	for pkg, n := range docs {
		if n != 1 {
			breaches = append(breaches, fmt.Sprintf("package %s has %d package comments, want one that says what it is for", pkg, n))
		}
	}
	slices.Sort(breaches)
	return breaches
}

// breachesOfNames refuses the names behind which unrelated code gathers.
func breachesOfNames(files []goFile) []string {
	grabBags := []string{"util", "utils", "common", "helper", "helpers", "misc", "types", "base", "shared", "core", "manager"}
	suffixes := []string{"Manager", "Helper", "Service", "Processor", "Impl"}
	var breaches []string
	for _, f := range files {
		stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test")
		if slices.Contains(grabBags, stem) || slices.Contains(grabBags, path.Base(f.pkg)) {
			breaches = append(breaches, fmt.Sprintf("%s: name the thing, not the drawer", f.path))
		}
		for _, decl := range f.ast.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				name := spec.(*ast.TypeSpec).Name.Name
				if slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(name, s) }) {
					breaches = append(breaches, fmt.Sprintf("%s: type %s: say what it is", f.path, name))
				}
			}
		}
	}
	return breaches
}
