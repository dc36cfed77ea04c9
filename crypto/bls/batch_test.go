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
	for _, n := range []int{0, 1, 2, 3, 4, 5, 8, 16, 33, 40} {
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
