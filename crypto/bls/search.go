package bls

import (
	"encoding/binary"
	"io"
	"math/bits"

	blst "github.com/supranational/blst/bindings/go"
)

// How the bad signatures of a batch are found.
//
// Write d(i) for the pairing product of signature i: one if it is good. With
// random weights w(i), a range has two products,
//
//	first  = Π d(i)^w(i)      second = Π d(i)^(w(i)·i)
//
// If first is one, all of the range are good. If first^x = second for a position
// x of the range, exactly x is bad: one more product finds a lone culprit among
// any number of signatures, and finds it for certain (below). This is the
// exponentiation method of Law and Matt ("Finding Invalid Signatures in
// Pairing-Based Batches", 2007), with the weights it lacks.
//
// With two or more bad signatures, a block is cut from the left of the range and
// its products computed; those of the rest are quotients, so that the rest is
// judged without a pairing or a sum: it may be good, hold one culprit, or be cut
// again. There is no need to invert anything: quotients are kept as fractions.
//
// Soundness. A range with bad signatures passes for good only if Σ w(i)·e(i) = 0
// modulo r, e(i) being the logarithms of the d(i), not all zero; and passes for
// holding x alone though another is bad only if Σ w(i)·e(i)·(i-x) = 0, again with
// a factor that is not zero. Weights are uniform among 2^128 values and below r,
// so either has a chance of at most 2^-128. Fewer than 2^13 such questions are
// asked of a batch.
//
// Bounds. Each step is taken only if the work done, the step, and checking
// one by one whatever is still open stay together below the limit of the policy.
// So no mixture of bad signatures makes a batch dearer than the limit.

const (
	// weightSize is the length of a random weight in bytes.
	weightSize = 16
	// maxBatch bounds the positions in one search, and so the width of a weight
	// times a position.
	maxBatch       = 1 << 12
	positionedBits = 8*weightSize + 12
	positionedSize = (positionedBits + 7) / 8
	// tinyRange is the size at which checking one by one is the best search.
	tinyRange = 4
	// smallRange is the size up to which a range is cut in halves; longer ones,
	// of which only a few in a hundred are bad in practice, into narrow blocks.
	smallRange = 16
)

// slack is what a policy may waste, in hundredths of the pairings of checking
// one by one. Bounded promises 1.1 times what checking one by one costs with
// blst's own call, which beside the pairing hashes and decompresses for each
// signature: about 1.28 times our pairings, after our own decompression.
var slack = [...]int{Bounded: 18, Hopeful: 100, Eager: 0}

// fraction is an element of the group of pairing products, as num/den.
type fraction struct{ num, den blst.Fp12 }

func whole(v blst.Fp12) fraction { return fraction{v, blst.Fp12One()} }

// over returns f/v.
func (f fraction) over(v *blst.Fp12) fraction {
	f.den.MulAssign(v)
	return f
}

func (f *fraction) isOne() bool { return f.num.Equals(&f.den) }

// span is a range of signatures with the products of its open ones.
type span struct {
	lo, hi        int
	first, second fraction
	located       bool // whether second is known
}

// from returns the span from position lo on; the ones left out are good or were
// divided out.
func (s span) from(lo int) span {
	s.lo = lo
	return s
}

func (s *span) size() int { return s.hi - s.lo }

// search is the state of one batch.
type search struct {
	batch
	weights    []byte
	positioned []byte // weight times position, of each
	bad        []bool
	decided    []bool
	open       int // not decided
	spent      int // cost so far
	limit      int // cost allowed
	products   int // pairing products computed
}

