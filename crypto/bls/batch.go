package bls

import (
	"io"
	"slices"

	blst "github.com/supranational/blst/bindings/go"
)

// Policy says how much work a batch may risk on combined checks, which are lost
// when they fail and tell too little.
type Policy uint8

const (
	// Bounded never costs more than 1.1 times checking one by one, whatever is
	// sent. Small batches, for which one failed attempt is already dearer, are
	// checked one by one: below 11 votes with expanded keys, 13 with plain ones.
	Bounded Policy = iota
	// Hopeful combines from two signatures up and risks as much again as
	// checking one by one would cost. It is for senders who are known, were
	// never caught, and can be caught only once.
	Hopeful
	// Eager checks one by one.
	Eager
)

// Options steer a batch. Only Weights is required.
type Options struct {
	// Weights must be unpredictable to the signers: with known ones, two bad
	// signatures could be built to cancel. If reading fails, or if it is nil,
	// every signature is checked alone.
	Weights io.Reader
	Policy  Policy
	// Suspects marks signatures, by position, to be checked alone: those of
	// senders caught before, so that they cannot spoil the batch of the others.
	// It may be nil or shorter than the batch.
	Suspects []bool
	// Products, if not nil, is raised by the number of pairing products computed: what a
	// batch saves. It is the caller's alone during the call.
	Products *int
}

// VerifyMany checks sigs[i] against keys[i] for all i, all of the same message,
// and returns the indices of those that do not verify, in rising order: exactly
// the ones that [PublicKey.Verify] would refuse, but for a chance of 2^-115 at
// most. It is [VerifyVotes] for a message met once.
func VerifyMany(ns, msg []byte, keys []*PublicKey, sigs []Signature, weights io.Reader) (bad []int) {
	_, bad = VerifyVotes(HashToPoint(ns, msg), keys, sigs, Options{Weights: weights})
	return bad
}

// VerifyVotes checks sigs[i] of m against keys[i] for all i. It returns the
// signatures as points, nil for the bad ones, and the indices of the bad ones in
// rising order. It panics if the lengths differ, which is a fault of the caller,
// never of outside input.
//
// Signatures are combined with random weights of 128 bits and checked together.
// If that fails, the culprits are searched as described at search; every
// signature is checked for the subgroup on its own in any case.
func VerifyVotes(m *Message, keys []*PublicKey, sigs []Signature, opt Options) (points []*Point, bad []int) {
	if len(keys) != len(sigs) {
		panic("bls: VerifyVotes needs one signature per key")
	}
	points = decompress(sigs)
	decide(points, opt, func(at []int) batch {
		b := &voteBatch{message: m}
		for _, i := range at {
			b.keys = append(b.keys, keys[i])
			b.sigs = append(b.sigs, points[i])
		}
		return b
	})
	return points, missing(points)
}

// Certificate is a signature that claims to be the group's, of one message.
type Certificate struct {
	Message *Message
	Sig     Signature
}

// VerifyCertificates checks signatures of different messages under one key and
// returns the indices of the bad ones, in rising order. The weights go to the
// side of G1, so that any number of messages takes one product of two pairings.
// A pair of message and signature that comes several times, as the seed of a
// view does, is checked once.
func VerifyCertificates(key *PublicKey, certs []Certificate, opt Options) (bad []int) {
	type pair struct {
		hash blst.P1Affine
		sig  Signature
	}
	var (
		first    = make(map[pair]int, len(certs)) // place in unique
		place    = make([]int, len(certs))
		unique   []Certificate
		suspects []bool
	)
	for i, c := range certs {
		suspect := i < len(opt.Suspects) && opt.Suspects[i]
		id := pair{c.Message.hash, c.Sig}
		at, known := first[id]
		if !known {
			at = len(unique)
			first[id] = at
			unique = append(unique, c)
			suspects = append(suspects, suspect)
		}
		suspects[at] = suspects[at] && suspect
		place[i] = at
	}
	sigs := make([]Signature, len(unique))
	for i := range unique {
		sigs[i] = unique[i].Sig
	}
	points := decompress(sigs)
	opt.Suspects = suspects
	decide(points, opt, func(at []int) batch {
		b := &certificateBatch{key: key}
		for _, i := range at {
			b.messages = append(b.messages, unique[i].Message)
			b.sigs = append(b.sigs, points[i])
		}
		return b
	})
	for i, at := range place {
		if points[at] == nil {
			bad = append(bad, i)
		}
	}
	return bad
}

