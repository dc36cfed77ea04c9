package cowboy_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// paidPackages run on behalf of whoever pays cycles. Each loop in them, and each call
// of the standard library that is one, says in a comment who pays for its rounds or
// what bounds them, unless its body charges: what nobody wrote down was paid by nobody,
// time and again (docs/adr/0159).
var paidPackages = []string{
	"exec",
	"exec/actor",
	"exec/manifest",
	"exec/funds",
	"exec/governance",
	"exec/mailbox",
	"exec/market/jobs",
	"exec/market/judge",
	"exec/market/judge/strictjson",
	"exec/market/jobs/ask",
	"exec/market",
	"exec/market/runners",
	"exec/market/results",
	"exec/market/selection",
	"exec/entitlements",
	"exec/pvm",
	"exec/pvm/code",
	"exec/pvm/compile",
	"exec/pvm/continuation",
	"exec/pvm/decimal",
	"exec/pvm/format",
	"exec/pvm/gate",
	"exec/pvm/lib",
	"exec/pvm/regex",
	"exec/pvm/scope",
	"exec/pvm/sdk",
	"exec/pvm/syntax",
	"exec/pvm/values",
	"exec/pvm/vm",
	"exec/rent",
	"exec/service",
	"exec/staking",
	"exec/timers",
	"exec/token",
	"exec/verdict",
}

// charging begins the names of functions that charge for a round.
var charging = []string{"charge", "alloc", "pay", "spend"}

// loopsOf are functions of the standard library that look at all of what they are
// given; the empty list stands for all of a package.
var loopsOf = map[string][]string{
	"slices": {}, "maps": {}, "sort": {}, "strings": {}, "bytes": {},
}

// breachesOfPaid finds loops that say nothing of who pays for them.
func breachesOfPaid(files []goFile) []string {
	var breaches []string
	for _, f := range files {
		if f.test || f.gen || !slices.Contains(paidPackages, f.pkg) {
			continue
		}
		said := saidLines(&f)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if !isLoop(n) || charges(n) {
				return true
			}
			at := f.fset.Position(n.Pos())
			if !said[at.Line] && !said[at.Line-1] {
				breaches = append(breaches, fmt.Sprintf("%s: a loop that charges nothing: say above it who pays (// Paid: …) or what bounds it (// Bounded: …)", at))
			}
			return true
		})
	}
	return breaches
}

// saidLines are the lines on which a comment that says who pays begins or ends.
func saidLines(f *goFile) map[int]bool {
	said := map[int]bool{}
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if text := strings.TrimPrefix(c.Text, "// "); strings.HasPrefix(text, "Paid: ") || strings.HasPrefix(text, "Bounded: ") {
				said[f.fset.Position(c.Pos()).Line] = true
				said[f.fset.Position(group.End()).Line] = true
			}
		}
	}
	return said
}

// isLoop reports whether n repeats something a number of times that is no constant.
func isLoop(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ForStmt:
		return true
	case *ast.RangeStmt:
		lit, constant := n.X.(*ast.BasicLit)
		return !constant || lit.Kind != token.INT
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		pkg, ok := sel.X.(*ast.Ident)
		if !ok {
			return false
		}
		names, listed := loopsOf[pkg.Name]
		return listed && (len(names) == 0 || slices.Contains(names, sel.Sel.Name))
	}
	return false
}

// charges reports whether a loop's body charges as it goes.
func charges(loop ast.Node) bool {
	found := false
	ast.Inspect(loop, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return !found
		}
		name := ""
		switch fun := call.Fun.(type) {
		case *ast.Ident:
			name = fun.Name
		case *ast.SelectorExpr:
			name = fun.Sel.Name
		}
		for _, prefix := range charging {
			found = found || strings.HasPrefix(strings.ToLower(name), prefix)
		}
		return !found
	})
	return found
}
