package vm

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// splitMethod is split or rsplit.
func splitMethod(name string, fromRight bool) Def {
	return Def{Name: name, Min: 1, Max: 3, Params: []string{"", "sep", "maxsplit"}, Fn: func(m *Machine, a Args) (Value, error) {
		self := a.Values[0]
		s := m.content(self)
		m.ChargeEach(len(s), m.dyn.Char)
		most := int64(-1)
		var err error
		if len(a.Values) > 2 && a.Values[2].Bound() {
			if most, err = m.Index(a.Values[2]); err != nil {
				return unbound, err
			}
		}
		if len(a.Values) < 2 || !a.Values[1].Bound() || a.Values[1].IsNone() {
			return m.textList(self, splitBlank(self, s, most, fromRight)), nil
		}
		sep, err := m.textArg(self, a.Values[1], "must be str or None")
		if err != nil {
			return unbound, err
		}
		if sep == "" {
			return unbound, m.Raise(m.rt.classes.ValueError, "empty separator")
		}
		if most < 0 && !fromRight && self.Kind() == KindStr {
			return m.splitStr(s, sep), nil
		}
		return m.textList(self, splitAt(s, sep, most, fromRight)), nil
	}}
}

// splitStr splits at every separator, without a list of Go's strings.
func (m *Machine) splitStr(s, sep string) Value {
	n := countText(s, sep) + 1
	m.ChargeEach(n, m.dyn.Element)
	items := make([]Value, n)
	left := vainSearch * len(s)
	// Paid: by the charge for each part above, and by split, a character for each byte of s.
	for i := range n - 1 {
		at := nextIndex(s, sep, &left)
		items[i] = m.newStr(s[:at]).val()
		s = s[at+len(sep):]
	}
	items[n-1] = m.newStr(s).val()
	return m.newList(items).val()
}

func (m *Machine) textList(self Value, parts []string) Value {
	m.ChargeEach(len(parts), m.dyn.Element)
	each := 2 * m.dyn.Element // for the objects, which may be longer than their texts
	if self.Kind() != KindStr {
		each *= 2
	}
	m.ChargeWide(len(parts), each)
	items := make([]Value, len(parts))
	// Paid: by the charge for each part above.
	for i, p := range parts {
		items[i] = m.alike(self, p)
	}
	return m.newList(items).val()
}

func splitAt(s, sep string, most int64, fromRight bool) []string {
	if !fromRight {
		n := -1
		if most >= 0 && most < int64(len(s)) {
			n = int(most) + 1
		}
		return splitText(s, sep, n)
	}
	var parts []string
	// Paid: by the caller, as each search goes on where the last one ended.
	for ; most != 0; most-- {
		i := lastIndexText(s, sep)
		if i < 0 {
			break
		}
		parts = append(parts, s[i+len(sep):])
		s = s[:i]
	}
	parts = append(parts, s)
	// Paid: by the caller, a character for each byte of s: there are no more parts.
	slices.Reverse(parts)
	return parts
}

// splitBlank splits at runs of white space.
func splitBlank(self Value, s string, most int64, fromRight bool) []string {
	blank := isBlank(self)
	var parts []string
	if fromRight {
		// Paid: by the caller, as each search goes on where the last one ended.
		for s = trim(self, s, blank, false, true); s != ""; most-- {
			if most == 0 {
				parts = append(parts, s)
				break
			}
			i := lastBlank(self, s, blank)
			parts = append(parts, s[i:])
			s = trim(self, s[:i], blank, false, true)
		}
		// Paid: by the caller, a character for each byte of s: there are no more parts.
		slices.Reverse(parts)
		return parts
	}
	// Paid: by the caller, as each search goes on where the last one ended.
	for s = trim(self, s, blank, true, false); s != ""; most-- {
		if most == 0 {
			return append(parts, s)
		}
		i := firstBlank(self, s, blank)
		parts = append(parts, s[:i])
		s = trim(self, s[i:], blank, true, false)
	}
	return parts
}

// firstBlank is where the first white space begins.
func firstBlank(self Value, s string, blank func(rune) bool) int {
	if self.Kind() == KindStr {
		// Paid: by the caller, as each search goes on where the last one ended.
		if i := strings.IndexFunc(s, blank); i >= 0 {
			return i
		}
		return len(s)
	}
	// Paid: by the caller, as each search goes on where the last one ended.
	for i := range len(s) {
		if blank(rune(s[i])) {
			return i
		}
	}
	return len(s)
}

