package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"

	blst "github.com/supranational/blst/bindings/go"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

var (
	voteNamespace = []byte("cowboy-bench votes")
	voteMessage   = []byte("one block that everyone votes for")
)

// voteTag is the signatures' domain separation tag (resolution 11.42).
const voteTag = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_"

// boundedMust is a ratio that says "at most 1.1 times the cost of the peer".
const boundedMust = 1 / 1.1

// voteBars race a round of votes on one message against blst checking each on
// its own, from bytes to verdict: decompression, subgroup check, pairing. Ours
// hashes the message once a round and has the keys expanded once an epoch, as
// consensus does.
func voteBars() []bars.Bar {
	const peer = "blst one by one"
	var list []bars.Bar
	for _, b := range []struct {
		race      voteRace
		must, aim float64
	}{
		{voteRace{n: 67}, 7.5, 10},
		{voteRace{n: 100}, 7.5, 10},
		{voteRace{n: 100, plain: true}, 7.5, 10},
		{voteRace{n: 100, bad: 1}, 3, 4},
		{voteRace{n: 100, bad: 5}, 1.3, 1.8},
		// Committees too small for the bound, while nobody was caught.
		{voteRace{n: 3, policy: bls.Hopeful}, 1.5, 2},
		{voteRace{n: 7, policy: bls.Hopeful}, 2, 3},
		{voteRace{n: 7, bad: 1, policy: bls.Hopeful}, 1.3, 1.8},
	} {
		list = append(list, bars.Bar{Name: b.race.name(), Must: b.must, Aim: b.aim, Setup: b.race.set})
	}
	list = append(list, bars.Bar{Name: "certificates-16-clean", Must: 3, Aim: 6, Setup: raceCertificates})
	// Whatever an attacker sends. Small batches, lone culprits, the mixtures at
	// which the search gives up, and all.
	for _, r := range []voteRace{
		{n: 4, bad: 1},
		{n: 13, bad: 13},
		{n: 16, bad: 2},
		{n: 24, bad: 24},
		{n: 40, bad: 20},
		{n: 67, bad: 13},
		{n: 67, bad: 33},
		{n: 67, bad: 67},
		{n: 67, bad: 67, plain: true},
		{n: 100, bad: 20},
		{n: 100, bad: 100},
	} {
		list = append(list, bars.Bar{Name: r.name(), Must: boundedMust, Setup: r.set})
	}
	for i := range list {
		list[i].Peer, list[i].Cores = peer, 1
	}
	const naive = "blst, naive Lagrange and multiplications"
	return append(list,
		bars.Bar{Name: "threshold-recover-67-of-100", Peer: naive, Must: 3, Aim: 5, Cores: 1, Setup: raceThreshold(false)},
		bars.Bar{Name: "threshold-recover-67-of-100-checked", Peer: naive, Must: 3, Aim: 5, Cores: 1, Setup: raceThreshold(true)})
}

// voteSeed makes the secret of voter i.
func voteSeed(i int) []byte {
	seed := keccak.Sum256([]byte("vote bar"), binary.BigEndian.AppendUint32(nil, uint32(i)))
	return seed[:]
}

// voteRace is n votes of which bad, spread evenly, are of another message:
// well-formed points that only the pairing can tell.
type voteRace struct {
	n, bad int
	plain  bool // keys are not expanded
	policy bls.Policy
}

func (r voteRace) name() string {
	name := fmt.Sprintf("votes-%d-%d-bad", r.n, r.bad)
	switch r.bad {
	case 0:
		name = fmt.Sprintf("votes-%d-clean", r.n)
	case r.n:
		name = fmt.Sprintf("votes-%d-all-bad", r.n)
	}
	if r.plain {
		name += "-plain-keys"
	}
	if r.policy == bls.Hopeful {
		name += "-hopeful"
	}
	return name
}

