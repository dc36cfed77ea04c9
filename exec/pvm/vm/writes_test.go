package vm_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// noting are the functions that note how a kept thing is before it changes.
var noting = []string{"touch", "Touch", "own", "noteAttrs", "noteTable", "touchState", "List.append", "List.extend", "hashTable.rebuild"}

// making are the functions whose result nobody has seen.
var making = []string{
	"new", "make", "Clone", "newDict", "newList", "listTaken", "newSet", "setCopy", "newTuple", "newBytes", "newFunction", "newNative",
	"NewClass", "newClass", "newInstance",
}

// writers are methods that write without a note: a call of one is a write.
var writers = []string{
	"List.shrink", "List.deleteStepped", "hashTable.occupy", "hashTable.fill", "hashTable.unlink", "hashTable.trim",
	"hashTable.compactInto", "namespace.compact", "namespace.put", "namespace.add", "namespace.del",
}

// parts of kept objects that are no objects themselves.
var keptParts = []string{"Object", "Attrs", "hashTable", "hashEntry", "shape", "namespace"}

// unnoted are the functions that write to what may be kept without a note, by
// the reason why they may.
var unnoted = map[string][]string{
	"they are the notes": {
		"Machine.noteObject", "Machine.noteAttrs", "Machine.noteTable", "namespace.own", "abcState.Keep", "lruCache.Keep",
		"decimalModule.Keep", "contextState.Keep", "reModule.Keep",
	},
	"they keep": {"Machine.markKept", "Machine.keepPart", "tracer.keepShapes"},
	"what they write of is new": {
		"Object.head", "Class.Define", "defineMethods", "defineClassMethods", "Class.Getter", "Class.Constant", "Class.Dotted",
		"Class.WithDict", "propertyCopy", "Machine.fillNamespace", "Machine.makeSlots", "Machine.nameModule", "Machine.inheritLayout",
		"Class.inheritPattern", "Machine.newInstance", "frozenSetNew", "fillStr", "contextState.object",
		"decimalModule.defineSignals", "reModule.defineFlags", "ListBuilder.widen", "ListBuilder.Add", "ListBuilder.List",
	},
	"kept things have it from the start": {"Machine.identityHash", "Machine.rootShape"},
	"they ask whether it is kept":        {"Machine.cachedSet", "Machine.setHash", "Machine.waysOf", "shape.addSuccessor"},
	"it holds what follows from the rest, for a version or for good": {
		"Class.fillSpecials", "Class.forgetOld", "Machine.findFar", "Machine.strHash", "Str.more", "nfcText", "Machine.setAttrAt",
		"reModule.forgetPrograms", "reModule.keepProgram",
	},
	"measurements do not visit what is kept and leave what it holds": {"tracer.prune", "tracer.push"},
	"their callers note or only compare":                             {"slotsOf", "grown.room", "lruCache.invoke", "lruCache.clear", "lruCache.newest", "lruCache.unlink", "lruCache.emptyRing", "signalDict.field"},
}

// TestWritesAreNoted refuses writes to objects that a machine may keep between
// calls from functions that do not note them: see [ADR 34]. Objects that a function
// has made itself are its own.
//
// [ADR 34]: docs/adr/0034-the-library-is-kept.md
func TestWritesAreNoted(t *testing.T) {
	allowed := make(map[string]bool)
	for _, names := range unnoted {
		for _, name := range names {
			allowed[name] = false
		}
	}
	for _, dir := range []string{".", "../lib", "../sdk"} {
		w := loadWrites(t, dir)
		for _, name := range w.unnoted() {
			key := name.fn
			if _, ok := allowed[key]; ok {
				allowed[key] = true
				continue
			}
			t.Errorf("%s: %s writes %s of what may be kept, without a note", w.fset.Position(name.pos), name.fn, name.what)
		}
	}
	for name, met := range allowed {
		if !met {
			t.Errorf("%s is excused, but writes nothing", name)
		}
	}
}

// writes finds assignments in a package.
type writes struct {
	fset  *token.FileSet
	files []*ast.File
	info  types.Info
	kept  map[string]bool // names of the structs that may be kept
}

// write is one assignment.
type write struct {
	fn, what string
	pos      token.Pos
}

// nothing imports empty packages: the structs of this package are all that matters.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}

func loadWrites(t *testing.T, dir string) *writes {
	t.Helper()
	w := &writes{fset: token.NewFileSet(), kept: make(map[string]bool)}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) < 10 {
		t.Fatalf("sources of %s: %d, %v", dir, len(names), err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(w.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		w.files = append(w.files, f)
	}
	w.info = types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object),
		Defs: make(map[*ast.Ident]types.Object), Selections: make(map[*ast.SelectorExpr]*types.Selection),
	}
	cfg := types.Config{Importer: nothing{}, Error: func(error) {}}
	_, _ = cfg.Check("pkg", w.fset, w.files, &w.info)
	w.findKept()
	if len(w.kept) == 0 && dir != "../sdk" {
		t.Fatalf("%s keeps nothing", dir)
	}
	return w
}

// findKept lists the structs that may be kept: those that keepPart knows with
// their parts, and payloads with a method Keep.
func (w *writes) findKept() {
	for _, f := range w.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			switch fn.Name.Name {
			case "Keep":
				w.kept[named(w.info.TypeOf(fn.Recv.List[0].Type))] = true
			case "keepPart":
				for _, p := range keptParts {
					w.kept[p] = true
				}
				ast.Inspect(fn, func(n ast.Node) bool {
					if c, ok := n.(*ast.CaseClause); ok {
						for _, e := range c.List {
							w.kept[named(w.info.TypeOf(e))] = true
						}
					}
					return true
				})
			}
		}
	}
	delete(w.kept, "")
	delete(w.kept, "Keeper")
}

