package syntax

import (
	"errors"
	"strings"
	"testing"
)

// parse parses with the default limits.
func parse(t *testing.T, src string) *Module {
	t.Helper()
	mod, err := Parse([]byte(src), DefaultLimits())
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	return mod
}

// trees shows the tree of one small case per construct, without places.
var trees = []struct{ src, want string }{
	{"x", `(Expr (Name "x" (Load)))`},
	{"a+b*c", `(Expr (BinOp (Name "a" (Load)) (Add) (BinOp (Name "b" (Load)) (Mult) (Name "c" (Load)))))`},
	{"-a**-b", `(Expr (UnaryOp (USub) (BinOp (Name "a" (Load)) (Pow) (UnaryOp (USub) (Name "b" (Load))))))`},
	{"a<b is not c", `(Expr (Compare (Name "a" (Load)) [(Lt) (IsNot)] [(Name "b" (Load)) (Name "c" (Load))]))`},
	{"not a or b", `(Expr (BoolOp (Or) [(UnaryOp (Not) (Name "a" (Load))) (Name "b" (Load))]))`},
	{"0x_1F, 1_0.5e3, None", `(Expr (Tuple [(Constant i1f _) (Constant f40c4820000000000 _) (Constant None _)] (Load)))`},
	{`u"a" 'b\x41'`, `(Expr (Constant "abA" "u"))`},
	{`b"\xff\n"`, `(Expr (Constant bff0a _))`},
	{`f"a{b!r:>{w}}{{"`, `(Expr (JoinedStr [(Constant "a" _) (FormattedValue (Name "b" (Load)) 114 (JoinedStr [(Constant ">" _) (FormattedValue (Name "w" (Load)) -1 _)])) (Constant "{" _)]))`},
	{`f"{ a = }"`, `(Expr (JoinedStr [(Constant " a = " _) (FormattedValue (Name "a" (Load)) 114 _)]))`},
	{"(x:=1)", `(Expr (NamedExpr (Name "x" (Store)) (Constant i1 _)))`},
	{"{**a,b:c}", `(Expr (Dict [_ (Name "b" (Load))] [(Name "a" (Load)) (Name "c" (Load))]))`},
	{"[a for b in c if d]", `(Expr (ListComp (Name "a" (Load)) [(comprehension (Name "b" (Store)) (Name "c" (Load)) [(Name "d" (Load))] 0)]))`},
	{"f(a,*b,k=c,**d)", `(Expr (Call (Name "f" (Load)) [(Name "a" (Load)) (Starred (Name "b" (Load)) (Load))] [(keyword "k" (Name "c" (Load))) (keyword _ (Name "d" (Load)))]))`},
	{"a[1:,*b]", `(Expr (Subscript (Name "a" (Load)) (Tuple [(Slice (Constant i1 _) _ _) (Starred (Name "b" (Load)) (Load))] (Load)) (Load)))`},
	{"a.b,*c=d", `(Assign [(Tuple [(Attribute (Name "a" (Load)) "b" (Store)) (Starred (Name "c" (Store)) (Store))] (Store))] (Name "d" (Load)))`},
	{"a@=b", `(AugAssign (Name "a" (Store)) (MatMult) (Name "b" (Load)))`},
	{"(a):b=c", `(AnnAssign (Name "a" (Store)) (Name "b" (Load)) (Name "c" (Load)) 0)`},
	{"lambda a,/,b=1,*,c:a", `(Expr (Lambda (arguments [(arg "a" _)] [(arg "b" _)] _ [(arg "c" _)] [_] _ [(Constant i1 _)]) (Name "a" (Load))))`},
	{"from ...a import(b as c,)", `(ImportFrom "a" [(alias "b" "c")] 3)`},
	{"match = case", `(Assign [(Name "match" (Store))] (Name "case" (Load)))`},
	{"match (a):\n case {'k':1,**r}|C(x=_) as y if z:pass", `(Match (Name "a" (Load)) [(match_case (MatchAs (MatchOr [(MatchMapping [(Constant "k" _)] [(MatchValue (Constant i1 _))] "r") (MatchClass (Name "C" (Load)) [] ["x"] [(MatchAs _ _)])]) "y") (Name "z" (Load)) [(Pass)])])`},
	{"with(a as b,c):pass", `(With [(withitem (Name "a" (Load)) (Name "b" (Store))) (withitem (Name "c" (Load)) _)] [(Pass)])`},
	{"with(a,b)as c:pass", `(With [(withitem (Tuple [(Name "a" (Load)) (Name "b" (Load))] (Load)) (Name "c" (Store)))] [(Pass)])`},
	{"try:pass\nexcept*E as e:pass", `(TryStar [(Pass)] [(ExceptHandler (Name "E" (Load)) "e" [(Pass)])] [] [])`},
	{"async def f():await x", `(AsyncFunctionDef "f" (arguments [] [] _ [] [] _ []) [(Expr (Await (Name "x" (Load))))] [] _)`},
	{"@d\nclass C(B,m=M):pass", `(ClassDef "C" [(Name "B" (Load))] [(keyword "m" (Name "M" (Load)))] [(Pass)] [(Name "d" (Load))])`},
	{"del a,(b)", `(Delete [(Name "a" (Del)) (Name "b" (Del))])`},
	{"if a:pass\nelif b:pass", `(If (Name "a" (Load)) [(Pass)] [(If (Name "b" (Load)) [(Pass)] [])])`},
	{"ﬁ = 'e\u0301'", `(Assign [(Name "fi" (Store))] (Constant xc3a9 _))`},
}

