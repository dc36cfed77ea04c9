package lib

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// jsonHooks is the payload of a JSONDecoder: its options. What is absent is None.
type jsonHooks struct {
	object, pairs               vm.Value
	parseReal, parseInt, parseC vm.Value
	lax                         bool // control characters in strings
}

func newHooks() *jsonHooks {
	return &jsonHooks{object: vm.None, pairs: vm.None, parseReal: vm.None, parseInt: vm.None, parseC: vm.None}
}

// Roots visits the hooks.
func (h *jsonHooks) Roots(visit func(vm.Value)) {
	visitAll([]vm.Value{h.object, h.pairs, h.parseReal, h.parseInt, h.parseC}, visit)
}

// Bytes is the modelled size.
func (*jsonHooks) Bytes() int { return 128 }

// option takes one keyword of loads and JSONDecoder.
func (h *jsonHooks) option(m *vm.Machine, name string, v vm.Value) (ok bool, err error) {
	switch name {
	case "object_hook":
		h.object = v
	case "object_pairs_hook":
		h.pairs = v
	case "parse_float":
		h.parseReal = v
	case "parse_int":
		h.parseInt = v
	case "parse_constant":
		h.parseC = v
	case "strict":
		t, err := m.Truth(v)
		h.lax = !t
		return true, err
	default:
		return false, nil
	}
	return true, nil
}

func (j *jsonModule) defineDecoder() {
	j.decoder.Define(
		vm.Def{Name: "__new__", Min: 1, Max: -1, Keywords: true, Fn: func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			cls, _ := a.Values[0].Class()
			return m.NewForeign(cls, newHooks()), nil
		}},
		vm.Def{Name: "__init__", Min: 1, Max: -1, Keywords: true, Fn: j.initDecoder},
		named("decode", 2, []string{"self", "s"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			h, text, err := decoderArgs(m, a)
			if err != nil {
				return vm.None, err
			}
			return j.decode(m, h, text)
		}),
		named("raw_decode", 2, []string{"self", "s", "idx"}, j.rawDecode),
	)
}

func decoderArgs(m *vm.Machine, a vm.Args) (*jsonHooks, *vm.Str, error) {
	h, err := payload[*jsonHooks](m, a.Values[0])
	if err != nil {
		return nil, nil, err
	}
	text, ok := a.Values[1].StrObject()
	if !ok {
		return nil, nil, m.TypeError("expected string or bytes-like object, got '%s'", m.TypeName(a.Values[1]))
	}
	return h, text, nil
}

func (j *jsonModule) initDecoder(m *vm.Machine, a vm.Args) (vm.Value, error) {
	self := a.Values[0]
	h, err := payload[*jsonHooks](m, self)
	if err != nil {
		return vm.None, err
	}
	if n := len(a.Positional()); n > 1 {
		return vm.None, m.TypeError("JSONDecoder.__init__() takes 1 positional argument but %d were given", n)
	}
	err = eachKeyword(a, func(name *vm.Str, v vm.Value) error {
		ok, err := h.option(m, name.String(), v)
		if err == nil && !ok {
			err = m.TypeError("JSONDecoder.__init__() got an unexpected keyword argument '%s'", name.String())
		}
		return err
	})
	if err != nil {
		return vm.None, err
	}
	return vm.None, setAll(m, self,
		[]string{"object_hook", "object_pairs_hook", "strict"},
		[]vm.Value{h.object, h.pairs, vm.Bool(!h.lax)})
}

func (j *jsonModule) rawDecode(m *vm.Machine, a vm.Args) (vm.Value, error) {
	h, text, err := decoderArgs(m, a)
	if err != nil {
		return vm.None, err
	}
	var idx int64
	if v, ok := given(a, 2); ok {
		if idx, err = m.Index(v); err != nil {
			return vm.None, err
		}
	}
	if idx < 0 {
		return vm.None, m.ValueError("idx cannot be negative")
	}
	p := j.parser(m, h, text)
	if idx > int64(text.Runes()) {
		return vm.None, p.failAt(m, "Expecting value", idx)
	}
	p.at = byteOffset(text, int(idx))
	v, err := p.value(m)
	if err != nil {
		return vm.None, err
	}
	return m.NewTuple([]vm.Value{v, vm.SmallInt(int64(p.runes(p.at)))}), nil
}

