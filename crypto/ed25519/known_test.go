package ed25519

import (
	stded25519 "crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"filippo.io/edwards25519"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// signedBatch returns n good signatures of as many keys.
func signedBatch(t testing.TB, n int) []Signed {
	t.Helper()
	batch := make([]Signed, n)
	for i := range batch {
		k := testKey(t, byte(i))
		key, err := NewKnownKey(k.PublicKey())
		if err != nil {
			t.Fatal(err)
		}
		msg := fmt.Appendf(nil, "vote %d", i)
		sig := k.Sign(msg)
		batch[i] = Signed{Key: key, Message: msg, Signature: sig[:]}
	}
	return batch
}

// TestBadSignaturesAreFound breaks random signatures of batches in all ways and
// wants exactly those back.
func TestBadSignaturesAreFound(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	whole := signedBatch(t, 65)
	breaks := []func(s *Signed){
		func(s *Signed) { s.Signature[rng.IntN(32)] ^= 1 << rng.IntN(8) },       // R: another point, or none
		func(s *Signed) { s.Signature[32+rng.IntN(32)] ^= 1 << rng.IntN(8) },    // S, perhaps above the order
		func(s *Signed) { s.Message = append(slices.Clone(s.Message), 0) },      // another message
		func(s *Signed) { s.Key = whole[(rng.IntN(64)+1)%65].Key },              // another key, perhaps its own
		func(s *Signed) { s.Signature = s.Signature[:rng.IntN(SignatureSize)] }, // cut short
		func(s *Signed) { s.Signature = append(s.Signature, 0) },
		func(s *Signed) { s.Signature = nil },
	}
	for n := range len(whole) + 1 {
		for _, broken := range []int{0, 1, 2, n / 2, n} {
			batch := slices.Clone(whole[:n])
			var want []int
			for _, i := range rng.Perm(n)[:min(broken, n)] {
				batch[i].Signature = slices.Clone(batch[i].Signature)
				breaks[rng.IntN(len(breaks))](&batch[i])
			}
			for i, s := range batch {
				if !Verify(s.Key.Bytes(), s.Message, s.Signature) {
					want = append(want, i)
				}
			}
			if got := VerifyMany(batch); !slices.Equal(got, want) {
				t.Fatalf("batch of %d, seed %d: bad %v, want %v", n, seed, got, want)
			}
		}
	}
}

// TestErrorsThatCancelAreFound: +1 on one S and -1 on another leave the plain
// sum of the equations as it was.
func TestErrorsThatCancelAreFound(t *testing.T) {
	batch := signedBatch(t, 8)
	for i, delta := range map[int]int64{2: 1, 5: -1} {
		s := fromLittleEndian(batch[i].Signature[32:])
		changed := littleEndian(s.Add(s, big.NewInt(delta)))
		batch[i].Signature = append(slices.Clone(batch[i].Signature[:32]), changed[:]...)
	}
	if got := VerifyMany(batch); !slices.Equal(got, []int{2, 5}) {
		t.Errorf("bad %v, want [2 5]", got)
	}
}

// TestZIP215VectorsInOneBatch: small orders, mixed among good signatures, in
// every half that the search can make.
func TestZIP215VectorsInOneBatch(t *testing.T) {
	var cases []struct {
		Key   string `json:"vk_bytes"`
		Sig   string `json:"sig_bytes"`
		Valid bool   `json:"valid_zip215"`
	}
	vectors.Decode(t, "ed25519/zip215.json", &cases)
	batch := signedBatch(t, 40)
	var want []int
	for _, c := range cases {
		key, err := NewKnownKey([32]byte(unhex(t, c.Key)))
		if err != nil {
			t.Fatalf("%s: %v", c.Key, err)
		}
		sig := unhex(t, c.Sig)
		batch = append(batch, Signed{key, []byte("Zcash"), sig})
		if !c.Valid {
			want = append(want, len(batch)-1)
		}
		if len(batch)%3 == 0 { // the same with another message fails unless the key has small order
			s := Signed{key, []byte("Zclassic"), sig}
			batch = append(batch, s)
			if !Verify(key.Bytes(), s.Message, s.Signature) {
				want = append(want, len(batch)-1)
			}
		}
	}
	if got := VerifyMany(batch); !slices.Equal(got, want) {
		t.Errorf("bad %v, want %v", got, want)
	}
	t.Logf("%d signatures, %d bad", len(batch), len(want))
}

func TestKeyThatIsNoPoint(t *testing.T) {
	if _, err := NewKnownKey([32]byte{2}); err != ErrPublicKey {
		t.Errorf("error %v, want %v", err, ErrPublicKey)
	}
}

func TestDoubledD(t *testing.T) {
	want := curveD()
	want.Lsh(want, 1).Mod(want, prime())
	if got := fromLittleEndian(doubledD[:]); got.Cmp(want) != 0 {
		t.Errorf("2d = %x, want %x", got, want)
	}
}

// TestRecode: digits weigh what the scalar does, fit their table and keep their
// distance.
func TestRecode(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	for c := range 10_000 {
		low, high := rng.Uint64(), rng.Uint64()
		for _, word := range []*uint64{&low, &high} {
			switch rng.IntN(4) {
			case 0:
				*word = 0
			case 1:
				*word = ^uint64(0) >> rng.IntN(64)
			}
		}
		want := new(big.Int).SetUint64(high)
		want.Lsh(want, 64).Add(want, new(big.Int).SetUint64(low))
		for _, width := range []uint{nonceWidth, keyWidth} {
			var digits [digitsMax]int8
			recode(&digits, low, high, width)
			got, last := new(big.Int), -int(width)
			for i, d := range digits {
				if d == 0 {
					continue
				}
				got.Add(got, new(big.Int).Lsh(big.NewInt(int64(d)), uint(i)))
				if d&1 == 0 || max(int(d), -int(d)) >= 1<<(width-1) || i-last < int(width) {
					t.Fatalf("case %d: digit %d at %d after %d, width %d", c, d, i, last, width)
				}
				last = i
			}
			if got.Cmp(want) != 0 {
				t.Fatalf("case %d: digits of %x weigh %x", c, want, got)
			}
		}
	}
}

func TestHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for range 1000 {
		var wide [64]byte
		for i := 0; i < len(wide); i += 8 {
			binary.LittleEndian.PutUint64(wide[i:], rng.Uint64())
		}
		s, err := new(edwards25519.Scalar).SetUniformBytes(wide[:])
		if err != nil {
			t.Fatal(err)
		}
		low, high := halves(s)
		number := func(w [2]uint64) *big.Int {
			n := new(big.Int).SetUint64(w[1])
			return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(w[0]))
		}
		sum := number(high)
		if sum.Lsh(sum, splitBit).Add(sum, number(low)).Cmp(fromLittleEndian(s.Bytes())) != 0 {
			t.Fatalf("halves of %x are %x and %x", s.Bytes(), low, high)
		}
	}
}

