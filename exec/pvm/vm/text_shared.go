package vm

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// content is the text of str, bytes or bytearray.
func (m *Machine) content(v Value) string {
	if s, ok := v.str(); ok {
		return s.s
	}
	b, _ := m.bytesOf(v)
	return b
}

// alike makes text of the builtin class of self's kind.
func (m *Machine) alike(self Value, s string) Value {
	if self.Kind() == KindStr {
		return m.newStr(s).val()
	}
	return m.bytesLike(self, s)
}

// unchanged is self as a method returns it that changed nothing.
func (m *Machine) unchanged(self Value) Value {
	if exact(self) && self.Kind() != KindByteArray {
		return self
	}
	if s, ok := self.str(); ok {
		return m.sameText(nil, s).val()
	}
	return m.alike(self, m.content(self))
}

// textArg is an argument that is text like self.
func (m *Machine) textArg(self, x Value, text string) (string, error) {
	if self.Kind() == KindStr {
		if s, ok := x.str(); ok {
			return s.s, nil
		}
		return "", m.Raise(m.rt.classes.TypeError, "%s, not %s", text, m.typeName(x))
	}
	if b, ok := m.bytesOf(x); ok {
		return b, nil
	}
	return "", m.Raise(m.rt.classes.TypeError, "a bytes-like object is required, not '%s'", m.typeName(x))
}

// textMethod wraps a method of text that pays for reading its receiver.
func textMethod(name string, minArgs, maxArgs int, fn func(m *Machine, self Value, args []Value) (Value, error)) Def {
	return Def{Name: name, Min: minArgs + 1, Max: maxArgs + 1, Fn: func(m *Machine, a Args) (Value, error) {
		m.ChargeEach(textSize(a.Values[0]), m.dyn.Char)
		return fn(m, a.Values[0], a.Values[1:])
	}}
}

func textSize(v Value) int {
	if s, ok := v.str(); ok {
		return len(s.s)
	}
	return v.bytesLen()
}

// isBlank tells what split and strip take for white space.
func isBlank(self Value) func(rune) bool {
	if self.Kind() == KindStr {
		return ucd.IsSpace
	}
	return func(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }
}

// stripMethod is strip, lstrip or rstrip.
func stripMethod(name string, left, right bool) Def {
	return textMethod(name, 0, 1, func(m *Machine, self Value, args []Value) (Value, error) {
		s := m.content(self)
		within := isBlank(self)
		if len(args) > 0 && !args[0].IsNone() {
			chars, err := m.stripChars(self, args[0], name)
			if err != nil {
				return unbound, err
			}
			m.ChargeEach(len(chars), m.dyn.Char)
			within = memberOf(self, chars, m.Alloc)
		}
		out := trim(self, s, within, left, right)
		if len(out) == len(s) {
			return m.unchanged(self), nil
		}
		return m.alike(self, out), nil
	})
}

func (m *Machine) stripChars(self, x Value, name string) (string, error) {
	if self.Kind() == KindStr {
		if s, ok := x.str(); ok {
			return s.s, nil
		}
		return "", m.Raise(m.rt.classes.TypeError, "%s arg must be None or str", name)
	}
	return m.textArg(self, x, "")
}

// memberBytes is the modelled size of a character in the set of them.
const memberBytes = 16

// memberOf is the set of the characters of a text, whose room it announces as it grows.
func memberOf(self Value, chars string, announce func(int)) func(rune) bool {
	if self.Kind() == KindStr {
		set := make(map[rune]bool) // it grows by what differs: the text may be a million times one character
		// Paid: by stripMethod, a character for each byte.
		for _, r := range chars {
			if !set[r] {
				announce(memberBytes)
				set[r] = true
			}
		}
		return func(r rune) bool { return set[r] }
	}
	var set [256]bool
	// Paid: by stripMethod, a character for each byte.
	for i := range len(chars) {
		set[chars[i]] = true
	}
	return func(r rune) bool { return set[byte(r)] }
}

// trim cuts at both ends: by code points of str, by bytes otherwise.
func trim(self Value, s string, within func(rune) bool, left, right bool) string {
	if self.Kind() == KindStr {
		if left {
			// Paid: by the caller, a character for each byte of s.
			s = strings.TrimLeftFunc(s, within)
		}
		if right {
			// Paid: by the caller, a character for each byte of s.
			s = strings.TrimRightFunc(s, within)
		}
		return s
	}
	// Paid: by the caller, a character for each byte of s.
	for left && len(s) > 0 && within(rune(s[0])) {
		s = s[1:]
	}
	// Paid: by the caller, a character for each byte of s.
	for right && len(s) > 0 && within(rune(s[len(s)-1])) {
		s = s[:len(s)-1]
	}
	return s
}

