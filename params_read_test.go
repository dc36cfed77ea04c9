package cowboy_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/params"
)

// TestParametersAreRead: a parameter that nothing reads is a promise that nobody
// keeps. Each one that governance may set is selected by code outside of [declaring],
// or by a function of these packages which such code calls; those that are not belong
// to a part that is not built, and [params.CheckSettable] refuses them by name.
func TestParametersAreRead(t *testing.T) {
	m := loadModule(t)
	read := m.readFields()
	excused := map[string]bool{}
	for _, p := range parameterFields(reflect.TypeFor[params.Params](), "") {
		settable := params.CheckSettable(p.path) == nil
		reason, listed := checkedOnly[p.path]
		excused[p.path] = listed
		switch {
		case settable && !read[p.field] && !listed:
			t.Errorf("%s (%s) may be set and is read by nothing outside of chain, chain/params and chain/genesis", p.path, p.field)
		case listed && (read[p.field] || !settable):
			t.Errorf("%s needs no excuse (%s): take it off the list", p.path, reason)
		case params.UnbuiltParam(p.path) && read[p.field]:
			t.Errorf("%s (%s) is read: its part is built, so it leaves the list of chain/params", p.path, p.field)
		}
	}
	for path := range checkedOnly {
		if !excused[path] {
			t.Errorf("%s is excused and no parameter", path)
		}
	}
}

// checkedOnly are parameters that act through [params.Params.Check] alone, by which a
// decision is refused.
var checkedOnly = map[string]string{}

// parameter is one leaf of the parameters: its path in the genesis document and
// "Struct.Field" of [declaring].
type parameter struct{ path, field string }

func parameterFields(t reflect.Type, prefix string) (out []parameter) {
	for f := range t.Fields() {
		path := prefix + f.Tag.Get("json")
		if f.Type.Kind() == reflect.Struct {
			out = append(out, parameterFields(f.Type, path+".")...)
			continue
		}
		out = append(out, parameter{path, t.Name() + "." + f.Name})
	}
	return out
}

// declaring are the packages that declare parameters, or hold all of them.
var declaring = []string{"chain", "chain/params", "chain/genesis"}

// idleReaders are functions of these that select fields without acting on them: they
// make, check, print or parse parameters.
var idleReaders = []string{
	"params.Params.Check", "params.Params.With", "params.Params.At", "params.Params.Members", "params.Default",
	"genesis.Genesis.Check", "genesis.Genesis.CheckTemplate", "genesis.Genesis.Complete", "genesis.Genesis.Hash",
	"genesis.Genesis.MarshalJSON", "genesis.Parse", "genesis.ParseTemplate",
	"genesis.MainnetParamsTemplate", "genesis.DevnetTemplate", "genesis.UnboundedTemplate", "genesis.SystemActors",
}

// typedModule is the module's own packages with the types of their expressions,
// tests and programs that only make genesis files left out.
type typedModule struct {
	fset  *token.FileSet
	files map[string][]*ast.File // by folder
	infos map[string]*types.Info
}

// loadModule checks the types of each package that can see package chain. What they
// import comes from the compiler's export data, so that each is checked alone.
func loadModule(t *testing.T) *typedModule {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{join .GoFiles \" \"}}\t{{join .Deps \" \"}}", "./...")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	m := &typedModule{fset: token.NewFileSet(), files: map[string][]*ast.File{}, infos: map[string]*types.Info{}}
	exports := map[string]string{}
	var own [][]string
	for line := range bytes.Lines(out) {
		f := strings.Split(strings.TrimRight(string(line), "\n"), "\t")
		exports[f[0]] = f[1]
		if f[0] == module+"/chain" || strings.HasPrefix(f[0], module+"/") && slices.Contains(strings.Fields(f[4]), module+"/chain") {
			own = append(own, f)
		}
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	for _, f := range own {
		folder := strings.TrimPrefix(f[0], module+"/")
		for _, name := range strings.Fields(f[3]) {
			file, err := parser.ParseFile(m.fset, filepath.Join(f[2], name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			m.files[folder] = append(m.files[folder], file)
		}
		info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: importer.ForCompiler(m.fset, "gc", lookup)}
		if _, err := conf.Check(f[0], m.fset, m.files[folder], info); err != nil {
			t.Fatalf("types of %s: %v", folder, err)
		}
		m.infos[folder] = info
	}
	return m
}

// readFields returns "Struct.Field" of every field of [declaring] that is read by
// code which acts on it.
func (m *typedModule) readFields() map[string]bool {
	read, called := map[string]bool{}, map[string]bool{}
	for folder, files := range m.files {
		if slices.Contains(declaring, folder) || folder == "chain/docgen" || folder == "bench" || strings.HasPrefix(folder, "bench/") || strings.HasPrefix(folder, "cmd/") {
			continue
		}
		for _, f := range files {
			m.collect(folder, f, read, called)
		}
	}
	m.followChain(read, called)
	return read
}

// followChain adds what functions of [declaring] read that are called.
func (m *typedModule) followChain(read, called map[string]bool) {
	type uses struct{ read, called map[string]bool }
	functions := map[string]uses{}
	for _, folder := range declaring {
		for _, f := range m.files[folder] {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					u := uses{map[string]bool{}, map[string]bool{}}
					m.collect(folder, fn.Body, u.read, u.called)
					functions[functionName(m.infos[folder].Defs[fn.Name])] = u
				}
			}
		}
	}
	done := map[string]bool{}
	for _, name := range idleReaders {
		done[name] = true
	}
	for again := true; again; {
		again = false
		for name := range called {
			if done[name] { // or makes, checks or prints parameters
				continue
			}
			done[name], again = true, true
			for field := range functions[name].read {
				read[field] = true
			}
			for next := range functions[name].called {
				called[next] = true
			}
		}
	}
}

// collect notes the fields of [declaring] that n reads and its functions that n
// names. An assignment to a field alone reads nothing.
func (m *typedModule) collect(folder string, n ast.Node, read, called map[string]bool) {
	info := m.infos[folder]
	written := map[ast.Expr]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				written[left] = n.Tok == token.ASSIGN
			}
		case *ast.SelectorExpr:
			s := info.Selections[n]
			if s != nil && s.Kind() == types.FieldVal && !written[n] {
				if owner := chainType(s.Recv()); owner != "" {
					read[owner+"."+s.Obj().Name()] = true
				}
			}
		case *ast.Ident:
			if name := functionName(info.Uses[n]); name != "" {
				called[name] = true
			}
		}
		return true
	})
}

// chainType is the name of a type of [declaring], behind a pointer or not.
func chainType(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || !declares(n.Obj().Pkg()) {
		return ""
	}
	return n.Obj().Name()
}

func declares(pkg *types.Package) bool {
	return pkg != nil && slices.Contains(declaring, strings.TrimPrefix(pkg.Path(), module+"/"))
}

// functionName is "package.Type.Method" or "package.Function" of [declaring].
func functionName(o types.Object) string {
	fn, ok := o.(*types.Func)
	if !ok || !declares(fn.Pkg()) {
		return ""
	}
	if recv := fn.Signature().Recv(); recv != nil {
		return fmt.Sprintf("%s.%s.%s", fn.Pkg().Name(), chainType(recv.Type()), fn.Name())
	}
	return fn.Pkg().Name() + "." + fn.Name()
}
