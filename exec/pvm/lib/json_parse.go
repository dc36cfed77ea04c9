package lib

import (
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// jsonParser reads one document by recursion, which is counted.
type jsonParser struct {
	*jsonHooks
	j    *jsonModule
	doc  *vm.Str
	s    string
	at   int // byte
	keys map[string]vm.Value
}

// parser starts reading a text, whose every byte it charges.
func (j *jsonModule) parser(m *vm.Machine, h *jsonHooks, text *vm.Str) *jsonParser {
	chars(m, len(text.String()))
	return &jsonParser{jsonHooks: h, j: j, doc: text, s: text.String()}
}

// runes converts a byte offset to code points.
func (p *jsonParser) runes(at int) int {
	if p.doc.Runes() == len(p.s) {
		return at
	}
	return utf8.RuneCountInString(p.s[:at])
}

// fail raises JSONDecodeError for a byte offset.
func (p *jsonParser) fail(m *vm.Machine, msg string, at int) error {
	return p.failAt(m, msg, int64(p.runes(at)))
}

func (p *jsonParser) failAt(m *vm.Machine, msg string, pos int64) error {
	e, err := m.Call(p.j.failure.Value(), m.NewStr(msg), p.doc.Value(), vm.SmallInt(pos))
	if err != nil {
		return err
	}
	return m.Throw(e)
}

// space skips what JSON calls blank.
func (p *jsonParser) space() {
	// Paid: by parser, a character for each byte of the text; each is passed once.
	for p.at < len(p.s) {
		switch p.s[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *jsonParser) peek() byte {
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func (p *jsonParser) value(m *vm.Machine) (vm.Value, error) {
	m.Charge(m.Prices().NativeCall)
	c := p.peek()
	switch c {
	case '"':
		s, err := p.text(m)
		if err != nil {
			return vm.None, err
		}
		return m.NewStr(s), nil
	case '{', '[':
		if err := m.Enter(); err != nil {
			return vm.None, err
		}
		defer m.Exit()
		p.at++
		if c == '{' {
			return p.object(m)
		}
		return p.array(m)
	}
	// Bounded: by three words.
	for _, w := range [...]struct {
		word string
		v    vm.Value
	}{{"null", vm.None}, {"true", vm.True}, {"false", vm.False}} {
		// Bounded: by five characters.
		if strings.HasPrefix(p.s[p.at:], w.word) {
			p.at += len(w.word)
			return w.v, nil
		}
	}
	// Bounded: by three words.
	for _, w := range [...]struct {
		word string
		bits uint64
	}{{"NaN", softfloat.NaN}, {"Infinity", softfloat.Inf}, {"-Infinity", softfloat.NegInf}} {
		// Bounded: by nine characters.
		if strings.HasPrefix(p.s[p.at:], w.word) {
			p.at += len(w.word)
			if !p.parseC.IsNone() {
				return m.Call(p.parseC, m.NewStr(w.word))
			}
			return vm.FloatBits(w.bits), nil
		}
	}
	return p.number(m)
}

func (p *jsonParser) digits(at int) int {
	// Paid: by parser, a character for each byte of the text; digits are passed once.
	for at < len(p.s) && p.s[at] >= '0' && p.s[at] <= '9' {
		at++
	}
	return at
}

func (p *jsonParser) number(m *vm.Machine) (vm.Value, error) {
	start := p.at
	at := start
	if p.peek() == '-' {
		at++
	}
	end := at
	if at < len(p.s) && p.s[at] == '0' {
		end = at + 1
	} else {
		end = p.digits(at)
	}
	if end == at {
		return vm.None, p.fail(m, "Expecting value", start)
	}
	isReal := false
	if end < len(p.s) && p.s[end] == '.' {
		if e := p.digits(end + 1); e > end+1 {
			end, isReal = e, true
		}
	}
	if end < len(p.s) && p.s[end]|0x20 == 'e' {
		e := end + 1
		if e < len(p.s) && (p.s[e] == '+' || p.s[e] == '-') {
			e++
		}
		if f := p.digits(e); f > e {
			end, isReal = f, true
		}
	}
	p.at = end
	return p.converted(m, p.s[start:end], isReal)
}

// converted makes a number of its text.
func (p *jsonParser) converted(m *vm.Machine, text string, isReal bool) (vm.Value, error) {
	if isReal {
		if fn := p.parseReal; !fn.IsNone() && !fn.Same(m.Builtin("float").Value()) {
			return m.Call(fn, m.NewStr(text))
		}
		m.ChargeEach(len(text), m.Prices().LimbWork)
		n, _ := softfloat.Scan(text)
		return vm.FloatBits(m.FloatOf(n)), nil
	}
	if fn := p.parseInt; !fn.IsNone() && !fn.Same(m.Builtin("int").Value()) {
		return m.Call(fn, m.NewStr(text))
	}
	if len(text) > 18 {
		return m.Call(m.Builtin("int").Value(), m.NewStr(text))
	}
	n, neg := int64(0), text[0] == '-'
	// Bounded: by 18 digits.
	for _, c := range strings.TrimPrefix(text, "-") {
		n = n*10 + int64(c-'0')
	}
	if neg {
		n = -n
	}
	return vm.SmallInt(n), nil
}

func (p *jsonParser) array(m *vm.Machine) (vm.Value, error) {
	mark := m.Hold(vm.None)
	defer m.Release(mark)
	var items []vm.Value
	p.space()
	if p.peek() == ']' {
		p.at++
		return m.NewList(nil), nil
	}
	for {
		v, err := p.value(m)
		if err != nil {
			return vm.None, err
		}
		m.Alloc(16)
		m.Hold(v)
		items = append(items, v)
		p.space()
		switch p.peek() {
		case ',':
			p.at++
			p.space()
		case ']':
			p.at++
			return m.NewList(items), nil
		default:
			return vm.None, p.fail(m, "Expecting ',' delimiter", p.at)
		}
	}
}

func (p *jsonParser) object(m *vm.Machine) (vm.Value, error) {
	d := m.NewDict()
	mark := m.Hold(d.Value())
	defer m.Release(mark)
	var pairs []vm.Value
	p.space()
	for more := p.peek() != '}'; more; {
		k, v, err := p.entry(m)
		if err != nil {
			return vm.None, err
		}
		if p.pairs.IsNone() {
			m.Charge(m.Prices().DictOp)
			if err := m.DictPut(d, k, v); err != nil {
				return vm.None, err
			}
		} else {
			pair := m.NewTuple([]vm.Value{k, v})
			m.Alloc(16)
			m.Hold(pair)
			pairs = append(pairs, pair)
		}
		p.space()
		switch p.peek() {
		case ',':
			p.at++
			p.space()
		case '}':
			more = false
		default:
			return vm.None, p.fail(m, "Expecting ',' delimiter", p.at)
		}
	}
	p.at++
	switch {
	case !p.pairs.IsNone():
		return m.Call(p.pairs, m.NewList(pairs))
	case !p.jsonHooks.object.IsNone():
		return m.Call(p.jsonHooks.object, d.Value())
	}
	return d.Value(), nil
}

// entry reads a key and its value. Equal keys of one document share a string.
func (p *jsonParser) entry(m *vm.Machine) (k, v vm.Value, err error) {
	if p.peek() != '"' {
		return k, v, p.fail(m, "Expecting property name enclosed in double quotes", p.at)
	}
	name, err := p.text(m)
	if err != nil {
		return k, v, err
	}
	k, ok := p.keys[name]
	if !ok {
		k = m.NewStr(name)
		if p.keys == nil {
			p.keys = make(map[string]vm.Value)
		}
		p.keys[name] = k
	}
	p.space()
	if p.peek() != ':' {
		return k, v, p.fail(m, "Expecting ':' delimiter", p.at)
	}
	p.at++
	p.space()
	mark := m.Hold(k)
	v, err = p.value(m)
	m.Release(mark)
	return k, v, err
}

// text reads a string; the parser stands on its first quote.
func (p *jsonParser) text(m *vm.Machine) (string, error) {
	begin := p.at
	p.at++
	from := p.at
	var out []byte
	// Paid: by parser, a character for each byte of the text; each is passed once.
	for p.at < len(p.s) {
		c := p.s[p.at]
		switch {
		case c == '"':
			p.at++
			if out == nil {
				return p.s[from : p.at-1], nil
			}
			return string(append(out, p.s[from:p.at-1]...)), nil
		case c == '\\':
			out = append(out, p.s[from:p.at]...)
			var err error
			if out, err = p.escape(m, out, begin); err != nil {
				return "", err
			}
			from = p.at
		case c < ' ' && !p.lax:
			return "", p.fail(m, "Invalid control character at", p.at)
		default:
			p.at++
		}
	}
	return "", p.fail(m, "Unterminated string starting at", begin)
}

// escape reads what follows a backslash.
func (p *jsonParser) escape(m *vm.Machine, out []byte, begin int) ([]byte, error) {
	start := p.at
	p.at++
	if p.at == len(p.s) {
		return nil, p.fail(m, "Unterminated string starting at", begin)
	}
	c := p.s[p.at]
	p.at++
	switch c {
	case '"', '\\', '/':
		return append(out, c), nil
	case 'b':
		return append(out, '\b'), nil
	case 'f':
		return append(out, '\f'), nil
	case 'n':
		return append(out, '\n'), nil
	case 'r':
		return append(out, '\r'), nil
	case 't':
		return append(out, '\t'), nil
	case 'u':
	default:
		return nil, p.fail(m, `Invalid \escape`, start)
	}
	r, ok := p.hex(p.at)
	if !ok {
		return nil, p.fail(m, `Invalid \uXXXX escape`, start+1)
	}
	p.at += 4
	if r>>11 != 0x1b {
		return utf8.AppendRune(out, r), nil
	}
	// The machine's strings hold no surrogates, so that only pairs can be read.
	// Bounded: by two characters.
	if r < 0xdc00 && strings.HasPrefix(p.s[p.at:], `\u`) {
		low, ok := p.hex(p.at + 2)
		if ok && low>>10 == 0x37 {
			p.at += 6
			return utf8.AppendRune(out, 0x10000+(r-0xd800)<<10+(low-0xdc00)), nil
		}
	}
	return nil, p.fail(m, `Invalid \uXXXX escape`, start+1)
}

// hex reads four hexadecimal digits.
func (p *jsonParser) hex(at int) (rune, bool) {
	if at+4 > len(p.s) {
		return 0, false
	}
	r := rune(0)
	// Bounded: by four digits.
	for _, c := range []byte(p.s[at : at+4]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
