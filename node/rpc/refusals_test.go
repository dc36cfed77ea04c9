package rpc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// TestRefusalsAreDocumented: who writes a wallet learns from docs/transactions.md
// what each verdict on a submission means.
func TestRefusalsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/transactions.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		code, ok := n.(*ast.BasicLit)
		if !ok || code.Kind != token.INT || len(code.Value) != 4 || code.Value[0] != '4' {
			return true
		}
		found++
		if !strings.Contains(string(page), "\n| "+code.Value+" | ") {
			t.Errorf("docs/transactions.md has no row for code %s", code.Value)
		}
		return true
	})
	if found < 18 {
		t.Errorf("found %d codes of verdicts in codes.go, expected 18 or more", found)
	}
}