// searchFor finds, for each signature of b, whether it is bad.
func searchFor(b batch, opt Options) *search {
	n := b.size()
	s := &search{batch: b, bad: make([]bool, n), decided: make([]bool, n), open: n}
	if int(opt.Policy) < len(slack) {
		s.limit = n * pairingCost * (100 + slack[opt.Policy]) / 100
	}
	all := span{lo: 0, hi: n}
	if n < 2 || !s.affords(b.cost(n)) || !s.draw(opt.Weights) {
		s.each()
		return s
	}
	first := s.sum(0, n, s.weights, weightSize)
	all.first = whole(first)
	switch {
	case isOne(&first):
		return s
	case !s.affords(b.cost(n)):
		s.rest(all, 1)
		return s
	case s.hopeless():
		s.each()
		return s
	}
	all.second = whole(s.sum(0, n, s.positioned, positionedSize))
	all.located = true
	if !s.lone(&all) {
		s.divide(all)
	}
	return s
}

// each checks every open signature alone.
func (s *search) each() {
	for i := range s.bad {
		if !s.decided[i] {
			s.productOf(i)
		}
	}
}

// draw reads the weights.
func (s *search) draw(from io.Reader) bool {
	if from == nil {
		return false
	}
	n := s.size()
	s.weights = make([]byte, weightSize*n)
	if _, err := io.ReadFull(from, s.weights); err != nil {
		return false
	}
	s.positioned = make([]byte, positionedSize*n)
	for i := range n {
		w := s.weights[weightSize*i:][:weightSize]
		if [weightSize]byte(w) == ([weightSize]byte{}) {
			w[0] = 1 // zero would leave its signature out of the check
		}
		hi, lo := bits.Mul64(binary.LittleEndian.Uint64(w), uint64(i))
		top, mid := bits.Mul64(binary.LittleEndian.Uint64(w[8:]), uint64(i))
		mid, carry := bits.Add64(mid, hi, 0)
		p := s.positioned[positionedSize*i:][:positionedSize]
		binary.LittleEndian.PutUint64(p, lo)
		binary.LittleEndian.PutUint64(p[8:], mid)
		binary.LittleEndian.PutUint16(p[16:], uint16(top+carry)) // i is below 2^12
	}
	return true
}

// affords reports whether a step of the given cost keeps the promise.
func (s *search) affords(cost int) bool {
	return s.spent+cost+s.open*pairingCost <= s.limit
}

// sum returns a product over a range of the batch.
func (s *search) sum(lo, hi int, factors []byte, width int) blst.Fp12 {
	s.spent += s.cost(hi - lo)
	s.products++
	return s.product(lo, hi, factors[width*lo:width*hi], width)
}

// setVerdict gives the verdict on one signature.
func (s *search) setVerdict(i int, bad bool) {
	if !s.decided[i] {
		s.decided[i] = true
		s.open--
	}
	s.bad[i] = bad
}

func (s *search) decideRange(lo, hi int, bad bool) {
	for i := lo; i < hi; i++ {
		s.setVerdict(i, bad)
	}
}

// productOf looks at one signature alone and returns its product.
func (s *search) productOf(i int) blst.Fp12 {
	v := s.batch.lone(i)
	s.spent += pairingCost
	s.products++
	s.setVerdict(i, !isOne(&v))
	return v
}

// hopeless samples two signatures of a batch that has bad ones. If both are
// bad, most are likely to be, and searching would only add to checking each.
func (s *search) hopeless() bool {
	n := s.size()
	a := int(binary.LittleEndian.Uint32(s.weights) % uint32(n))
	b := int(binary.LittleEndian.Uint32(s.weights[weightSize:]) % uint32(n))
	if a == b {
		b = (b + 1) % n
	}
	for _, i := range [...]int{a, b} {
		if s.productOf(i); !s.bad[i] {
			return false
		}
	}
	return true
}