func FuzzBatchAgreesWithSingle(f *testing.F) {
	good := signedBatch(f, 5)
	f.Add(uint8(2), []byte("vote 2"), good[2].Signature)
	f.Add(uint8(0), []byte{}, make([]byte, SignatureSize))
	f.Fuzz(func(t *testing.T, at uint8, msg, sig []byte) {
		batch := slices.Clone(good)
		i := int(at) % len(batch)
		batch[i].Message, batch[i].Signature = msg, sig
		var want []int
		if !Verify(batch[i].Key.Bytes(), msg, sig) {
			want = []int{i}
		}
		if got := VerifyMany(batch); !slices.Equal(got, want) {
			t.Errorf("bad %v, want %v", got, want)
		}
	})
}

func BenchmarkVerifyMany(b *testing.B) {
	batch := signedBatch(b, 64)
	for _, n := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("kernel=known/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if bad := VerifyMany(batch[:n]); bad != nil {
					b.Fatal(bad)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "sigs/s")
		})
	}
	b.Run("kernel=known/n=64/bad=1", func(b *testing.B) {
		spoiled := slices.Clone(batch)
		spoiled[17].Message = nil
		for b.Loop() {
			VerifyMany(spoiled)
		}
		b.ReportMetric(64*float64(b.N)/b.Elapsed().Seconds(), "sigs/s")
	})
	b.Run("kernel=std/n=64", func(b *testing.B) {
		for b.Loop() {
			for i := range batch {
				stded25519.Verify(batch[i].Key.encoding[:], batch[i].Message, batch[i].Signature)
			}
		}
		b.ReportMetric(64*float64(b.N)/b.Elapsed().Seconds(), "sigs/s")
	})
}

func BenchmarkNewKnownKey(b *testing.B) {
	pub := testKey(b, 1).PublicKey()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewKnownKey(pub); err != nil {
			b.Fatal(err)
		}
	}
}
