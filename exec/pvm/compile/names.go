package compile

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/scope"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// home is where a name of a unit lives.
type home uint8

const (
	inRegister home = iota
	inCell
	inFree
	inGlobals
	inNamespace // of a class body
)

// home returns where a name in its long form lives, and its register or index.
func (f *unit) home(name string) (home, int) {
	sym := f.scope.Lookup(name)
	if sym == nil {
		if r, ok := f.locals[name]; ok {
			return inCell, r // __class__ of a class
		}
		return inGlobals, 0
	}
	switch sym.Resolution {
	case scope.Cell:
		return inCell, f.locals[name]
	case scope.Free:
		return inFree, f.frees[name]
	case scope.Local:
		if f.scope.Kind.IsFunction() {
			return inRegister, f.locals[name]
		}
		if f.scope.Kind == scope.Class {
			return inNamespace, 0
		}
	case scope.GlobalImplicit:
		if f.scope.Kind == scope.Class {
			return inNamespace, 0
		}
	}
	return inGlobals, 0
}

// inPlace returns the register of a local that may be an operand where it is,
// after it is checked to be bound.
func (f *unit) inPlace(e syntax.Expr) (int, bool) {
	n, ok := e.(*syntax.Name)
	if !ok || n.ID == "__debug__" {
		return 0, false
	}
	name := f.mangle(n.ID)
	h, r := f.home(name)
	if h != inRegister || f.rebound[name] {
		return 0, false
	}
	line := f.line
	f.line = n.Line
	f.emitCheck(name, r)
	f.line = line
	return r, true
}

// emitCheck emits Check unless the local surely holds a value.
func (f *unit) emitCheck(name string, r int) {
	if f.assigned.has(r) && !f.unsure[name] {
		return
	}
	f.emit(code.Check, r, 0, 0)
	f.assigned.set(r)
}

func (f *unit) loadName(id string, dst int) {
	name := f.mangle(id)
	switch h, i := f.home(name); h {
	case inRegister:
		f.emitCheck(name, i)
		f.move(dst, i)
	case inCell:
		f.emit(code.GetCell, dst, i, f.nameIndex(name))
	case inFree:
		if f.scope.Kind == scope.Class {
			f.emit(code.GetFreeIn, dst, i, 0)
		} else {
			f.emit(code.GetFree, dst, i, 0)
		}
	case inNamespace:
		f.emitWide(code.GetName, dst, f.nameIndex(name))
	default:
		f.emitWide(code.GetGlobal, dst, f.nameIndex(name))
	}
}

// binding is a name of a unit with the place where it lives, looked up once.
type binding struct {
	name  string // in its long form
	home  home
	at    int // register, or index of the free variable
	index int // among the names of the object and 1 more, 0 while nothing needed it
}

// bind looks up where a name lives.
func (f *unit) bind(id string) binding {
	b := binding{name: f.mangle(id)}
	b.home, b.at = f.home(b.name)
	return b
}

// bindExcept looks up where the name of an except clause lives; nil without one.
func (f *unit) bindExcept(id string) *binding {
	if id == "" {
		return nil
	}
	b := f.bind(id)
	return &b
}

// nameIndexOf returns the index of the name of b, which it takes the first time.
func (f *unit) nameIndexOf(b *binding) int {
	if b.index == 0 {
		b.index = f.nameIndex(b.name) + 1
	}
	return b.index - 1
}

// storeName binds a name to what is in register src.
func (f *unit) storeName(id string, src int) {
	b := f.bind(id)
	f.storeAt(&b, src)
}

func (f *unit) storeAt(b *binding, src int) {
	switch b.home {
	case inRegister:
		f.move(b.at, src)
		f.assigned.set(b.at)
	case inCell:
		f.emit(code.SetCell, b.at, src, 0)
	case inFree:
		f.emit(code.SetFree, b.at, src, 0)
	case inNamespace:
		f.emitWide(code.SetName, src, f.nameIndexOf(b))
	default:
		f.emitWide(code.SetGlobal, src, f.nameIndexOf(b))
	}
}