func (r voteRace) set() (bars.Contest, error) {
	n, bad := r.n, r.bad
	keys, sigs := make([]*bls.PublicKey, n), make([]bls.Signature, n)
	points := make([]*blst.P2Affine, n)
	var want []int
	for i := range n {
		sk, err := bls.NewSecretKey(voteSeed(i))
		if err != nil {
			return bars.Contest{}, fmt.Errorf("key %d: %w", i, err)
		}
		keys[i], sigs[i] = sk.PublicKey(), sk.Sign(voteNamespace, voteMessage)
		if bad > 0 && i%(n/bad) == n/bad/2 && len(want) < bad {
			sigs[i] = sk.Sign(voteNamespace, []byte("another block"))
			want = append(want, i)
		}
		if points[i], err = peerKey(keys[i]); err != nil {
			return bars.Contest{}, fmt.Errorf("key %d: %w", i, err)
		}
		if !r.plain {
			keys[i] = keys[i].Expand()
		}
	}
	if len(want) != bad {
		return bars.Contest{}, fmt.Errorf("%d bad votes planted, want %d", len(want), bad)
	}
	var ours, peer []int
	signed := bls.SignedBytes(voteNamespace, voteMessage)
	c := bars.Contest{
		Ours: bars.Side{Run: func(times int) error {
			for range times {
				m := bls.HashToPoint(voteNamespace, voteMessage)
				_, ours = bls.VerifyVotes(m, keys, sigs, bls.Options{Weights: rand.Reader, Policy: r.policy})
			}
			return nil
		}},
		Peer: bars.Side{Run: func(times int) error {
			for range times {
				peer = peer[:0]
				for i := range sigs {
					if !peerVerifies(points[i], signed, sigs[i]) {
						peer = append(peer, i)
					}
				}
			}
			return nil
		}},
	}
	if err := runBoth(c); err != nil {
		return c, err
	}
	if !slices.Equal(ours, want) || !slices.Equal(peer, want) {
		return c, fmt.Errorf("bad votes %v: ours found %v, peer %v", want, ours, peer)
	}
	return c, nil
}

// peerKey reads a key with blst.
func peerKey(key *bls.PublicKey) (*blst.P2Affine, error) {
	b := key.Bytes()
	point := new(blst.P2Affine).Uncompress(b[:])
	if point == nil {
		return nil, errors.New("peer refuses the key")
	}
	return point, nil
}

// peerVerifies is blst's eager way from bytes to verdict.
func peerVerifies(key *blst.P2Affine, signed []byte, sig bls.Signature) bool {
	point := new(blst.P1Affine).Uncompress(sig[:])
	return point != nil && point.Verify(true, key, false, signed, []byte(voteTag))
}

// raceCertificates checks what a node reads when it catches up: certificates of
// 16 views with two kinds of vote each, all three signatures under one key.
func raceCertificates() (bars.Contest, error) {
	const views = 16
	sk, err := bls.NewSecretKey(voteSeed(0))
	if err != nil {
		return bars.Contest{}, fmt.Errorf("group key: %w", err)
	}
	key := sk.PublicKey()
	point, err := peerKey(key)
	if err != nil {
		return bars.Contest{}, err
	}
	const seed, again = 1, 3 // places in a view
	var messages [][]byte
	var sigs []bls.Signature
	for view := range byte(views) {
		for _, kind := range []string{"notarize", "seed", "finalize", "seed"} {
			msg := append([]byte(kind), view)
			messages, sigs = append(messages, msg), append(sigs, sk.Sign(voteNamespace, msg))
		}
	}
	var bad []int
	good := 0
	c := bars.Contest{
		Ours: bars.Side{Run: func(times int) error {
			for range times {
				certs := make([]bls.Certificate, len(sigs))
				for i := range certs {
					certs[i].Sig = sigs[i]
					if i%4 == again {
						certs[i].Message = certs[i-again+seed].Message
					} else {
						certs[i].Message = bls.HashToPoint(voteNamespace, messages[i])
					}
				}
				bad = bls.VerifyCertificates(key, certs, bls.Options{Weights: rand.Reader})
			}
			return nil
		}},
		Peer: bars.Side{Run: func(times int) error {
			for range times {
				good = 0
				for i := range sigs {
					if i%4 == again {
						good++ // a seed seen before: the peer remembers it too
					} else if peerVerifies(point, bls.SignedBytes(voteNamespace, messages[i]), sigs[i]) {
						good++
					}
				}
			}
			return nil
		}},
	}
	if err := runBoth(c); err != nil {
		return c, err
	}
	if bad != nil || good != len(sigs) {
		return c, fmt.Errorf("good certificates: ours refuses %v, peer accepts %d", bad, good)
	}
	return c, nil
}

