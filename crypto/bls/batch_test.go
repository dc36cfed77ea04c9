package bls

import (
	"bytes"
	crand "crypto/rand"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	blst "github.com/supranational/blst/bindings/go"
)

// cases returns how much of something to try: all of it, or with -short the
// part that still has every kind of case. Emulators are the reason.
func cases(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}

// seeded is a reproducible source of weights.
func seeded(seed uint64) io.Reader {
	var key [32]byte
	key[0] = byte(seed)
	return rand.NewChaCha8(key)
}

// oneByOne is the meaning of VerifyMany.
func oneByOne(keys []*PublicKey, sigs []Signature) (bad []int) {
	for i := range sigs {
		if !keys[i].Verify(testNamespace, testMessage, sigs[i]) {
			bad = append(bad, i)
		}
	}
	return bad
}

// signers returns n keys and their signatures of the test message.
func signers(t testing.TB, n int) ([]*PublicKey, []Signature) {
	t.Helper()
	keys, sigs := make([]*PublicKey, n), make([]Signature, n)
	for i := range n {
		k := testKey(t, uint64(i))
		keys[i], sigs[i] = k.PublicKey(), k.Sign(testNamespace, testMessage)
	}
	return keys, sigs
}

// faults are ways for a signature to be bad.
var faults = []func(t testing.TB, i int) Signature{
	func(t testing.TB, i int) Signature { return Signature{} },
	func(t testing.TB, i int) Signature { return Signature{0xc0} },
	func(t testing.TB, i int) Signature { return testKey(t, uint64(i)).Sign(testNamespace, []byte("other")) },
	func(t testing.TB, i int) Signature { return testKey(t, uint64(i+1)).Sign(testNamespace, testMessage) },
}

func TestVerifyManyAgreesWithOneByOne(t *testing.T) {
	keys, good := signers(t, 40)
	for _, n := range []int{0, 1, 2, 3, 4, 5, 8, 16, 33, 40}[:cases(10, 7)] {
		for _, badCount := range []int{0, 1, 2, 3, n / 2, n} {
			if badCount > n {
				continue
			}
			seed := uint64(100*n + badCount)
			rng := rand.New(rand.NewPCG(seed, 0))
			sigs := slices.Clone(good[:n])
			want := rng.Perm(n)[:badCount]
			slices.Sort(want)
			for _, i := range want {
				sigs[i] = faults[rng.IntN(len(faults))](t, i)
			}
			got := VerifyMany(testNamespace, testMessage, keys[:n], sigs, seeded(seed))
			if !slices.Equal(got, want) {
				t.Errorf("seed %d: n=%d: bad = %v, want %v", seed, n, got, want)
			}
		}
	}
}

// TestEverySetOfBadVotes goes through all sets of bad votes of small batches,
// under each policy, with keys expanded or not.
func TestEverySetOfBadVotes(t *testing.T) {
	keys, good := signers(t, cases(6, 4))
	m := HashToPoint(testNamespace, testMessage)
	for n := 1; n <= len(keys); n++ {
		for set := range 1 << n {
			sigs := slices.Clone(good[:n])
			var want []int
			for i := range n {
				if set>>i&1 == 1 {
					sigs[i] = faults[2](t, i)
					want = append(want, i)
				}
			}
			opt := Options{Weights: seeded(uint64(set)), Policy: Policy(set % 2)}
			using := slices.Clone(keys[:n])
			for i := range using {
				if n%2 == 0 || set%5 == i {
					using[i] = using[i].Expand()
				}
			}
			points, bad := VerifyVotes(m, using, sigs, opt)
			if !slices.Equal(bad, want) {
				t.Fatalf("n=%d set=%b: bad = %v, want %v", n, set, bad, want)
			}
			for i, p := range points {
				if (p == nil) != slices.Contains(want, i) || p != nil && p.Signature() != sigs[i] {
					t.Fatalf("n=%d set=%b: wrong point %d", n, set, i)
				}
			}
		}
	}
}

// TestLargeBatches plants random faults of all kinds into batches of up to 130
// votes, under random policies and suspicions.
func TestLargeBatches(t *testing.T) {
	keys, good := signers(t, cases(130, 40))
	for i := range keys {
		keys[i] = keys[i].Expand()
	}
	m := HashToPoint(testNamespace, testMessage)
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 0))
		n := 1 + rng.IntN(len(keys))
		badCount := []int{0, 1, 2, 5, n / 8, n / 2}[rng.IntN(6)]
		want := rng.Perm(n)[:min(n, badCount)]
		slices.Sort(want)
		sigs := slices.Clone(good[:n])
		for _, i := range want {
			sigs[i] = faults[rng.IntN(len(faults))](t, i)
		}
		opt := Options{Weights: seeded(seed), Policy: Policy(rng.IntN(3)), Suspects: make([]bool, rng.IntN(n+1))}
		for i := range opt.Suspects {
			opt.Suspects[i] = rng.IntN(10) == 0
		}
		if _, bad := VerifyVotes(m, keys[:n], sigs, opt); !slices.Equal(bad, want) {
			t.Errorf("seed %d: n=%d: bad = %v, want %v", seed, n, bad, want)
		}
	}
}

