package bls

import (
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	blst "github.com/supranational/blst/bindings/go"
)

// Recover combines partial signatures of one message into the group's. It uses
// the first t and does not check them against their shares: verify the result
// under the group's key, and the partials one by one only if that fails.
// The error is ErrThreshold, ErrTooFewPartials, ErrDuplicateIndex or that of a
// malformed signature. See [Recoverer] for recovering more than once.
//
// The subgroup is checked on the result instead of on each partial, which loses
// nothing: what partials outside the subgroup add to the sum either leaves the
// result outside too, and then the culprit is named with ErrSubgroup, or it
// cancels, and then the result is what their parts inside amount to. So the
// result is always in the subgroup or refused.
func Recover(t int, partials []Partial) (Signature, error) {
	if t < 1 || t > MaxShares {
		return Signature{}, ErrThreshold
	}
	if len(partials) < t {
		return Signature{}, fmt.Errorf("%d of %d: %w", len(partials), t, ErrTooFewPartials)
	}
	partials = partials[:t]
	l, err := NewLagrange(indicesOf(partials))
	if err != nil {
		return Signature{}, err
	}
	return l.recover(partials)
}

func indicesOf(partials []Partial) []uint32 {
	indices := make([]uint32, len(partials))
	for i := range partials {
		indices[i] = partials[i].Index
	}
	return indices
}

// Lagrange holds the factors by which the partial signatures of one set of
// shares combine. It does not change and may be shared.
type Lagrange struct {
	indices []uint32
	factors []byte // 32 bytes each, little-endian
	short   *fractions
}

// NewLagrange computes the factors for shares in the order given. The error is
// ErrThreshold (no share, or more than MaxShares) or ErrDuplicateIndex.
func NewLagrange(indices []uint32) (*Lagrange, error) {
	if len(indices) < 1 || len(indices) > MaxShares {
		return nil, ErrThreshold
	}
	sorted := slices.Sorted(slices.Values(indices))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return nil, fmt.Errorf("share %d: %w", sorted[i], ErrDuplicateIndex)
		}
	}
	return &Lagrange{slices.Clone(indices), lagrangeAtZero(indices), shortFactors(indices)}, nil
}

// Recover combines checked partial signatures, points[i] made with share i of
// the set. It panics if there are not as many, which is a fault of the caller.
func (l *Lagrange) Recover(points []*Point) Signature {
	if len(points) != len(l.indices) {
		panic("bls: Recover needs one point per share of the set")
	}
	return Signature(l.combine(points).Compress())
}

func (l *Lagrange) combine(points []*Point) *blst.P1Affine {
	return sumPoints(points, l.factors, SecretKeySize)
}

// recover combines unchecked partial signatures, in the order of the set.
func (l *Lagrange) recover(partials []Partial) (Signature, error) {
	points, err := onCurves(partials)
	if err != nil {
		return Signature{}, err
	}
	sum := l.combine(points)
	if !sum.InG1() {
		for i, p := range points {
			if !p.affine.InG1() {
				return Signature{}, fmt.Errorf("partial of share %d: %w", partials[i].Index, ErrSubgroup)
			}
		}
	}
	return Signature(sum.Compress()), nil
}

// sum combines unchecked partial signatures, in the order of the set, into what
// may lie outside the subgroup.
func (l *Lagrange) sum(partials []Partial) (*blst.P1Affine, error) {
	points, err := onCurves(partials)
	if err != nil {
		return nil, err
	}
	if l.short != nil {
		return l.short.combine(points), nil
	}
	return l.combine(points), nil
}

func onCurves(partials []Partial) ([]*Point, error) {
	points := make([]*Point, len(partials))
	for i := range partials {
		p, err := partials[i].Sig.onCurve()
		if err != nil {
			return nil, fmt.Errorf("partial of share %d: %w", partials[i].Index, err)
		}
		points[i] = p
	}
	return points, nil
}

