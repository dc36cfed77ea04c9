package compile

import "github.com/cowboy-foundation/cowboy/exec/pvm/syntax"

func unparse(e syntax.Expr) string {
	unsupportedf(e.Position(), "text annotations are not compiled yet")
	return ""
}
