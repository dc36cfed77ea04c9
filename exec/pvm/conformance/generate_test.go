package conformance

import (
	"fmt"
	"math/rand"
	"strings"
)

// statement is one statement of a generated program: its clauses, each a line and,
// where the line ends in a colon, a block.
type statement struct{ clauses []clause }

type clause struct {
	head string
	body []*statement
}

func render(b *strings.Builder, body []*statement, indent int) {
	pad := strings.Repeat("    ", indent)
	for _, s := range body {
		for _, c := range s.clauses {
			b.WriteString(pad + c.head + "\n")
			if strings.HasSuffix(c.head, ":") {
				if len(c.body) == 0 {
					b.WriteString(pad + "    pass\n")
				}
				render(b, c.body, indent+1)
			}
		}
	}
}

// variable is a name with the type of what it holds; a function's is that of its
// result behind "()".
type variable struct{ name, typ string }

// generator makes programs that mostly do what their types allow.
type generator struct {
	*rand.Rand
	vars    []variable
	serial  int
	classes []string
	nest    int
	loop    bool
}

// program makes the program of a seed.
func program(seed int64) []*statement {
	g := &generator{Rand: rand.New(rand.NewSource(seed))}
	body := []*statement{line(prelude)}
	for _, t := range []string{"int", "str", "li", "ls", "d", "float"} {
		name := g.fresh("v")
		body = append(body, line(name+" = "+g.pick(literals[t])))
		g.vars = append(g.vars, variable{name, t})
	}
	for range 4 + g.Intn(14) {
		s := g.statement()
		if head := s.clauses[0].head; !strings.HasPrefix(head, "def ") && !strings.HasPrefix(head, "class ") && !strings.HasPrefix(head, "try:") {
			s = guarded(s)
		}
		body = append(body, s)
	}
	for _, v := range g.vars {
		if _, ok := printed[v.typ]; ok {
			body = append(body, guarded(line("print("+fmt.Sprintf(printed[v.typ], v.name)+")")))
		}
	}
	return body
}

func line(text string) *statement { return &statement{[]clause{{head: text}}} }

func block(head string, body []*statement) *statement { return &statement{[]clause{{head, body}}} }

func guarded(s ...*statement) *statement {
	return &statement{[]clause{
		{"try:", s},
		{"except Exception as error:", []*statement{line("print(type(error).__name__, error)")}},
	}}
}

func (g *generator) pick(list []string) string { return list[g.Intn(len(list))] }

func (g *generator) fresh(prefix string) string {
	g.serial++
	return fmt.Sprintf("%s%d", prefix, g.serial)
}

// scoped runs fn and forgets the names that it bound.
func (g *generator) scoped(fn func()) {
	n, loop := len(g.vars), g.loop
	g.nest++
	fn()
	g.vars, g.loop = g.vars[:n], loop
	g.nest--
}

func (g *generator) nameOf(typ string) (string, bool) {
	var found []string
	for _, v := range g.vars {
		if v.typ == typ {
			found = append(found, v.name)
		}
	}
	if len(found) == 0 {
		return "", false
	}
	return g.pick(found), true
}

// expr is an expression of a type; now and then of another one, so that errors
// are compared too.
func (g *generator) expr(typ string, depth int) string {
	if g.Intn(50) == 0 {
		typ = g.pick([]string{"int", "str", "li", "float", "bool", "d", "ls", "tu", "obj"})
	}
	if name, ok := g.nameOf(typ); ok && (depth <= 0 || g.Intn(3) == 0) {
		return name
	}
	if depth <= 0 {
		return g.pick(literals[typ])
	}
	if fn, ok := g.nameOf(typ + "()"); ok && g.Intn(4) == 0 {
		return g.fill(fn, depth)
	}
	return g.fill(g.pick(grammar[typ]), depth)
}

