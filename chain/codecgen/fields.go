package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"reflect"
	"strings"
)

// listed are the structs that stand in documents: the parameters, the genesis, and
// what lies in them.
var listed = []string{
	"Params", "InflationStep", "StakingParams", "IntrinsicCosts", "APICosts", "TokenCosts", "ActorLimits", "TimerParams",
	"RentParams", "RunnerParams", "JobParams", "CIP11Params", "GovernanceParams", "MachineTables",
	"EntitlementParams", "DomainSet", "Deprecation", "StateParams", "FeePair",
	"genesisText", "validatorText", "allocationText", "vestingText", "actorText",
}

// fieldsOutput is the file with the tables of their fields.
const fieldsOutput = "fields_gen.go"

// generateFields returns, for each of them, a method that lists its fields by the
// names of their json tags, in the order of the declaration, and one that finds a field
// by its name.
func generateFields(dir string) ([]byte, error) {
	g, err := newGenerator(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range listed {
		if err := g.fieldList(name); err != nil {
			return nil, err
		}
	}
	return format.Source(g.out.Bytes())
}

func (g *generator) fieldList(object string) error {
	st, ok := g.types[object].(*ast.StructType)
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
			fmt.Fprintf(&all, "{%q, %s},\n", name, value)
			fmt.Fprintf(&byName, "case %q:\nreturn %s\n", name, value)
		}
	}
	g.line("")
	g.line("func (x *%s) fields() []field {\nreturn []field{\n%s}\n}", object, all.String())
	g.line("")
	g.line("func (x *%s) member(name string) any {\nswitch name {\n%s}\nreturn nil\n}", object, byName.String())
	return nil
}

// place is the expression for where the value of expression v lies, as package chain's
// functions over fields take it.
func (g *generator) place(v string, typ ast.Expr) (string, error) {
	switch t := typ.(type) {
	case *ast.Ident:
		return g.named(v, t.Name)
	case *ast.StarExpr:
		return fmt.Sprintf("pointer[%[1]s, *%[1]s]{&%[2]s}", typeName(t.X), v), nil
	case *ast.ArrayType:
		if t.Len != nil {
			break
		}
		item, err := g.place("(*v)", t.Elt)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("listOf[%[1]s]{&%[2]s, func(v *%[1]s) any { return %[3]s }}", typeName(t.Elt), v, item), nil
	}
	return "", fmt.Errorf("no form in documents for its type")
}

func (g *generator) named(v, name string) (string, error) {
	ref := "&" + v
	if inner, ok := strings.CutPrefix(v, "(*"); ok {
		ref = strings.TrimSuffix(inner, ")")
	}
	switch name {
	case "uint64", "uint32", "bool", "string", "Wei", "LaneShares":
		return ref, nil
	case "point1", "point2":
		return "unsetHex(" + v + "[:])", nil
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
			return "hexBytes(" + v + "[:])", nil
		}
	}
	return "", fmt.Errorf("no form in documents for %s", name)
}