// rest decides a span one by one, when nothing better is affordable; known is
// the least number of bad ones in it. Each bad one found is divided out of the
// span's products as long as that is affordable, for it may show that the others
// are good or that only one is left.
func (s *search) rest(r span, known int) {
	explained := true // whether all bad ones so far were divided out
	for ; r.lo < r.hi; r.lo++ {
		if r.size() <= known {
			s.decideRange(r.lo, r.hi, true)
			return
		}
		i := r.lo
		if s.decided[i] { // by the sample, which kept no product
			if s.bad[i] {
				explained = false
				known--
			}
			continue
		}
		v := s.productOf(i)
		if !s.bad[i] {
			continue
		}
		known--
		if explained = explained && s.affords(powerCost); !explained {
			continue
		}
		s.spent += powerCost
		v = power(&v, s.weights[weightSize*i:][:weightSize])
		r.first = r.first.over(&v)
		if r.first.isOne() {
			s.decideRange(i+1, r.hi, false)
			return
		}
		known = max(known, 1)
		if r.located {
			mulPower(&r.second.den, v, i)
			if after := r.from(i + 1); s.lone(&after) {
				return
			}
			known = max(known, 2)
		}
	}
}

// lone looks for a single bad signature in a span whose first product is not
// one, and decides the span if there is just one.
func (s *search) lone(r *span) bool {
	// second = first^x in terms without division:
	// second.num · first.den^x = second.den · first.num^x.
	left, right := r.second.num, r.second.den
	denominator := !isOne(&r.first.den)
	if r.lo > 0 {
		mulPower(&right, r.first.num, r.lo)
		if denominator {
			mulPower(&left, r.first.den, r.lo)
		}
	}
	s.spent += 2 * gtCost * r.size()
	for x := r.lo; x < r.hi; x++ {
		if left.Equals(&right) {
			s.decideRange(r.lo, x, false)
			s.setVerdict(x, true)
			s.decideRange(x+1, r.hi, false)
			return true
		}
		right.MulAssign(&r.first.num)
		if denominator {
			left.MulAssign(&r.first.den)
		}
	}
	return false
}

// divide decides a span that holds at least two bad signatures.
func (s *search) divide(r span) {
	width := r.size() / 6
	if r.size() <= smallRange {
		width = r.size() / 2
	}
	for r.size() > tinyRange {
		width = max(1, min(width, r.size()/2))
		mid := r.lo + width
		if !s.affords(s.cost(width)) {
			break
		}
		first := s.sum(r.lo, mid, s.weights, weightSize)
		if isOne(&first) { // the span's bad ones are all to the right
			s.decideRange(r.lo, mid, false)
			r.lo = mid
			width *= 2
			continue
		}
		others := r.first.over(&first)
		if others.isOne() { // and here all to the left
			s.decideRange(mid, r.hi, false)
			r.hi = mid
			width /= 2
			continue
		}
		if !s.affords(s.cost(width)) {
			break
		}
		second := s.sum(r.lo, mid, s.positioned, positionedSize)
		block := span{r.lo, mid, whole(first), whole(second), true}
		r = span{mid, r.hi, others, r.second.over(&second), true}
		if !s.lone(&block) {
			s.divide(block)
			width /= 2
		}
		if s.lone(&r) {
			return
		}
	}
	s.rest(r, 2)
}

// mulPower multiplies acc by v^e for a small e.
func mulPower(acc *blst.Fp12, v blst.Fp12, e int) {
	for ; e > 0; e >>= 1 {
		if e&1 == 1 {
			acc.MulAssign(&v)
		}
		v.MulAssign(&v)
	}
}

// power returns v^e for a little-endian e of any length.
func power(v *blst.Fp12, e []byte) blst.Fp12 {
	const window = 4
	var table [1 << window]blst.Fp12 // v^0, v^1, ...
	table[0] = blst.Fp12One()
	for i := 1; i < len(table); i++ {
		table[i] = table[i-1]
		table[i].MulAssign(v)
	}
	acc := table[0]
	for i := len(e) - 1; i >= 0; i-- {
		for _, digit := range [...]byte{e[i] >> window, e[i] & (1<<window - 1)} {
			for range window {
				acc.MulAssign(&acc)
			}
			if digit != 0 {
				acc.MulAssign(&table[digit])
			}
		}
	}
	return acc
}
