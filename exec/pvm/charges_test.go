package pvm_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// charging are the functions that take cycles, and how many of their arguments
// say how many.
var charging = map[string]int{"Charge": 1, "ChargeEach": 2, "spend": 1, "elements": 2, "chars": 2, "limbWork": 2, "tokens": 2}

// countMax is the largest factor that a charge may spell out: a look-up and a
// store are two of the price of one.
const countMax = 2

// TestChargesAreInTheTable refuses amounts that are not in the table of costs,
// and so not in the genesis: numbers above countMax and constants in the
// arguments of what charges, and prices that are numbers of any size.
func TestChargesAreInTheTable(t *testing.T) {
	set := token.NewFileSet()
	seen := 0
	for _, dir := range []string{"vm", "lib", "sdk", "values"} {
		files := parsedDir(t, set, dir)
		constants := constantNames(files)
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && charging[calledName(call)] > 0 {
					seen++
					for _, what := range outsideTable(call, constants) {
						t.Errorf("%s: %s with %s: put the amount into code.Work or the prices", set.Position(call.Pos()), calledName(call), what)
					}
				}
				return true
			})
		}
	}
	if seen < 300 {
		t.Errorf("only %d charges: the rule looks at the wrong functions", seen)
	}
}

// TestChargeRuleFindsAmounts proves the rule on charges that break it.
func TestChargeRuleFindsAmounts(t *testing.T) {
	constants := map[string]bool{"pairWork": true}
	for text, want := range map[string]int{
		"m.Charge(100)":                       1,
		"m.Charge(1)":                         1,
		"m.Charge(40 * p.NativeCall)":         1,
		"m.Charge(pairWork)":                  1,
		"m.Charge(pairWork * p.Element)":      1,
		"m.ChargeEach(n, 16)":                 1,
		"m.ChargeEach(n, 1)":                  1,
		"m.ChargeEach(pairWork, p.Element)":   1,
		"elements(m, 3*n)":                    1,
		"m.Charge(2 * p.DictOp)":              0,
		"m.ChargeEach(n+1, p.Char)":           0,
		"m.Charge(0)":                         0,
		"m.Charge(m.Work().Class * p.DictOp)": 0,
		"m.Charge(min(n, 1<<62))":             0,
	} {
		e, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := outsideTable(e.(*ast.CallExpr), constants); len(got) != want {
			t.Errorf("%s: found %v, want %d", text, got, want)
		}
	}
}

// outsideTable returns the amounts in the arguments of a charge that the table
// does not have.
func outsideTable(call *ast.CallExpr, constants map[string]bool) []string {
	var out []string
	args := call.Args[:min(len(call.Args), charging[calledName(call)])]
	if n := len(args); n > 0 && (calledName(call) == "Charge" || calledName(call) == "ChargeEach") {
		if price, ok := args[n-1].(*ast.BasicLit); ok {
			if price.Value != "0" {
				out = append(out, "the price "+price.Value)
			}
			args = args[:n-1]
		}
	}
	for _, arg := range args {
		ast.Inspect(arg, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.BinaryExpr:
				if x.Op == token.SHL { // a bound, as 1<<62
					return false
				}
			case *ast.SelectorExpr:
				return false // a field or a call of another package: no constant of this one
			case *ast.Ident:
				if constants[x.Name] {
					out = append(out, "the constant "+x.Name)
				}
			case *ast.BasicLit:
				if v, err := strconv.ParseInt(x.Value, 0, 64); err != nil || v > countMax {
					out = append(out, "the number "+x.Value)
				}
			}
			return true
		})
	}
	return out
}

func parsedDir(t *testing.T, set *token.FileSet, dir string) []*ast.File {
	t.Helper()
	var files []*ast.File
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// constantNames are the names of all constants in the files.
func constantNames(files []*ast.File) map[string]bool {
	names := make(map[string]bool)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if g, ok := n.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, spec := range g.Specs {
					for _, id := range spec.(*ast.ValueSpec).Names {
						names[id.Name] = true
					}
				}
			}
			return true
		})
	}
	return names
}
