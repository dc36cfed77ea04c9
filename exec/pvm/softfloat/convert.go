package softfloat

import (
	"math/big"
	"math/bits"
)

// FromInt64 is the value nearest i.
func FromInt64(i int64) uint64 {
	if i < 0 {
		return signBit | FromUint64(-uint64(i))
	}
	return FromUint64(uint64(i))
}

// FromUint64 is the value nearest u.
func FromUint64(u uint64) uint64 {
	if u == 0 {
		return 0
	}
	shift := bits.LeadingZeros64(u)
	exp := bias + 63 - shift
	if shift == 0 {
		return roundPack(0, exp-1, u>>1|u&1)
	}
	return roundPack(0, exp-1, u<<uint(shift-1))
}

// FromBig is the value nearest i; ok is false when it would be infinite, where
// Python raises OverflowError.
func FromBig(i *big.Int) (a uint64, ok bool) {
	a = FromScaled(i, 0, false)
	return a, IsFinite(a)
}

// FromScaled is the value nearest i·2^exp, or nearest a value with magnitude a
// little above |i|·2^exp when sticky is set: what calculations in integers end
// with. It overflows to an infinity.
func FromScaled(i *big.Int, exp int, sticky bool) uint64 {
	n := i.BitLen()
	if n == 0 {
		return 0
	}
	var sign uint64
	if i.Sign() < 0 {
		sign = signBit
	}
	var sig uint64
	if n <= 63 {
		sig = absUint64(i) << uint(63-n)
	} else {
		mag := new(big.Int).Abs(i)
		sticky = sticky || mag.TrailingZeroBits() < uint(n-63)
		sig = mag.Rsh(mag, uint(n-63)).Uint64()
	}
	if sticky {
		sig |= 1
	}
	e := exp + n - 1 + bias - 1
	return roundPack(sign, max(min(e, 1<<20), -1<<20), sig)
}

// absUint64 is |i| for an i of at most 64 bits.
func absUint64(i *big.Int) uint64 {
	if i.Sign() < 0 {
		return new(big.Int).Neg(i).Uint64()
	}
	return i.Uint64()
}

// FromRatio is the value nearest num/den, which is Python's true division of
// integers. den is not zero; ok is false when the result would be infinite.
func FromRatio(num, den *big.Int) (a uint64, ok bool) {
	if num.Sign() == 0 {
		return 0, true
	}
	// 66 bits of quotient or more, and whether anything is left.
	shift := 66 + den.BitLen() - num.BitLen()
	n, d := new(big.Int).Set(num), den
	if shift >= 0 {
		n.Lsh(n, uint(shift))
	} else {
		d = new(big.Int).Lsh(den, uint(-shift))
	}
	quo, rem := n.QuoRem(n, d, new(big.Int))
	a = FromScaled(quo, -shift, rem.Sign() != 0)
	return a, IsFinite(a)
}

// ToInt64 is a without its fraction; ok is false when that is no int64.
func ToInt64(a uint64) (i int64, ok bool) {
	exp := int(a>>52&expMax) - bias
	switch {
	case exp < 0:
		return 0, true
	case exp >= 63:
		if a == 0xc3e0000000000000 {
			return -1 << 63, true
		}
		return 0, false
	}
	sig := a&fracMask | hidden
	if exp <= 52 {
		sig >>= uint(52 - exp)
	} else {
		sig <<= uint(exp - 52)
	}
	if a>>63 != 0 {
		return -int64(sig), true
	}
	return int64(sig), true
}

// ToBig is a without its fraction; ok is false for infinities and NaNs.
func ToBig(a uint64) (i *big.Int, ok bool) {
	if !IsFinite(a) {
		return nil, false
	}
	i = new(big.Int)
	exp := int(a>>52&expMax) - bias
	if exp < 0 {
		return i, true
	}
	sig := a&fracMask | hidden
	if exp <= 52 {
		i.SetUint64(sig >> uint(52-exp))
	} else {
		i.SetUint64(sig).Lsh(i, uint(exp-52))
	}
	if a>>63 != 0 {
		i.Neg(i)
	}
	return i, true
}

