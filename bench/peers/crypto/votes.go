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

// voteBars race a round of votes on one message against blst checking each on
// its own, from bytes to verdict: decompression, subgroup check, pairing.
func voteBars() []bars.Bar {
	const peer = "blst one by one"
	list := []bars.Bar{
		{Name: "votes-67-clean", Must: 7.5, Aim: 10, Setup: raceVotes(67, 0)},
		{Name: "votes-100-clean", Must: 7.5, Aim: 10, Setup: raceVotes(100, 0)},
		{Name: "votes-100-1-bad", Must: 3, Aim: 4, Setup: raceVotes(100, 1)},
		{Name: "votes-100-5-bad", Must: 1.3, Aim: 1.8, Setup: raceVotes(100, 5)},
		// At most 1.1 times the cost of the peer, whatever an attacker sends.
		{Name: "votes-16-2-bad", Must: 1 / 1.1, Setup: raceVotes(16, 2)},
		{Name: "votes-67-all-bad", Must: 1 / 1.1, Setup: raceVotes(67, 67)},
	}
	for i := range list {
		list[i].Peer, list[i].Cores = peer, 1
	}
	return append(list, bars.Bar{
		Name: "threshold-recover-67-of-100", Peer: "blst, naive Lagrange and multiplications",
		Must: 3, Aim: 5, Cores: 1, Setup: raceThreshold,
	})
}

// voteSeed makes the secret of voter i.
func voteSeed(i int) []byte {
	seed := keccak.Sum256([]byte("vote bar"), binary.BigEndian.AppendUint32(nil, uint32(i)))
	return seed[:]
}

// raceVotes prepares n votes of which bad, spread evenly, are of another
// message: well-formed points that only the pairing can tell.
func raceVotes(n, bad int) func() (bars.Contest, error) {
	return func() (bars.Contest, error) {
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
			b := keys[i].Bytes()
			if points[i] = new(blst.P2Affine).Uncompress(b[:]); points[i] == nil {
				return bars.Contest{}, fmt.Errorf("peer refuses key %d", i)
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
					ours = bls.VerifyMany(voteNamespace, voteMessage, keys, sigs, rand.Reader)
				}
				return nil
			}},
			Peer: bars.Side{Run: func(times int) error {
				for range times {
					peer = peer[:0]
					for i := range sigs {
						sig := new(blst.P1Affine).Uncompress(sigs[i][:])
						if sig == nil || !sig.Verify(true, points[i], false, signed, []byte(voteTag)) {
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
}

// raceThreshold joins 67 partial signatures of 100 into the group's.
func raceThreshold() (bars.Contest, error) {
	const n, t = 100, 67
	polynomial, shares, err := bls.DealTrusted(voteSeed(0), n, t)
	if err != nil {
		return bars.Contest{}, fmt.Errorf("deal: %w", err)
	}
	partials := make([]bls.Partial, t)
	for i := range partials {
		s := shares[i*n/t]
		partials[i] = bls.Partial{Index: s.Index, Sig: s.Key.Sign(voteNamespace, voteMessage)}
	}
	var ours, peer bls.Signature
	c := bars.Contest{
		Ours: bars.Side{Run: func(times int) (err error) {
			for range times {
				if ours, err = bls.Recover(t, partials); err != nil {
					return err
				}
			}
			return nil
		}},
		Peer: bars.Side{Run: func(times int) (err error) {
			for range times {
				if peer, err = naiveRecover(partials); err != nil {
					return err
				}
			}
			return nil
		}},
	}
	if err := runBoth(c); err != nil {
		return c, err
	}
	if ours != peer || !polynomial.Group().Verify(voteNamespace, voteMessage, ours) {
		return c, errors.New("the group signature is wrong")
	}
	return c, nil
}

// naiveRecover is the textbook: coefficients over big integers with one
// inversion each, one multiplication of a point for each partial signature.
func naiveRecover(partials []bls.Partial) (bls.Signature, error) {
	order, ok := new(big.Int).SetString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16)
	if !ok {
		return bls.Signature{}, errors.New("order of the group")
	}
	sum := new(blst.P1)
	for i, p := range partials {
		point := new(blst.P1Affine).Uncompress(p.Sig[:])
		if point == nil || !point.SigValidate(true) {
			return bls.Signature{}, fmt.Errorf("partial %d is no point", i)
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