// TestSuspectsDoNotSpoilTheBatch: with the only bad vote under suspicion, the
// others take one product.
func TestSuspectsDoNotSpoilTheBatch(t *testing.T) {
	keys, sigs := signers(t, 16)
	sigs[3] = faults[2](t, 3)
	var asked []int
	points := decompress(sigs)
	opt := Options{Weights: seeded(1), Policy: Hopeful, Suspects: []bool{3: true}}
	decide(points, opt, func(at []int) batch {
		asked = append(asked, len(at))
		b := &voteBatch{message: HashToPoint(testNamespace, testMessage)}
		for _, i := range at {
			b.keys, b.sigs = append(b.keys, keys[i]), append(b.sigs, points[i])
		}
		return b
	})
	if !slices.Equal(missing(points), []int{3}) || !slices.Equal(asked, []int{1, 15}) {
		t.Errorf("bad %v, batches of %v", missing(points), asked)
	}
}

func TestCertificatesAgreeWithOneByOne(t *testing.T) {
	key := testKey(t, 1)
	for seed := range uint64(cases(24, 6)) {
		rng := rand.New(rand.NewPCG(seed, 0))
		n := rng.IntN(14)
		certs := make([]Certificate, n)
		var want []int
		for i := range certs {
			msg := []byte{byte(rng.IntN(8))} // some come twice
			certs[i] = Certificate{HashToPoint(testNamespace, msg), key.Sign(testNamespace, msg)}
			if rng.IntN(5) == 0 {
				certs[i].Sig = faults[rng.IntN(len(faults))](t, int(seed))
			}
			if !key.PublicKey().Verify(testNamespace, msg, certs[i].Sig) {
				want = append(want, i)
			}
		}
		opt := Options{Weights: seeded(seed), Policy: Policy(seed % 3), Suspects: []bool{2: seed%2 == 0}}
		if bad := VerifyCertificates(key.PublicKey(), certs, opt); !slices.Equal(bad, want) {
			t.Errorf("seed %d: bad = %v, want %v", seed, bad, want)
		}
	}
}

// TestCancellingCertificatesAreFound: two signatures under one key that are
// shifted by opposite points would pass an unweighted sum.
func TestCancellingCertificatesAreFound(t *testing.T) {
	key := testKey(t, 1)
	noise := testKey(t, 9).Sign(nil, nil)
	certs := make([]Certificate, 14)
	for i := range certs {
		msg := []byte{byte(i)}
		certs[i] = Certificate{HashToPoint(testNamespace, msg), key.Sign(testNamespace, msg)}
	}
	certs[4].Sig = shift(t, certs[4].Sig, noise, false)
	certs[11].Sig = shift(t, certs[11].Sig, noise, true)
	if bad := VerifyCertificates(key.PublicKey(), certs, Options{Weights: seeded(3)}); !slices.Equal(bad, []int{4, 11}) {
		t.Errorf("bad = %v", bad)
	}
}

// TestHashedOnceIsTheSame compares the ways around a Message with those around
// bytes.
func TestHashedOnceIsTheSame(t *testing.T) {
	m := HashToPoint(testNamespace, testMessage)
	for i := range uint64(8) {
		k := testKey(t, i)
		sig := k.Sign(testNamespace, testMessage)
		if got := k.SignMessage(m); got != sig {
			t.Errorf("key %d signs %x, want %x", i, got, sig)
		}
		if !k.PublicKey().VerifyMessage(m, sig) || testKey(t, i+1).PublicKey().VerifyMessage(m, sig) {
			t.Errorf("key %d: wrong verdict", i)
		}
	}
	if new(PublicKey).VerifyMessage(m, testKey(t, 1).SignMessage(m)) {
		t.Error("a signature verifies under the identity")
	}
}

// TestExpandedSumsAgree compares sums over expanded keys with plain ones for
// factors of every width, among them the extremes.
func TestExpandedSumsAgree(t *testing.T) {
	const n = 5
	plain, expanded := make([]*PublicKey, n), make([]*PublicKey, n)
	for i := range plain {
		plain[i] = testKey(t, uint64(i)).PublicKey()
		expanded[i] = plain[i].Expand()
		if !expanded[i].Equal(plain[i]) {
			t.Fatal("expanding changed the key")
		}
	}
	rng := rand.NewChaCha8([32]byte{5})
	for _, size := range []int{1, 2, weightSize, positionedSize} {
		for _, fill := range []byte{0, 1, 0xff} {
			factors := make([]byte, size*n)
			if fill == 1 {
				_, _ = rng.Read(factors) // never fails
			} else {
				for i := range factors {
					factors[i] = fill
				}
			}
			if size == positionedSize {
				for i := size - 1; i < len(factors); i += size {
					factors[i] &= 1<<(positionedBits%8) - 1
				}
			}
			if a, b := sumKeys(plain, factors, size), sumKeys(expanded, factors, size); !a.Equals(b) {
				t.Errorf("factors of %d bytes, fill %d: sums differ", size, fill)
			}
		}
	}
}