// byteOffset is where code point n begins.
func byteOffset(s *vm.Str, n int) int {
	text := s.String()
	if s.Runes() == len(text) {
		return n
	}
	// Paid: by parser, a character for each byte of the text.
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// decode reads a document.
func (j *jsonModule) decode(m *vm.Machine, h *jsonHooks, text *vm.Str) (vm.Value, error) {
	p := j.parser(m, h, text)
	p.space()
	v, err := p.value(m)
	if err != nil {
		return vm.None, err
	}
	p.space()
	if p.at != len(p.s) {
		return vm.None, p.fail(m, "Extra data", p.at)
	}
	return v, nil
}

// loads is json.loads.
func (j *jsonModule) loads(m *vm.Machine, a vm.Args) (vm.Value, error) {
	s, rest, err := oneArgument(m, a, "loads", "s")
	if err != nil {
		return vm.None, err
	}
	text, err := j.document(m, s)
	if err != nil {
		return vm.None, err
	}
	h, cls := newHooks(), vm.None
	elements(m, len(rest.Names))
	hasClass := hasName(rest.Names, "cls")
	var names []*vm.Str
	var values []vm.Value
	err = eachKeyword(rest, func(name *vm.Str, v vm.Value) error {
		if name.String() == "cls" {
			cls = v
			return nil
		}
		ok, err := h.option(m, name.String(), v)
		if err != nil {
			return err
		}
		if !ok && cls.IsNone() && !hasClass {
			return m.TypeError("JSONDecoder.__init__() got an unexpected keyword argument '%s'", name.String())
		}
		if !v.IsNone() {
			names, values = append(names, name), append(values, v)
		}
		return nil
	})
	if err != nil {
		return vm.None, err
	}
	if cls.IsNone() {
		return j.decode(m, h, text)
	}
	defer m.Release(m.Hold(text.Value()))
	decoder, err := m.CallArgs(cls, vm.Args{Values: values, Names: names})
	if err != nil {
		return vm.None, err
	}
	m.Hold(decoder)
	decode, err := m.GetAttr(decoder, m.Name("decode"))
	if err != nil {
		return vm.None, err
	}
	return m.Call(decode, text.Value())
}

func hasName(names []*vm.Str, name string) bool {
	// Paid: by loads, an element each.
	for _, n := range names {
		if n.String() == name {
			return true
		}
	}
	return false
}

// document is the text of the argument of loads.
func (j *jsonModule) document(m *vm.Machine, v vm.Value) (*vm.Str, error) {
	if s, ok := v.StrObject(); ok {
		// Bounded: by three bytes.
		if strings.HasPrefix(s.String(), "\ufeff") {
			p := j.parser(m, newHooks(), s)
			return nil, p.fail(m, "Unexpected UTF-8 BOM (decode using utf-8-sig)", 0)
		}
		return s, nil
	}
	b, ok := m.BytesText(v)
	if !ok {
		return nil, m.TypeError("the JSON object must be str, bytes or bytearray, not %s", m.TypeName(v))
	}
	name := jsonEncoding(b)
	if name == "utf-8-sig" {
		chars(m, len(b))
		v, name = m.NewBytes(b[3:]), "utf-8"
	}
	decode, err := m.GetAttr(v, m.Name("decode"))
	if err != nil {
		return nil, err
	}
	r, err := m.Call(decode, m.NewStr(name))
	if err != nil {
		return nil, err
	}
	s, ok := r.StrObject()
	if !ok {
		return nil, m.TypeError("decoder should return a string result, not '%s'", m.TypeName(r))
	}
	return s, nil
}

// jsonEncoding guesses the encoding of a document as CPython does.
func jsonEncoding(b string) string {
	// Bounded: by five marks.
	for _, bom := range [...]struct{ mark, name string }{
		{"\x00\x00\xfe\xff", "utf-32"},
		{"\xff\xfe\x00\x00", "utf-32"},
		{"\xfe\xff", "utf-16"},
		{"\xff\xfe", "utf-16"},
		{"\xef\xbb\xbf", "utf-8-sig"},
	} {
		// Bounded: by four bytes.
		if strings.HasPrefix(b, bom.mark) {
			return bom.name
		}
	}
	switch {
	case len(b) >= 4 && b[0] == 0:
		if b[1] == 0 {
			return "utf-32-be"
		}
		return "utf-16-be"
	case len(b) >= 4 && b[1] == 0:
		if b[2] == 0 && b[3] == 0 {
			return "utf-32-le"
		}
		return "utf-16-le"
	case len(b) == 2 && b[0] == 0:
		return "utf-16-be"
	case len(b) == 2 && b[1] == 0:
		return "utf-16-le"
	}
	return "utf-8"
}
