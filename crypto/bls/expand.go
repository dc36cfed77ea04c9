package bls

import (
	blst "github.com/supranational/blst/bindings/go"
)

const (
	// digitBits is the size of the digits into which a factor is cut for an
	// expanded key. Seven bits keep the buckets of one sum in the first-level
	// cache and are best from some 30 keys up.
	digitBits = 7
	// digits cover the widest factor, a weight times a position.
	digits = (positionedBits + digitBits - 1) / digitBits
)

// Expand returns the same key with multiples by powers of two beside it, which
// make its share of a batch about a third cheaper. That costs the work of some
// three votes and 4 KiB, so it is for keys that serve for an epoch.
func (p *PublicKey) Expand() *PublicKey {
	points := make([]*blst.P2, digits)
	var next blst.P2
	next.FromAffine(&p.point)
	shift := []byte{1 << (digitBits - 1)}
	for i := range points {
		at := next
		points[i] = &at
		next.MultAssign(shift, digitBits)
		next.AddAssign(&next)
	}
	expanded := &PublicKey{point: p.point, multiples: make([]*blst.P2Affine, digits)}
	affine := blst.P2sToAffine(points)
	for i := range affine {
		expanded.multiples[i] = &affine[i]
	}
	return expanded
}

// sumKeys returns Σ factors[i]·keys[i]. Factors are little-endian, size bytes
// each. Over expanded keys it is one round of buckets: many points, each with a
// factor of one digit.
func sumKeys(keys []*PublicKey, factors []byte, size int) *blst.P2Affine {
	for _, k := range keys {
		if k.multiples == nil {
			return sumPlainKeys(keys, factors, size)
		}
	}
	used := min(digits, (8*size+digitBits-1)/digitBits)
	points := make([]*blst.P2Affine, 0, used*len(keys))
	small := make([]byte, 0, used*len(keys))
	for i, k := range keys {
		points = append(points, k.multiples[:used]...)
		small = appendDigits(small, factors[size*i:][:size], used)
	}
	return blst.P2AffinesMult(points, small, digitBits).ToAffine()
}

func sumPlainKeys(keys []*PublicKey, factors []byte, size int) *blst.P2Affine {
	points := make([]*blst.P2Affine, len(keys))
	for i, k := range keys {
		points[i] = &k.point
	}
	return blst.P2AffinesMult(points, factors, 8*size).ToAffine()
}

// appendDigits appends n digits of factor, lowest first.
func appendDigits(dst, factor []byte, n int) []byte {
	for bit := 0; bit < n*digitBits; bit += digitBits {
		var window uint
		for i := range 2 {
			if at := bit/8 + i; at < len(factor) {
				window |= uint(factor[at]) << (8 * i)
			}
		}
		dst = append(dst, byte(window>>(bit%8))&(1<<digitBits-1))
	}
	return dst
}
