package secp256k1

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func word(t testing.TB, s string) [32]byte {
	t.Helper()
	return [32]byte(unhex(t, s))
}

func testKey(t testing.TB, seed uint64) *PrivateKey {
	t.Helper()
	digest := sha256.Sum256(fmt.Appendf(nil, "key %d", seed))
	k, err := ParsePrivateKey(digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// negated returns the twin of sig: (r, n-s) with the other parity.
func negated(sig Signature) Signature {
	var s secp256k1.ModNScalar
	s.SetBytes(&sig.S)
	sig.S = s.Negate().Bytes()
	sig.YParity ^= 1
	return sig
}

const (
	orderHex     = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
	halfOrderHex = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0"
	aboveHalfHex = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1"
)

func TestSignedHashRecoversItsSigner(t *testing.T) {
	for i := range uint64(50) {
		k := testKey(t, i)
		hash := sha256.Sum256([]byte{byte(i)})
		sig := k.Sign(hash)
		if err := k.PublicKey().Verify(hash, sig); err != nil {
			t.Errorf("key %d: Verify: %v", i, err)
		}
		got, err := Recover(hash, sig)
		if err != nil || got != k.PublicKey() {
			t.Errorf("key %d: Recover = %x, %v; want %x", i, got, err, k.PublicKey())
		}
	}
}

// TestEachTamperingHasItsError breaks one rule of the signature form at a time
// (resolution 11.12).
func TestEachTamperingHasItsError(t *testing.T) {
	k := testKey(t, 1)
	hash := sha256.Sum256([]byte("tamper"))
	good := k.Sign(hash)
	order, ones := word(t, orderHex), [32]byte(bytes.Repeat([]byte{0xff}, 32))
	tests := []struct {
		name string
		edit func(*Signature)
		want error
	}{
		{"y parity 2 is refused", func(s *Signature) { s.YParity = 2 }, ErrRecoveryID},
		{"y parity 27 is refused", func(s *Signature) { s.YParity = 27 }, ErrRecoveryID},
		{"zero r is refused", func(s *Signature) { s.R = [32]byte{} }, ErrRRange},
		{"r = n is refused", func(s *Signature) { s.R = order }, ErrRRange},
		{"r = 2^256-1 is refused", func(s *Signature) { s.R = ones }, ErrRRange},
		{"zero s is refused", func(s *Signature) { s.S = [32]byte{} }, ErrSRange},
		{"s = n is refused", func(s *Signature) { s.S = order }, ErrSRange},
		{"s = 2^256-1 is refused", func(s *Signature) { s.S = ones }, ErrSRange},
		{"the negated signature is refused", func(s *Signature) { *s = negated(*s) }, ErrHighS},
		{"s just above half the order is refused", func(s *Signature) { s.S = word(t, aboveHalfHex) }, ErrHighS},
		{"r without a curve point is refused", func(s *Signature) { s.R = [32]byte{31: 5} }, ErrNotOnCurve},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sig := good
			tt.edit(&sig)
			if pub, err := Recover(hash, sig); !errors.Is(err, tt.want) || pub != (PublicKey{}) {
				t.Errorf("Recover = %x, %v; want error %v", pub, err, tt.want)
			}
			out := make([]Recovered, 1)
			RecoverMany([][32]byte{hash}, []Signature{sig}, out)
			if !errors.Is(out[0].Err, tt.want) || out[0].Address != ([20]byte{}) {
				t.Errorf("RecoverMany = %+v, want error %v", out[0], tt.want)
			}
		})
	}
	for _, err := range []error{ErrRRange, ErrSRange} {
		if !errors.Is(err, ErrScalarRange) {
			t.Errorf("%v is not ErrScalarRange", err)
		}
	}
}

func TestLargestLowSIsAccepted(t *testing.T) {
	sig := testKey(t, 1).Sign([32]byte{1})
	sig.S = word(t, halfOrderHex)
	if _, err := Recover([32]byte{1}, sig); err != nil {
		t.Errorf("s = (n-1)/2: %v", err)
	}
}

// TestRecoveredInfinityIsRefused builds z = s·k for R = kG, so that sR = zG and
// the recovered key would be the identity.
func TestRecoveredInfinityIsRefused(t *testing.T) {
	nonce := testKey(t, 7)
	pub := nonce.PublicKey()
	sig := Signature{R: [32]byte(pub[:32]), S: [32]byte{31: 9}, YParity: pub[63] & 1}
	var z secp256k1.ModNScalar
	z.SetBytes(&sig.S)
	z.Mul(&nonce.key.Key)
	if _, err := Recover(z.Bytes(), sig); !errors.Is(err, ErrInfinity) {
		t.Errorf("got %v, want %v", err, ErrInfinity)
	}
}

// TestEqualSummandsRecover reaches the doubling inside the final addition:
// sR = -zG makes Q = 2·r^-1·sR.
func TestEqualSummandsRecover(t *testing.T) {
	nonce := testKey(t, 8)
	pub := nonce.PublicKey()
	sig := Signature{R: [32]byte(pub[:32]), S: [32]byte{31: 9}, YParity: pub[63] & 1}
	var z secp256k1.ModNScalar
	z.SetBytes(&sig.S)
	z.Mul(&nonce.key.Key).Negate()
	got, err := Recover(z.Bytes(), sig)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Verify(z.Bytes(), sig); err != nil {
		t.Errorf("recovered key does not verify: %v", err)
	}
}