func TestTrees(t *testing.T) {
	for _, c := range trees {
		got := withoutPlaces(dump(parse(t, c.src)))
		if want := "(Module [" + c.want + "])"; got != want {
			t.Errorf("%q:\n got %s\nwant %s", c.src, got, want)
		}
	}
}

// refusals are sources that Parse refuses, with the message, line and class of
// CPython where the kind is ErrSyntax.
var refusals = []struct {
	src, msg string
	line     int32
	class    Class
	kind     error
}{
	{"x = (1,\n", "'(' was never closed", 1, SyntaxError, ErrSyntax},
	{"(]", "closing parenthesis ']' does not match opening parenthesis '('", 1, SyntaxError, ErrSyntax},
	{"if x:\npass", "expected an indented block after 'if' statement on line 1", 2, IndentationError, ErrSyntax},
	{"  x", "unexpected indent", 1, IndentationError, ErrSyntax},
	{"if x:\n  a\n b", "unindent does not match any outer indentation level", 3, IndentationError, ErrSyntax},
	{"if x:\n        a\n\tb", "inconsistent use of tabs and spaces in indentation", 3, TabError, ErrSyntax},
	{"f() = 1", "cannot assign to function call", 1, SyntaxError, ErrSyntax},
	{"del *a", "invalid syntax", 1, SyntaxError, ErrSyntax},
	{"f(a=1, b)", "positional argument follows keyword argument", 1, SyntaxError, ErrSyntax},
	{"def f(a=1, b): pass", "non-default argument follows default argument", 1, SyntaxError, ErrSyntax},
	{"'abc", "unterminated string literal", 1, SyntaxError, ErrSyntax},
	{"07", "leading zeros in decimal integer literals", 1, SyntaxError, ErrSyntax},
	{"1__0", "invalid decimal literal", 1, SyntaxError, ErrSyntax},
	{"f'{}'", "f-string: empty expression not allowed", 1, SyntaxError, ErrSyntax},
	{"f'}'", "f-string: single '}' is not allowed", 1, SyntaxError, ErrSyntax},
	{"'a' b'b'", "cannot mix bytes and nonbytes literals", 1, SyntaxError, ErrSyntax},
	{"x\x00", "null bytes", 1, SyntaxError, ErrSyntax},
	{"'\xff'", "can't decode byte 0xff", 1, SyntaxError, ErrSyntax},
	{"€", "invalid character '€' (U+20AC)", 1, SyntaxError, ErrSyntax},
	{"a = 1j", "complex literals are not supported", 1, SyntaxError, ErrUnsupported},
	{`"\ud800"`, "lone surrogates", 1, SyntaxError, ErrUnsupported},
	{`"\ud83d\ude00"`, "lone surrogates", 1, SyntaxError, ErrUnsupported},
	{`"a" "\U0000dfff"`, "lone surrogates", 1, SyntaxError, ErrUnsupported},
	{`f"\udbff{x}"`, "lone surrogates", 1, SyntaxError, ErrUnsupported},
	{`f"{x:\udc00}"`, "lone surrogates", 1, SyntaxError, ErrUnsupported},
	{"def f():\n  '\\ud800'", "lone surrogates", 2, SyntaxError, ErrUnsupported},
	{`"\N{EM DASH}"`, "escapes by character name", 1, SyntaxError, ErrUnsupported},
	{"# coding: latin-1\n", "encoding latin-1 is not supported", 1, SyntaxError, ErrUnsupported},
	{strings.Repeat("9", 4301), "4300 digits", 1, SyntaxError, ErrLimit},
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		_, err := Parse([]byte(c.src), DefaultLimits())
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, c.kind) {
			t.Errorf("%q: error %v, want %v", c.src, err, c.kind)
			continue
		}
		if !strings.Contains(e.Msg, c.msg) || e.Line != c.line || e.Class != c.class {
			t.Errorf("%q: %v, want %s %q on line %d", c.src, err, c.class, c.msg, c.line)
		}
	}
}

// TestLimits meets every limit exactly and exceeds it by one.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*Limits, int)
		n    int
		src  string
	}{
		{"source bytes", func(l *Limits, n int) { l.SourceBytes = n }, 6, "x = 12"},
		{"tokens", func(l *Limits, n int) { l.Tokens = n }, 5, "x = 12"},
		{"tokens of f-strings", func(l *Limits, n int) { l.Tokens = n }, 5, "f'{x}'"},
		{"constants", func(l *Limits, n int) { l.Constants = n }, 3, "1, 'a', None"},
		{"tree height", func(l *Limits, n int) { l.TreeHeight = n }, 5, "a+b+c+d"},
		{"depth of brackets", func(l *Limits, n int) { l.Depth = n }, 5, "((a))"},
		{"depth of blocks", func(l *Limits, n int) { l.Depth = n }, 3, "while a:\n while a:\n  a"},
		{"integer digits", func(l *Limits, n int) { l.IntDigits = n }, 4, "1234"},
	} {
		lim := DefaultLimits()
		c.set(&lim, c.n)
		if _, err := Parse([]byte(c.src), lim); err != nil {
			t.Errorf("%s: %q at the limit: %v", c.name, c.src, err)
		}
		c.set(&lim, c.n-1)
		if _, err := Parse([]byte(c.src), lim); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %q beyond the limit: %v", c.name, c.src, err)
		}
	}
	if _, err := Parse(nil, Limits{}); err == nil {
		t.Error("limits of zero pass their check")
	}
}

// TestDeepSources feeds nesting of every kind, far beyond the limits: each is
// refused, and none exhausts the stack.
func TestDeepSources(t *testing.T) {
	const n = 100_000
	lim := DefaultLimits()
	lim.Tokens = 1 << 22
	for _, unit := range [][2]string{
		{"(", ")"},
		{"[", "]"},
		{"{1:", "}"},
		{"-", ""},
		{"not ", ""},
		{"lambda:", ""},
		{"a if b else ", ""},
		{"a**", ""},
		{"a+", ""},
		{"a.", ""},
		{"f(", ")"},
		{"a[", "]"},
		{"yield ", ""},
		{"await ", ""},
		{"*", ""},
	} {
		src := strings.Repeat(unit[0], n) + "a" + strings.Repeat(unit[1], n)
		if _, err := Parse([]byte(src), lim); err == nil {
			t.Errorf("%q times %d is accepted", unit[0], n)
		}
	}
	for _, src := range []string{
		"if a:pass\n" + strings.Repeat("elif a:pass\n", n),
		"match a:\n case " + strings.Repeat("(", n),
		"match a:\n case " + strings.Repeat("C(", n),
		"a" + strings.Repeat("()", n),
		strings.Repeat("f'{", n),
	} {
		if _, err := Parse([]byte(src), lim); err == nil {
			t.Errorf("%.30q… is accepted", src)
		}
	}
}

// TestManyFields parses an f-string as long as the limits allow: a scan that
// went back to its beginning for every field would take minutes.
func TestManyFields(t *testing.T) {
	lim := DefaultLimits()
	src := "f\"\"\"" + strings.Repeat("{'a'}\n", lim.SourceBytes/7) + "\"\"\""
	lim.Tokens, lim.Constants = 1<<22, 1<<22
	mod, err := Parse([]byte(src), lim)
	if err != nil {
		t.Fatal(err)
	}
	values := mod.Body[0].(*ExprStmt).Value.(*JoinedStr).Values
	last := values[len(values)-2].(*FormattedValue).Value.Position()
	if want := (Pos{int32(lim.SourceBytes / 7), 1}); last != want {
		t.Errorf("last field at %v, want %v", last, want)
	}
}
