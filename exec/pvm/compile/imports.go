package compile

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

func (f *unit) importStmt(s *syntax.Import) {
	for _, a := range s.Names {
		mark := f.top
		f.line = a.Line
		r := f.alloc(1)
		name, named := a.AsName, 1
		if name == "" {
			// Paid: by the tokens of what it goes through, once each (ADR 59).
			name, _, _ = strings.Cut(a.Name, ".")
			named = 0
		}
		f.emit(code.ImportName, r, f.member(a.Name), named)
		f.storeName(name, r)
		f.top = mark
	}
}

func (f *unit) importFrom(s *syntax.ImportFrom) {
	if s.Level > 0 {
		unsupportedf(s.Pos, "relative imports are not supported: a program is one module")
	}
	if s.Module == "__future__" {
		return // what it asks for is always there, or was heard by Compile
	}
	m := f.alloc(1)
	f.emit(code.ImportName, m, f.member(s.Module), 1)
	for _, a := range s.Names {
		f.line = a.Line
		if a.Name == "*" {
			f.emit(code.ImportStar, m, 0, 0)
			continue
		}
		mark := f.top
		r := f.alloc(1)
		f.emit(code.ImportFrom, r, m, f.member(a.Name))
		name := a.AsName
		if name == "" {
			name = a.Name
		}
		f.storeName(name, r)
		f.top = mark
	}
}