// Ratio is float.as_integer_ratio: a = num/den in lowest terms, den a power of
// two; ok is false for infinities and NaNs.
func Ratio(a uint64) (num, den *big.Int, ok bool) {
	if !IsFinite(a) {
		return nil, nil, false
	}
	sig, exp := Decompose(a)
	num, den = new(big.Int).SetUint64(sig), big.NewInt(1)
	if exp >= 0 {
		num.Lsh(num, uint(exp))
	} else {
		den.Lsh(den, uint(-exp))
	}
	if a>>63 != 0 {
		num.Neg(num)
	}
	return num, den, true
}

// A narrow format of IEEE 754.
type narrow struct {
	frac, exp uint // bits of fraction and exponent
}

var (
	binary32 = narrow{23, 8}
	binary16 = narrow{10, 5}
)

// ToBinary32 rounds a to binary32; ok is false when a finite a overflows, where
// struct.pack raises OverflowError (the encoding is then an infinity).
func ToBinary32(a uint64) (enc uint32, ok bool) {
	e, ok := binary32.narrow(a)
	return uint32(e), ok
}

// ToBinary16 rounds a to binary16, like ToBinary32.
func ToBinary16(a uint64) (enc uint16, ok bool) {
	e, ok := binary16.narrow(a)
	return uint16(e), ok
}

// FromBinary32 widens a binary32, exactly.
func FromBinary32(enc uint32) uint64 { return binary32.widen(uint64(enc)) }

// FromBinary16 widens a binary16, exactly.
func FromBinary16(enc uint16) uint64 { return binary16.widen(uint64(enc)) }

func (f narrow) narrow(a uint64) (enc uint64, ok bool) {
	sign := a >> 63 << (f.frac + f.exp)
	top := uint64(1)<<f.exp - 1
	mag := a & magMask
	switch {
	case mag > Inf:
		return top<<f.frac | 1<<(f.frac-1), true // the canonical NaN
	case mag == Inf:
		return sign | top<<f.frac, true
	case mag == 0:
		return sign, true
	}
	exp, sig := normal(mag)
	exp += int(top>>1) - bias // biased in the narrow format
	drop := 52 - f.frac
	if exp < 1 {
		drop += uint(min(1-exp, 62))
		exp = 1
	}
	half := uint64(1) << (min(drop, 63) - 1)
	kept := sig >> min(drop, 63)
	lost := sig & (half<<1 - 1)
	if lost > half || lost == half && kept&1 != 0 {
		kept++
	}
	enc = uint64(exp-1)<<f.frac + kept
	if enc >= top<<f.frac {
		return sign | top<<f.frac, false
	}
	return sign | enc, true
}

func (f narrow) widen(enc uint64) uint64 {
	sign := enc >> (f.frac + f.exp) << 63
	top := uint64(1)<<f.exp - 1
	exp, frac := enc>>f.frac&top, enc&(1<<f.frac-1)
	switch {
	case exp == top && frac != 0:
		return NaN
	case exp == top:
		return sign | Inf
	case exp == 0 && frac == 0:
		return sign
	}
	shift := 52 - f.frac
	if exp != 0 {
		return sign | (exp-top>>1+bias)<<52 | frac<<shift
	}
	lead := uint(bits.Len64(frac)) - 1
	return sign | (uint64(bias)+1-top>>1-uint64(f.frac-lead))<<52 | frac<<(52-lead)&fracMask
}

// fromUint64Scaled is FromScaled for a nonzero sig.
func fromUint64Scaled(sig uint64, exp int, sticky bool) uint64 {
	shift := bits.LeadingZeros64(sig)
	if shift == 0 {
		sig = sig>>1 | sig&1
	} else {
		sig <<= uint(shift - 1)
	}
	if sticky {
		sig |= 1
	}
	e := exp + 63 - shift + bias - 1
	return roundPack(0, max(min(e, 1<<20), -1<<20), sig)
}