// fill replaces the holes of a template: {type}, {type+name} with a name that is
// an int within, {@type} for a variable. Braces of Python are doubled.
func (g *generator) fill(template string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(template); i++ {
		c := template[i]
		if (c == '{' || c == '}') && i+1 < len(template) && template[i+1] == c {
			b.WriteByte(c)
			i++
			continue
		}
		if c != '{' {
			b.WriteByte(c)
			continue
		}
		end := i + strings.IndexByte(template[i:], '}')
		hole, name, bound := strings.Cut(template[i+1:end], "+")
		i = end
		if typ, plain := strings.CutPrefix(hole, "@"); plain { // within an f-string: no quotes
			name, ok := g.nameOf(typ)
			if !ok {
				name = simplest[typ]
			}
			b.WriteString(name)
			continue
		}
		if !bound {
			b.WriteString(g.expr(hole, depth-1))
			continue
		}
		g.vars = append(g.vars, variable{name, "int"})
		b.WriteString(g.expr(hole, depth-1))
		g.vars = g.vars[:len(g.vars)-1]
	}
	return b.String()
}

// assign binds a name, or gives one of the type another value; a new one has a
// value even where the expression fails.
func (g *generator) assign(typ string) *statement {
	value := g.expr(typ, 2)
	name, ok := g.nameOf(typ)
	if ok && g.Intn(3) == 0 {
		return guarded(line(name + " = " + value))
	}
	name = g.fresh("v")
	g.vars = append(g.vars, variable{name, typ})
	try := guarded(line(name + " = " + value))
	return &statement{append([]clause{{head: name + " = " + g.pick(literals[typ])}}, try.clauses...)}
}

func (g *generator) body(n int) (out []*statement) {
	g.scoped(func() {
		for range 1 + g.Intn(n) {
			out = append(out, g.statement())
		}
	})
	return out
}

func (g *generator) statement() *statement {
	n := g.Intn(24)
	if g.nest >= 3 {
		n = g.Intn(8)
	}
	switch {
	case n < 3:
		return g.assign(g.pick(typeNames))
	case n < 8:
		return g.simple()
	case n < 11:
		return g.branch()
	case n < 14:
		return g.iteration()
	case n < 17:
		return g.attempt()
	case n < 20:
		return g.function()
	case n < 21:
		return g.producer()
	case n < 23 && g.nest == 0:
		return g.class()
	}
	return g.match()
}

func (g *generator) simple() *statement {
	if g.loop && g.Intn(8) == 0 {
		return block("if "+g.expr("bool", 2)+":", []*statement{line(g.pick([]string{"break", "continue"}))})
	}
	text := g.pick(simple)
	for _, typ := range typeNames { // {=type} is a variable to change
		hole := "{=" + typ + "}"
		if strings.Contains(text, hole) {
			name, ok := g.nameOf(typ)
			if !ok {
				return g.assign(typ)
			}
			text = strings.ReplaceAll(text, hole, name)
		}
	}
	s := line(g.fill(text, 2))
	if g.Intn(8) == 0 {
		return s
	}
	return guarded(s)
}

func (g *generator) branch() *statement {
	s := block("if "+g.expr("bool", 2)+":", g.body(3))
	for range g.Intn(2) {
		s.clauses = append(s.clauses, clause{"elif " + g.expr("bool", 2) + ":", g.body(2)})
	}
	if g.Intn(2) == 0 {
		s.clauses = append(s.clauses, clause{"else:", g.body(2)})
	}
	return s
}

func (g *generator) iteration() *statement {
	name := g.fresh("i")
	var s *statement
	g.scoped(func() {
		g.loop = true
		if g.Intn(4) == 0 {
			s = block(fmt.Sprintf("for %s in countdown(%d):", name, g.Intn(6)), nil)
		} else {
			s = block(g.fill("for "+name+" in "+g.pick(iterables)+":", 2), nil)
		}
		if head := s.clauses[0].head; strings.Contains(head, " in range(") || strings.Contains(head, " in countdown(") {
			g.vars = append(g.vars, variable{name, "int"})
		} else {
			g.vars = append(g.vars, variable{"len([" + name + "])", "int"})
		}
		s.clauses[0].body = append([]*statement{line("print(" + name + ")")}, g.body(3)...)
	})
	if g.Intn(4) == 0 {
		s.clauses = append(s.clauses, clause{"else:", g.body(2)})
	}
	return s
}

