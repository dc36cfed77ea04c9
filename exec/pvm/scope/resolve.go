package scope

import "github.com/cowboy-foundation/cowboy/exec/pvm/syntax"

// resolve says of every symbol where its value is.
func (b *builder) resolve() {
	b.binders = map[string][]*Scope{}
	b.scope(b.table.Module)
}

// scope resolves s and the scopes in it. While it is at work, binders shows what
// a scope in s would see.
func (b *builder) scope(s *Scope) {
	own := len(s.Symbols) // scopes further in append what passes through
	// Paid: by the names of the scope, 50 cycles each (ADR 59).
	for _, sym := range s.Symbols[:own] {
		b.resolveName(s, sym)
	}
	// What a class binds or declares is not seen from further in, but for
	// __class__.
	if s.Kind == Class {
		b.push("__class__", s)
		b.children(s)
		b.pop("__class__")
		return
	}
	// Paid: by the names of the scope, 50 cycles each (ADR 59).
	for _, sym := range s.Symbols[:own] {
		switch {
		case sym.Resolution == GlobalExplicit:
			b.push(sym.Name, nil)
		case sym.Resolution == Local && s.Kind.IsFunction():
			b.push(sym.Name, s)
		}
	}
	b.children(s)
	// Paid: by the names of the scope, 50 cycles each (ADR 59).
	for _, sym := range s.Symbols[:own] {
		switch {
		case sym.Resolution == GlobalExplicit,
			s.Kind.IsFunction() && (sym.Resolution == Local || sym.Resolution == Cell):
			b.pop(sym.Name)
		}
	}
}

func (b *builder) children(s *Scope) {
	// Paid: by the scopes, 100 cycles each (ADR 59).
	for _, c := range s.Children {
		b.scope(c)
	}
}

func (b *builder) push(name string, s *Scope) { b.binders[name] = append(b.binders[name], s) }

func (b *builder) pop(name string) { b.binders[name] = b.binders[name][:len(b.binders[name])-1] }

// binder returns the scope around the current one that binds name for it, or
// nil.
func (b *builder) binder(name string) *Scope {
	if all := b.binders[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

func (b *builder) resolveName(s *Scope, sym *Symbol) {
	owner := b.binder(sym.Name)
	switch {
	case sym.Has(DeclaredGlobal):
		if sym.Has(DeclaredNonlocal) {
			b.failf(s.directive(sym.Name), "name '%s' is nonlocal and global", sym.Name)
		}
		sym.Resolution = GlobalExplicit
	case sym.Has(DeclaredNonlocal):
		if s.Kind == Module {
			b.failf(s.directive(sym.Name), "nonlocal declaration not allowed at module level")
		}
		if owner == nil {
			b.failf(s.directive(sym.Name), "no binding for nonlocal '%s' found", sym.Name)
		}
		b.free(s, sym, owner)
	case sym.Has(bound):
		sym.Resolution = Local
	case owner != nil:
		b.free(s, sym, owner)
	default:
		sym.Resolution = GlobalImplicit
	}
}

// longName is above what a name has whose bytes nobody needs to count.
const longName = 255

// free makes a name free in s and in the scopes between s and its owner, and a
// cell in the owner.
func (b *builder) free(s *Scope, sym *Symbol, owner *Scope) {
	sym.Resolution, sym.Owner = Free, owner
	// Paid: by a name of each scope between, 50 cycles each (ADR 59), which is noted once.
	for p := s.Parent; p != owner; p = p.Parent {
		known := len(p.Symbols)
		between := b.symbol(p, s.pos(), sym.Name)
		if between.Has(bound|DeclaredGlobal) && p.Kind == Class {
			between.Flags |= FreeClass
		}
		if between.Owner == owner {
			return // somebody went this way before, to the owner
		}
		between.Owner = owner
		if n := len(sym.Name); n > longName {
			b.passedBytes += n
			b.limit(s.pos(), b.passedBytes, b.lim.MangledBytes, "bytes of long names that pass through scopes")
		}
		if len(p.Symbols) > known {
			between.Resolution = Free
		}
	}
	if owner.Kind == Class {
		owner.NeedsClassCell = true
		return
	}
	owner.index[sym.Name].Resolution = Cell
}

// directive returns where the scope first declared a name.
func (s *Scope) directive(name string) (at syntax.Pos) {
	// Paid: by the tokens of the declarations; the first that fails ends all (ADR 59).
	for _, d := range s.directives {
		if d.name == name {
			return d.at
		}
	}
	return s.pos()
}