func TestOneByOneAgreesOnEachFault(t *testing.T) {
	keys, sigs := signers(t, len(faults))
	for i, fault := range faults {
		sigs[i] = fault(t, i)
	}
	if got, want := VerifyMany(testNamespace, testMessage, keys, sigs, seeded(1)), oneByOne(keys, sigs); !slices.Equal(got, want) || len(want) != len(faults) {
		t.Errorf("bad = %v, one by one %v", got, want)
	}
}

// TestCancellingFaultsAreFound swaps two signers' signatures and shifts two by
// opposite points: both leave the plain sums of the batch intact.
func TestCancellingFaultsAreFound(t *testing.T) {
	keys, sigs := signers(t, 8)
	swapped := slices.Clone(sigs)
	swapped[2], swapped[5] = sigs[5], sigs[2]
	if got := VerifyMany(testNamespace, testMessage, keys, swapped, seeded(1)); !slices.Equal(got, []int{2, 5}) {
		t.Errorf("swapped: bad = %v", got)
	}
	shifted := slices.Clone(sigs)
	noise := testKey(t, 99).Sign(nil, nil)
	shifted[1] = shift(t, sigs[1], noise, false)
	shifted[6] = shift(t, sigs[6], noise, true)
	if got := VerifyMany(testNamespace, testMessage, keys, shifted, seeded(1)); !slices.Equal(got, []int{1, 6}) {
		t.Errorf("shifted: bad = %v", got)
	}
}

// shift adds by to sig, or subtracts it.
func shift(t *testing.T, sig, by Signature, subtract bool) Signature {
	t.Helper()
	a, err := sig.Point()
	if err != nil {
		t.Fatal(err)
	}
	b, err := by.Point()
	if err != nil {
		t.Fatal(err)
	}
	var acc blst.P1
	acc.FromAffine(&a.affine)
	if subtract {
		acc.SubAssign(&b.affine)
	} else {
		acc.AddAssign(&b.affine)
	}
	return Signature(acc.ToAffine().Compress())
}

// TestBrokenWeightsChangeNoVerdict: a source that fails or yields zeroes makes
// the check slower or less random, never laxer for honest-looking faults.
func TestBrokenWeightsChangeNoVerdict(t *testing.T) {
	keys, sigs := signers(t, 6)
	sigs[3] = faults[2](t, 3)
	for name, weights := range map[string]io.Reader{
		"no weights":        bytes.NewReader(nil),
		"too few weights":   bytes.NewReader(make([]byte, 20)),
		"zeroes":            bytes.NewReader(make([]byte, 16*6)),
		"proper randomness": crand.Reader,
	} {
		if got := VerifyMany(testNamespace, testMessage, keys, sigs, weights); !slices.Equal(got, []int{3}) {
			t.Errorf("%s: bad = %v, want [3]", name, got)
		}
	}
}

// TestSameSignerTwice: a batch may hold one key several times.
func TestSameSignerTwice(t *testing.T) {
	keys, sigs := signers(t, 6)
	for i := range keys {
		keys[i], sigs[i] = keys[0], sigs[0]
	}
	if got := VerifyMany(testNamespace, testMessage, keys, sigs, seeded(1)); got != nil {
		t.Errorf("bad = %v, want none", got)
	}
}

func FuzzVerifyMany(f *testing.F) {
	keys, good := signers(f, 6)
	f.Add(uint8(0b010010), good[0][:], uint64(1))
	f.Add(uint8(0xff), make([]byte, SignatureSize), uint64(2))
	f.Fuzz(func(t *testing.T, where uint8, raw []byte, seed uint64) {
		if len(raw) != SignatureSize {
			return
		}
		sigs := slices.Clone(good)
		for i := range sigs {
			if where>>i&1 == 1 {
				sigs[i] = Signature(raw)
			}
		}
		got := VerifyMany(testNamespace, testMessage, keys, sigs, seeded(seed))
		if want := oneByOne(keys, sigs); !slices.Equal(got, want) {
			t.Fatalf("bad = %v, one by one %v", got, want)
		}
	})
}

func BenchmarkVerifyMany(b *testing.B) {
	for _, n := range []int{1, 4, 16, 67, 100} {
		for _, badCount := range []int{0, 1} {
			b.Run(fmt.Sprintf("kernel=blst/n=%d/bad=%d", n, badCount), func(b *testing.B) {
				keys, sigs := signers(b, n)
				for i := range badCount {
					sigs[n/2+i] = faults[2](b, n/2+i)
				}
				b.ReportAllocs()
				for b.Loop() {
					if bad := VerifyMany(testNamespace, testMessage, keys, sigs, crand.Reader); len(bad) != badCount {
						b.Fatalf("bad = %v", bad)
					}
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "votes/s")
			})
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	keys, sigs := signers(b, 1)
	b.Run("kernel=blst/n=1", func(b *testing.B) {
		for b.Loop() {
			keys[0].Verify(testNamespace, testMessage, sigs[0])
		}
	})
}

func BenchmarkSign(b *testing.B) {
	k := testKey(b, 1)
	b.Run("kernel=blst/n=1", func(b *testing.B) {
		for b.Loop() {
			k.Sign(testNamespace, testMessage)
		}
	})
}