// lagrangeAtZero returns the factors w with f(0) = Σ w[i] f(x[i]) for every
// polynomial f of lower degree than the number of shares: the product of all x
// divided by x[i] and by all x[j] - x[i]. The x are distinct, not zero.
func lagrangeAtZero(indices []uint32) []byte {
	xs := make([]uint64, len(indices))
	for i, index := range indices {
		xs[i] = abscissa(index)
	}
	all := newRun()
	for _, x := range xs {
		all.mul(x)
	}
	product := all.value(false)
	divisors := make([]element, len(xs))
	for i, xi := range xs {
		d := newRun()
		d.mul(xi)
		negative := false
		for j, xj := range xs {
			switch {
			case j == i:
			case xj > xi:
				d.mul(xj - xi)
			default:
				d.mul(xi - xj)
				negative = !negative
			}
		}
		divisors[i] = d.value(negative)
	}
	invertAll(divisors)
	factors := make([]byte, 0, SecretKeySize*len(xs))
	for i := range divisors {
		f := divisors[i].mul(&product)
		factors = f.appendLittleEndian(factors)
	}
	return factors
}

// run multiplies many small numbers, in one word while they fit: indices of a
// committee are small, so a field multiplication takes in several at a time.
type run struct {
	acc  element
	word uint64
}

func newRun() run { return run{acc: montgomeryOne, word: 1} }

// mul takes in v, which is not zero.
func (r *run) mul(v uint64) {
	if hi, lo := bits.Mul64(r.word, v); hi == 0 {
		r.word = lo
		return
	}
	r.flush()
	r.word = v
}

func (r *run) flush() {
	e := elementOf(r.word)
	r.acc = r.acc.mul(&e)
	r.word = 1
}

func (r *run) value(negative bool) element {
	r.flush()
	if negative {
		return r.acc.neg()
	}
	return r.acc
}

// Recoverer recovers signatures of one group and keeps the factors of the sets
// of shares it met last: a quorum signs the vote and the seed alike, and often
// many views in a row. It is not safe for concurrent use.
type Recoverer struct {
	threshold int
	keep      int
	sets      []*Lagrange // indices in rising order; the last used set is last
}

// NewRecoverer returns a Recoverer for threshold t that keeps the factors of up
// to keep sets, t words of 36 bytes each. The error is ErrThreshold if t is not
// between 1 and MaxShares, or keep is below 1.
func NewRecoverer(t, keep int) (*Recoverer, error) {
	if t < 1 || t > MaxShares || keep < 1 {
		return nil, ErrThreshold
	}
	return &Recoverer{threshold: t, keep: keep}, nil
}

// Recover is [Recover] with the Recoverer's threshold.
func (r *Recoverer) Recover(partials []Partial) (Signature, error) {
	if len(partials) < r.threshold {
		return Signature{}, fmt.Errorf("%d of %d: %w", len(partials), r.threshold, ErrTooFewPartials)
	}
	sorted := slices.Clone(partials[:r.threshold])
	slices.SortFunc(sorted, func(a, b Partial) int { return cmp.Compare(a.Index, b.Index) })
	l, err := r.set(indicesOf(sorted))
	if err != nil {
		return Signature{}, err
	}
	return l.recover(sorted)
}

// Guess is [Recoverer.Recover] the short way and without a check: a signature that is
// the group's if all partial ones are good. The caller holds it against one that was
// verified. It reports false where nothing can be combined.
func (r *Recoverer) Guess(partials []Partial) (Signature, bool) {
	if len(partials) < r.threshold {
		return Signature{}, false
	}
	sorted := slices.Clone(partials[:r.threshold])
	slices.SortFunc(sorted, func(a, b Partial) int { return cmp.Compare(a.Index, b.Index) })
	l, err := r.set(indicesOf(sorted))
	if err != nil {
		return Signature{}, false
	}
	sum, err := l.sum(sorted)
	if err != nil {
		return Signature{}, false
	}
	return Signature(sum.Compress()), true
}

// CheckedPartial is a partial signature that [VerifyVotes] passed.
type CheckedPartial struct {
	Index uint32
	Point *Point
}

// RecoverChecked is [Recoverer.Recover] for partials whose points were checked
// before: nothing is decompressed or checked again.
func (r *Recoverer) RecoverChecked(partials []CheckedPartial) (Signature, error) {
	if len(partials) < r.threshold {
		return Signature{}, fmt.Errorf("%d of %d: %w", len(partials), r.threshold, ErrTooFewPartials)
	}
	sorted := slices.Clone(partials[:r.threshold])
	slices.SortFunc(sorted, func(a, b CheckedPartial) int { return cmp.Compare(a.Index, b.Index) })
	indices, points := make([]uint32, len(sorted)), make([]*Point, len(sorted))
	for i, p := range sorted {
		indices[i], points[i] = p.Index, p.Point
	}
	l, err := r.set(indices)
	if err != nil {
		return Signature{}, err
	}
	return l.Recover(points), nil
}