// lastBlank is the end of the last white space.
func lastBlank(self Value, s string, blank func(rune) bool) int {
	if self.Kind() == KindStr {
		// Paid: by the caller, as each search goes on where the last one ended.
		i := strings.LastIndexFunc(s, blank)
		if i < 0 {
			return 0
		}
		return i + runeBytes(s[i])
	}
	// Paid: by the caller, as each search goes on where the last one ended.
	for i := len(s); i > 0; i-- {
		if blank(rune(s[i-1])) {
			return i
		}
	}
	return 0
}

// textSplitLines is splitlines(keepends=False).
func textSplitLines(m *Machine, a Args) (Value, error) {
	self := a.Values[0]
	s := m.content(self)
	m.ChargeEach(len(s), m.dyn.Char)
	keep := false
	if len(a.Values) > 1 && a.Values[1].Bound() {
		n, err := m.index(a.Values[1])
		if err != nil {
			return unbound, err
		}
		keep = !isZero(n)
	}
	next := ucd.NextLine
	if self.Kind() != KindStr {
		next = nextByteLine
	}
	var parts []string
	// Paid: by the charge for each byte above.
	for s != "" {
		line, end := next(s)
		if keep {
			line = end
		}
		parts = append(parts, s[:line])
		s = s[end:]
	}
	return m.textList(self, parts), nil
}

// nextByteLine is ucd.NextLine for bytes, whose lines end at \n, \r and \r\n.
func nextByteLine(s string) (line, end int) {
	i := 0
	// Paid: by textSplitLines, as each search goes on where the last one ended.
	for i < len(s) && s[i] != '\r' && s[i] != '\n' {
		i++
	}
	switch {
	case i == len(s):
		return i, i
	case s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n':
		return i, i + 2
	}
	return i, i + 1
}

// width is the length of text in what padding counts.
func width(self Value, s string) int64 {
	if self.Kind() == KindStr {
		return int64(ucd.CountPoints(s))
	}
	return int64(len(s))
}

// padMethod is center, ljust or rjust.
func padMethod(name string) Def {
	return textMethod(name, 1, 2, func(m *Machine, self Value, args []Value) (Value, error) {
		want, err := m.Index(args[0])
		if err != nil {
			return unbound, err
		}
		fill := " "
		if len(args) > 1 {
			if fill, err = m.fillChar(self, args[1], name); err != nil {
				return unbound, err
			}
		}
		s := m.content(self)
		have := width(self, s)
		if want <= have {
			return m.unchanged(self), nil
		}
		pad := want - have
		left := int64(0)
		switch name {
		case "rjust":
			left = pad
		case "center":
			left = pad/2 + pad&want&1
		}
		m.reserveText(min(pad, 1<<41) * int64(len(fill)))
		// Paid: by reserve.
		return m.alike(self, strings.Repeat(fill, int(left))+s+strings.Repeat(fill, int(pad-left))), nil
	})
}

func (m *Machine) fillChar(self, x Value, name string) (string, error) {
	if self.Kind() == KindStr {
		s, ok := x.str()
		switch {
		case !ok:
			return "", m.Raise(m.rt.classes.TypeError, "The fill character must be a unicode character, not %s", m.typeName(x))
		case s.points() != 1:
			return "", m.Raise(m.rt.classes.TypeError, "The fill character must be exactly one character long")
		}
		return s.s, nil
	}
	if x.isBytes() && x.bytesLen() == 1 {
		return x.BytesPart(0, 1), nil
	}
	return "", m.Raise(m.rt.classes.TypeError, "%s() argument 2 must be a byte string of length 1, not %s", name, m.typeName(x))
}

// textZfill is zfill(width).
func textZfill(m *Machine, self Value, args []Value) (Value, error) {
	want, err := m.Index(args[0])
	if err != nil {
		return unbound, err
	}
	s := m.content(self)
	have := width(self, s)
	if want <= have { // before the difference, which may not be an int64
		return m.unchanged(self), nil
	}
	pad := want - have
	m.reserveText(pad)
	sign := ""
	if s != "" && (s[0] == '+' || s[0] == '-') {
		sign, s = s[:1], s[1:]
	}
	// Paid: by reserve.
	return m.alike(self, sign+strings.Repeat("0", int(pad))+s), nil
}

