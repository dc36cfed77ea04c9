package ed25519

import (
	"crypto/sha512"
	"encoding/binary"
	"errors"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// ErrPublicKey means 32 bytes that encode no point of the curve.
var ErrPublicKey = errors.New("ed25519 public key is no point")

const (
	keyWidth   = 8 // digits of scalars on known keys: 64 odd multiples
	nonceWidth = 5 // on nonce points, whose tables live for one call: 8
	splitBit   = 127
)

// KnownKey is a public key with the tables that make its signatures cheap to
// check: about 15 KB. A node holds one for each validator. It does not change
// and is safe for concurrent use.
type KnownKey struct {
	encoding [PublicKeySize]byte
	// Odd multiples of A and of 2^127·A: with both, no scalar in a batch is
	// longer than 128 bits, and the doublings that all of them share are halved.
	low, high [1 << (keyWidth - 2)]affineAddend
}

// NewKnownKey decodes a key by ZIP-215 and prepares its tables.
func NewKnownKey(pub [PublicKeySize]byte) (*KnownKey, error) {
	a, err := new(edwards25519.Point).SetBytes(pub[:])
	if err != nil {
		return nil, ErrPublicKey
	}
	k := &KnownKey{encoding: pub}
	d2 := twiceD()
	var points [2 * len(k.low)]projective
	q := fromPoint(a)
	oddMultiples(points[:len(k.low)], &q, &d2)
	for range splitBit {
		var c completed
		c.double(&q)
		q.from(&c, true)
	}
	oddMultiples(points[len(k.low):], &q, &d2)
	affineAddends(k.low[:], points[:len(k.low)], &d2)
	affineAddends(k.high[:], points[len(k.low):], &d2)
	return k, nil
}

// Bytes returns the encoding that the key was made from.
func (k *KnownKey) Bytes() [PublicKeySize]byte { return k.encoding }

// Signed is one signature to check.
type Signed struct {
	Key     *KnownKey
	Message []byte
	// Signature is refused unless it has 64 bytes.
	Signature []byte
}

// VerifyMany checks signatures of known keys together and returns the indices
// of the bad ones in rising order, nil if all are good. Its verdicts are those
// of [Verify].
//
// It checks [8](Σ zᵢ·Sᵢ·B - Σ zᵢ·Rᵢ - Σ zᵢ·kᵢ·Aᵢ) = 0 with 128-bit weights zᵢ
// and looks for the bad ones by halves if that fails: the sum of one half says
// what the other's is, so each level costs one sum. The weights are a hash of
// everything that the equation contains: whoever chooses signatures so that
// their errors cancel changes the weights.
func VerifyMany(batch []Signed) (bad []int) {
	d2 := twiceD()
	terms := make([]term, 0, len(batch))
	for i := range batch {
		t := term{index: i, key: batch[i].Key}
		if !t.read(&batch[i], &d2) {
			bad = append(bad, i)
			continue
		}
		terms = append(terms, t)
	}
	weigh(terms)
	if len(terms) > 0 && !isZero(terms) {
		bad = merge(bad, search(terms, nil))
	}
	return bad
}

// term is one signature on its way into the sum.
type term struct {
	index int
	key   *KnownKey
	k, s  edwards25519.Scalar // hash and signature scalar
	// zs is z·s. The digits are of z on -R, and of z·k on -A in two halves.
	zs               edwards25519.Scalar
	onR, onLow, onHi [digitsMax]int8
	nonce            [1 << (nonceWidth - 2)]addend // odd multiples of R
}

// read decodes a signature. It reports false if there is no equation to check.
func (t *term) read(in *Signed, d2 *field.Element) bool {
	if len(in.Signature) != SignatureSize {
		return false
	}
	if _, err := t.s.SetCanonicalBytes(in.Signature[32:]); err != nil {
		return false
	}
	r, err := new(edwards25519.Point).SetBytes(in.Signature[:32])
	if err != nil {
		return false
	}
	q := fromPoint(r)
	var multiples [len(t.nonce)]projective
	oddMultiples(multiples[:], &q, d2)
	for i := range multiples {
		t.nonce[i].ready(&multiples[i], d2)
	}
	t.k = *hashScalar(in.Signature[:32], in.Key.encoding[:], in.Message)
	return true
}

// weigh draws the weights and recodes the scalars.
func weigh(terms []term) {
	all := sha512.New()
	for i := range terms {
		all.Write(terms[i].k.Bytes()) // binds R, A and the message
		all.Write(terms[i].s.Bytes())
	}
	seed := all.Sum(nil)
	for i := range terms {
		t := &terms[i]
		draw := sha512.Sum512(binary.LittleEndian.AppendUint64(seed[:sha512.Size:sha512.Size], uint64(i)))
		var weight [32]byte
		copy(weight[:16], draw[:])
		weight[0] |= 1 // not zero: a sum of one term is an exact verdict
		z, err := new(edwards25519.Scalar).SetCanonicalBytes(weight[:])
		if err != nil {
			panic("ed25519: 128 bits are below the group order")
		}
		t.zs.Multiply(z, &t.s)
		low, high := halves(new(edwards25519.Scalar).Multiply(z, &t.k))
		recode(&t.onLow, low[0], low[1], keyWidth)
		recode(&t.onHi, high[0], high[1], keyWidth)
		recode(&t.onR, binary.LittleEndian.Uint64(weight[:]), binary.LittleEndian.Uint64(weight[8:]), nonceWidth)
	}
}

// isZero reports whether the equation holds for the sum of terms.
func isZero(terms []term) bool {
	var s edwards25519.Scalar
	for i := range terms {
		s.Add(&s, &terms[i].zs)
	}
	sum := identity()
	var c completed
	for bit := digitsMax - 1; bit >= 0; bit-- {
		c.double(&sum)
		sum.from(&c, true)
		for i := range terms {
			t := &terms[i]
			if d := t.onR[bit]; d != 0 {
				c.add(&sum, &t.nonce[place(d)], d > 0) // minus, if the digit is not
				sum.from(&c, true)
			}
			if d := t.onLow[bit]; d != 0 {
				c.addAffine(&sum, &t.key.low[place(d)], d > 0)
				sum.from(&c, true)
			}
			if d := t.onHi[bit]; d != 0 {
				c.addAffine(&sum, &t.key.high[place(d)], d > 0)
				sum.from(&c, true)
			}
		}
	}
	q, ok := sum.point()
	if !ok {
		return false
	}
	q.Add(q, new(edwards25519.Point).ScalarBaseMult(&s))
	return q.MultByCofactor(q).Equal(edwards25519.NewIdentityPoint()) == 1
}

// place is where a table of odd multiples has that of digit d.
func place(d int8) int { return int(max(d, -d)) >> 1 }

// search appends the indices of the bad terms, of which there is at least one.
func search(terms []term, bad []int) []int {
	if len(terms) == 1 {
		return append(bad, terms[0].index)
	}
	left, right := terms[:len(terms)/2], terms[len(terms)/2:]
	if isZero(left) {
		return search(right, bad) // the error must be there
	}
	bad = search(left, bad)
	if !isZero(right) {
		bad = search(right, bad)
	}
	return bad
}

// merge joins two rising lists.
func merge(a, b []int) []int {
	out := make([]int, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
