package syntax

// Pattern is what a case compares its subject with.
type Pattern interface {
	Node
	isPattern()
}

type (
	// MatchValue compares with a literal or a dotted name.
	MatchValue struct {
		Pos
		Value Expr
	}
	// MatchSingleton compares with None, True or False by identity.
	MatchSingleton struct {
		Pos
		Value ConstKind
	}
	// MatchSequence matches element by element.
	MatchSequence struct {
		Pos
		Patterns []Pattern
	}
	// MatchMapping matches the values under Keys; Rest names what is left, or
	// is empty.
	MatchMapping struct {
		Pos
		Keys     []Expr
		Patterns []Pattern
		Rest     string
	}
	// MatchClass matches an instance and its attributes.
	MatchClass struct {
		Pos
		Cls         Expr
		Patterns    []Pattern
		KwdAttrs    []string
		KwdPatterns []Pattern
	}
	// MatchStar takes the rest of a sequence; Name is empty for *_.
	MatchStar struct {
		Pos
		Name string
	}
	// MatchAs binds Name; Pattern nil is a capture, both empty the wildcard.
	MatchAs struct {
		Pos
		Pattern Pattern
		Name    string
	}
	// MatchOr tries alternatives in order.
	MatchOr struct {
		Pos
		Patterns []Pattern
	}
)

func (*MatchValue) isPattern()     {}
func (*MatchSingleton) isPattern() {}
func (*MatchSequence) isPattern()  {}
func (*MatchMapping) isPattern()   {}
func (*MatchClass) isPattern()     {}
func (*MatchStar) isPattern()      {}
func (*MatchAs) isPattern()        {}
func (*MatchOr) isPattern()        {}