// textExpandTabs is expandtabs(tabsize=8).
func textExpandTabs(m *Machine, a Args) (Value, error) {
	self := a.Values[0]
	size := int64(8)
	var err error
	if len(a.Values) > 1 && a.Values[1].Bound() {
		if size, err = m.Index(a.Values[1]); err != nil {
			return unbound, err
		}
		if size != int64(int32(size)) {
			return unbound, m.Raise(m.rt.classes.OverflowError, "Python int too large to convert to C int")
		}
	}
	s := m.content(self)
	// Paid: by the charge that takes its answer, a character for each byte of s.
	m.reserveText(int64(len(s)) + int64(strings.Count(s, "\t"))*max(size, 0))
	var b strings.Builder
	column := int64(0)
	// Paid: by reserve.
	for i := range len(s) {
		switch c := s[i]; c {
		case '\t':
			if size > 0 {
				n := size - column%size
				// Paid: by reserve, for the full size of each.
				b.WriteString(strings.Repeat(" ", int(n)))
				column += n
			}
		case '\n', '\r':
			b.WriteByte(c)
			column = 0
		default:
			b.WriteByte(c)
			if self.Kind() != KindStr || c < utf8.RuneSelf || c >= 0xc0 {
				column++
			}
		}
	}
	return m.alike(self, b.String()), nil
}

// sharedTextMethods are the methods of str, bytes and bytearray alike.
func sharedTextMethods() []Def {
	return []Def{
		stripMethod("strip", true, true), stripMethod("lstrip", true, false), stripMethod("rstrip", false, true),
		affixMethod("startswith", strings.HasPrefix), affixMethod("endswith", strings.HasSuffix),
		findMethod("find", indexText, false), findMethod("rfind", lastIndexText, false),
		findMethod("index", indexText, true), findMethod("rindex", lastIndexText, true),
		textMethod("count", 1, 3, textCount),
		textMethod("replace", 2, 3, textReplace),
		partitionMethod("partition", false), partitionMethod("rpartition", true),
		cutMethod("removeprefix", strings.CutPrefix), cutMethod("removesuffix", strings.CutSuffix),
		textMethod("join", 1, 1, textJoin),
		splitMethod("split", false), splitMethod("rsplit", true),
		{Name: "splitlines", Min: 1, Max: 2, Params: []string{"", "keepends"}, Fn: textSplitLines},
		padMethod("center"), padMethod("ljust"), padMethod("rjust"),
		textMethod("zfill", 1, 1, textZfill),
		{Name: "expandtabs", Min: 1, Max: 2, Params: []string{"", "tabsize"}, Fn: textExpandTabs},
		{Name: "__len__", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			n, _ := m.builtinLen(a.Values[0])
			return SmallInt(int64(n)), nil
		}},
		{Name: "__getitem__", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			r, _, err := m.textGetItem(a.Values[0], a.Values[1])
			return r, err
		}},
		{Name: "__contains__", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			is, _, err := m.textContains(a.Values[0], a.Values[1])
			return Bool(is), err
		}},
		{Name: "__iter__", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			it, _ := m.textIter(a.Values[0])
			return it, nil
		}},
		{Name: "__repr__", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			s, _ := m.textRepr(a.Values[0])
			return s.val(), nil
		}},
		{Name: "__add__", Min: 2, Max: 2, Fn: textOperator(OpAdd, false)},
		{Name: "__mul__", Min: 2, Max: 2, Fn: textOperator(OpMul, false)},
		{Name: "__rmul__", Min: 2, Max: 2, Fn: textOperator(OpMul, false)},
		{Name: "__mod__", Min: 2, Max: 2, Fn: textOperator(OpMod, false)},
		{Name: "__rmod__", Min: 2, Max: 2, Fn: textOperator(OpMod, true)},
	}
}

func textOperator(op Operator, reflected bool) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		x, y := a.Values[0], a.Values[1]
		if op == OpMul && !m.isIndex(y) {
			return unbound, m.notAnInteger(y)
		}
		if reflected {
			if x.Kind() != y.Kind() {
				return NotImplemented, nil
			}
			x, y = y, x
		}
		r, _, err := m.textBinary(op, x, y)
		return r, err
	}
}
