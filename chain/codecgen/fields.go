package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// listed are the structs that stand in documents, by the folder of their package: the
// parameters, the genesis, and what lies in them.
var listed = map[string][]string{
	"params": {
		"Params", "InflationStep", "Staking", "IntrinsicCosts", "APICosts", "TokenCosts", "ActorLimits", "Timer",
		"Rent", "Runner", "Job", "JobDefaults", "CIP11", "Governance", "MachineTables",
		"Entitlements", "DomainSet", "Deprecation", "State", "feePair",
	},
	"genesis": {"genesisText", "validatorText", "allocationText", "vestingText", "actorText"},
}

// fieldsOutput is the file with the tables of their fields, in each folder.
const fieldsOutput = "fields_gen.go"

// generateFields returns, for each of a package, a method that lists its fields by the
// names of their json tags, in the order of the declaration, and one that finds a field
// by its name.
func generateFields(dir, pkg string) ([]byte, error) {
	g, err := newGenerator(filepath.Join(dir, pkg), pkg)
	if err != nil {
		return nil, err
	}
	for imported, from := range map[string]string{"chain.": dir, "params.": filepath.Join(dir, "params")} {
		types, err := declaredTypes(from)
		if err != nil {
			return nil, err
		}
		for name, typ := range types {
			g.types[imported+name] = typ
		}
	}
	g.line("")
	g.line("import (\n%q\n%q\n)", module+"chain", module+"chain/document")
	for _, name := range listed[pkg] {
		if err := g.fieldList(name); err != nil {
			return nil, err
		}
	}
	src := g.out.Bytes()
	if !bytes.Contains(src, []byte("chain.")) {
		src = bytes.Replace(src, []byte(strconv.Quote(module+"chain")+"\n"), nil, 1)
	}
	return format.Source(src)
}

func (g *generator) fieldList(object string) error {
	st, ok := g.under(g.types[object]).(*ast.StructType)
	if !ok {
		return fmt.Errorf("%s is not a struct of the package", object)
	}
	var all, byName strings.Builder
	for _, f := range st.Fields.List {
		for _, id := range f.Names {
			var name string
			if f.Tag != nil {
				name = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
			}
			name, _, _ = strings.Cut(name, ",")
			if name == "" {
				return fmt.Errorf("%s.%s: no name in documents", object, id.Name)
			}
			value, err := g.place("x."+id.Name, f.Type)
			if err != nil {
				return fmt.Errorf("%s.%s: %w", object, id.Name, err)
			}
			fmt.Fprintf(&all, "{Name: %q, Value: %s},\n", name, value)
			fmt.Fprintf(&byName, "case %q:\nreturn %s\n", name, value)
		}
	}
	g.line("")
	g.line("// Fields lists the members by their names in documents.")
	g.line("func (x *%s) Fields() []document.Field {\nreturn []document.Field{\n%s}\n}", object, all.String())
	g.line("")
	g.line("// Member returns where the value of one lies; nil: there is none.")
	g.line("func (x *%s) Member(name string) any {\nswitch name {\n%s}\nreturn nil\n}", object, byName.String())
	return nil
}

// place is the expression for where the value of expression v lies, as package document's
// functions take it.
func (g *generator) place(v string, typ ast.Expr) (string, error) {
	switch t := typ.(type) {
	case *ast.Ident:
		return g.named(v, t.Name)
	case *ast.SelectorExpr:
		return g.named(v, typeName(t))
	case *ast.StarExpr:
		return fmt.Sprintf("document.PointerTo(&%s)", v), nil
	case *ast.ArrayType:
		if t.Len != nil {
			break
		}
		item, err := g.place("(*v)", t.Elt)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("document.ListOf(&%[2]s, func(v *%[1]s) any { return %[3]s })", typeName(t.Elt), v, item), nil
	}
	return "", fmt.Errorf("no form in documents for its type")
}

func (g *generator) named(v, name string) (string, error) {
	ref := "&" + v
	if inner, ok := strings.CutPrefix(v, "(*"); ok {
		ref = strings.TrimSuffix(inner, ")")
	}
	switch name {
	case "uint64", "uint32", "bool", "string", "Wei", "chain.Wei", "LaneShares":
		return ref, nil
	case "chain.FeePair":
		return "(*feePair)(" + ref + ")", nil
	case "point1", "point2":
		return "document.UnsetHex(" + v + "[:])", nil
	}
	switch under := g.types[name].(type) {
	case *ast.StructType:
		return ref, nil
	case *ast.Ident:
		if under.Name == "uint64" {
			return "(*uint64)(" + ref + ")", nil
		}
	case *ast.ArrayType:
		if id, _ := under.Elt.(*ast.Ident); under.Len != nil && id != nil && id.Name == "byte" {
			return "document.Hex(" + v + "[:])", nil
		}
	}
	return "", fmt.Errorf("no form in documents for %s", name)
}

// under resolves a type that is declared as one of package chain.
func (g *generator) under(typ ast.Expr) ast.Expr {
	if sel, ok := typ.(*ast.SelectorExpr); ok {
		return g.types[typeName(sel)]
	}
	return typ
}