// set returns the factors of a sorted set of shares.
func (r *Recoverer) set(indices []uint32) (*Lagrange, error) {
	for i, l := range slices.Backward(r.sets) {
		if slices.Equal(l.indices, indices) {
			r.sets = append(slices.Delete(r.sets, i, i+1), l)
			return l, nil
		}
	}
	l, err := NewLagrange(indices)
	if err != nil {
		return nil, err
	}
	if len(r.sets) == r.keep {
		r.sets = slices.Delete(r.sets, 0, 1)
	}
	r.sets = append(r.sets, l)
	return l, nil
}

// Quorum is unchecked partial signatures of one message.
type Quorum struct {
	Message  *Message
	Partials []Partial
}

// RecoverVerified recovers the group's signature of each message and verifies
// all of them under key with one product of two pairings. It reports false if a
// partial signature is bad, too few are there, or opt has no weights to give;
// [VerifyVotes] then names the culprits. What it returns is verified, so the
// partial signatures behind it need no check: neither for the subgroup nor
// against their shares. That makes it the cheap way while nobody cheats.
// Messages are worked on side by side where there are processors.
func (r *Recoverer) RecoverVerified(key *PublicKey, quorums []Quorum, opt Options) ([]Signature, bool) {
	if len(quorums) == 0 {
		return nil, false
	}
	sums := make([]*Point, len(quorums))
	sets := make([]*Lagrange, len(quorums))
	sorted := make([][]Partial, len(quorums))
	for i, q := range quorums {
		if len(q.Partials) < r.threshold {
			return nil, false
		}
		sorted[i] = slices.Clone(q.Partials[:r.threshold])
		slices.SortFunc(sorted[i], func(a, b Partial) int { return cmp.Compare(a.Index, b.Index) })
		var err error
		if sets[i], err = r.set(indicesOf(sorted[i])); err != nil {
			return nil, false
		}
	}
	besides(len(quorums), func(i int) {
		if sum, err := sets[i].sum(sorted[i]); err == nil && sum.InG1() {
			sums[i] = &Point{*sum}
		}
	})
	for _, sum := range sums {
		if sum == nil {
			return nil, false
		}
	}
	b := &certificateBatch{key: key, sigs: sums}
	for _, q := range quorums {
		b.messages = append(b.messages, q.Message)
	}
	if !allGood(b, opt.Weights) {
		return nil, false
	}
	out := make([]Signature, len(sums))
	for i, sum := range sums {
		out[i] = sum.Signature()
	}
	return out, true
}

// allGood reports whether no signature of b is bad, by one combined check. The
// first has the weight one, the others random ones: a combination of errors is
// zero for at most one value of any of those, so the chance that a bad signature
// passes is 2^-127 at most.
func allGood(b *certificateBatch, weights io.Reader) bool {
	var sig, hash blst.P1
	sig.FromAffine(&b.sigs[0].affine)
	hash.FromAffine(&b.messages[0].minus)
	for i := 1; i < b.size(); i++ {
		var w [weightSize]byte
		if weights == nil {
			return false
		}
		if _, err := io.ReadFull(weights, w[:]); err != nil {
			return false
		}
		w[0] |= 1 // zero would leave its signature out of the check
		sig.MultNAccumulate(&b.sigs[i].affine, w[:])
		hash.MultNAccumulate(&b.messages[i].minus, w[:])
	}
	v := pairingProduct(sig.ToAffine(), hash.ToAffine(), &b.key.point)
	return isOne(&v)
}

// besides runs f for 0 to n-1, side by side where there are processors, and
// returns when all have.
func besides(n int, f func(int)) {
	if runtime.GOMAXPROCS(0) == 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var others sync.WaitGroup
	for i := 1; i < n; i++ {
		others.Go(func() { f(i) })
	}
	if n > 0 {
		f(0)
	}
	others.Wait()
}
