package lib

import (
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/regex"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// flagName is a flag with its names, in the order in which RegexFlag shows them.
type flagName struct {
	flag        regex.Flag
	name, short string
}

var flagNames = [...]flagName{
	{regex.ASCII, "ASCII", "A"},
	{regex.IgnoreCase, "IGNORECASE", "I"},
	{regex.Locale, "LOCALE", "L"},
	{regex.Unicode, "UNICODE", "U"},
	{regex.Multiline, "MULTILINE", "M"},
	{regex.DotAll, "DOTALL", "S"},
	{regex.Verbose, "VERBOSE", "X"},
	{regex.Template, "TEMPLATE", "T"},
	{regex.Debug, "DEBUG", ""},
}

// patternFlagOrder is the order in which the repr of a pattern shows them.
var patternFlagOrder = [...]regex.Flag{
	regex.Template, regex.IgnoreCase, regex.Locale, regex.Multiline, regex.DotAll,
	regex.Unicode, regex.Verbose, regex.Debug, regex.ASCII,
}

func nameOfFlag(f regex.Flag) string {
	// Bounded: by nine flags.
	for _, n := range flagNames {
		if n.flag == f {
			return n.name
		}
	}
	return ""
}

const allFlagBits = 0x1ff

func decimalText(n int64) string { return strconv.FormatInt(n, 10) }

// flagText is the repr of a RegexFlag.
func flagText(n int64) string {
	if n == 0 {
		return "re.NOFLAG"
	}
	var parts []string
	// Bounded: by nine flags; shownFlag charges for the text.
	for _, f := range flagNames {
		if n&int64(f.flag) != 0 {
			parts = append(parts, "re."+f.name)
		}
	}
	rest := n &^ allFlagBits
	if len(parts) == 0 {
		return "re.RegexFlag(" + decimalText(n) + ")"
	}
	if rest != 0 {
		parts = append(parts, "0x"+strconv.FormatInt(rest, 16))
	}
	// Bounded: by ten parts; shownFlag charges for the text.
	return strings.Join(parts, "|")
}

// shownFlag is flagText, charged by the character; there are some hundred at most.
func shownFlag(m *vm.Machine, n int64) string {
	text := flagText(n)
	chars(m, len(text))
	return text
}

// defineFlags makes RegexFlag, an int that prints its names, and its members.
func (r *reModule) defineFlags(m *vm.Machine, mod *vm.Module) error {
	space := m.NewDict()
	if err := m.DictPut(space, m.NewStr("__module__"), m.NewStr("re")); err != nil {
		return err
	}
	bases := m.NewTuple([]vm.Value{m.Builtin("int").Value()})
	v, err := m.Call(m.Builtin("type").Value(), m.NewStr("RegexFlag"), bases, space.Value())
	if err != nil {
		return err
	}
	r.flag, _ = v.Class()
	r.defineFlagText()
	r.defineFlagOperators()
	r.flag.Getter("value", func(_ *vm.Machine, v vm.Value) (vm.Value, error) {
		n, _ := v.Int64()
		return vm.SmallInt(n), nil
	}, nil)
	r.flag.Getter("name", func(m *vm.Machine, v vm.Value) (vm.Value, error) {
		n, _ := v.Int64()
		// Paid: by shownFlag, a character each.
		return madeText(m, strings.ReplaceAll(shownFlag(m, n), "re.", "")), nil
	}, nil)
	mod.Set(m, "RegexFlag", v)
	// Bounded: by ten flags; once, when the library is loaded.
	for _, f := range append([]flagName{{0, "NOFLAG", ""}}, flagNames[:]...) {
		member, err := m.Call(v, vm.SmallInt(int64(f.flag)))
		if err != nil {
			return err
		}
		mod.Set(m, f.name, member)
		r.flag.Constant(f.name, member)
		if f.short != "" {
			mod.Set(m, f.short, member)
			r.flag.Constant(f.short, member)
		}
	}
	return nil
}

// defineFlagText gives RegexFlag the texts of its members.
func (r *reModule) defineFlagText() {
	text := func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		n, _ := a.Values[0].Int64()
		return m.NewStr(shownFlag(m, n)), nil
	}
	r.flag.Define(
		def("__repr__", 1, 1, text),
		def("__str__", 1, 1, text),
		def("__format__", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			n, _ := a.Values[0].Int64()
			spec, ok := a.Values[1].StrObject()
			if !ok || spec.Runes() == 0 {
				return m.NewStr(shownFlag(m, n)), nil
			}
			s, err := m.Format(vm.SmallInt(n), spec)
			if err != nil {
				return vm.None, err
			}
			return s.Value(), nil
		}),
	)
}

// defineFlagOperators gives RegexFlag what flags are combined with.
func (r *reModule) defineFlagOperators() {
	r.flag.Define(
		def("__invert__", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			n, _ := a.Values[0].Int64()
			return m.Call(r.flag.Value(), vm.SmallInt(allFlagBits&^n))
		}),
		def("__contains__", 2, 2, func(_ *vm.Machine, a vm.Args) (vm.Value, error) {
			n, _ := a.Values[0].Int64()
			f, ok := a.Values[1].Int64()
			return vm.Bool(ok && n&f == f), nil
		}),
	)
	// Bounded: by three operators; once, when the library is loaded.
	for _, op := range []struct {
		name string
		fn   func(x, y int64) int64
	}{
		{"or", func(x, y int64) int64 { return x | y }},
		{"and", func(x, y int64) int64 { return x & y }},
		{"xor", func(x, y int64) int64 { return x ^ y }},
	} {
		fn := func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			x, okX := a.Values[0].Int64()
			y, okY := a.Values[1].Int64()
			if !okX || !okY {
				return vm.NotImplemented, nil
			}
			return m.Call(r.flag.Value(), vm.SmallInt(op.fn(x, y)))
		}
		r.flag.Define(def("__"+op.name+"__", 2, 2, fn), def("__r"+op.name+"__", 2, 2, fn))
	}
}

// patternFlags is what the repr of a pattern shows of its flags.
func patternFlags(prog *regex.Program) string {
	flags := prog.Flags()
	if !prog.IsBytes() && flags&(regex.Locale|regex.Unicode|regex.ASCII) == regex.Unicode {
		flags &^= regex.Unicode
	}
	var b strings.Builder
	// Bounded: by nine flags.
	for _, f := range patternFlagOrder {
		if flags&f != 0 {
			if b.Len() > 0 {
				b.WriteByte('|')
			}
			b.WriteString("re." + nameOfFlag(f))
		}
	}
	return b.String()
}

// lineAndColumn finds the line and column of a position in code points, and
// whether the text has many lines.
func lineAndColumn(text string, pos int64) (line, col int64, many bool) {
	line, col = 1, pos+1
	i := int64(0)
	// Paid: by the callers, a character each before.
	for _, c := range text {
		if c == '\n' {
			many = true
			if i < pos {
				line++
				col = pos - i
			}
		}
		i++
	}
	return line, col, many
}