// named is the name of a struct or what points to it.
func named(t types.Type) string {
	if t == nil {
		return ""
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// unnoted returns the writes without a note before them.
func (w *writes) unnoted() []write {
	var found []write
	for _, f := range w.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				found = append(found, w.inFunction(fn)...)
			}
		}
	}
	return found
}

// scope is what is known of a function on the way through it.
type scope struct {
	w     *writes
	fn    string
	noted token.Pos               // of the first note
	own   map[types.Object]bool   // made here
	views map[types.Object]string // slices and maps that are a field of what may be kept
	found []write
}

func (w *writes) inFunction(fn *ast.FuncDecl) []write {
	s := &scope{w: w, fn: fn.Name.Name, own: make(map[types.Object]bool), views: make(map[types.Object]string)}
	if fn.Recv != nil {
		recv := named(w.info.TypeOf(fn.Recv.List[0].Type))
		s.fn = recv + "." + s.fn
		if recv == "Runtime" || slices.Contains(writers, s.fn) {
			return nil // before there are machines, or the calls of it count
		}
	}
	ast.Inspect(fn.Body, s.visit)
	return s.found
}

func (s *scope) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit: // a note outside says nothing of when this runs
		inner := &scope{w: s.w, fn: s.fn, own: s.own, views: s.views}
		ast.Inspect(n.Body, inner.visit)
		s.found = append(s.found, inner.found...)
		return false
	case *ast.AssignStmt:
		s.assign(n)
	case *ast.IncDecStmt:
		s.target(n.X)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			if _, lit := n.X.(*ast.CompositeLit); !lit {
				s.address(n.X)
			}
		}
	case *ast.CallExpr:
		s.call(n)
	case *ast.RangeStmt:
		s.view(n.X, nil)
	}
	return true
}

func (s *scope) assign(n *ast.AssignStmt) {
	for i, l := range n.Lhs {
		id, plain := l.(*ast.Ident)
		if !plain {
			s.target(l)
			continue
		}
		if len(n.Rhs) != len(n.Lhs) {
			continue
		}
		obj := s.w.info.ObjectOf(id)
		if s.fresh(n.Rhs[i]) {
			s.own[obj] = true
		} else {
			s.view(n.Rhs[i], obj)
		}
	}
}

// fresh tells whether an expression makes what it answers.
func (s *scope) fresh(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		_, lit := e.X.(*ast.CompositeLit)
		return lit
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		return slices.Contains(making, called(e))
	}
	return false
}

// view remembers that obj is a slice or a map of what may be kept.
func (s *scope) view(e ast.Expr, obj types.Object) {
	if obj == nil {
		return
	}
	if sl, ok := e.(*ast.SliceExpr); ok {
		e = sl.X
	}
	switch s.w.info.TypeOf(e).(type) {
	case nil:
		return
	default:
		switch s.w.info.TypeOf(e).Underlying().(type) {
		case *types.Slice, *types.Map:
			if what := s.part(e); what != "" {
				s.views[obj] = what
			}
		}
	}
}

func (s *scope) call(n *ast.CallExpr) {
	name := called(n)
	method := ""
	if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
		method = named(s.w.info.TypeOf(sel.X)) + "." + name
		if slices.Contains(writers, method) {
			if id, ok := sel.X.(*ast.Ident); !ok || !s.own[s.w.info.ObjectOf(id)] {
				s.report(n.Pos(), "by "+method)
			}
		}
	}
	if (slices.Contains(noting, name) || slices.Contains(noting, method)) && !s.noted.IsValid() {
		s.noted = n.Pos()
	}
	switch name {
	case "copy", "clear", "delete", "Reverse", "Sort", "SortFunc", "SortStableFunc", "reverseItems":
		if len(n.Args) > 0 {
			if what := s.part(n.Args[0]); what != "" {
				s.report(n.Pos(), what)
			}
		}
	}
}

// address treats a pointer into what may be kept as a write.
func (s *scope) address(e ast.Expr) {
	if sel, ok := e.(*ast.SelectorExpr); ok && sel.Sel.Name == "Object" {
		return // a header is reached by those that note
	}
	if t := s.w.info.TypeOf(e); t != nil && s.w.kept[named(t)] {
		return // so is a part
	}
	if what := s.part(e); what != "" {
		s.report(e.Pos(), "the address of "+what)
	}
}

func (s *scope) target(e ast.Expr) {
	if what := s.part(e); what != "" {
		s.report(e.Pos(), what)
	}
}

func (s *scope) report(at token.Pos, what string) {
	if s.noted.IsValid() && s.noted < at {
		return
	}
	s.found = append(s.found, write{s.fn, what, at})
}

// part names the field of what may be kept that an expression leads to, "" when
// it leads to none or to one of an object made here.
func (s *scope) part(e ast.Expr) string {
	what := ""
	for {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			if n := named(s.w.info.TypeOf(x.X)); s.w.kept[n] && what == "" {
				what = n + "." + x.Sel.Name
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			if n := named(s.w.info.TypeOf(x.X)); s.w.kept[n] && what == "" {
				what = "*" + n
			}
			e = x.X
		case *ast.TypeAssertExpr:
			return what
		case *ast.Ident:
			obj := s.w.info.ObjectOf(x)
			if s.own[obj] {
				return ""
			}
			if what == "" {
				what = s.views[obj]
			}
			return what
		default:
			return what
		}
	}
}

// called is the name of the function that a call calls.
func called(n *ast.CallExpr) string {
	switch f := n.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