// affixMethod is startswith or endswith.
func affixMethod(name string, has func(s, affix string) bool) Def {
	return Def{Name: name, Min: 2, Max: 4, Fn: func(m *Machine, a Args) (Value, error) {
		self, x := a.Values[0], a.Values[1]
		s, _, ok, err := m.searchRange(self, a.Values[2:])
		if err != nil {
			return unbound, err
		}
		kind := "str"
		if self.Kind() != KindStr {
			kind = "bytes"
		}
		items, text := []Value{x}, name+" first arg must be "+kind+" or a tuple of "+kind
		if t, isTuple := x.Self().(*Tuple); isTuple {
			items, text = t.items, "tuple for "+name+" must only contain str"
			m.ChargeEach(len(items)/int(m.Work().TokenBytes), m.dyn.Element) // an affix may be empty
		} else if kind == "bytes" && !x.isBytes() {
			return unbound, m.Raise(m.rt.classes.TypeError, "%s, not %s", text, m.typeName(x))
		}
		for _, item := range items {
			affix, err := m.textArg(self, item, text)
			if err != nil {
				return unbound, err
			}
			m.ChargeEach(len(affix), m.dyn.Char)
			if ok && has(s, affix) {
				return True, nil
			}
		}
		return False, nil
	}}
}

// searchRange cuts self to the optional start and end; ok is false when start
// lies behind the end of the text. from is where the part begins, in bytes.
func (m *Machine) searchRange(self Value, args []Value) (part string, from int, ok bool, err error) {
	s := m.content(self)
	str, isStr := self.str()
	n := len(s)
	if isStr {
		n = str.points()
	}
	if len(args) == 0 {
		return s, 0, true, nil
	}
	start, end := int64(0), int64(n)
	if start, err = m.sliceIndex(args[0], 0); err != nil {
		return "", 0, false, err
	}
	if len(args) > 1 {
		if end, err = m.sliceIndex(args[1], int64(n)); err != nil {
			return "", 0, false, err
		}
	}
	cut := func(i int64) int64 {
		if i < 0 {
			i = max(i+int64(n), 0)
		}
		return i
	}
	start, end = cut(start), min(cut(end), int64(n))
	if start > end {
		return "", 0, false, nil
	}
	if isStr {
		from = str.offset(int(start))
		return s[from:str.offset(int(end))], from, true, nil
	}
	return s[start:end], int(start), true, nil
}

// findMethod is find, rfind, index or rindex.
func findMethod(name string, search func(s, sub string) int, must bool) Def {
	return textMethod(name, 1, 3, func(m *Machine, self Value, args []Value) (Value, error) {
		sub, err := m.searched(self, args[0])
		if err != nil {
			return unbound, err
		}
		part, from, ok, err := m.searchRange(self, args[1:])
		if err != nil {
			return unbound, err
		}
		i := -1
		if ok {
			i = search(part, sub)
		}
		if i >= 0 {
			if s, isStr := self.str(); isStr {
				return SmallInt(int64(s.position(from + i))), nil
			}
			return SmallInt(int64(from + i)), nil
		}
		if !must {
			return SmallInt(-1), nil
		}
		what := "substring"
		if self.Kind() != KindStr {
			what = "subsection"
		}
		return unbound, m.Raise(m.rt.classes.ValueError, "%s not found", what)
	})
}

// searched is what find and count look for.
func (m *Machine) searched(self, x Value) (string, error) {
	if self.Kind() == KindStr {
		return m.textArg(self, x, "must be str")
	}
	return m.bytesOrByte(x, "argument should be integer or bytes-like object, not '%s'")
}

func textCount(m *Machine, self Value, args []Value) (Value, error) {
	sub, err := m.searched(self, args[0])
	if err != nil {
		return unbound, err
	}
	part, _, ok, err := m.searchRange(self, args[1:])
	if err != nil || !ok {
		return SmallInt(0), err
	}
	if sub == "" && self.Kind() != KindStr {
		return SmallInt(int64(len(part)) + 1), nil
	}
	return SmallInt(int64(countText(part, sub))), nil
}

