package selection

import "math/bits"

// wide is a sum of weights: up to 2^32 weights of 64 bits take 96.
type wide struct{ hi, lo uint64 }

func (a wide) plus(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return wide{hi, lo}
}

// minus takes b, which is at most a.
func (a wide) minus(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return wide{hi, lo}
}

// over reports whether a is more than a ticket.
func (a wide) over(ticket uint64) bool { return a.hi > 0 || a.lo > ticket }

// times multiplies a weight; two factors of 64 bits fit.
func times(weight, factor uint64) wide {
	hi, lo := bits.Mul64(weight, factor)
	return wide{hi, lo}
}

// reduce returns the ticket: a word modulo a total, which is not 0. A total beyond 64 bits
// leaves the word as it is.
func (a wide) reduce(word uint64) uint64 {
	if a.hi > 0 {
		return word
	}
	return word % a.lo
}

func (a wide) less(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }
