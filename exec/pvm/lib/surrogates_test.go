package lib_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestNothingMakesSurrogates: what makes a string of a lone surrogate in CPython raises here,
// and so does what would make text of other bytes that are no UTF-8.
func TestNothingMakesSurrogates(t *testing.T) { // resolution 11.48; ADR 243
	rt := runtimeOf(t)
	for _, row := range []struct{ expr, raises string }{
		{"chr(0xd800)", "ValueError"},
		{"chr(0xdfff)", "ValueError"},
		{"'%c' % 0xd800", "OverflowError"},
		{"format(0xd800, 'c')", "OverflowError"},
		{"'{:c}'.format(0xdc00)", "OverflowError"},
		{"f'{0xd800:c}'", "OverflowError"},
		{"'a'.translate({97: 0xd800})", "ValueError"},
		{"'a'.translate(str.maketrans({'a': 0xdc00}))", "ValueError"},
		{`json.loads('"\\ud800"')`, "JSONDecodeError"},
		{`json.loads('"\\udc00\\ud800"')`, "JSONDecodeError"},
		{`json.loads('{"\\ud83dx": 1}')`, "JSONDecodeError"},
		{`json.loads(b'"\xed\xa0\x80"')`, "UnicodeDecodeError"},
		{`b"\xed\xa0\x80".decode()`, "UnicodeDecodeError"},
		{`b"\xed\xa0\x80".decode("utf-8", "surrogatepass")`, "LookupError"},
		{`b"\xff".decode("utf-8", "surrogateescape")`, "LookupError"},
		{`b"\xff".decode("ascii", "surrogateescape")`, "LookupError"},
		{`str(b"\xff", "utf-8", "surrogateescape")`, "LookupError"},
		{`bytearray(b"\xed\xb0\x80").decode()`, "UnicodeDecodeError"},
		{`b"\\ud800".decode("unicode_escape")`, "LookupError"},
		{`b"\\ud800".decode("raw_unicode_escape")`, "LookupError"},
		{`b"\x00\xd8".decode("utf-16-le")`, "LookupError"},
		{`b"+2AA-".decode("utf-7")`, "LookupError"},
		{`re.sub("a", "\\ud800", "a")`, "error"},
		{`re.sub("a", "\\xed", "a")`, "error"},
		{`cbor2.loads(b"\x63\xed\xa0\x80")`, ""},
		{`typing.get_type_hints(type("C", (), {"__annotations__": {"a": "\"\\ud800\""}}))`, "SyntaxError"},
		// Bytes and escapes that are text of another kind.
		{`b"\xed\xa0\x80".decode("latin-1")`, "-"},
		{`b"\xed\xa0\x80".decode("utf-8", "replace")`, "-"},
		{`b"\xed\xa0\x80".decode("utf-8", "backslashreplace")`, "-"},
		{`b"a\xed\xa0".decode("utf-8", "ignore")`, "-"},
		{`re.sub("a", "\\377\\0", "a")`, "-"},
		{`re.sub("[\\ud800-\\udfff]", "x", "a")`, "-"},
		{`"%a %r" % ("\U0010ffff", "é")`, "-"},
		{`json.dumps("\U0001f600")`, "-"},
		{`"\U0001f600\u0301"[1:] + "\U0001f600"[::-1]`, "-"},
		{`"{:é^3.1}".format("\U0001f600é")`, "-"},
	} {
		src := "import json, re, cbor2, typing\nv = " + row.expr + "\nassert isinstance(v, str), v\n"
		m := rt.NewMachine()
		res, err := m.Execute(compiled(t, src), 10_000_000)
		switch {
		case err != nil:
			t.Errorf("%s: %v", row.expr, err)
		case row.raises != "-":
			if res.Raised == nil || !strings.Contains(res.Raised.ClassName(), row.raises) {
				t.Errorf("%s: %s, want %s", row.expr, res.Traceback, row.raises)
			}
		default:
			if v, ok := m.Global("__main__", "v"); !ok || res.Raised != nil || !validText(v) {
				t.Errorf("%s: %s, want text in UTF-8", row.expr, res.Traceback)
			}
		}
	}
}

func validText(v vm.Value) bool {
	s, ok := v.Text()
	return ok && utf8.ValidString(s)
}
