package syntax

import "strings"

// scopeKind is what a scope belongs to.
type scopeKind uint8

const (
	moduleScope scopeKind = iota
	classScope
	functionScope // lambdas too
	comprehensionScope
)

// block is what a jump may have to leave.
type block uint8

const (
	loopBlock block = iota
	starHandler
)

// symbol is what is known of a name in one scope.
type symbol uint8

const (
	isLocal symbol = 1 << iota
	isParam
	isUsed
	isGlobal
	isNonlocal
	isAnnotated
	isTarget // of a comprehension
	isImported
)

// MangledBytes bounds the bytes of private names in their long form, each mention
// counted, that of an attribute too, and each scope in which one is looked for: a long
// class name would else cost its length for every short name (ADR 166). At four bytes
// a mention, 64 KiB of source stay below it with class names of some sixty bytes.
const MangledBytes = 1 << 20

// scope is one of the nested name spaces.
type scope struct {
	parent    *scope
	kind      scopeKind
	class     string // the class whose private names are mangled, without underscores before it, or empty
	names     map[string]symbol
	nonlocals []declared // in order, to be resolved at the end
	blocks    []block
	async     bool
	yields    bool
	returns   bool // with a value
	returnPos Pos
	awaits    bool // a comprehension that is asynchronous
	isGen     bool // a generator expression
	inIter    int  // depth of iterables of comprehensions around this place
	inTarget  bool // in the target of a comprehension
	what      string
}

type declared struct {
	name string
	at   Pos
	long bool // than it stands in the source
}

func newScope(parent *scope, kind scopeKind, class string) *scope {
	return &scope{parent: parent, kind: kind, class: class, names: map[string]symbol{}}
}

func (c *checker) enter(kind scopeKind) {
	s := newScope(c.scope, kind, c.scope.class)
	s.inIter = c.scope.inIter
	c.scope = s
	c.scopes = append(c.scopes, s)
}

func (c *checker) leave() { c.scope = c.scope.parent }

// isPrivate reports whether a name has a long form in the class around this place.
func (c *checker) isPrivate(name string) bool {
	// Paid: by the bytes of the name where it stands (ADR 59).
	return c.scope.class != "" && strings.HasPrefix(name, "__") && !strings.HasSuffix(name, "__") && !strings.Contains(name, ".")
}

// mangle gives a private name of a class its full name (Python reference §6.2.1).
func (c *checker) mangle(at Pos, name string) string {
	if !c.isPrivate(name) || !c.mention(at, len(c.scope.class)+len(name)) {
		return name
	}
	return "_" + c.scope.class + name
}

// mention counts bytes of private names in their long form; false when they are too many.
func (c *checker) mention(at Pos, bytes int) bool {
	if c.mangled += bytes; c.mangled <= MangledBytes {
		return true
	}
	if c.err == nil {
		c.err = limitf(at, "private names take more than %d bytes in their long form", MangledBytes)
	}
	c.mangled = MangledBytes + 1
	return false
}

// member counts the name of an attribute, which the compiler gives its full name.
func (c *checker) member(at Pos, name string) {
	if c.isPrivate(name) {
		c.mention(at, len(c.scope.class)+len(name))
	}
}

func (c *checker) add(at Pos, name string, flags symbol) {
	name = c.mangle(at, name)
	if c.scope.inTarget && flags&isLocal != 0 {
		if c.scope.names[name]&(isGlobal|isNonlocal) != 0 {
			c.failf(at, "comprehension inner loop cannot rebind assignment expression target '%s'", name)
		}
		flags |= isTarget
	}
	c.scope.names[name] |= flags
}

// bind notes that name is assigned to.
func (c *checker) bind(at Pos, name string) {
	c.refuseDebug(at, name, "assign to")
	c.add(at, name, isLocal)
}

func (c *checker) refuseDebug(at Pos, name, verb string) {
	if name == "__debug__" {
		c.failf(at, "cannot %s __debug__", verb)
	}
}

