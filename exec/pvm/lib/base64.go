package lib

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// base64Defs are the codecs behind the module base64. Those that read take the class
// of their exception first.
var base64Defs = [...]vm.Def{
	def("b64_encode", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		return coded(m, a.Values[0], "", base64.StdEncoding.EncodedLen, func(data string) []byte {
			return base64.StdEncoding.AppendEncode(nil, []byte(data))
		})
	}),
	def("b64_lines", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		if !a.Values[0].IsBytes() {
			return vm.None, m.TypeError("expected bytes-like object, not %s", m.TypeName(a.Values[0]))
		}
		return coded(m, a.Values[0], "", size64Lines, encode64Lines)
	}),
	def("b32_encode", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		encoding := base32.StdEncoding
		if a.Values[1].Same(vm.True) {
			encoding = base32.HexEncoding
		}
		return coded(m, a.Values[0], "memoryview: ", encoding.EncodedLen, func(data string) []byte {
			return encoding.AppendEncode(nil, []byte(data))
		})
	}),
	def("b16_encode", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		return coded(m, a.Values[0], "", hex.EncodedLen, encode16)
	}),
	def("b85_encode", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		pad, err := m.Truth(a.Values[1])
		if err != nil {
			return vm.None, err
		}
		return coded(m, a.Values[0], "memoryview: ", size85, func(data string) []byte {
			return encode85(data, alphabet85, pad, false, false)
		})
	}),
	def("a85_encode", 3, 3, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		pad, err := m.Truth(a.Values[1])
		if err != nil {
			return vm.None, err
		}
		blanks, err := m.Truth(a.Values[2])
		if err != nil {
			return vm.None, err
		}
		return coded(m, a.Values[0], "memoryview: ", size85, func(data string) []byte {
			return encode85(data, alphabetA85, pad, true, blanks)
		})
	}),
	def("b64_decode", 3, 3, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		strict, err := m.Index(a.Values[2])
		if err != nil {
			return vm.None, err
		}
		return decoded(m, a, sizeText, func(text string) ([]byte, error) { return decode64(text, strict != 0) })
	}),
	def("b32_decode", 4, 4, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		values := &values32
		if a.Values[3].Same(vm.True) {
			values = &values32Hex
		}
		pads, err := m.Index(a.Values[2])
		if err != nil {
			return vm.None, err
		}
		return decoded(m, a, sizeText, func(text string) ([]byte, error) { return decode32(text, pads, values) })
	}),
	def("b16_decode", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) { return decoded(m, a, sizeText, decode16) }),
	def("b85_decode", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) { return decoded(m, a, sizeText, decode85) }),
	def("a85_decode", 4, 4, a85Decode),
	def("compare_digest", 2, 2, compareDigest),
}

// coded writes the bytes of v in an encoding. who begins the text for what is not
// bytes; size is how many characters so many bytes make at most.
func coded(m *vm.Machine, v vm.Value, who string, size func(int) int, encode func(string) []byte) (vm.Value, error) {
	data, ok := m.BytesText(v)
	if !ok {
		return vm.None, m.TypeError("%sa bytes-like object is required, not '%s'", who, m.TypeName(v))
	}
	n := size(len(data))
	chars(m, len(data))
	chars(m, n)
	m.Alloc(n)
	return m.NewBytes(string(encode(data))), nil
}

// decoded reads argument 1 of a, raising the class of argument 0. size is how many
// bytes the text makes at most.
func decoded(m *vm.Machine, a vm.Args, size func(string) int, decode func(string) ([]byte, error)) (vm.Value, error) {
	text, ok := m.BytesText(a.Values[1])
	if !ok {
		return vm.None, m.TypeError("a bytes-like object is required, not '%s'", m.TypeName(a.Values[1]))
	}
	chars(m, len(text))
	n := size(text)
	chars(m, n)
	m.Alloc(n)
	out, err := decode(text)
	var wrong *textError
	if errors.As(err, &wrong) {
		class, _ := a.Values[0].Class()
		return vm.None, m.Raise(class, wrong.format, wrong.args...)
	}
	if err != nil {
		return vm.None, err
	}
	return m.NewBytes(string(out)), nil
}

// sizeText bounds what a text holds in an encoding without short forms.
func sizeText(text string) int { return len(text) }

// a85Decode takes the class, the text, whether y stands for four blanks, and the
// characters to pass over: bytes, or whatever has an `in`.
func a85Decode(m *vm.Machine, a vm.Args) (vm.Value, error) {
	blanks, err := m.Truth(a.Values[2])
	if err != nil {
		return vm.None, err
	}
	ignored, plain := m.BytesText(a.Values[3])
	var skips [256]bool
	if plain {
		chars(m, len(ignored))
		// Paid: by the characters above.
		for i := range len(ignored) {
			skips[ignored[i]] = true
		}
	}
	return decoded(m, a, sizeA85, func(text string) ([]byte, error) {
		return decodeA85(text, blanks, func(c byte) (bool, error) {
			if plain {
				return skips[c], nil
			}
			m.Charge(m.Prices().NativeCall)
			return m.Contains(a.Values[3], vm.SmallInt(int64(c)))
		})
	})
}

// binasciiModule is what base64 knows as binascii: the class of what is malformed.
func binasciiModule(m *vm.Machine) vm.Value {
	failure := m.NewExceptionClass("binascii", "Error", m.Builtin("ValueError"))
	return m.NewModule("binascii").Set(m, "Error", failure.Value()).Value()
}
