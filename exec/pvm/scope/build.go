package scope

import (
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// Analyze makes the table of a tree from [syntax.Parse]. An error is an
// [*Error], the first that CPython's symbol table would raise; the compiler's own
// refusals are for [syntax.Check].
func Analyze(mod *syntax.Module, lim Limits) (t *Table, err error) {
	if err := lim.Check(); err != nil {
		return nil, fmt.Errorf("limits of the symbol table: %w", err)
	}
	b := &builder{
		table: &Table{scopes: map[syntax.Node]*Scope{}, mangled: map[privateName]string{}},
		lim:   lim,
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			e.Scopes, e.Symbols = b.scopes, b.symbols
			t, err = nil, e
		}
	}()
	b.textAnnotations = hasTextAnnotations(mod)
	b.enter(Module, "top", nil)
	b.table.Module = b.cur
	b.stmts(mod.Body)
	b.resolve()
	return b.table, nil
}

// hasTextAnnotations looks for the future import among the first statements;
// syntax.Check refuses it elsewhere.
func hasTextAnnotations(mod *syntax.Module) bool {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, s := range mod.Body {
		f, ok := s.(*syntax.ImportFrom)
		if !ok {
			if _, doc := s.(*syntax.ExprStmt); doc {
				continue
			}
			return false
		}
		if f.Module != "__future__" {
			return false
		}
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, a := range f.Names {
			if a.Name == "annotations" {
				return true
			}
		}
	}
	return false
}

// builder is the state of one Analyze. Refusals leave it as a panic with an
// *Error, which Analyze catches: the walk has a place for them at every name.
type builder struct {
	table           *Table
	lim             Limits
	cur             *Scope
	textAnnotations bool

	scopes, symbols, mangledBytes, passedBytes int

	// binders holds for each name the function whose binding scopes further in
	// see, innermost last; nil stands for the module. Only resolve uses it.
	binders map[string][]*Scope
}

func (b *builder) failf(at syntax.Pos, format string, args ...any) {
	panic(&Error{Pos: at, Msg: fmt.Sprintf(format, args...), kind: syntax.ErrSyntax})
}

func (b *builder) limit(at syntax.Pos, n, most int, what string) {
	if n > most {
		panic(&Error{Pos: at, Msg: fmt.Sprintf("more than %d %s", most, what), kind: syntax.ErrLimit})
	}
}

// enter begins a scope; node is nil for the module.
func (b *builder) enter(kind Kind, name string, node syntax.Node) {
	s := &Scope{Kind: kind, Name: name, Node: node, Parent: b.cur, index: map[string]*Symbol{}}
	b.scopes++
	b.limit(s.pos(), b.scopes, b.lim.Scopes, "scopes")
	if p := s.Parent; p != nil {
		s.Nested = p.Nested || p.Kind.IsFunction()
		s.private = p.private
		// An assignment expression is refused anywhere in the iterable of a
		// comprehension, also in scopes inside it.
		s.iterDepth = p.iterDepth
		s.apart = p.apart
		if !s.apart {
			p.Children = append(p.Children, s)
			b.table.scopes[node] = s
		}
	}
	if kind == Class {
		// Paid: by the bytes of the name, once for each class (ADR 59, 166).
		s.class = strings.TrimLeft(name, "_")
	}
	if s.class != "" {
		s.private = s
	} else if kind == Class {
		s.private = nil // a class of underscores has no private names
	}
	b.cur = s
}

func (b *builder) leave() { b.cur = b.cur.Parent }

// pos returns the place of the scope's node.
func (s *Scope) pos() syntax.Pos {
	if s.Node == nil {
		return syntax.Pos{Line: 1}
	}
	return s.Node.Position()
}

func isPrivate(name string) bool {
	// Paid: by the bytes of the name where it stands (ADR 59).
	return strings.HasPrefix(name, "__") && !strings.HasSuffix(name, "__") && !strings.Contains(name, ".")
}

func mangle(class *Scope, name string) string { return "_" + class.class + name }

// mangle is [Table.Mangle] with a memory: a class name may be long, and its
// private names many.
func (b *builder) mangle(at syntax.Pos, name string) string {
	class := b.cur.private
	if class == nil || !isPrivate(name) {
		return name
	}
	key := privateName{class, name}
	long, ok := b.table.mangled[key]
	if !ok {
		b.mangledBytes += len(class.class) + len(name)
		b.limit(at, b.mangledBytes, b.lim.MangledBytes, "bytes of private names")
		long = mangle(class, name)
		b.table.mangled[key] = long
	}
	return long
}

// flags returns what the scope knows of a name so far; name is in its long form.
func (s *Scope) flags(name string) Flags {
	if sym := s.index[name]; sym != nil {
		return sym.Flags
	}
	return 0
}

// symbol returns the symbol of a name in its long form, making it if need be.
func (b *builder) symbol(s *Scope, at syntax.Pos, name string) *Symbol {
	sym := s.index[name]
	if sym == nil {
		b.symbols++
		b.limit(at, b.symbols, b.lim.Symbols, "symbols")
		sym = &Symbol{Name: name}
		s.index[name] = sym
		s.Symbols = append(s.Symbols, sym)
	}
	return sym
}

// add notes that the current scope does something with a name.
func (b *builder) add(at syntax.Pos, name string, f Flags) { b.addTo(b.cur, at, name, f) }

func (b *builder) addTo(s *Scope, at syntax.Pos, name string, f Flags) {
	long := b.mangle(at, name)
	sym := b.symbol(s, at, long)
	if f&Parameter != 0 {
		if sym.Has(Parameter) {
			b.failf(at, "duplicate argument '%s' in function definition", name)
		}
		s.Params = append(s.Params, sym)
	}
	sym.Flags |= f
	if s.inTarget {
		if sym.Has(DeclaredGlobal | DeclaredNonlocal) {
			b.failf(at, "comprehension inner loop cannot rebind assignment expression target '%s'", name)
		}
		sym.Flags |= CompTarget
	}
	if f&DeclaredGlobal != 0 {
		b.symbol(b.table.Module, at, long).Flags |= DeclaredGlobal
	}
}

// bind notes an assignment; the name may be empty where a pattern has none.
func (b *builder) bind(at syntax.Pos, name string) {
	if name != "" {
		b.add(at, name, Assigned)
	}
}

// declare notes a global or nonlocal name.
func (b *builder) declare(at syntax.Pos, name string, f Flags, word string) {
	known := b.cur.flags(b.mangle(at, name))
	switch {
	case known&Parameter != 0:
		b.failf(at, "name '%s' is parameter and %s", name, word)
	case known&Used != 0:
		b.failf(at, "name '%s' is used prior to %s declaration", name, word)
	case known&Annotated != 0:
		b.failf(at, "annotated name '%s' can't be %s", name, word)
	case known&Assigned != 0:
		b.failf(at, "name '%s' is assigned to before %s declaration", name, word)
	}
	b.add(at, name, f)
	b.direct(at, name)
}

// direct remembers where a name was declared, for errors that are known late.
func (b *builder) direct(at syntax.Pos, name string) {
	b.cur.directives = append(b.cur.directives, directive{b.mangle(at, name), at})
}
