package lib

import (
	"crypto/subtle"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// compareDigest is hmac.compare_digest: two texts in ASCII, or two of bytes. It looks
// at all of both, and so it costs, wherever they differ.
func compareDigest(m *vm.Machine, a vm.Args) (vm.Value, error) {
	x, y := a.Values[0], a.Values[1]
	left, isText := x.Text()
	if right, ok := y.Text(); isText && ok {
		chars(m, len(left)+len(right))
		if !ascii(left) || !ascii(right) {
			return vm.None, m.TypeError("comparing strings with non-ASCII characters is not supported")
		}
		return vm.Bool(subtle.ConstantTimeCompare([]byte(left), []byte(right)) == 1), nil
	}
	left, ok := m.BytesText(x)
	right, isBytes := m.BytesText(y)
	switch {
	case !ok && !isBytes:
		return vm.None, m.TypeError("unsupported operand types(s) or combination of types: '%s' and '%s'", m.TypeName(x), m.TypeName(y))
	case !ok:
		return vm.None, m.TypeError("a bytes-like object is required, not '%s'", m.TypeName(x))
	case !isBytes:
		return vm.None, m.TypeError("a bytes-like object is required, not '%s'", m.TypeName(y))
	}
	chars(m, len(left)+len(right))
	return vm.Bool(subtle.ConstantTimeCompare([]byte(left), []byte(right)) == 1), nil
}

func ascii(s string) bool {
	// Paid: by compareDigest, a character each before.
	for i := range len(s) {
		if s[i] > 127 {
			return false
		}
	}
	return true
}
