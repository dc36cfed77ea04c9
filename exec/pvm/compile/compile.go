package compile

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/scope"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// Source reads, checks and compiles a program. file is its name in tracebacks. An
// error is a *[syntax.Error], a *[scope.Error] or an *[Error], each with its place
// and its kind.
func Source(src []byte, file string, lim Limits) (*code.Object, error) {
	mod, err := syntax.Parse(src, lim.Syntax)
	if err != nil {
		return nil, err
	}
	table, err := scope.Analyze(mod, lim.Scope)
	if err != nil {
		return nil, err
	}
	if err := syntax.Check(mod); err != nil {
		return nil, err
	}
	return Compile(mod, table, file, lim)
}

// Compile makes the code of a tree that [syntax.Check] took and its table.
func Compile(mod *syntax.Module, table *scope.Table, file string, lim Limits) (o *code.Object, err error) {
	if err := lim.Check(); err != nil {
		return nil, fmt.Errorf("limits of the compiler: %w", err)
	}
	c := &compiler{table: table, file: file, lim: lim, folded: map[*syntax.Tuple]folding{}, named: map[*syntax.MatchOr][]string{}}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			e.Instructions = c.instructions
			o, err = nil, e
		}
	}()
	return c.module(mod), nil
}

// compiler is what the units of one program share.
type compiler struct {
	table *scope.Table
	file  string
	lim   Limits
	// textAnnotations tells that annotations stay text.
	textAnnotations bool
	folded          map[*syntax.Tuple]folding
	named           map[*syntax.MatchOr][]string // names of the alternatives, looked up, never iterated

	instructions, codes, handlers, nameBytes int
}

func (c *compiler) module(mod *syntax.Module) *code.Object {
	c.textAnnotations = hasTextAnnotations(mod)
	at := syntax.Pos{Line: 1}
	f := c.newUnit(nil, c.table.Module, "<module>", at)
	f.obj.Flags = code.ModuleBody
	f.obj.Tokens = mod.Tokens
	f.obj.QualName = f.obj.Name
	body := mod.Body
	if text, ok := docstring(body); ok {
		f.obj.Doc, f.obj.HasDoc = text, true
		f.line = body[0].Position().Line
		mark := f.top
		r := f.alloc(1)
		f.loadConst(r, code.Const{Kind: code.Str, Text: text})
		f.storeName("__doc__", r)
		f.top = mark
		body = body[1:]
	}
	if hasAnnotations(body) {
		f.emit(code.SetAnnotations, 0, 0, 0)
	}
	f.stmts(body)
	return f.finish()
}

// docstring returns the text that begins a body, if one does.
func docstring(body []syntax.Stmt) (string, bool) {
	if len(body) == 0 {
		return "", false
	}
	if e, ok := body[0].(*syntax.ExprStmt); ok {
		if k, ok := e.Value.(*syntax.Constant); ok && k.Kind == syntax.ConstStr {
			return k.Text, true
		}
	}
	return "", false
}

func hasTextAnnotations(mod *syntax.Module) bool {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range mod.Body {
		if f, ok := s.(*syntax.ImportFrom); ok && f.Module == "__future__" {
			// Paid: by the tokens of what it goes through, once each (ADR 59).
			for _, a := range f.Names {
				if a.Name == "annotations" {
					return true
				}
			}
		}
	}
	return false
}
