package syntax

// Stmt is a statement. Its types have the names and the fields of Python's ast.
type Stmt interface {
	Node
	isStmt()
}

type (
	// FunctionDef is def; Returns is nil without an arrow.
	FunctionDef struct {
		Pos
		Name          string
		Args          *Arguments
		Body          []Stmt
		DecoratorList []Expr
		Returns       Expr
	}
	// AsyncFunctionDef is async def.
	AsyncFunctionDef struct {
		Pos
		Name          string
		Args          *Arguments
		Body          []Stmt
		DecoratorList []Expr
		Returns       Expr
	}
	// ClassDef is class.
	ClassDef struct {
		Pos
		Name          string
		Bases         []Expr
		Keywords      []*Keyword
		Body          []Stmt
		DecoratorList []Expr
	}
	// Return is return, with Value nil when nothing follows.
	Return struct {
		Pos
		Value Expr
	}
	// Delete is del.
	Delete struct {
		Pos
		Targets []Expr
	}
	// Assign is Targets[0] = Targets[1] = ... = Value.
	Assign struct {
		Pos
		Targets []Expr
		Value   Expr
	}
	// AugAssign is Target Op= Value.
	AugAssign struct {
		Pos
		Target Expr
		Op     Operator
		Value  Expr
	}
	// AnnAssign is Target: Annotation = Value; Value may be nil. Simple tells a
	// bare name from a parenthesised one, an attribute or an item.
	AnnAssign struct {
		Pos
		Target     Expr
		Annotation Expr
		Value      Expr
		Simple     bool
	}
	// For is for.
	For struct {
		Pos
		Target Expr
		Iter   Expr
		Body   []Stmt
		OrElse []Stmt
	}
	// AsyncFor is async for.
	AsyncFor struct {
		Pos
		Target Expr
		Iter   Expr
		Body   []Stmt
		OrElse []Stmt
	}
	// While is while.
	While struct {
		Pos
		Test   Expr
		Body   []Stmt
		OrElse []Stmt
	}
	// If is if; an elif is an If alone in OrElse.
	If struct {
		Pos
		Test   Expr
		Body   []Stmt
		OrElse []Stmt
	}
	// With is with.
	With struct {
		Pos
		Items []*WithItem
		Body  []Stmt
	}
	// AsyncWith is async with.
	AsyncWith struct {
		Pos
		Items []*WithItem
		Body  []Stmt
	}
	// Match is match.
	Match struct {
		Pos
		Subject Expr
		Cases   []*MatchCase
	}
	// Raise is raise Exc from Cause; both may be nil.
	Raise struct {
		Pos
		Exc   Expr
		Cause Expr
	}
	// Try is try with except and finally.
	Try struct {
		Pos
		Body      []Stmt
		Handlers  []*ExceptHandler
		OrElse    []Stmt
		FinalBody []Stmt
	}
	// TryStar is try with except*.
	TryStar struct {
		Pos
		Body      []Stmt
		Handlers  []*ExceptHandler
		OrElse    []Stmt
		FinalBody []Stmt
	}
	// Assert is assert Test, Msg; Msg may be nil.
	Assert struct {
		Pos
		Test Expr
		Msg  Expr
	}
	// Import is import.
	Import struct {
		Pos
		Names []*Alias
	}
	// ImportFrom is from Module import Names; Level counts leading dots, and
	// Module is empty when there are only dots.
	ImportFrom struct {
		Pos
		Module string
		Names  []*Alias
		Level  int
	}
	// Global is global.
	Global struct {
		Pos
		Names []string
	}
	// Nonlocal is nonlocal.
	Nonlocal struct {
		Pos
		Names []string
	}
	// ExprStmt is an expression in the place of a statement (ast.Expr).
	ExprStmt struct {
		Pos
		Value Expr
	}
	// Pass is pass.
	Pass struct{ Pos }
	// Break is break.
	Break struct{ Pos }
	// Continue is continue.
	Continue struct{ Pos }
)

func (*FunctionDef) isStmt()      {}
func (*AsyncFunctionDef) isStmt() {}
func (*ClassDef) isStmt()         {}
func (*Return) isStmt()           {}
func (*Delete) isStmt()           {}
func (*Assign) isStmt()           {}
func (*AugAssign) isStmt()        {}
func (*AnnAssign) isStmt()        {}
func (*For) isStmt()              {}
func (*AsyncFor) isStmt()         {}
func (*While) isStmt()            {}
func (*If) isStmt()               {}
func (*With) isStmt()             {}
func (*AsyncWith) isStmt()        {}
func (*Match) isStmt()            {}
func (*Raise) isStmt()            {}
func (*Try) isStmt()              {}
func (*TryStar) isStmt()          {}
func (*Assert) isStmt()           {}
func (*Import) isStmt()           {}
func (*ImportFrom) isStmt()       {}
func (*Global) isStmt()           {}
func (*Nonlocal) isStmt()         {}
func (*ExprStmt) isStmt()         {}
func (*Pass) isStmt()             {}
func (*Break) isStmt()            {}
func (*Continue) isStmt()         {}