func (g *generator) attempt() *statement {
	s := block("try:", g.body(3))
	if g.Intn(3) == 0 {
		s.clauses[0].body = append(s.clauses[0].body, line("raise "+g.pick([]string{"Odd", "ValueError", "KeyError"})+"("+g.expr(g.pick(typeNames[:3]), 2)+")"))
	}
	if g.Intn(6) == 0 {
		s.clauses = append(s.clauses, clause{"finally:", g.body(2)})
		return guarded(s)
	}
	name := g.fresh("e")
	catch := append([]*statement{line(fmt.Sprintf("print(%q, type(%s).__name__, %s, %s.args)", name, name, name, name))}, g.body(2)...)
	s.clauses = append(s.clauses, clause{"except " + g.pick([]string{"Exception", "(ValueError, Odd)", "LookupError", "ArithmeticError"}) + " as " + name + ":", catch})
	if g.Intn(3) == 0 {
		s.clauses = append(s.clauses, clause{"else:", g.body(2)})
	}
	if g.Intn(3) == 0 {
		s.clauses = append(s.clauses, clause{"finally:", g.body(2)})
	}
	return guarded(s)
}

func (g *generator) function() *statement {
	name, typ := g.fresh("f"), g.pick(typeNames[:6])
	params := parameters[g.Intn(len(parameters))]
	s := block("def "+name+"("+g.fill(params.text, 1)+"):", nil)
	g.scoped(func() {
		g.loop = false
		g.vars = append(g.vars, params.vars...)
		inner := g.body(3)
		if outer, ok := g.nameOf("int"); ok && g.Intn(3) == 0 && !strings.Contains(params.text, outer) && !strings.HasPrefix(outer, "i") {
			word := "global "
			if g.nest > 1 {
				word = ""
			}
			if word != "" {
				inner = append([]*statement{line(word + outer), line(outer + " += 1")}, inner...)
			}
		}
		s.clauses[0].body = append(inner, line("return "+g.expr(typ, 2)))
	})
	g.vars = append(g.vars, variable{name + params.call, typ + "()"})
	return s
}

func (g *generator) producer() *statement {
	name := g.fresh("g")
	s := block("def "+name+"(n):", nil)
	g.scoped(func() {
		g.loop = false
		g.vars = append(g.vars, variable{"n", "int"})
		s.clauses[0].body = []*statement{
			block("for k in range(n):", append(g.body(2), line("got = yield k"), block("if got:", []*statement{line("print('got', got)"), line("yield got")}))),
			line("yield from " + g.expr("li", 2)),
			line("return " + g.expr("int", 1)),
		}
	})
	g.vars = append(g.vars, variable{"list(" + name + "({small}))", "li()"}, variable{"feed(" + name + "({small}), {str})", "str()"})
	return s
}

func (g *generator) class() *statement {
	name := g.fresh("C")
	head := "class " + name
	if len(g.classes) > 0 && g.Intn(2) == 0 {
		head += "(" + g.pick(g.classes) + ")"
	} else {
		head += "(Base)"
	}
	s := block(head+":", nil)
	g.scoped(func() {
		s.clauses[0].body = append(s.clauses[0].body, line("limit = "+g.expr("int", 1)))
		for _, i := range g.Perm(len(methods))[:2+g.Intn(4)] {
			m := methods[i]
			g.scoped(func() {
				g.loop = false
				g.vars = append(g.vars, variable{"self.n", "int"}, variable{"self.items", "li"})
				var body []*statement
				if g.Intn(3) == 0 {
					body = g.body(2)
				}
				body = append(body, line(g.fill(m.body, 2)))
				if m.decorator != "" {
					s.clauses[0].body = append(s.clauses[0].body, &statement{[]clause{{head: m.decorator}, {m.head, body}}})
				} else {
					s.clauses[0].body = append(s.clauses[0].body, block(m.head, body))
				}
			})
		}
	})
	g.classes = append(g.classes, name)
	g.vars = append(g.vars, variable{name + "({int})", "obj()"})
	return s
}

func (g *generator) match() *statement {
	s := block("match "+g.expr(g.pick(typeNames), 2)+":", nil)
	for _, i := range g.Perm(len(patterns))[:2+g.Intn(3)] {
		p := patterns[i]
		inner := append([]*statement{line("print(" + p.show + ")")}, g.body(1)...)
		s.clauses[0].body = append(s.clauses[0].body, block("case "+g.fill(p.text, 1)+":", inner))
	}
	s.clauses[0].body = append(s.clauses[0].body, block("case _:", g.body(1)))
	return guarded(s)
}
