package bls

import (
	"io"

	blst "github.com/supranational/blst/bindings/go"
)

const (
	// weightSize is the length of a random weight in bytes. A bad signature
	// slips through a batch with a probability of about 2^-128.
	weightSize = 16
	// minBatch is the least number of signatures for which one combined check
	// costs less than checking them one by one.
	minBatch = 4
)

// VerifyMany checks sigs[i] against keys[i] for all i, all of the same message,
// and returns the indices of those that do not verify, in rising order: exactly
// the ones that [PublicKey.Verify] would refuse. It panics if the lengths
// differ, which is a fault of the caller, never of outside input.
//
// The signatures are combined with random weights and checked together; a
// failed combination is halved until the culprits stand alone. Weights must be
// unpredictable to the signers: with known ones, two bad signatures could be
// built to cancel. If reading weights fails, every signature is checked alone.
func VerifyMany(ns, msg []byte, keys []*PublicKey, sigs []Signature, weights io.Reader) (bad []int) {
	if len(keys) != len(sigs) {
		panic("bls: VerifyMany needs one signature per key")
	}
	b := batch{
		hash:   hashToCurve(SignedBytes(ns, msg), messageDST),
		failed: make([]bool, len(sigs)),
	}
	for i := range sigs {
		point, err := sigs[i].point()
		if err != nil {
			b.failed[i] = true
			continue
		}
		b.index = append(b.index, i)
		b.sigs = append(b.sigs, point)
		b.keys = append(b.keys, &keys[i].point)
	}
	if len(b.sigs) < minBatch || !b.drawWeights(weights) {
		b.checkEach()
	} else if all := b.sum(0, len(b.sigs)); !b.holds(all) {
		b.bisect(0, len(b.sigs), all)
	}
	for i, failed := range b.failed {
		if failed {
			bad = append(bad, i)
		}
	}
	return bad
}

// batch is a set of well-formed signatures of one message.
type batch struct {
	hash    *blst.P1Affine
	sigs    []*blst.P1Affine
	keys    []*blst.P2Affine
	weights [][]byte // weight of each, little-endian, not zero
	index   []int    // place of each in the caller's slices
	failed  []bool   // verdicts, by place in the caller's slices
}

// combination is a weighted sum of signatures beside the same sum of keys. It
// holds if the first is a signature by the second.
type combination struct {
	sig *blst.P1
	key *blst.P2
}

func (b *batch) drawWeights(from io.Reader) bool {
	drawn := make([]byte, weightSize*len(b.sigs))
	if _, err := io.ReadFull(from, drawn); err != nil {
		return false
	}
	b.weights = make([][]byte, len(b.sigs))
	for i := range b.weights {
		w := drawn[weightSize*i:][:weightSize]
		if [weightSize]byte(w) == ([weightSize]byte{}) {
			w[0] = 1 // zero would leave its signature out of the check
		}
		b.weights[i] = w
	}
	return true
}

func (b *batch) checkEach() {
	for i, sig := range b.sigs {
		if !pairingsEqual(sig, b.hash, b.keys[i]) {
			b.failed[b.index[i]] = true
		}
	}
}

// sum combines the signatures from lo up to hi. The range is not empty.
func (b *batch) sum(lo, hi int) combination {
	return combination{
		sig: blst.P1AffinesMult(b.sigs[lo:hi], b.weights[lo:hi], 8*weightSize),
		key: blst.P2AffinesMult(b.keys[lo:hi], b.weights[lo:hi], 8*weightSize),
	}
}

func (b *batch) holds(c combination) bool {
	return pairingsEqual(c.sig.ToAffine(), b.hash, c.key.ToAffine())
}

// bisect marks the bad signatures from lo up to hi, whose sum is known not to
// hold. The right half costs no multiplication, since its sum is what the left
// one leaves of the whole, and no pairing if the left half holds: then the
// fault can only be on the right. A single signature whose combination fails is
// bad for certain, because its weight is invertible.
func (b *batch) bisect(lo, hi int, whole combination) {
	if hi-lo == 1 {
		b.failed[b.index[lo]] = true
		return
	}
	mid := lo + (hi-lo)/2
	left := b.sum(lo, mid)
	right := combination{sig: whole.sig.Sub(left.sig), key: whole.key.Sub(left.key)}
	leftHolds := b.holds(left)
	if !leftHolds {
		b.bisect(lo, mid, left)
	}
	if leftHolds || !b.holds(right) {
		b.bisect(mid, hi, right)
	}
}
