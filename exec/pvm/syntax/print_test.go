package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// printer writes a tree as source again, every operand in brackets. It knows
// all nodes but f-strings, whose expressions cannot hold every other literal.
type printer struct {
	b      strings.Builder
	indent int
	skip   bool // the tree has what the printer does not write
}

func (p *printer) line(format string, args ...any) {
	p.b.WriteString(strings.Repeat(" ", p.indent) + fmt.Sprintf(format, args...) + "\n")
}

func (p *printer) body(head string, ss []Stmt) {
	p.line("%s:", head)
	p.indent++
	for _, s := range ss {
		p.stmt(s)
	}
	p.indent--
}

func (p *printer) orElse(word string, ss []Stmt) {
	if len(ss) > 0 {
		p.body(word, ss)
	}
}

// ident skips names that NFKC turned into keywords.
func (p *printer) ident(name string) string {
	for _, part := range strings.Split(name, ".") {
		p.skip = p.skip || keyword(part) != tokName
	}
	return name
}

func (p *printer) names(names []string) string {
	for _, name := range names {
		p.ident(name)
	}
	return strings.Join(names, ", ")
}

func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *FunctionDef:
		p.function("def", s)
	case *AsyncFunctionDef:
		f := FunctionDef(*s)
		p.function("async def", &f)
	case *ClassDef:
		p.decorators(s.DecoratorList)
		p.body("class "+p.ident(s.Name)+"("+p.callArgs(s.Bases, s.Keywords)+")", s.Body)
	case *Return:
		p.line("return %s", p.expr(s.Value))
	case *Delete:
		p.line("del %s,", p.list(s.Targets))
	case *Assign:
		targets := ""
		for _, t := range s.Targets {
			targets += p.expr(t) + " = "
		}
		p.line("%s%s", targets, p.expr(s.Value))
	case *AugAssign:
		p.line("%s %s= %s", p.expr(s.Target), operatorTexts[s.Op], p.expr(s.Value))
	case *AnnAssign:
		target, value := p.expr(s.Target), ""
		if s.Simple {
			target = p.ident(s.Target.(*Name).ID)
		}
		if s.Value != nil {
			value = " = " + p.expr(s.Value)
		}
		p.line("%s: %s%s", target, p.expr(s.Annotation), value)
	case *Raise:
		from := ""
		if s.Cause != nil {
			from = " from " + p.expr(s.Cause)
		}
		p.line("raise %s%s", p.expr(s.Exc), from)
	case *Assert:
		msg := ""
		if s.Msg != nil {
			msg = ", " + p.expr(s.Msg)
		}
		p.line("assert %s%s", p.expr(s.Test), msg)
	case *Import:
		p.line("import %s", p.aliases(s.Names))
	case *ImportFrom:
		if s.Module != "" {
			p.ident(s.Module)
		}
		p.line("from %s%s import %s", strings.Repeat(".", s.Level), s.Module, p.aliases(s.Names))
	case *Global:
		p.line("global %s", p.names(s.Names))
	case *Nonlocal:
		p.line("nonlocal %s", p.names(s.Names))
	case *ExprStmt:
		p.line("%s", p.expr(s.Value))
	case *Pass:
		p.line("pass")
	case *Break:
		p.line("break")
	case *Continue:
		p.line("continue")
	default:
		p.compound(s)
	}
}

func (p *printer) compound(s Stmt) {
	switch s := s.(type) {
	case *For:
		p.body("for "+p.expr(s.Target)+" in "+p.expr(s.Iter), s.Body)
		p.orElse("else", s.OrElse)
	case *AsyncFor:
		p.body("async for "+p.expr(s.Target)+" in "+p.expr(s.Iter), s.Body)
		p.orElse("else", s.OrElse)
	case *While:
		p.body("while "+p.expr(s.Test), s.Body)
		p.orElse("else", s.OrElse)
	case *If:
		p.body("if "+p.expr(s.Test), s.Body)
		p.orElse("else", s.OrElse)
	case *With:
		p.body("with "+p.items(s.Items), s.Body)
	case *AsyncWith:
		p.body("async with "+p.items(s.Items), s.Body)
	case *Match:
		p.line("match %s:", p.expr(s.Subject))
		p.indent++
		for _, c := range s.Cases {
			guard := ""
			if c.Guard != nil {
				guard = " if " + p.expr(c.Guard)
			}
			p.body("case "+p.pattern(c.Pattern)+guard, c.Body)
		}
		p.indent--
	case *Try:
		p.try("except", s)
	case *TryStar:
		t := Try(*s)
		p.try("except*", &t)
	}
}

func (p *printer) try(word string, s *Try) {
	p.body("try", s.Body)
	for _, h := range s.Handlers {
		head := word
		if h.Type != nil {
			head += " " + p.expr(h.Type)
		}
		if h.Name != "" {
			head += " as " + p.ident(h.Name)
		}
		p.body(head, h.Body)
	}
	p.orElse("else", s.OrElse)
	p.orElse("finally", s.FinalBody)
}

