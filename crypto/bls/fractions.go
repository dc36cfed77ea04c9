package bls

import (
	"math/big"
	"slices"

	blst "github.com/supranational/blst/bindings/go"
)

// fractions are the factors of a small set of shares as integers over one
// divisor. Indices of a committee are small, so the integers are short, and
// points times short integers are cheap: of three multiplications by 255 bits in
// a committee of four, one by the inverse divisor is left, or none.
//
// They are the factors modulo the group order, not modulo the order of the
// curve: on points outside the subgroup the two forms of a sum differ. What is
// combined this way must be verified.
type fractions struct {
	over     []integer
	bits     int    // of the longest
	inverted []byte // the inverse of the divisor, little-endian; nil for 1
}

type integer struct {
	value    []byte // little-endian, of bits
	negative bool
}

// shortSharesMax is the size from which on blst's sums use buckets, which long
// factors cost little.
const shortSharesMax = 31

// shortFactors returns the factors for shares in the order given, which are
// distinct, or nil where they are not much shorter than the group order.
func shortFactors(indices []uint32) *fractions {
	n := len(indices)
	if n > shortSharesMax {
		return nil
	}
	nums, dens := make([]*big.Int, n), make([]*big.Int, n)
	divisor := big.NewInt(1)
	for i, index := range indices {
		xi := new(big.Int).SetUint64(abscissa(index))
		num, den := big.NewInt(1), big.NewInt(1)
		for j, other := range indices {
			if i != j {
				xj := new(big.Int).SetUint64(abscissa(other))
				num.Mul(num, xj)
				den.Mul(den, new(big.Int).Sub(xj, xi))
			}
		}
		common := new(big.Int).GCD(nil, nil, num, new(big.Int).Abs(den))
		nums[i], dens[i] = num.Quo(num, common), den.Quo(den, common)
		size := new(big.Int).Abs(dens[i])
		shared := new(big.Int).GCD(nil, nil, divisor, size)
		divisor.Mul(divisor, size.Quo(size, shared))
	}
	f := &fractions{over: make([]integer, n)}
	for i := range nums {
		nums[i].Mul(nums[i], dens[i].Quo(divisor, dens[i])) // exact
		f.bits = max(f.bits, nums[i].BitLen())
	}
	long := 8 * SecretKeySize
	if work := n*f.bits + long; 4*work > 3*n*long {
		return nil
	}
	for i, v := range nums {
		f.over[i] = integer{littleEndianBytes(v, (f.bits+7)/8), v.Sign() < 0}
	}
	if divisor.IsInt64() && divisor.Int64() == 1 {
		return f
	}
	f.inverted = littleEndianBytes(divisor.ModInverse(divisor, groupOrder()), SecretKeySize)
	return f
}

// groupOrder returns r.
func groupOrder() *big.Int {
	r := new(big.Int)
	for _, word := range slices.Backward(order[:]) {
		r.Or(r.Lsh(r, 64), new(big.Int).SetUint64(word))
	}
	return r
}

// littleEndianBytes returns the absolute value of v in size bytes.
func littleEndianBytes(v *big.Int, size int) []byte {
	b := v.FillBytes(make([]byte, size))
	slices.Reverse(b)
	return b
}

// combine returns the sum of points times factors.
func (f *fractions) combine(points []*Point) *blst.P1Affine {
	var plus, minus blst.P1
	for i, p := range points {
		sum := &plus
		if f.over[i].negative {
			sum = &minus
		}
		sum.MultNAccumulate(&p.affine, f.over[i].value, f.bits)
	}
	plus.SubAssign(&minus)
	if f.inverted != nil {
		plus.MultAssign(f.inverted)
	}
	return plus.ToAffine()
}
