package cowboy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// genesisMakers make a genesis, check one, show one, or make what stands before block 1 of
// it. All others learn validators and group key from a record of package chain/epoch.
var genesisMakers = []string{
	"chain/", "exec/genesis.go", "node/setup/", "node/cluster/", "cmd/cowboyd/genesis.go", "cmd/cowboyd/several.go",
	"consensus/simtest/", "node/simnode/", "bench/peers/",
}

// TestGenesisIsReadOnce: the validators, the group key and the polynomial of a genesis are
// read where one is made and where epoch 0 is made of it, and nowhere else, so that there
// is no second place to change when an epoch has other validators (docs/adr/0175). What
// is called a genesis goes by the names g, genesis or Genesis here.
func TestGenesisIsReadOnce(t *testing.T) {
	files := token.NewFileSet()
	seen, inFirst := 0, false
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		seen++
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		slash := filepath.ToSlash(name)
		made := slices.ContainsFunc(genesisMakers, func(m string) bool { return strings.HasPrefix(slash, m) })
		ast.Inspect(file, func(n ast.Node) bool {
			x, ok := n.(*ast.SelectorExpr)
			if !ok || !readsGenesis(x) {
				return true
			}
			if slash == "chain/epoch/epoch.go" {
				inFirst = true
			}
			if !made {
				t.Errorf("%v reads %s of the genesis: ask a schedule for the epoch at hand", files.Position(x.Pos()), x.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 500 || !inFirst {
		t.Errorf("%d files were read, the making of epoch 0 among them: %v", seen, inFirst)
	}
}

// readsGenesis reports whether an expression is a field of a genesis that an epoch has.
func readsGenesis(x *ast.SelectorExpr) bool {
	if !slices.Contains([]string{"Validators", "GroupKey", "Polynomial"}, x.Sel.Name) {
		return false
	}
	of := ""
	switch y := x.X.(type) {
	case *ast.Ident:
		of = y.Name
	case *ast.SelectorExpr:
		of = y.Sel.Name
	case *ast.CallExpr:
		if f, ok := y.Fun.(*ast.SelectorExpr); ok {
			of = f.Sel.Name
		}
	}
	return slices.Contains([]string{"g", "genesis", "Genesis"}, of)
}

func TestReadsGenesis(t *testing.T) {
	for expression, want := range map[string]bool{
		"g.Validators": true, "n.genesis.GroupKey": true, "f.Genesis.Polynomial": true, "s.Genesis().Validators": true,
		"record.Validators": false, "g.Params": false, "cfg.Validators": false, "epoch.First(genesis).Validators": false,
	} {
		x, err := parser.ParseExpr(expression)
		if err != nil {
			t.Fatal(err)
		}
		if got := readsGenesis(x.(*ast.SelectorExpr)); got != want {
			t.Errorf("%s: %v, want %v", expression, got, want)
		}
	}
}
