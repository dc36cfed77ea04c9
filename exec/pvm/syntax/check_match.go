package syntax

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// binding is the state of checking one pattern: the names it has bound, and
// whether it may match everything.
type binding struct {
	names       map[string]bool
	order       []string
	irrefutable bool // allowed: nothing comes after
}

func (c *checker) match(s *Match) {
	c.expr(s.Subject)
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, k := range s.Cases {
		b := &binding{names: map[string]bool{}, irrefutable: k.Guard != nil || i == len(s.Cases)-1}
		c.pattern(k.Pattern, b)
		c.expr(k.Guard)
		c.stmts(k.Body)
	}
}

func (c *checker) capture(at Pos, name string, b *binding) {
	if b.names[name] {
		c.failf(at, "multiple assignments to name '%s' in pattern", name)
	}
	b.names[name] = true
	b.order = append(b.order, name)
	c.bind(at, name)
}

// subpatterns checks patterns inside another one, where matching everything leaves
// room for the rest.
func (c *checker) subpatterns(ms []Pattern, b *binding) {
	outer := b.irrefutable
	b.irrefutable = true
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, m := range ms {
		c.pattern(m, b)
	}
	b.irrefutable = outer
}

func (c *checker) pattern(m Pattern, b *binding) {
	switch m := m.(type) {
	case *MatchValue:
		if !isMatchable(m.Value) {
			c.failf(m.Pos, "patterns may only match literals and attribute lookups")
		}
		c.expr(m.Value)
	case *MatchStar:
		if m.Name != "" {
			c.capture(m.Pos, m.Name, b)
		}
	case *MatchSequence:
		stars := 0
		// Paid: by the tokens of what it goes through, once each (ADR 59).
		for _, sub := range m.Patterns {
			if _, ok := sub.(*MatchStar); ok {
				if stars++; stars > 1 {
					c.failf(m.Pos, "multiple starred names in sequence pattern")
				}
			}
		}
		c.subpatterns(m.Patterns, b)
	case *MatchMapping:
		c.mappingPattern(m, b)
	case *MatchClass:
		c.classPattern(m, b)
	case *MatchAs:
		c.asPattern(m, b)
	case *MatchOr:
		c.orPattern(m, b)
	}
}

func (c *checker) asPattern(m *MatchAs, b *binding) {
	if m.Pattern != nil {
		c.pattern(m.Pattern, b)
	} else if !b.irrefutable {
		if m.Name == "" {
			c.failf(m.Pos, "wildcard makes remaining patterns unreachable")
		}
		c.failf(m.Pos, "name capture '%s' makes remaining patterns unreachable", m.Name)
	}
	if m.Name != "" {
		c.capture(m.Pos, m.Name, b)
	}
}

// orPattern checks that all alternatives bind the same names, and that only the
// last may match everything.
func (c *checker) orPattern(m *MatchOr, b *binding) {
	var first *binding
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, alt := range m.Patterns {
		one := &binding{names: map[string]bool{}, irrefutable: b.irrefutable && i == len(m.Patterns)-1}
		c.pattern(alt, one)
		if first == nil {
			first = one
			continue
		}
		same := len(one.order) == len(first.order)
		// Paid: by the tokens of the alternative, which has all the names (ADR 59).
		for _, name := range one.order {
			same = same && first.names[name]
		}
		if !same {
			c.failf(m.Pos, "alternative patterns bind different names")
			return // or names that no alternative repeats are noted for each pattern around
		}
	}
	// Paid: by the tokens of the alternatives, which repeat the names (ADR 59).
	for _, name := range first.order {
		c.capture(m.Pos, name, b)
	}
}

func (c *checker) mappingPattern(m *MatchMapping, b *binding) {
	seen := map[string]bool{}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for _, key := range m.Keys {
		if !isMatchable(key) {
			c.failf(m.Pos, "mapping pattern keys may only match literals and attribute lookups")
		}
		if id, ok := literalIdentity(key); ok {
			if seen[id] {
				c.failf(m.Pos, "mapping pattern checks duplicate key")
			}
			seen[id] = true
		}
		c.expr(key)
	}
	c.subpatterns(m.Patterns, b)
	if m.Rest != "" {
		c.capture(m.Pos, m.Rest, b)
	}
}

func (c *checker) classPattern(m *MatchClass, b *binding) {
	c.expr(m.Cls)
	seen := map[string]bool{}
	// Paid: by the tokens of what it goes through, once each (ADR 59).
	for i, attr := range m.KwdAttrs {
		at := m.KwdPatterns[i].Position()
		c.refuseDebug(at, attr, "assign to")
		if seen[attr] {
			c.failf(at, "attribute name repeated in class pattern: %s", attr)
		}
		seen[attr] = true
	}
	c.subpatterns(m.Patterns, b)
	c.subpatterns(m.KwdPatterns, b)
}

// isMatchable reports whether a pattern may compare with e.
func isMatchable(e Expr) bool {
	if u, ok := e.(*UnaryOp); ok && u.Op == USub {
		e = u.Operand
	}
	switch e.(type) {
	case *Constant, *Attribute:
		return true
	}
	return false
}

// literalIdentity returns a text that is equal for literals that Python holds
// for equal.
func literalIdentity(e Expr) (string, bool) {
	sign := ""
	if u, ok := e.(*UnaryOp); ok {
		sign, e = "-", u.Operand
	}
	k, ok := e.(*Constant)
	if !ok {
		return "", false
	}
	switch k.Kind {
	case ConstNone:
		return "None", true
	case ConstTrue:
		return "i1", true
	case ConstFalse:
		return "i0", true
	case ConstStr:
		return "s" + k.Text, true
	case ConstBytes:
		return "b" + k.Text, true
	case ConstFloat:
		return floatIdentity(sign, k.Bits), true
	}
	return intIdentity(sign, k.Int), true
}

func intIdentity(sign string, n *big.Int) string {
	if n.Sign() == 0 {
		return "i0"
	}
	return "i" + sign + n.Text(16)
}

func floatIdentity(sign string, x uint64) string {
	if num, den, ok := softfloat.Ratio(x); ok && den.IsInt64() && den.Int64() == 1 {
		return intIdentity(sign, num)
	}
	return "f" + sign + softfloat.Hex(x)
}