func (c *checker) bindAlias(a *Alias) {
	name := a.AsName
	if name == "" {
		// Paid: by the bytes of the name, once (ADR 59).
		name, _, _ = strings.Cut(a.Name, ".")
	}
	c.refuseDebug(a.Pos, name, "assign to")
	c.add(a.Pos, name, isImported) // not isLocal: a global statement may follow
}

// declare notes a global or nonlocal name.
func (c *checker) declare(at Pos, name string, flag symbol, word string) {
	full := c.mangle(at, name)
	known := c.scope.names[full]
	switch {
	case known&isParam != 0:
		c.failf(at, "name '%s' is parameter and %s", name, word)
	case known&isUsed != 0:
		c.failf(at, "name '%s' is used prior to %s declaration", name, word)
	case known&isAnnotated != 0:
		c.failf(at, "annotated name '%s' can't be %s", name, word)
	case known&isLocal != 0:
		c.failf(at, "name '%s' is assigned to before %s declaration", name, word)
	}
	first := known&flag == 0
	c.scope.names[full] |= flag
	if both := isGlobal | isNonlocal; c.scope.names[full]&both == both {
		c.failf(at, "name '%s' is nonlocal and global", name)
	}
	if flag == isNonlocal && first { // the same name is looked for once
		c.scope.nonlocals = append(c.scope.nonlocals, declared{full, at, len(full) > len(name)})
	}
}

// bindings checks, once all names are known, that every nonlocal one is bound
// in a function around it.
func (c *checker) bindings() {
	// Paid: by the tokens of the scopes, once each (ADR 59).
	for _, s := range c.scopes {
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, d := range s.nonlocals {
			if c.err != nil {
				return // the first refusal is the one that counts
			}
			if !c.bound(s.parent, &d) {
				c.failf(d.at, "no binding for nonlocal '%s' found", d.name)
			}
		}
	}
}

// bound looks for a function that binds a nonlocal name, from s outwards.
func (c *checker) bound(s *scope, d *declared) bool {
	name := d.name
	// Bounded: by 200 nested brackets and 100 levels of indentation, a look-up each; MangledBytes bounds long names (ADR 166).
	for ; s != nil; s = s.parent {
		if d.long && !c.mention(d.at, len(name)) {
			return true // refused for that
		}
		if s.kind == classScope && name == "__class__" {
			return true // what super() without arguments reads
		}
		if s.kind == moduleScope || s.kind == classScope {
			continue
		}
		switch f := s.names[name]; {
		case f&isGlobal != 0:
			return false
		case f&isNonlocal != 0:
		case f&(isLocal|isImported) != 0:
			return true
		}
	}
	return false
}

// bindOutside gives the target of a named expression inside comprehensions to the
// scope around them (PEP 572). A comprehension has no other names that are declared: one
// that it knows is not looked for again (ADR 208).
func (c *checker) bindOutside(at Pos, name string) {
	full := c.mangle(at, name)
	if c.scope.names[full]&(isGlobal|isNonlocal) != 0 {
		return
	}
	// Bounded: by 200 nested brackets and 100 levels of indentation, a look-up each; MangledBytes bounds long names (ADR 166).
	for s := c.scope; s != nil; s = s.parent {
		if len(full) > len(name) && !c.mention(at, len(full)) {
			return
		}
		switch s.kind {
		case comprehensionScope:
			if s.names[full]&isTarget != 0 {
				c.failf(at, "assignment expression cannot rebind comprehension iteration variable '%s'", name)
				return
			}
		case functionScope:
			if s.names[full]&isGlobal != 0 {
				c.scope.names[full] |= isGlobal
			} else {
				c.scope.names[full] |= isNonlocal
			}
			s.names[full] |= isLocal
			return
		case moduleScope:
			c.scope.names[full] |= isGlobal
			s.names[full] |= isGlobal
			return
		case classScope:
			c.failf(at, "assignment expression within a comprehension cannot be used in a class body")
			return
		}
	}
}