func (p *printer) function(word string, f *FunctionDef) {
	p.decorators(f.DecoratorList)
	head := word + " " + p.ident(f.Name) + "(" + p.params(f.Args) + ")"
	if f.Returns != nil {
		head += " -> " + p.expr(f.Returns)
	}
	p.body(head, f.Body)
}

func (p *printer) decorators(ds []Expr) {
	for _, d := range ds {
		p.line("@%s", p.expr(d))
	}
}

func (p *printer) items(items []*WithItem) string {
	var all []string
	for _, i := range items {
		s := p.expr(i.ContextExpr)
		if i.OptionalVars != nil {
			s += " as " + p.expr(i.OptionalVars)
		}
		all = append(all, s)
	}
	return strings.Join(all, ", ")
}

func (p *printer) aliases(as []*Alias) string {
	var all []string
	for _, a := range as {
		s := a.Name
		if s != "*" {
			s = p.ident(s)
		}
		if a.AsName != "" {
			s += " as " + p.ident(a.AsName)
		}
		all = append(all, s)
	}
	return strings.Join(all, ", ")
}

func (p *printer) arg(a *Arg) string {
	s := p.ident(a.Arg)
	if a.Annotation != nil {
		s += ": " + p.expr(a.Annotation)
	}
	return s
}

func (p *printer) params(a *Arguments) string {
	var all []string
	positional := append(append([]*Arg{}, a.PosOnlyArgs...), a.Args...)
	for i, arg := range positional {
		s := p.arg(arg)
		if d := i - (len(positional) - len(a.Defaults)); d >= 0 {
			s += " = " + p.expr(a.Defaults[d])
		}
		all = append(all, s)
		if i == len(a.PosOnlyArgs)-1 {
			all = append(all, "/")
		}
	}
	if a.VarArg != nil {
		all = append(all, "*"+p.arg(a.VarArg))
	} else if len(a.KwOnlyArgs) > 0 {
		all = append(all, "*")
	}
	for i, arg := range a.KwOnlyArgs {
		s := p.arg(arg)
		if a.KwDefaults[i] != nil {
			s += " = " + p.expr(a.KwDefaults[i])
		}
		all = append(all, s)
	}
	if a.KwArg != nil {
		all = append(all, "**"+p.arg(a.KwArg))
	}
	return strings.Join(all, ", ")
}

func (p *printer) callArgs(args []Expr, keywords []*Keyword) string {
	var all []string
	for _, a := range args {
		all = append(all, p.expr(a))
	}
	for _, k := range keywords {
		if k.Arg == "" {
			all = append(all, "**"+p.expr(k.Value))
		} else {
			all = append(all, p.ident(k.Arg)+"="+p.expr(k.Value))
		}
	}
	return strings.Join(all, ", ")
}

func (p *printer) list(es []Expr) string { return p.callArgs(es, nil) }

var operatorTexts = [...]string{"+", "-", "*", "@", "/", "%", "**", "<<", ">>", "|", "^", "&", "//"}

var cmpTexts = [...]string{"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"}

// expr writes an expression in brackets; nil is nothing.
func (p *printer) expr(e Expr) string {
	switch e := e.(type) {
	case nil:
		return ""
	case *Starred:
		return "*" + p.expr(e.Value)
	case *Slice:
		return p.expr(e.Lower) + ":" + p.expr(e.Upper) + ":" + p.expr(e.Step)
	case *List:
		return "[" + p.list(e.Elts) + "]"
	case *Set:
		return "{" + p.list(e.Elts) + "}"
	case *Tuple:
		if len(e.Elts) == 0 {
			return "()"
		}
		return "(" + p.list(e.Elts) + ",)"
	case *Dict:
		var all []string
		for i, k := range e.Keys {
			if k == nil {
				all = append(all, "**"+p.expr(e.Values[i]))
			} else {
				all = append(all, p.expr(k)+": "+p.expr(e.Values[i]))
			}
		}
		return "{" + strings.Join(all, ", ") + "}"
	case *ListComp:
		return "[" + p.expr(e.Elt) + p.clauses(e.Generators) + "]"
	case *SetComp:
		return "{" + p.expr(e.Elt) + p.clauses(e.Generators) + "}"
	case *DictComp:
		return "{" + p.expr(e.Key) + ": " + p.expr(e.Value) + p.clauses(e.Generators) + "}"
	case *GeneratorExp:
		return "(" + p.expr(e.Elt) + p.clauses(e.Generators) + ")"
	case *Constant:
		return "(" + p.constant(e) + ")"
	}
	return "(" + p.operation(e) + ")"
}

func (p *printer) clauses(gs []*Comprehension) string {
	s := ""
	for _, g := range gs {
		if g.IsAsync {
			s += " async"
		}
		s += " for " + p.expr(g.Target) + " in " + p.expr(g.Iter)
		for _, c := range g.Ifs {
			s += " if " + p.expr(c)
		}
	}
	return s
}