func (f *unit) deleteName(id string) {
	b := f.bind(id)
	if b.home == inRegister {
		f.emitCheck(b.name, b.at)
	}
	f.unbind(&b)
}

// unbind deletes a name; a local need not hold a value.
func (f *unit) unbind(b *binding) {
	switch b.home {
	case inRegister:
		f.emit(code.Clear, b.at, 0, 0)
	case inCell:
		f.emit(code.DelCell, b.at, f.nameIndexOf(b), 0)
	case inFree:
		f.emit(code.DelFree, b.at, 0, 0)
	case inNamespace:
		f.emitWide(code.DelName, 0, f.nameIndexOf(b))
	default:
		f.emitWide(code.DelGlobal, 0, f.nameIndexOf(b))
	}
}

// deleteExceptName deletes the name of an except clause, if it has one, which the
// clause may have deleted: it is bound to None first, as in Python. Nothing is looked
// up for it: a jump out of many clauses costs what it emits.
func (f *unit) deleteExceptName(b *binding) {
	if b == nil {
		return
	}
	if b.home != inRegister {
		mark := f.top
		r := f.alloc(1)
		f.loadNone(r)
		f.storeAt(b, r)
		f.top = mark
	}
	f.unbind(b)
}

// target returns the register of a name that an expression can be computed into.
func (f *unit) target(e syntax.Expr) (int, bool) {
	n, ok := e.(*syntax.Name)
	if !ok {
		return 0, false
	}
	h, r := f.home(f.mangle(n.ID))
	return r, h == inRegister
}

// scan looks through a body for names that are deleted and names that
// assignment expressions bind, not entering other scopes.
func (f *unit) scan(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.NamedExpr:
		if t, ok := n.Target.(*syntax.Name); ok {
			f.rebound[f.mangle(t.ID)] = true
		}
	case *syntax.Name:
		if n.Ctx == syntax.Del {
			f.unsure[f.mangle(n.ID)] = true
		}
		return
	case *syntax.ExceptHandler:
		if n.Name != "" {
			f.unsure[f.mangle(n.Name)] = true
		}
	case *syntax.FunctionDef:
		f.scanFunction(n.DecoratorList, n.Args, n.Returns)
		return
	case *syntax.AsyncFunctionDef:
		f.scanFunction(n.DecoratorList, n.Args, n.Returns)
		return
	case *syntax.Lambda:
		f.scanFunction(nil, n.Args, nil)
		return
	case *syntax.ClassDef:
		f.scanAll(n.DecoratorList)
		f.scanAll(n.Bases)
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, k := range n.Keywords {
			f.scan(k.Value)
		}
		return
	case *syntax.ListComp:
		f.scan(n.Generators[0].Iter)
		return
	case *syntax.SetComp:
		f.scan(n.Generators[0].Iter)
		return
	case *syntax.DictComp:
		f.scan(n.Generators[0].Iter)
		return
	case *syntax.GeneratorExp:
		f.scan(n.Generators[0].Iter)
		return
	}
	syntax.Children(n, f.scan)
}

func (f *unit) scanAll(es []syntax.Expr) {
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, e := range es {
		if e != nil {
			f.scan(e)
		}
	}
}

func (f *unit) scanFunction(decorators []syntax.Expr, a *syntax.Arguments, returns syntax.Expr) {
	f.scanAll(decorators)
	f.scanAll(a.Defaults)
	f.scanAll(a.KwDefaults)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, p := range parameters(a) {
		if p.Annotation != nil {
			f.scan(p.Annotation)
		}
	}
	if returns != nil {
		f.scan(returns)
	}
}

// parameters returns the parameters in the order in which their annotations are
// evaluated.
func parameters(a *syntax.Arguments) []*syntax.Arg {
	all := append([]*syntax.Arg(nil), a.PosOnlyArgs...)
	all = append(all, a.Args...)
	if a.VarArg != nil {
		all = append(all, a.VarArg)
	}
	all = append(all, a.KwOnlyArgs...)
	if a.KwArg != nil {
		all = append(all, a.KwArg)
	}
	return all
}
