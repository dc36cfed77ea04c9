package lib_test

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// unpadded takes off the = that CPython lets stand behind whole quanta.
func unpadded(text string, quantum int) string {
	digits := strings.TrimRight(text, "=")
	if len(digits)%quantum == 0 {
		return digits
	}
	return text
}

// FuzzBase64 holds the strict reading to Go's, and every encoding to what it reads
// back. What is malformed raises ValueError and nothing else.
func FuzzBase64(tf *testing.F) {
	f := soak.New(tf, strings.Fields("= == === A AA AAA AAAA aGVsbG8= aGVs + / - _ z y <~ ~> uuuuu ME====== 0 1 \xff é")...)
	for _, s := range []string{"aGVsbG8=", "YW=J", "=AAA", "ME======", "<~87cURD]i,\"Ebo80~>", "Xk~0{Zv", "414", "zzzzzzzz", "s8W-\"", "~~~~~"} {
		f.Add([]byte(s))
	}
	check := calls(f, `
import base64
def read(decode, text, *args, **kw):
    try:
        return decode(text, *args, **kw)
    except ValueError as e: # binascii.Error is one
        str(e)
def check(text, strict, plain):
    got = read(base64.b64decode, text, validate=True)
    assert got == strict, ('base64', got, strict)
    assert got is None or read(base64.b64decode, text) == got
    assert read(base64.b32decode, text) == plain, ('base32', plain)
    for encode, decode in ((base64.b64encode, base64.b64decode), (base64.urlsafe_b64encode, base64.urlsafe_b64decode),
            (base64.b32encode, base64.b32decode), (base64.b32hexencode, base64.b32hexdecode), (base64.b16encode, base64.b16decode),
            (base64.a85encode, base64.a85decode), (base64.b85encode, base64.b85decode), (base64.encodebytes, base64.decodebytes)):
        assert decode(encode(text)) == text, encode
        read(decode, text)
    assert base64.a85decode(base64.a85encode(text, foldspaces=True, wrapcol=9, adobe=True), foldspaces=True, adobe=True) == text
    for text in (text, text + b'=', text + b'=='):
        for kw in ({'foldspaces': True}, {'adobe': True}, {'ignorechars': b'=~'}):
            read(base64.a85decode, text, **kw)
        read(base64.b32decode, text, True, b'L')
        read(base64.b64decode, text, b'-_')
`)
	f.Fuzz(func(t *testing.T, text []byte) {
		check(t, func(m *vm.Machine) []vm.Value {
			strict, plain := vm.None, vm.None
			if out, ok := strictly(text); ok {
				strict = m.NewBytes(string(out))
			}
			if out, ok := plainly(text); ok {
				plain = m.NewBytes(string(out))
			}
			return []vm.Value{m.NewBytes(string(text)), strict, plain}
		})
	})
}

// strictly reads base64 with Go's package, as CPython does when it validates: = may
// follow data that needs none, but not begin it, and no line ends in between.
func strictly(text []byte) ([]byte, bool) {
	if bytes.ContainsAny(text, "\r\n") || len(text) > 0 && text[0] == '=' {
		return nil, false
	}
	out, err := base64.StdEncoding.DecodeString(unpadded(string(text), 4))
	return out, err == nil
}

// plainly reads base32 with Go's package, which passes over what follows the padding.
func plainly(text []byte) ([]byte, bool) {
	if bytes.ContainsAny(text, "\r\n") || len(text)%8 != 0 || bytes.Contains(bytes.TrimRight(text, "="), []byte("=")) {
		return nil, false
	}
	out, err := base32.StdEncoding.DecodeString(string(text))
	return out, err == nil
}
