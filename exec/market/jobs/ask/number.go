package ask

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// scaled is a number that is not negative, in parts of which scale are one: the nearest
// integer, the upper one of two. Of a float it takes the exact binary value (resolution
// 12.41), and computes with integers alone. False for a negative number, and beyond 64
// bits.
func scaled(item []byte, scale uint64) (uint64, bool) {
	c := cbor.NewReader(item)
	if n, err := c.Uint(); err == nil {
		hi, lo := bits.Mul64(n, scale)
		return lo, hi == 0
	}
	f, err := c.Float()
	if err != nil {
		return 0, false
	}
	const mantissaBits, bias = 52, 1023 + 52
	b := math.Float64bits(f)
	mantissa, exponent := b&(1<<mantissaBits-1), int(b>>mantissaBits&0x7ff)
	switch {
	case b == 1<<63 || b == 0:
		return 0, true
	case b>>63 != 0:
		return 0, false
	case exponent == 0:
		exponent = 1
	default:
		mantissa |= 1 << mantissaBits
	}
	hi, lo := bits.Mul64(mantissa, scale) // below 2^53 · 2^20
	return shifted(hi, lo, exponent-bias)
}

// shifted is (hi, lo) · 2^by, rounded as [scaled] says; hi is below 2^62.
func shifted(hi, lo uint64, by int) (uint64, bool) {
	switch {
	case by >= 0:
		if hi != 0 || by >= 64 && lo != 0 || by < 64 && bits.Len64(lo)+by > 64 {
			return 0, false
		}
		return lo << by, true
	case by <= -128:
		return 0, true
	}
	half := uint(-by - 1)
	var carry uint64
	if half < 64 {
		lo, carry = bits.Add64(lo, 1<<half, 0)
		hi += carry
	} else {
		hi += 1 << (half - 64)
	}
	if right := uint(-by); right < 64 {
		if hi>>right != 0 {
			return 0, false
		}
		return lo>>right | hi<<(64-right), true
	}
	return hi >> (uint(-by) - 64), true
}

// millionths of one.
const millionths = 1_000_000

// parts is the number under a key in parts of which scale are one, of at most most; nil
// where there is none.
func (t *table) parts(name string, scale, most uint64) *uint64 {
	item := t.take(name)
	if item == nil {
		return nil
	}
	n, ok := scaled(item, scale)
	if !ok || n > most {
		t.wrong(name, fmt.Errorf("%w: want a number of 0 to %d", ErrRange, most/scale))
	}
	return &n
}

// float is the number under a key, which must be there.
func (t *table) float(name string) float64 {
	f := t.floatIf(name)
	if f == nil {
		t.wrong(name, ErrMissing)
		return 0
	}
	return *f
}

// maxExact is the greatest integer whose neighbours are floats, too.
const maxExact = 1 << 53

// floatIf is the number under a key, nil where there is none. An integer must have a float
// of its value.
func (t *table) floatIf(name string) *float64 {
	item := t.take(name)
	if item == nil {
		return nil
	}
	c := cbor.NewReader(item)
	if n, err := c.Int(); err == nil {
		if n > maxExact || n < -maxExact {
			t.wrong(name, fmt.Errorf("%w: want an integer within 2^53", ErrRange))
		}
		f := float64(n)
		return &f
	}
	f, err := c.Float()
	if err != nil {
		t.wrong(name, fmt.Errorf("want a number: %w", err))
	}
	return &f
}
