package syntax

// tokenKind says what a token is. Operators and keywords have a kind each.
type tokenKind uint8

const (
	tokEnd   tokenKind = iota
	tokError           // the lexer's error lies behind the token before
	tokNewline
	tokIndent
	tokDedent
	tokName
	tokNumber
	tokString

	tokLParen
	tokRParen
	tokLBracket
	tokRBracket
	tokLBrace
	tokRBrace
	tokComma
	tokColon
	tokSemi
	tokDot
	tokEllipsis
	tokArrow
	tokWalrus
	tokAssign
	tokAt

	tokPlus
	tokMinus
	tokStar
	tokSlash
	tokPercent
	tokPower
	tokShiftL
	tokShiftR
	tokPipe
	tokCaret
	tokAmp
	tokFloorDiv
	tokTilde

	tokAugmented // any augmented assignment; its text says which

	tokEq
	tokNotEq
	tokLess
	tokLessEq
	tokGreater
	tokGreaterEq

	tokFalse
	tokNone
	tokTrue
	tokAnd
	tokAs
	tokAssert
	tokAsync
	tokAwait
	tokBreak
	tokClass
	tokContinue
	tokDef
	tokDel
	tokElif
	tokElse
	tokExcept
	tokFinally
	tokFor
	tokFrom
	tokGlobal
	tokIf
	tokImport
	tokIn
	tokIs
	tokLambda
	tokNonlocal
	tokNot
	tokOr
	tokPass
	tokRaise
	tokReturn
	tokTry
	tokWhile
	tokWith
	tokYield
)

// token is a stretch of the source: src[start:end] begins at pos.
type token struct {
	pos        Pos
	start, end int32
	kind       tokenKind
}

// keyword returns the kind of a name: that of a keyword, or tokName. Soft
// keywords (match, case, _) are names.
func keyword(name string) tokenKind {
	if len(name) < 2 || len(name) > 8 {
		return tokName
	}
	// Bounded: by the keywords, 35, of which few have the length.
	for k, text := range keywordTexts {
		if text == name {
			return tokFalse + tokenKind(k)
		}
	}
	return tokName
}

// keywordTexts are the keywords in the order of their kinds.
var keywordTexts = [...]string{
	"False", "None", "True", "and", "as", "assert", "async", "await", "break",
	"class", "continue", "def", "del", "elif", "else", "except", "finally", "for",
	"from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or",
	"pass", "raise", "return", "try", "while", "with", "yield",
}

// operator returns the kind and the length of the longest operator that s
// begins with, or zero length.
func operator(s string) (tokenKind, int) {
	var b, c byte
	if len(s) > 1 {
		b = s[1]
	}
	if len(s) > 2 {
		c = s[2]
	}
	double := b == s[0] // ** // << >>
	switch s[0] {
	case '(':
		return tokLParen, 1
	case ')':
		return tokRParen, 1
	case '[':
		return tokLBracket, 1
	case ']':
		return tokRBracket, 1
	case '{':
		return tokLBrace, 1
	case '}':
		return tokRBrace, 1
	case ',':
		return tokComma, 1
	case ';':
		return tokSemi, 1
	case '~':
		return tokTilde, 1
	case ':':
		return either(b == '=', tokWalrus, tokColon)
	case '.':
		if b == '.' && c == '.' {
			return tokEllipsis, 3
		}
		return tokDot, 1
	case '=':
		return either(b == '=', tokEq, tokAssign)
	case '!':
		if b == '=' {
			return tokNotEq, 2
		}
		return tokError, 0
	case '-':
		if b == '>' {
			return tokArrow, 2
		}
		return augmented(tokMinus, 1, b)
	case '*':
		return doubled(double, tokPower, tokStar, b, c)
	case '/':
		return doubled(double, tokFloorDiv, tokSlash, b, c)
	case '<':
		if !double {
			return either(b == '=', tokLessEq, tokLess)
		}
		return augmented(tokShiftL, 2, c)
	case '>':
		if !double {
			return either(b == '=', tokGreaterEq, tokGreater)
		}
		return augmented(tokShiftR, 2, c)
	}
	return singleOperator(s[0], b)
}

// singleOperator returns the operators of one byte that may be augmented.
func singleOperator(a, b byte) (tokenKind, int) {
	switch a {
	case '+':
		return augmented(tokPlus, 1, b)
	case '%':
		return augmented(tokPercent, 1, b)
	case '&':
		return augmented(tokAmp, 1, b)
	case '|':
		return augmented(tokPipe, 1, b)
	case '^':
		return augmented(tokCaret, 1, b)
	case '@':
		return augmented(tokAt, 1, b)
	}
	return tokError, 0
}

func either(long bool, two, one tokenKind) (tokenKind, int) {
	if long {
		return two, 2
	}
	return one, 1
}

// augmented returns the kind of an operator of n bytes before next.
func augmented(k tokenKind, n int, next byte) (tokenKind, int) {
	if next == '=' {
		return tokAugmented, n + 1
	}
	return k, n
}

func doubled(double bool, two, one tokenKind, b, c byte) (tokenKind, int) {
	if double {
		return augmented(two, 2, c)
	}
	return augmented(one, 1, b)
}

// binaryOperator returns the operator of a token kind and how tightly it binds,
// or binding 0 for a token that is none.
func binaryOperator(k tokenKind) (op Operator, binding int) {
	switch k {
	case tokPipe:
		return BitOr, 1
	case tokCaret:
		return BitXor, 2
	case tokAmp:
		return BitAnd, 3
	case tokShiftL:
		return LShift, 4
	case tokShiftR:
		return RShift, 4
	case tokPlus:
		return Add, 5
	case tokMinus:
		return Sub, 5
	case tokStar:
		return Mult, 6
	case tokSlash:
		return Div, 6
	case tokFloorDiv:
		return FloorDiv, 6
	case tokPercent:
		return Mod, 6
	case tokAt:
		return MatMult, 6
	}
	return 0, 0
}

// augmentedOperator returns the operator of an augmented assignment, whose text
// ends in an equals sign.
func augmentedOperator(text string) Operator {
	if text == "**=" {
		return Pow
	}
	k, _ := operator(text[:len(text)-1])
	op, _ := binaryOperator(k)
	return op
}
