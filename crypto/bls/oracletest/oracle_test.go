package oracletest

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// tag separates messages (resolution 11.42).
const tag = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_"

// rounds is how many random inputs each test takes.
const rounds = 40

var namespace = []byte("cowboy-oracle")

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func newKey(t *testing.T, rng *rand.Rand) (*bls.SecretKey, *big.Int) {
	t.Helper()
	sk, err := bls.NewSecretKey(randomBytes(rng, 32))
	check(t, err)
	b := sk.Bytes()
	return sk, new(big.Int).SetBytes(b[:])
}

// oracleHash is the oracle's hash to G1 of what bls signs.
func oracleHash(t *testing.T, ns, msg []byte, dst string) bls12381.G1Affine {
	t.Helper()
	h, err := bls12381.HashToG1(bls.SignedBytes(ns, msg), []byte(dst))
	check(t, err)
	return h
}

// oracleVerifies is the oracle's verdict on bytes.
func oracleVerifies(key, sig []byte, hash bls12381.G1Affine) bool {
	var k bls12381.G2Affine
	var s bls12381.G1Affine
	if _, err := k.SetBytes(key); err != nil || k.IsInfinity() {
		return false
	}
	if _, err := s.SetBytes(sig); err != nil || s.IsInfinity() {
		return false
	}
	_, _, _, g := bls12381.Generators()
	var minus bls12381.G1Affine
	minus.Neg(&hash)
	ok, err := bls12381.PairingCheck([]bls12381.G1Affine{s, minus}, []bls12381.G2Affine{g, k})
	return err == nil && ok
}

func TestKeysAndSignatures(t *testing.T) {
	rng := random(1)
	_, _, _, g := bls12381.Generators()
	for round := range rounds {
		sk, secret := newKey(t, rng)
		msg := randomBytes(rng, rng.IntN(200))
		hash := oracleHash(t, namespace, msg, tag)
		var key bls12381.G2Affine
		var sig bls12381.G1Affine
		key.ScalarMultiplication(&g, secret)
		sig.ScalarMultiplication(&hash, secret)
		if got := sk.PublicKey().Bytes(); got != key.Bytes() {
			t.Errorf("round %d: key %x, oracle %x", round, got, key.Bytes())
		}
		m := bls.HashToPoint(namespace, msg)
		if got := sk.Sign(namespace, msg); got != sig.Bytes() || sk.SignMessage(m) != got {
			t.Errorf("round %d: signature %x, oracle %x", round, got, sig.Bytes())
		}
	}
}

// bend damages a signature or the claim around it in one of several ways.
func bend(t *testing.T, rng *rand.Rand, sig bls.Signature) bls.Signature {
	t.Helper()
	switch rng.IntN(5) {
	case 0:
		sig[rng.IntN(len(sig))] ^= 1 << rng.IntN(8)
	case 1:
		sig[0] ^= 0x20 // the opposite point
	case 2:
		other, _ := newKey(t, rng)
		sig = other.Sign(namespace, []byte("other"))
	case 3: // a point of the curve, most likely outside the subgroup
		sig = bls.Signature(randomBytes(rng, len(sig)))
		sig[0] = 0x80 | sig[0]&0x0f
	case 4:
		sig = bls.Signature{0xc0}
	}
	return sig
}

func TestVerdicts(t *testing.T) {
	rng := random(2)
	for round := range rounds {
		sk, _ := newKey(t, rng)
		key := sk.PublicKey()
		msg := randomBytes(rng, rng.IntN(100))
		hash := oracleHash(t, namespace, msg, tag)
		sig := sk.Sign(namespace, msg)
		if round%3 != 0 {
			sig = bend(t, rng, sig)
		}
		b := key.Bytes()
		want := oracleVerifies(b[:], sig[:], hash)
		if got := key.Verify(namespace, msg, sig); got != want {
			t.Errorf("round %d: verdict %v on %x, oracle %v", round, got, sig, want)
		}
	}
}

func TestBatches(t *testing.T) {
	msg := []byte("one message")
	hash := oracleHash(t, namespace, msg, tag)
	m := bls.HashToPoint(namespace, msg)
	for seed := range uint64(6) {
		rng := random(seed)
		n := 2 + rng.IntN(40)
		keys, sigs := make([]*bls.PublicKey, n), make([]bls.Signature, n)
		certs := make([]bls.Certificate, n)
		group, _ := newKey(t, rng)
		var want, wantCerts []int
		for i := range n {
			sk, _ := newKey(t, rng)
			keys[i], sigs[i] = sk.PublicKey().Expand(), sk.Sign(namespace, msg)
			own := []byte{byte(i)}
			certs[i] = bls.Certificate{Message: bls.HashToPoint(namespace, own), Sig: group.Sign(namespace, own)}
			if rng.IntN(8) == 0 {
				sigs[i] = bend(t, rng, sigs[i])
				certs[i].Sig = bend(t, rng, certs[i].Sig)
			}
			key, groupKey := keys[i].Bytes(), group.PublicKey().Bytes()
			if !oracleVerifies(key[:], sigs[i][:], hash) {
				want = append(want, i)
			}
			if !oracleVerifies(groupKey[:], certs[i].Sig[:], oracleHash(t, namespace, own, tag)) {
				wantCerts = append(wantCerts, i)
			}
		}
		for _, policy := range []bls.Policy{bls.Bounded, bls.Hopeful, bls.Eager} {
			opt := bls.Options{Weights: rand.NewChaCha8([32]byte{byte(seed)}), Policy: policy}
			if _, bad := bls.VerifyVotes(m, keys, sigs, opt); !slices.Equal(bad, want) {
				t.Errorf("seed %d policy %d: bad votes %v, oracle %v", seed, policy, bad, want)
			}
			if bad := bls.VerifyCertificates(group.PublicKey(), certs, opt); !slices.Equal(bad, wantCerts) {
				t.Errorf("seed %d policy %d: bad certificates %v, oracle %v", seed, policy, bad, wantCerts)
			}
		}
	}
}

// TestRecover lets the oracle interpolate the same partial signatures, and the
// secret behind them.
func TestRecover(t *testing.T) {
	msg := []byte("to recover")
	for seed := range uint64(8) {
		rng := random(seed)
		n := 1 + rng.IntN(70)
		threshold := 1 + rng.IntN(n)
		public, shares, err := bls.DealTrusted(randomBytes(rng, 32), n, threshold)
		check(t, err)
		rng.Shuffle(n, func(i, j int) { shares[i], shares[j] = shares[j], shares[i] })
		partials := make([]bls.Partial, threshold)
		xs, secrets := make([]fr.Element, threshold), make([]fr.Element, threshold)
		points := make([]bls12381.G1Affine, threshold)
		for i := range partials {
			s := shares[i]
			partials[i] = bls.Partial{Index: s.Index, Sig: s.Key.Sign(namespace, msg)}
			xs[i].SetUint64(uint64(s.Index) + 1)
			b := s.Key.Bytes()
			secrets[i].SetBytes(b[:])
			_, err := points[i].SetBytes(partials[i].Sig[:])
			check(t, err)
		}
		var sum bls12381.G1Jac
		var secret fr.Element
		for i := range xs {
			w := factorAtZero(xs, i)
			var term bls12381.G1Affine
			var e big.Int
			term.ScalarMultiplication(&points[i], w.BigInt(&e))
			sum.AddMixed(&term)
			secret.Add(&secret, w.Mul(&w, &secrets[i]))
		}
		var want bls12381.G1Affine
		want.FromJacobian(&sum)
		got, err := bls.Recover(threshold, partials)
		check(t, err)
		if got != want.Bytes() {
			t.Errorf("seed %d: %d of %d: %x, oracle %x", seed, threshold, n, got, want.Bytes())
		}
		var key bls12381.G2Affine
		var e big.Int
		_, _, _, g := bls12381.Generators()
		key.ScalarMultiplication(&g, secret.BigInt(&e))
		if group := public.Group().Bytes(); group != key.Bytes() {
			t.Errorf("seed %d: group key %x, oracle %x", seed, group, key.Bytes())
		}
	}
}

// factorAtZero is the Lagrange factor of xs[i] at zero, as the textbook has it.
func factorAtZero(xs []fr.Element, i int) fr.Element {
	var w, d fr.Element
	w.SetOne()
	for j := range xs {
		if j != i {
			d.Sub(&xs[j], &xs[i])
			d.Div(&xs[j], &d)
			w.Mul(&w, &d)
		}
	}
	return w
}

// TestEncodings compares what both libraries read from random and damaged bytes.
func TestEncodings(t *testing.T) {
	rng := random(3)
	for round := range 20 * rounds {
		one, two := randomBytes(rng, 48), randomBytes(rng, 96)
		if round%4 == 0 {
			sk, _ := newKey(t, rng)
			sig, key := sk.Sign(nil, one), sk.PublicKey().Bytes()
			one, two = sig[:], key[:]
		}
		if round%2 == 0 {
			one[0], two[0] = one[0]&0x1f|0x80, two[0]&0x1f|0x80
		}
		compareG1(t, fmt.Sprintf("round %d", round), one)
		compareG2(t, fmt.Sprintf("round %d", round), two)
	}
}