func TestZeroHashRecovers(t *testing.T) {
	k := testKey(t, 9)
	for _, hash := range [][32]byte{{}, word(t, orderHex)} { // both are 0 mod n
		if got, err := Recover(hash, k.Sign(hash)); err != nil || got != k.PublicKey() {
			t.Errorf("hash %x: got %x, %v", hash, got, err)
		}
	}
}

// TestNoSingleBitCanBeFlipped flips each bit of hash, r, s and parity.
func TestNoSingleBitCanBeFlipped(t *testing.T) {
	k := testKey(t, 2)
	hash := sha256.Sum256([]byte("bits"))
	good := k.Sign(hash)
	check := func(what string, bit int, hash [32]byte, sig Signature) {
		if pub, err := Recover(hash, sig); err == nil && pub == k.PublicKey() {
			t.Errorf("bit %d of %s does not matter", bit, what)
		}
	}
	for bit := range 256 {
		i, mask := bit/8, byte(1)<<(bit%8)
		h, r, s := hash, good, good
		h[i] ^= mask
		r.R[i] ^= mask
		s.S[i] ^= mask
		check("hash", bit, h, good)
		check("r", bit, hash, r)
		check("s", bit, hash, s)
	}
	for bit := range 8 {
		sig := good
		sig.YParity ^= 1 << bit
		check("y parity", bit, hash, sig)
	}
}

func TestRecoverManyKeepsOrder(t *testing.T) {
	for n := range 20 {
		hashes, sigs, out := make([][32]byte, n), make([]Signature, n), make([]Recovered, n)
		for i := range n {
			hashes[i] = [32]byte{byte(i)}
			sigs[i] = testKey(t, uint64(i)).Sign(hashes[i])
			if i%3 == 2 {
				sigs[i] = negated(sigs[i])
			}
		}
		RecoverMany(hashes, sigs, out)
		for i := range n {
			want := Recovered{Address: testKey(t, uint64(i)).PublicKey().Address()}
			if i%3 == 2 {
				want = Recovered{Err: ErrHighS}
			}
			if out[i] != want {
				t.Errorf("n=%d: out[%d] = %+v, want %+v", n, i, out[i], want)
			}
		}
	}
}

// decredRecover is the oracle: the library's own recovery from 65 bytes, which
// allows high s and recovery ids 2 and 3, after our rules on the form.
func decredRecover(hash [32]byte, sig Signature) (PublicKey, bool) {
	if _, _, err := sig.scalars(); err != nil {
		return PublicKey{}, false
	}
	compact := append([]byte{27 + sig.YParity}, append(sig.R[:], sig.S[:]...)...)
	pub, _, err := ecdsa.RecoverCompact(compact, hash[:])
	if err != nil {
		return PublicKey{}, false
	}
	return PublicKey(pub.SerializeUncompressed()[1:]), true
}

func FuzzRecover(f *testing.F) {
	k := testKey(f, 3)
	sig := k.Sign([32]byte{3})
	flat := func(hash [32]byte, sig Signature) []byte {
		return append(append(append(hash[:], sig.R[:]...), sig.S[:]...), sig.YParity)
	}
	f.Add(flat([32]byte{3}, sig))
	f.Add(flat([32]byte{3}, negated(sig)))
	f.Add(make([]byte, 97))
	f.Add(bytes.Repeat([]byte{0xff}, 97))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) != 97 {
			return
		}
		hash := [32]byte(in)
		sig := Signature{R: [32]byte(in[32:]), S: [32]byte(in[64:]), YParity: in[96]}
		got, err := Recover(hash, sig)
		want, ok := decredRecover(hash, sig)
		if (err == nil) != ok || got != want {
			t.Fatalf("Recover = %x, %v; oracle %x, %v", got, err, want, ok)
		}
		if err == nil {
			if err := got.Verify(hash, sig); err != nil {
				t.Fatalf("recovered key does not verify: %v", err)
			}
		}
	})
}

// TestRecoverAgreesWithOracle runs the fuzz property on inputs biased to small,
// large and edge scalars.
func TestRecoverAgreesWithOracle(t *testing.T) {
	const seed = 42
	rng := mathrand.New(mathrand.NewPCG(seed, 0))
	draw := func() (b [32]byte) {
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		switch rng.IntN(8) {
		case 0:
			clear(b[:31])
		case 1:
			b = word(t, orderHex)
			b[31] += byte(rng.IntN(5)) - 2
		case 2:
			b = word(t, halfOrderHex)
			b[31] += byte(rng.IntN(5)) - 2
		}
		return b
	}
	recovered := 0
	for i := range 2000 {
		hash, sig := draw(), Signature{R: draw(), S: draw(), YParity: uint8(rng.IntN(2))}
		got, err := Recover(hash, sig)
		want, ok := decredRecover(hash, sig)
		if (err == nil) != ok || got != want {
			t.Fatalf("seed %d, case %d: Recover = %x, %v; oracle %x, %v", seed, i, got, err, want, ok)
		}
		if ok {
			recovered++
		}
	}
	if recovered < 200 {
		t.Errorf("only %d of 2000 cases recovered: the draw misses the interesting half", recovered)
	}
}

func BenchmarkSign(b *testing.B) {
	k, err := GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("kernel=decred/n=1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			k.Sign([32]byte{1})
		}
	})
}
