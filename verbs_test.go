package cowboy_test

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// typesOfAVerb is on how many unrelated types one method name may stand: a verb that
// serves for more says too little of what each of them does. Types are related that
// implement the same interface of the module, by the names and the numbers of parameters
// and results of its methods.
const typesOfAVerb = 6

// sharedVerbs may stand on more types, since they mean the same on each of them.
var sharedVerbs = []struct{ names, why string }{
	{"Bytes Error MarshalText String UnmarshalText Unwrap Write", "the standard library's, with its meaning"},
	{"Collect", "prometheus.Collector's"},
	{"Help Run", "commands of kong; Run(ctx) is also where an owner's goroutine lives (docs/architecture.md)"},
	{"Check check", "says whether the receiver's own fields, or what was just decoded into it, are valid"},
	{"Verify", "holds a signature or a proof to what it is of"},
	{"Close close open run", "the life of a resource"},
	{"Append append appendTo Encode encode", "to bytes and from bytes; in part generated (chain/codecgen)"},
	{"flush read write", "what buffers and files do"},
	{"Add add at get has push Put put remove set", "what collections do, and sums"},
	{"End", "ends what was begun, or says where something ends"},
	{"Size", "how many bytes the receiver takes"},
	{"text val value", "the receiver as text or as a value; in readers and writers, the piece of their grammar"},
	{"dict expr function", "visitors of Python's syntax, named after the construct"},
}

// breachesOfVerbs finds methods whose name stands on too many types, and names in
// sharedVerbs that need not be there.
func breachesOfVerbs(files []goFile) []string {
	types := map[typeName]map[string]shape{}
	byName := map[string][]typeName{}
	for _, f := range files {
		if f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				t := typeName{f.pkg, receiverOf(fn)}
				if types[t] == nil {
					types[t] = map[string]shape{}
				}
				types[t][fn.Name.Name] = shapeOf(fn.Type)
				byName[fn.Name.Name] = append(byName[fn.Name.Name], t)
			}
		}
	}
	promote(files, types)
	groups := map[string]*relation{}
	for name, on := range byName {
		groups[name] = newRelation(on)
	}
	for _, f := range files {
		if !f.test {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if i, ok := n.(*ast.InterfaceType); ok {
					relate(f.pkg, i, types, groups)
				}
				return true
			})
		}
	}

	shared := map[string]bool{}
	for _, row := range sharedVerbs {
		for _, name := range strings.Fields(row.names) {
			shared[name] = true
		}
	}
	var breaches []string
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		n := groups[name].len()
		if n > typesOfAVerb && !shared[name] {
			breaches = append(breaches, fmt.Sprintf("method %s is on %d unrelated types, at most %d: say what each does", name, n, typesOfAVerb))
		}
		if n > typesOfAVerb {
			delete(shared, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		breaches = append(breaches, fmt.Sprintf("sharedVerbs: %s is on few types and needs no row", name))
	}
	return breaches
}

// promote gives types the methods of what they embed of their own package. They count for
// interfaces alone.
func promote(files []goFile, types map[typeName]map[string]shape) {
	for range 3 { // levels of embedding
		for _, f := range files {
			if f.test {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				s, ok := spec.Type.(*ast.StructType)
				if !ok {
					return true
				}
				to := types[typeName{f.pkg, spec.Name.Name}]
				for _, field := range s.Fields.List {
					if len(field.Names) == 0 && to != nil {
						for name, shape := range types[typeName{f.pkg, nameOf(field.Type)}] {
							if _, own := to[name]; !own {
								to[name] = shape
							}
						}
					}
				}
				return true
			})
		}
	}
}

type typeName struct{ pkg, name string }

// shape is how many parameters and results a method has.
type shape struct{ params, results int }

func shapeOf(f *ast.FuncType) shape { return shape{f.Params.NumFields(), f.Results.NumFields()} }

func receiverOf(fn *ast.FuncDecl) string { return nameOf(fn.Recv.List[0].Type) }

// nameOf returns the name of a type of the package, maybe behind a pointer or with
// parameters; "" for all others.
func nameOf(t ast.Expr) string {
	switch x := t.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return nameOf(x.X)
	case *ast.IndexExpr:
		return nameOf(x.X)
	case *ast.IndexListExpr:
		return nameOf(x.X)
	}
	return ""
}

// relate joins the types that have all methods which an interface names. Methods that it
// has by embedding count for nothing, so it may relate too many, never too few.
func relate(pkg string, i *ast.InterfaceType, types map[typeName]map[string]shape, groups map[string]*relation) {
	wants := map[string]shape{}
	private := false
	for _, field := range i.Methods.List {
		if f, ok := field.Type.(*ast.FuncType); ok {
			for _, id := range field.Names {
				wants[id.Name] = shapeOf(f)
				private = private || !id.IsExported()
			}
		}
	}
	var first *typeName
	for t, has := range types {
		all := len(wants) > 0 && (!private || t.pkg == pkg)
		for name, want := range wants {
			got, ok := has[name]
			all = all && ok && got == want
		}
		if !all {
			continue
		}
		if first == nil {
			first = &t
		}
		for name := range wants {
			if g := groups[name]; g != nil {
				g.join(*first, t)
			}
		}
	}
}

// relation is a partition of types; join merges the parts of two.
type relation struct {
	of    map[typeName]typeName
	types []typeName
}

func newRelation(types []typeName) *relation {
	return &relation{of: map[typeName]typeName{}, types: types}
}

func (r *relation) find(t typeName) typeName {
	for {
		up, ok := r.of[t]
		if !ok {
			return t
		}
		t = up
	}
}

func (r *relation) join(a, b typeName) {
	if a, b = r.find(a), r.find(b); a != b {
		r.of[b] = a
	}
}

func (r *relation) len() int {
	parts := map[typeName]bool{}
	for _, t := range r.types {
		parts[r.find(t)] = true
	}
	return len(parts)
}