// textReplace is replace(old, new, count=-1).
func textReplace(m *Machine, self Value, args []Value) (Value, error) {
	old, err := m.textArg(self, args[0], "replace() argument 1 must be str")
	if err != nil {
		return unbound, err
	}
	by, err := m.textArg(self, args[1], "replace() argument 2 must be str")
	if err != nil {
		return unbound, err
	}
	count := int64(-1)
	if len(args) > 2 {
		if count, err = m.Index(args[2]); err != nil {
			return unbound, err
		}
	}
	s := m.content(self)
	var n int
	switch {
	case old == "" && self.Kind() == KindStr:
		n = ucd.CountPoints(s) + 1
	case old == "":
		n = len(s) + 1
	default:
		n = countText(s, old)
	}
	if count >= 0 {
		n = int(min(int64(n), count))
	}
	if n == 0 {
		return m.unchanged(self), nil
	}
	size := len(s) + n*(len(by)-len(old))
	m.Alloc(size)
	m.ChargeEach(size, m.dyn.Char)
	if old == "" && self.Kind() != KindStr {
		return m.alike(self, interleave(s, by, n)), nil
	}
	return m.alike(self, replaceText(s, old, by, n)), nil
}

// interleave puts by before each of the first n bytes, and behind the last.
func interleave(s, by string, n int) string {
	var b strings.Builder
	b.Grow(len(s) + n*len(by))
	// Paid: by textReplace, a character for each byte of the result.
	for i := range len(s) {
		if i < n {
			b.WriteString(by)
		}
		b.WriteByte(s[i])
	}
	if n > len(s) {
		b.WriteString(by)
	}
	return b.String()
}

// partitionMethod is partition or rpartition.
func partitionMethod(name string, last bool) Def {
	return textMethod(name, 1, 1, func(m *Machine, self Value, args []Value) (Value, error) {
		sep, err := m.textArg(self, args[0], "must be str")
		if err != nil {
			return unbound, err
		}
		if sep == "" {
			return unbound, m.Raise(m.rt.classes.ValueError, "empty separator")
		}
		s := m.content(self)
		i := indexText(s, sep)
		if last {
			i = lastIndexText(s, sep)
		}
		var parts []Value
		switch {
		case i >= 0:
			parts = []Value{m.alike(self, s[:i]), m.alike(self, sep), m.alike(self, s[i+len(sep):])}
		case last:
			parts = []Value{m.alike(self, ""), m.alike(self, ""), m.unchanged(self)}
		default:
			parts = []Value{m.unchanged(self), m.alike(self, ""), m.alike(self, "")}
		}
		return m.newTuple(parts).val(), nil
	})
}

// cutMethod is removeprefix or removesuffix.
func cutMethod(name string, cut func(s, affix string) (string, bool)) Def {
	return textMethod(name, 1, 1, func(m *Machine, self Value, args []Value) (Value, error) {
		affix, err := m.textArg(self, args[0], name+"() argument must be str")
		if err != nil {
			return unbound, err
		}
		out, found := cut(m.content(self), affix)
		if !found || affix == "" {
			return m.unchanged(self), nil
		}
		return m.alike(self, out), nil
	})
}

// textJoin is sep.join(iterable).
func textJoin(m *Machine, self Value, args []Value) (Value, error) {
	if c := m.classOf(args[0]); !c.sp(spIter).Bound() && !c.sp(spGetitem).Bound() {
		return unbound, m.Raise(m.rt.classes.TypeError, "can only join an iterable")
	}
	items, err := m.Collect(args[0])
	if err != nil {
		return unbound, err
	}
	sep := m.content(self)
	size := 0
	// Paid: by Collect, an element each.
	for i, item := range items {
		if _, isStr := item.str(); isStr != (self.Kind() == KindStr) || !isText(item.Kind()) {
			if self.Kind() == KindStr {
				return unbound, m.Raise(m.rt.classes.TypeError, "sequence item %d: expected str instance, %s found", i, m.typeName(item))
			}
			return unbound, m.Raise(m.rt.classes.TypeError, "sequence item %d: expected a bytes-like object, %s found", i, m.typeName(item))
		}
		size += textSize(item)
		if i > 0 {
			size += len(sep)
		}
	}
	if len(items) == 1 && exact(items[0]) && self.Kind() != KindByteArray && items[0].Kind() == self.Kind() {
		return items[0], nil
	}
	m.Alloc(size)
	m.ChargeEach(size, m.dyn.Char)
	var b strings.Builder
	b.Grow(size)
	// Paid: by Collect, an element each, and by the charge for each byte above.
	for i, item := range items {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(m.content(item))
	}
	return m.alike(self, b.String()), nil
}
