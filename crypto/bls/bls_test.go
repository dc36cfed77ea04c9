package bls

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func testKey(t testing.TB, seed uint64) *SecretKey {
	t.Helper()
	k, err := NewSecretKey(fmt.Appendf(nil, "%032d", seed))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var testNamespace, testMessage = []byte("cowboy-test_NOTARIZE"), []byte("proposal")

func TestSignatureVerifies(t *testing.T) {
	k := testKey(t, 1)
	pub := k.PublicKey()
	sig := k.Sign(testNamespace, testMessage)
	tests := []struct {
		name    string
		key     *PublicKey
		ns, msg string
		sig     Signature
		want    bool
	}{
		{"own signature verifies", pub, string(testNamespace), "proposal", sig, true},
		{"another key does not", testKey(t, 2).PublicKey(), string(testNamespace), "proposal", sig, false},
		{"another message does not", pub, string(testNamespace), "proposals", sig, false},
		{"another namespace does not", pub, "cowboy-test_FINALIZE", "proposal", sig, false},
		{"moving the border of namespace and message does not", pub, "cowboy-test_NOTARIZEp", "roposal", sig, false},
		{"a proof of possession is no message", pub, "", "", k.ProvePossession(), false},
		{"zero bytes do not", pub, string(testNamespace), "proposal", Signature{}, false},
		{"the identity does not", pub, string(testNamespace), "proposal", Signature{0xc0}, false},
		{"nothing verifies under the identity", new(PublicKey), string(testNamespace), "proposal", sig, false},
		{"not even the identity", new(PublicKey), string(testNamespace), "proposal", Signature{0xc0}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.key.Verify([]byte(tt.ns), []byte(tt.msg), tt.sig); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSignedBytes(t *testing.T) {
	f := func(ns, msg string, want ...byte) {
		t.Helper()
		if got := SignedBytes([]byte(ns), []byte(msg)); !bytes.Equal(got, want) {
			t.Errorf("SignedBytes(%q, %q) = %x, want %x", ns, msg, got, want)
		}
	}
	f("", "", 0)
	f("ab", "c", 2, 'a', 'b', 'c')
	long := strings.Repeat("n", 300)
	f(long, "m", append([]byte{0xac, 0x02}, long+"m"...)...)
}

func TestSignatureDependsOnEveryBit(t *testing.T) {
	k := testKey(t, 1)
	pub, sig := k.PublicKey(), k.Sign(testNamespace, testMessage)
	for bit := range 8 * SignatureSize {
		bad := sig
		bad[bit/8] ^= 1 << (bit % 8)
		if pub.Verify(testNamespace, testMessage, bad) {
			t.Errorf("bit %d does not matter", bit)
		}
	}
}

func TestPossession(t *testing.T) {
	a, b := testKey(t, 1), testKey(t, 2)
	proof := a.ProvePossession()
	if !a.PublicKey().VerifyPossession(proof) {
		t.Error("own proof is refused")
	}
	if b.PublicKey().VerifyPossession(proof) {
		t.Error("another's proof is accepted")
	}
	pub := a.PublicKey().Bytes()
	if a.PublicKey().VerifyPossession(a.Sign(nil, pub[:])) {
		t.Error("a message signature passes as a proof")
	}
}

func TestKeysSurviveTheirBytes(t *testing.T) {
	k := testKey(t, 3)
	secret := k.Bytes()
	again, err := ParseSecretKey(secret[:])
	if err != nil || again.Sign(nil, nil) != k.Sign(nil, nil) {
		t.Errorf("secret key: %v", err)
	}
	public := k.PublicKey().Bytes()
	pub, err := ParsePublicKey(public[:])
	if err != nil || !pub.Equal(k.PublicKey()) {
		t.Errorf("public key: %v", err)
	}
}

func TestSecretKeysOutOfRange(t *testing.T) {
	order := unhex(t, "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001")
	for _, b := range [][]byte{nil, make([]byte, 31), make([]byte, 32), make([]byte, 33), order, bytes.Repeat([]byte{0xff}, 32)} {
		if _, err := ParseSecretKey(b); !errors.Is(err, ErrSecretKey) {
			t.Errorf("ParseSecretKey(%x): %v", b, err)
		}
	}
	order[31]--
	if _, err := ParseSecretKey(order); err != nil {
		t.Errorf("r-1: %v", err)
	}
	if _, err := NewSecretKey(make([]byte, 31)); !errors.Is(err, ErrKeyMaterial) {
		t.Errorf("NewSecretKey of 31 bytes: %v", err)
	}
}

func TestSecretStaysOutOfText(t *testing.T) {
	k := testKey(t, 1)
	secret := fmt.Sprintf("%x", k.Bytes())
	for _, text := range []string{fmt.Sprint(k), fmt.Sprintf("%+v", k), fmt.Sprintf("%#v", k)} {
		if strings.Contains(text, secret[:8]) || !strings.Contains(text, "hidden") {
			t.Errorf("text %q", text)
		}
	}
}

func TestPublicKeyFaultsHaveTheirErrors(t *testing.T) {
	good := testKey(t, 1).PublicKey().Bytes()
	edit := func(f func(b []byte)) []byte {
		b := bytes.Clone(good[:])
		f(b)
		return b
	}
	tests := []struct {
		name string
		b    []byte
		want error
	}{
		{"nothing", nil, ErrLength},
		{"one byte short", good[:95], ErrLength},
		{"one byte long", append(good[:], 0), ErrLength},
		{"no compression flag", edit(func(b []byte) { b[0] &^= 0x80 }), ErrEncoding},
		{"coordinate above the field prime", append([]byte{0x9f}, bytes.Repeat([]byte{0xff}, 95)...), ErrEncoding},
		{"identity", append([]byte{0xc0}, make([]byte, 95)...), ErrInfinity},
		{"identity with sign flag", append([]byte{0xe0}, make([]byte, 95)...), ErrEncoding},
		{"identity with stray bit", append(append([]byte{0xc0}, make([]byte, 94)...), 1), ErrEncoding},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ParsePublicKey(tt.b); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// TestPointsOutsideTheSubgroupAreRefused takes small x coordinates: almost all
// curve points lie outside the subgroup of prime order.
func TestPointsOutsideTheSubgroupAreRefused(t *testing.T) {
	outside1, outside2 := 0, 0
	for x := range byte(64) {
		sig := Signature{0: 0x80, SignatureSize - 1: x}
		key := [PublicKeySize]byte{0: 0x80, PublicKeySize - 1: x}
		err := sig.Check()
		if errors.Is(err, ErrSubgroup) {
			outside1++
		} else if !errors.Is(err, ErrEncoding) {
			t.Errorf("G1 x=%d: %v", x, err)
		}
		_, err = ParsePublicKey(key[:])
		if errors.Is(err, ErrSubgroup) {
			outside2++
		} else if !errors.Is(err, ErrEncoding) {
			t.Errorf("G2 x=%d: %v", x, err)
		}
	}
	if outside1 == 0 || outside2 == 0 {
		t.Errorf("%d and %d points outside the subgroup, want some of each", outside1, outside2)
	}
}

func FuzzParsePublicKey(f *testing.F) {
	good := testKey(f, 1).PublicKey().Bytes()
	f.Add(good[:])
	f.Add(append([]byte{0xc0}, make([]byte, 95)...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := ParsePublicKey(in)
		if err != nil {
			return
		}
		if out := p.Bytes(); !bytes.Equal(in, out[:]) {
			t.Fatalf("%x re-encodes as %x", in, out)
		}
	})
}

func FuzzVerify(f *testing.F) {
	k := testKey(f, 1)
	pub, sig := k.PublicKey(), k.Sign(testNamespace, testMessage)
	f.Add(sig[:])
	f.Add(append([]byte{0xc0}, make([]byte, 47)...))
	f.Add(append([]byte{0x80}, make([]byte, 47)...))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) != SignatureSize {
			return
		}
		if got := pub.Verify(testNamespace, testMessage, Signature(in)); got != bytes.Equal(in, sig[:]) {
			t.Fatalf("Verify(%x) = %v, but the one valid signature is %x", in, got, sig)
		}
	})
}
