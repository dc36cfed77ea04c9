package parallel

import (
	"bytes"

	"github.com/cowboy-foundation/cowboy/chain"
)

// hint is where a message names addresses that its handler may touch: a handler
// that is told whom to call or to send to is mostly told so in its argument.
type hint uint8

const (
	inList     hint = iota // the access list
	inArgument             // the argument of the handler
	hintPlaces
)

// hints are the addresses that a message names, by where.
type hints [hintPlaces][]chain.Address

// names reports whether a place names an address.
func (h *hints) names(place hint, addr *chain.Address) bool {
	for i := range h[place] {
		if h[place][i] == *addr {
			return true
		}
	}
	return false
}

// any reports whether there are any.
func (h *hints) any() bool { return len(h[inList])+len(h[inArgument]) > 0 }

// reliance is what a handler makes of the addresses that a place names: how sure it is
// that it touches any of them, and how, at the most.
type reliance struct {
	score int8
	mode  mode
}

// firstReliance is what is made of hints to a handler that nothing is known of: access
// lists say what is touched, arguments may say anything.
var firstReliance = [hintPlaces]reliance{inList: {most, writes}}

// recordTouch notes whether any of the named was touched, and how.
func (t *reliance) recordTouch(found bool, how mode) {
	t.score = max(t.score-loss, 0)
	if found {
		t.score, t.mode = min(t.score+loss+gain, most), max(t.mode, how)
	}
}

// Bounds of what is looked at in an argument and found in it.
const (
	mostScanned = 4096
	mostNamed   = 64
)

// The heads of an address in an argument: 20 bytes, or 0x and 40 digits as text.
const bytesHead, textHead = "\x54", "\x78\x2a0x"

// named finds the addresses in an argument. It does not parse: what is no address
// and looks like one is touched by nobody.
func named(arg []byte) (list []chain.Address) {
	arg = arg[:min(len(arg), mostScanned)]
	for len(arg) > len(chain.Address{}) && len(list) < mostNamed {
		var a chain.Address
		used := 1
		switch n := len(textHead) + 2*len(a); {
		case bytes.HasPrefix(arg, []byte(bytesHead)):
			used += copy(a[:], arg[1:])
		case bytes.HasPrefix(arg, []byte(textHead)) && len(arg) >= n && a.UnmarshalText(arg[2:n]) == nil:
			used = n
		}
		if used > 1 && !a.IsSystem() {
			list = append(list, a)
		}
		arg = arg[used:]
	}
	return list
}