// raceThreshold joins 67 partial signatures of 100 into the group's: from bytes
// by a set of signers never met, or from points that the check of the votes
// left, as consensus does for the seed after the vote.
func raceThreshold(checked bool) func() (bars.Contest, error) {
	return func() (bars.Contest, error) {
		const n, t = 100, 67
		polynomial, shares, err := bls.DealTrusted(voteSeed(0), n, t)
		if err != nil {
			return bars.Contest{}, fmt.Errorf("deal: %w", err)
		}
		partials := make([]bls.Partial, t)
		ready := make([]bls.CheckedPartial, t)
		points := make([]*blst.P1Affine, t)
		for i := range partials {
			s := shares[i*n/t]
			p := bls.Partial{Index: s.Index, Sig: s.Key.Sign(voteNamespace, voteMessage)}
			point, err := p.Sig.Point()
			if err != nil {
				return bars.Contest{}, fmt.Errorf("partial %d: %w", i, err)
			}
			partials[i], ready[i] = p, bls.CheckedPartial{Index: s.Index, Point: point}
			if points[i], err = peerPoint(p.Sig); err != nil {
				return bars.Contest{}, fmt.Errorf("partial %d: %w", i, err)
			}
		}
		recoverer, err := bls.NewRecoverer(t, 4)
		if err != nil {
			return bars.Contest{}, err
		}
		ourWay := func() (bls.Signature, error) { return bls.Recover(t, partials) }
		peerWay := func() (bls.Signature, error) { return naiveRecover(partials, nil) }
		if checked {
			ourWay = func() (bls.Signature, error) { return recoverer.RecoverChecked(ready) }
			peerWay = func() (bls.Signature, error) { return naiveRecover(partials, points) }
		}
		var ours, peer bls.Signature
		c := bars.Contest{
			Ours: bars.Side{Run: repeat(&ours, ourWay)},
			Peer: bars.Side{Run: repeat(&peer, peerWay)},
		}
		if err := runBoth(c); err != nil {
			return c, err
		}
		if ours != peer || !polynomial.Group().Verify(voteNamespace, voteMessage, ours) {
			return c, errors.New("the group signature is wrong")
		}
		return c, nil
	}
}

// repeat runs f again and again and keeps its last result.
func repeat(into *bls.Signature, f func() (bls.Signature, error)) func(times int) error {
	return func(times int) (err error) {
		for range times {
			if *into, err = f(); err != nil {
				return err
			}
		}
		return nil
	}
}

// peerPoint decompresses and checks a signature with blst.
func peerPoint(sig bls.Signature) (*blst.P1Affine, error) {
	point := new(blst.P1Affine).Uncompress(sig[:])
	if point == nil || !point.SigValidate(true) {
		return nil, errors.New("peer refuses the point")
	}
	return point, nil
}

// naiveRecover is the textbook: coefficients over big integers with one
// inversion each, one multiplication of a point for each partial signature.
// Points are made of the partials unless given.
func naiveRecover(partials []bls.Partial, points []*blst.P1Affine) (bls.Signature, error) {
	order, ok := new(big.Int).SetString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16)
	if !ok {
		return bls.Signature{}, errors.New("order of the group")
	}
	sum := new(blst.P1)
	for i, p := range partials {
		var point *blst.P1Affine
		var err error
		if points != nil {
			point = points[i]
		} else if point, err = peerPoint(p.Sig); err != nil {
			return bls.Signature{}, fmt.Errorf("partial %d: %w", i, err)
		}
		num, den := big.NewInt(1), big.NewInt(1)
		for j, other := range partials {
			if i == j {
				continue
			}
			x := big.NewInt(int64(other.Index) + 1)
			num.Mod(num.Mul(num, x), order)
			den.Mod(den.Mul(den, x.Sub(x, big.NewInt(int64(p.Index)+1))), order)
		}
		coefficient := num.Mul(num, den.ModInverse(den, order))
		coefficient.Mod(coefficient, order)
		scalar := new(blst.Scalar).FromBEndian(coefficient.FillBytes(make([]byte, 32)))
		if scalar == nil {
			return bls.Signature{}, fmt.Errorf("coefficient %d is out of range", i)
		}
		var whole blst.P1
		whole.FromAffine(point)
		sum.AddAssign(whole.MultAssign(scalar))
	}
	return bls.Signature(sum.ToAffine().Compress()), nil
}
