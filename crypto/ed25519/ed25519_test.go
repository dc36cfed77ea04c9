package ed25519

import (
	"bytes"
	stded25519 "crypto/ed25519"
	"crypto/rand"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"

	"filippo.io/edwards25519"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// affine is a point in plain coordinates: the slow twin of point.
type affine struct{ x, y *big.Int }

// decodeAffine is RFC 8032 §5.1.3 without its demands for canonical encodings.
func decodeAffine(b []byte) (affine, bool) {
	p := prime()
	b = bytes.Clone(b)
	odd := b[31]>>7 == 1
	b[31] &= 0x7f
	y := new(big.Int).Mod(fromLittleEndian(b), p)
	yy := new(big.Int).Mul(y, y)
	u := new(big.Int).Sub(yy, big.NewInt(1))
	v := new(big.Int).Mul(yy, curveD())
	v.Add(v, big.NewInt(1)).Mod(v, p)
	u.Mul(u, v.ModInverse(v, p)).Mod(u, p)
	x := new(big.Int).ModSqrt(u, p)
	if x == nil {
		return affine{}, false
	}
	if x.Bit(0) == 1 != odd {
		x.Sub(p, x).Mod(x, p)
	}
	return affine{x, y}, true
}

// prime is 2^255 - 19.
func prime() *big.Int {
	p := new(big.Int).Lsh(big.NewInt(1), 255)
	return p.Sub(p, big.NewInt(19))
}

// order is the order of the base point (RFC 8032 §5.1).
func order() *big.Int {
	l, _ := new(big.Int).SetString("27742317777372353535851937790883648493", 10)
	return l.Add(l, new(big.Int).Lsh(big.NewInt(1), 252))
}

// curveD is -121665/121666.
func curveD() *big.Int {
	d := new(big.Int).ModInverse(big.NewInt(121666), prime())
	return d.Mul(d, big.NewInt(-121665)).Mod(d, prime())
}

func littleEndian(n *big.Int) [32]byte {
	var b [32]byte
	n.FillBytes(b[:])
	slices.Reverse(b[:])
	return b
}

func fromLittleEndian(b []byte) *big.Int {
	b = slices.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

func (a affine) plus(b affine) affine {
	p := prime()
	mul := func(f ...*big.Int) *big.Int {
		out := big.NewInt(1)
		for _, v := range f {
			out.Mul(out, v).Mod(out, p)
		}
		return out
	}
	cross := mul(curveD(), a.x, b.x, a.y, b.y)
	x := new(big.Int).Add(mul(a.x, b.y), mul(b.x, a.y))
	y := new(big.Int).Add(mul(a.y, b.y), mul(a.x, b.x))
	x = mul(x, new(big.Int).ModInverse(new(big.Int).Add(big.NewInt(1), cross), p))
	below := new(big.Int).Sub(big.NewInt(1), cross)
	y = mul(y, new(big.Int).ModInverse(below.Mod(below, p), p))
	return affine{x, y}
}

func (a affine) times(k *big.Int) affine {
	sum := affine{big.NewInt(0), big.NewInt(1)}
	for i := k.BitLen() - 1; i >= 0; i-- {
		sum = sum.plus(sum)
		if k.Bit(i) == 1 {
			sum = sum.plus(a)
		}
	}
	return sum
}

// verifyByTheBook is the equation of ZIP-215 as written.
func verifyByTheBook(pub [32]byte, msg, sig []byte) bool {
	if len(sig) != SignatureSize {
		return false
	}
	l := order()
	s := fromLittleEndian(sig[32:])
	a, okA := decodeAffine(pub[:])
	r, okR := decodeAffine(sig[:32])
	if s.Cmp(l) >= 0 || !okA || !okR {
		return false
	}
	digest := sha512.Sum512(bytes.Join([][]byte{sig[:32], pub[:], msg}, nil))
	k := new(big.Int).Mod(fromLittleEndian(digest[:]), l)
	base, _ := decodeAffine(append([]byte{0x58}, bytes.Repeat([]byte{0x66}, 31)...))
	eight := big.NewInt(8)
	left := base.times(s).times(eight)
	right := r.plus(a.times(k)).times(eight)
	return left.x.Cmp(right.x) == 0 && left.y.Cmp(right.y) == 0
}

// verifyAll demands one verdict of every path and returns it. The oracle is
// slow, so it is asked only if slow is set.
func verifyAll(t *testing.T, pub [32]byte, msg, sig []byte, slow bool) bool {
	t.Helper()
	got := Verify(pub, msg, sig)
	if len(sig) == SignatureSize {
		if alone := verifyCofactored(pub, msg, sig); alone != got {
			t.Errorf("key %x signature %x: Verify %v, cofactored equation %v", pub, sig, got, alone)
		}
	}
	if key, err := NewKnownKey(pub); err == nil {
		bad := VerifyMany([]Signed{{key, msg, sig}})
		if (len(bad) == 0) != got {
			t.Errorf("key %x signature %x: Verify %v, batch of one %v", pub, sig, got, bad)
		}
	} else if got {
		t.Errorf("key %x: accepted, but %v", pub, err)
	}
	if slow {
		if want := verifyByTheBook(pub, msg, sig); got != want {
			t.Errorf("key %x signature %x: Verify %v, by the book %v", pub, sig, got, want)
		}
	}
	if !got && stded25519.Verify(pub[:], msg, sig) {
		t.Errorf("key %x signature %x: refused, but the standard library accepts", pub, sig)
	}
	return got
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestZIP215Vectors covers all pairs of small-order and non-canonical keys and
// nonce points.
func TestZIP215Vectors(t *testing.T) {
	var cases []struct {
		Key   string `json:"vk_bytes"`
		Sig   string `json:"sig_bytes"`
		Valid bool   `json:"valid_zip215"`
	}
	vectors.Decode(t, "ed25519/zip215.json", &cases)
	for _, c := range cases {
		if got := verifyAll(t, [32]byte(unhex(t, c.Key)), []byte("Zcash"), unhex(t, c.Sig), false); got != c.Valid {
			t.Errorf("key %s signature %s: got %v, want %v", c.Key, c.Sig, got, c.Valid)
		}
	}
	t.Logf("%d cases", len(cases))
}

// TestSpeccheckCases: verifiers disagree on these, so the written rule decides.
func TestSpeccheckCases(t *testing.T) {
	var cases []struct {
		Message   string
		Key       string `json:"pub_key"`
		Signature string
	}
	vectors.Decode(t, "ed25519/speccheck_cases.json", &cases)
	for i, c := range cases {
		got := verifyAll(t, [32]byte(unhex(t, c.Key)), unhex(t, c.Message), unhex(t, c.Signature), true)
		t.Logf("case %d: %v", i, got)
	}
}

// TestWycheproofVectors: the suite follows RFC 8032, which differs from ZIP-215
// in the cases listed.
func TestWycheproofVectors(t *testing.T) {
	laxer := map[int]bool{151: true} // R is x = 0 with the sign bit set
	var suite struct {
		TestGroups []struct {
			PublicKey struct{ PK string }
			Tests     []struct {
				TcID                      int
				Comment, Msg, Sig, Result string
			}
		}
	}
	vectors.Decode(t, "ed25519/wycheproof/ed25519_test.json", &suite)
	count := 0
	for _, group := range suite.TestGroups {
		for _, c := range group.Tests {
			got := verifyAll(t, [32]byte(unhex(t, group.PublicKey.PK)), unhex(t, c.Msg), unhex(t, c.Sig), false)
			if got != (c.Result == "valid" || laxer[c.TcID]) {
				t.Errorf("%d (%s): got %v, want %s", c.TcID, c.Comment, got, c.Result)
			}
			count++
		}
	}
	t.Logf("%d cases", count)
}

// TestRFC8032Signatures signs and verifies secret‖public:public:message:
// signature‖message lines.
func TestRFC8032Signatures(t *testing.T) {
	lines := strings.Fields(string(vectors.Read(t, "ed25519/sign.input.txt")))
	for i, line := range lines {
		parts := strings.Split(line, ":")
		k, err := NewPrivateKey(unhex(t, parts[0])[:SeedSize])
		if err != nil {
			t.Fatal(err)
		}
		msg, want := unhex(t, parts[2]), unhex(t, parts[3])[:SignatureSize]
		sig := k.Sign(msg)
		if !bytes.Equal(sig[:], want) {
			t.Errorf("line %d: signature %x, want %x", i+1, sig, want)
		}
		if pub := k.PublicKey(); !bytes.Equal(pub[:], unhex(t, parts[1])) || !verifyAll(t, pub, msg, sig[:], false) {
			t.Errorf("line %d: key %x or its signature is wrong", i+1, pub)
		}
	}
	t.Logf("%d lines", len(lines))
}

func testKey(t testing.TB, seed byte) *PrivateKey {
	t.Helper()
	k, err := NewPrivateKey(bytes.Repeat([]byte{seed}, SeedSize))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSignatureDependsOnEveryBit(t *testing.T) {
	k := testKey(t, 1)
	msg := []byte("hello peer")
	sig := k.Sign(msg)
	if !verifyAll(t, k.PublicKey(), msg, sig[:], true) {
		t.Fatal("own signature is refused")
	}
	for bit := range 8 * SignatureSize {
		bad := sig
		bad[bit/8] ^= 1 << (bit % 8)
		if verifyAll(t, k.PublicKey(), msg, bad[:], bit%64 == 0) {
			t.Errorf("bit %d of the signature does not matter", bit)
		}
	}
	for bit := range 8 * PublicKeySize {
		pub := k.PublicKey()
		pub[bit/8] ^= 1 << (bit % 8)
		if verifyAll(t, pub, msg, sig[:], bit%64 == 0) {
			t.Errorf("bit %d of the key does not matter", bit)
		}
	}
	for n := range 2 * SignatureSize {
		if n != SignatureSize && Verify(k.PublicKey(), msg, make([]byte, n)) {
			t.Errorf("a signature of %d bytes is accepted", n)
		}
	}
	if Verify(testKey(t, 2).PublicKey(), msg, sig[:]) || Verify(k.PublicKey(), msg[1:], sig[:]) {
		t.Error("another key or message is accepted")
	}
}

// TestMixedOrderSignatures adds points of order 2, 4 and 8 to key and nonce
// point: only the cofactored rule accepts those, and so must we.
func TestMixedOrderSignatures(t *testing.T) {
	const seed = 5
	rng := mathrand.New(mathrand.NewPCG(seed, 0))
	accepted := 0
	for i := range 64 {
		// y = -1 has order 2; this point has order 8.
		torsion, err := new(edwards25519.Point).SetBytes(unhex(t, "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"))
		if err != nil {
			t.Fatal(err)
		}
		// shifted returns the encoding of k·B + n·torsion.
		shifted := func(k []byte, n int) [32]byte {
			s, err := new(edwards25519.Scalar).SetCanonicalBytes(k)
			if err != nil {
				t.Fatal(err)
			}
			p := new(edwards25519.Point).ScalarBaseMult(s)
			for range n {
				p.Add(p, torsion)
			}
			return [32]byte(p.Bytes())
		}
		var secret, nonce [32]byte
		for j := range 31 {
			secret[j], nonce[j] = byte(rng.Uint32()), byte(rng.Uint32())
		}
		pub, msg := shifted(secret[:], i%8), []byte{byte(i)}
		encodedR := shifted(nonce[:], i/8)
		digest := sha512.Sum512(bytes.Join([][]byte{encodedR[:], pub[:], msg}, nil))
		s := new(big.Int).Mul(fromLittleEndian(digest[:]), fromLittleEndian(secret[:]))
		s.Add(s, fromLittleEndian(nonce[:])).Mod(s, order())
		scalar := littleEndian(s)
		if verifyAll(t, pub, msg, append(encodedR[:], scalar[:]...), i%8 == i/8) {
			accepted++
		}
	}
	if accepted != 64 {
		t.Errorf("%d of 64 mixed-order signatures accepted, want all", accepted)
	}
}

func TestKeysSurviveTheirSeed(t *testing.T) {
	k, err := GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	seed := k.Seed()
	again, err := NewPrivateKey(seed[:])
	if err != nil || again.PublicKey() != k.PublicKey() {
		t.Errorf("the key does not survive its seed: %v", err)
	}
	if _, err := NewPrivateKey(seed[1:]); !errors.Is(err, ErrSeed) {
		t.Errorf("short seed: %v", err)
	}
	if _, err := GenerateKey(bytes.NewReader(seed[1:])); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("short source: %v", err)
	}
	for _, text := range []string{fmt.Sprint(k), fmt.Sprintf("%#v", k)} {
		if !strings.Contains(text, "hidden") {
			t.Errorf("text %q", text)
		}
	}
}

func FuzzVerify(f *testing.F) {
	k := testKey(f, 1)
	pub := k.PublicKey()
	sig := k.Sign([]byte("m"))
	f.Add(pub[:], []byte("m"), sig[:])
	f.Add(make([]byte, 32), []byte{}, make([]byte, 64))
	f.Add(bytes.Repeat([]byte{0xff}, 32), []byte{}, append(bytes.Repeat([]byte{0xff}, 32), make([]byte, 32)...))
	f.Fuzz(func(t *testing.T, pub, msg, sig []byte) {
		if len(pub) != PublicKeySize {
			return
		}
		verifyAll(t, [32]byte(pub), msg, sig, true)
	})
}

func BenchmarkVerify(b *testing.B) {
	k := testKey(b, 1)
	pub, msg := k.PublicKey(), []byte("vote")
	sig := k.Sign(msg)
	b.Run("kernel=std/n=1/valid=true", func(b *testing.B) {
		for b.Loop() {
			Verify(pub, msg, sig[:])
		}
	})
	b.Run("kernel=generic/n=1/valid=false", func(b *testing.B) {
		for b.Loop() {
			Verify(pub, msg[1:], sig[:])
		}
	})
}