func (p *printer) operation(e Expr) string {
	switch e := e.(type) {
	case *BoolOp:
		var all []string
		for _, v := range e.Values {
			all = append(all, p.expr(v))
		}
		return strings.Join(all, map[BoolOperator]string{And: " and ", Or: " or "}[e.Op])
	case *NamedExpr:
		return p.ident(e.Target.(*Name).ID) + " := " + p.expr(e.Value)
	case *BinOp:
		return p.expr(e.Left) + " " + operatorTexts[e.Op] + " " + p.expr(e.Right)
	case *UnaryOp:
		return [...]string{"~", "not ", "+", "-"}[e.Op] + p.expr(e.Operand)
	case *Lambda:
		return "lambda " + p.params(e.Args) + ": " + p.expr(e.Body)
	case *IfExp:
		return p.expr(e.Body) + " if " + p.expr(e.Test) + " else " + p.expr(e.OrElse)
	case *Await:
		return "await " + p.expr(e.Value)
	case *Yield:
		return "yield " + p.expr(e.Value)
	case *YieldFrom:
		return "yield from " + p.expr(e.Value)
	case *Compare:
		s := p.expr(e.Left)
		for i, op := range e.Ops {
			s += " " + cmpTexts[op] + " " + p.expr(e.Comparators[i])
		}
		return s
	case *Call:
		return p.expr(e.Func) + "(" + p.callArgs(e.Args, e.Keywords) + ")"
	case *Attribute:
		return p.expr(e.Value) + "." + p.ident(e.Attr)
	case *Subscript:
		if t, ok := e.Slice.(*Tuple); ok && len(t.Elts) > 0 {
			return p.expr(e.Value) + "[" + p.list(t.Elts) + ",]"
		}
		return p.expr(e.Value) + "[" + p.expr(e.Slice) + "]"
	case *Name:
		return p.ident(e.ID)
	}
	p.skip = true // f-strings
	return ""
}

func (p *printer) constant(c *Constant) string {
	var b strings.Builder
	switch c.Kind {
	case ConstInt:
		return "0x" + c.Int.Text(16)
	case ConstFloat:
		return c.Text
	case ConstEllipsis:
		return "..."
	case ConstBytes:
		b.WriteString(`b"`)
		for i := range len(c.Text) {
			fmt.Fprintf(&b, `\x%02x`, c.Text[i])
		}
	case ConstStr:
		if c.U {
			b.WriteByte('u')
		}
		b.WriteByte('"')
		for s := c.Text; s != ""; {
			r, n := utf8.DecodeRuneInString(s)
			if r == utf8.RuneError && n == 1 { // a surrogate
				r, n = 0xD000|rune(s[1]&0x3F)<<6|rune(s[2]&0x3F), 3
			}
			fmt.Fprintf(&b, `\U%08x`, r)
			s = s[n:]
		}
	default:
		return map[ConstKind]string{ConstNone: "None", ConstTrue: "True", ConstFalse: "False"}[c.Kind]
	}
	return b.String() + `"`
}

func (p *printer) pattern(m Pattern) string {
	switch m := m.(type) {
	case *MatchValue:
		return p.key(m.Value)
	case *MatchSingleton:
		return p.constant(&Constant{Kind: m.Value})
	case *MatchSequence:
		return "[" + p.patterns(m.Patterns) + "]"
	case *MatchMapping:
		var all []string
		for i, k := range m.Keys {
			all = append(all, p.key(k)+": "+p.pattern(m.Patterns[i]))
		}
		if m.Rest != "" {
			all = append(all, "**"+p.ident(m.Rest))
		}
		return "{" + strings.Join(all, ", ") + "}"
	case *MatchClass:
		all := []string{}
		if len(m.Patterns) > 0 {
			all = append(all, p.patterns(m.Patterns))
		}
		for i, attr := range m.KwdAttrs {
			all = append(all, p.ident(attr)+"="+p.pattern(m.KwdPatterns[i]))
		}
		return p.key(m.Cls) + "(" + strings.Join(all, ", ") + ")"
	case *MatchStar:
		if m.Name == "" {
			return "*_"
		}
		return "*" + p.ident(m.Name)
	case *MatchAs:
		switch {
		case m.Name == "":
			return "_"
		case m.Pattern == nil:
			return p.ident(m.Name)
		}
		return "(" + p.pattern(m.Pattern) + " as " + p.ident(m.Name) + ")"
	case *MatchOr:
		var all []string
		for _, alt := range m.Patterns {
			all = append(all, p.pattern(alt))
		}
		return "(" + strings.Join(all, " | ") + ")"
	}
	return ""
}

func (p *printer) patterns(ms []Pattern) string {
	var all []string
	for _, m := range ms {
		all = append(all, p.pattern(m))
	}
	return strings.Join(all, ", ")
}

// key writes a literal or a dotted name without brackets.
func (p *printer) key(e Expr) string {
	switch e := e.(type) {
	case *Constant:
		return p.constant(e)
	case *UnaryOp:
		return "-" + p.key(e.Operand)
	case *Attribute:
		return p.key(e.Value) + "." + p.ident(e.Attr)
	case *Name:
		return p.ident(e.ID)
	}
	p.skip = true
	return ""
}

// printModule returns source for the tree, unless it has what the printer does
// not write.
func printModule(mod *Module) (string, bool) {
	p := &printer{}
	for _, s := range mod.Body {
		p.stmt(s)
	}
	return p.b.String(), !p.skip
}