// decompress returns the points of sigs, nil for malformed ones.
func decompress(sigs []Signature) []*Point {
	points := make([]*Point, len(sigs))
	for i := range sigs {
		if p, err := sigs[i].Point(); err == nil {
			points[i] = p
		}
	}
	return points
}

// missing returns the positions of nil points.
func missing(points []*Point) (at []int) {
	for i, p := range points {
		if p == nil {
			at = append(at, i)
		}
	}
	return at
}

// decide sets points that are bad to nil. Nil ones are decided already. Of the
// others, suspects are checked alone and the rest in batches, which form makes
// of a list of positions.
func decide(points []*Point, opt Options, form func(at []int) batch) {
	var together, alone []int
	for i, p := range points {
		switch {
		case p == nil:
		case i < len(opt.Suspects) && opt.Suspects[i]:
			alone = append(alone, i)
		default:
			together = append(together, i)
		}
	}
	products := 0
	judge := func(at []int, opt Options) {
		s := searchFor(form(at), opt)
		products += s.products
		for k, bad := range s.bad {
			if bad {
				points[at[k]] = nil
			}
		}
	}
	if len(alone) > 0 {
		judge(alone, Options{Policy: Eager})
	}
	for at := range slices.Chunk(together, maxBatch) {
		judge(at, opt)
	}
	if opt.Products != nil {
		*opt.Products += products
	}
}

// batch is a list of well-formed signatures whose checks can be combined.
type batch interface {
	size() int
	// lone returns the pairing product of signature i: one if it is good.
	lone(i int) blst.Fp12
	// product returns the product of lone(i) raised to factors[i-lo], over the
	// range, which is not empty. Factors are little-endian, width bytes each.
	product(lo, hi int, factors []byte, width int) blst.Fp12
	// cost is the model of product's time for n signatures, in the unit of
	// pairingCost.
	cost(n int) int
}

// The model of what things take, in microseconds of the machine it was fitted
// on; only ratios matter, and they are those of field multiplications.
const (
	pairingCost     = 630 // one product of two pairings
	gtCost          = 2   // one multiplication of such products
	powerCost       = 300 // one power by a weight
	g1SumCost       = 120 // of a sum in G1: fixed part, and of each point
	g1PointCost     = 8
	plainKeySumCost = 300 // of a sum of keys as they come
	plainKeyCost    = 22
	keySumCost      = 200 // of a sum of expanded keys
	keyCost         = 16
)

// voteBatch holds signatures of one message by many keys.
type voteBatch struct {
	message *Message
	keys    []*PublicKey
	sigs    []*Point
}

func (b *voteBatch) size() int { return len(b.sigs) }

func (b *voteBatch) lone(i int) blst.Fp12 {
	return pairingProduct(&b.sigs[i].affine, &b.message.minus, &b.keys[i].point)
}

func (b *voteBatch) product(lo, hi int, factors []byte, width int) blst.Fp12 {
	return pairingProduct(
		sumPoints(b.sigs[lo:hi], factors, width),
		&b.message.minus,
		sumKeys(b.keys[lo:hi], factors, width))
}

func (b *voteBatch) cost(n int) int {
	c := pairingCost + g1SumCost + g1PointCost*n
	if b.keys[0].multiples == nil {
		return c + plainKeySumCost + plainKeyCost*n
	}
	return c + keySumCost + keyCost*n
}

// certificateBatch holds signatures of many messages by one key.
type certificateBatch struct {
	key      *PublicKey
	messages []*Message
	sigs     []*Point
}

func (b *certificateBatch) size() int { return len(b.sigs) }

func (b *certificateBatch) lone(i int) blst.Fp12 {
	return pairingProduct(&b.sigs[i].affine, &b.messages[i].minus, &b.key.point)
}

func (b *certificateBatch) product(lo, hi int, factors []byte, width int) blst.Fp12 {
	hashes := make([]*blst.P1Affine, hi-lo)
	for i := range hashes {
		hashes[i] = &b.messages[lo+i].minus
	}
	return pairingProduct(
		sumPoints(b.sigs[lo:hi], factors, width),
		blst.P1AffinesMult(hashes, factors, 8*width).ToAffine(),
		&b.key.point)
}

func (b *certificateBatch) cost(n int) int {
	return pairingCost + 2*(g1SumCost+g1PointCost*n)
}

// sumPoints returns Σ factors[i]·points[i].
func sumPoints(points []*Point, factors []byte, width int) *blst.P1Affine {
	list := make([]*blst.P1Affine, len(points))
	for i, p := range points {
		list[i] = &p.affine
	}
	return blst.P1AffinesMult(list, factors, 8*width).ToAffine()
}
