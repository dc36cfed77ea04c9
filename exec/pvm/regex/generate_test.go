package regex

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf8"
)

// generator writes random patterns by the grammar, and subjects to fit.
type generator struct {
	r      *rand.Rand
	bytes  bool
	groups int
	left   int // nodes
}

func (g *generator) pick(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *generator) char() string {
	if g.r.IntN(12) == 0 {
		if g.bytes {
			return g.pick("\u00e9", "\u00c9", "\u00ff")
		}
		return g.pick("é", "É", "ſ", "K", "k", "ß", "ẞ", "İ", "ı", "Σ", "ς", "σ", "ǅ", "µ", "μ", "日", "٣", "𐐀", "𐐨", "\u2028", "\u0345", "ι", "\u1fbe")
	}
	return g.pick("a", "a", "a", "b", "b", "c", "A", "B", "s", "k", "i", "1", "_", " ", "\\n", "-")
}

func (g *generator) class() string {
	var b strings.Builder
	b.WriteByte('[')
	if g.r.IntN(3) == 0 {
		b.WriteByte('^')
	}
	for range 1 + g.r.IntN(3) {
		switch g.r.IntN(6) {
		case 0:
			b.WriteString(g.pick(`\w`, `\d`, `\s`, `\W`, `\D`, `\S`))
		case 1:
			b.WriteString(g.pick("a-c", "A-Z", "0-9", "b-k", "\\x00-a", "a-\\xff"))
			if !g.bytes && g.r.IntN(3) == 0 {
				b.WriteString(g.pick("à-ÿ", "Ā-ſ", "𐐀-𐐂", "Α-Ω", "ｱ-𐐩", "a-\\U0010ffff"))
			}
		default:
			// CPython never finds a capital beyond the BMP in a class while it
			// ignores case; the machine does.
			b.WriteString(strings.ReplaceAll(g.char(), "𐐀", "𐐨"))
		}
	}
	if g.r.IntN(60) != 0 {
		b.WriteByte(']')
	}
	return b.String()
}

func (g *generator) atom(depth int) string {
	g.left--
	if depth <= 0 || g.left <= 0 {
		return g.char()
	}
	switch g.r.IntN(24) {
	case 0, 1, 2:
		return g.class()
	case 3:
		return "."
	case 4:
		return g.pick(`\w`, `\d`, `\s`, `\W`, `\D`, `\S`)
	case 5:
		return g.pick(`\b`, `\B`, `\A`, `\Z`, "^", "$", "^", "$")
	case 6, 7, 8:
		g.groups++
		return "(" + g.alternatives(depth-1) + ")"
	case 9:
		g.groups++
		return "(?P<g" + strconv.Itoa(g.groups) + ">" + g.alternatives(depth-1) + ")"
	case 10, 11:
		return "(?:" + g.alternatives(depth-1) + ")"
	case 12:
		return "(?>" + g.alternatives(depth-1) + ")"
	case 13:
		return "(?" + g.pick("i", "-i", "s", "m", "a", "x", "i-s", "u", "im") + ":" + g.alternatives(depth-1) + ")"
	case 14:
		return g.pick("(?=", "(?!") + g.alternatives(depth-1) + ")"
	case 15:
		return g.pick("(?<=", "(?<!") + g.pick("a", "ab", "[ab]", "a|b", "(?:ab|ca)", "^", `\b`, "(a)", "a{2}", ".", `\w\w`) + ")"
	case 16, 17:
		return `\` + strconv.Itoa(1+g.r.IntN(max(g.groups, 1)))
	case 18:
		return "(?(" + strconv.Itoa(1+g.r.IntN(max(g.groups, 1))) + ")" + g.sequence(depth-1) + g.pick("", "|"+g.sequence(depth-1)) + ")"
	}
	return g.char()
}

func (g *generator) sequence(depth int) string {
	var b strings.Builder
	for range g.r.IntN(4) {
		groups := g.groups
		b.WriteString(g.atom(depth))
		if g.r.IntN(3) == 0 {
			b.WriteString(g.pick("*", "+", "?", "{2}", "{1,3}", "{,2}", "{2,}", "{0}", "{0,1}", "*", "+"))
			// In possessive repeats CPython 3.11 keeps groups of branches that
			// failed; the machine undoes them.
			if mode := g.pick("", "", "", "?", "+"); mode != "+" || groups == g.groups {
				b.WriteString(mode)
			}
		}
	}
	return b.String()
}

func (g *generator) alternatives(depth int) string {
	s := g.sequence(depth)
	for g.r.IntN(3) == 0 {
		s += "|" + g.sequence(depth)
	}
	return s
}

func (g *generator) subject() string {
	var b strings.Builder
	for range g.r.IntN(12) {
		b.WriteString(strings.ReplaceAll(g.char(), "\\n", "\n"))
	}
	return b.String()
}

func (g *generator) testCase() testCase {
	g.bytes = g.r.IntN(5) == 0
	g.groups, g.left = 0, 4+g.r.IntN(16)
	c := testCase{Bytes: g.bytes, Pattern: g.alternatives(4)}
	for _, f := range []Flag{IgnoreCase, Multiline, DotAll, Verbose, ASCII} {
		if g.r.IntN(5) == 0 {
			c.Flags |= f
		}
	}
	if g.r.IntN(25) == 0 {
		c.Pattern = g.pick("(?i)", "(?x)", "(?a)", "(?u)", "(?ims)", "(?-i)", "(?P>a)", "(?#", "(?#a)") + c.Pattern
	}
	if g.r.IntN(10) == 0 { // a fault
		if text := []rune(c.Pattern); len(text) > 0 {
			at := g.r.IntN(len(text))
			text[at] = []rune("()[]{}?*+|\\<>P=!#:-1,ix\n")[g.r.IntN(24)]
			c.Pattern = string(text)
		}
	}
	for range 4 {
		s := g.subject()
		n := utf8.RuneCountInString(s)
		pos, end := 0, n
		if g.r.IntN(3) == 0 {
			pos, end = g.r.IntN(n+2), g.r.IntN(n+2)
		}
		c.Subjects = append(c.Subjects, [3]any{s, pos, end})
	}
	c.Template = g.pick("", "-", `<\g<0>>`, `\1`, `[\g<1>]`, `\g<g1>`, `\n\\`, `\g<2>x`, `\012`, `\08`, `\777`, `\q`, `\g<`, `\g<>`, `\g<1a>`, `\g`, `\100`, "\\", `\.`, `\g<+1>`, `\g<é>`)
	return c
}
