package secp256k1

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

func TestParsePrivateKeyRefusesOutOfRange(t *testing.T) {
	f := func(what string, b []byte) {
		t.Helper()
		if _, err := ParsePrivateKey(b); !errors.Is(err, ErrPrivateKey) {
			t.Errorf("%s: got %v, want %v", what, err, ErrPrivateKey)
		}
	}
	f("nothing", nil)
	f("31 bytes", make([]byte, 31))
	f("33 bytes", bytes.Repeat([]byte{1}, 33))
	f("zero", make([]byte, 32))
	f("n", unhex(t, orderHex))
	f("2^256-1", bytes.Repeat([]byte{0xff}, 32))
}

func TestGenerateKey(t *testing.T) {
	a, err := GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret := a.Bytes()
	b, err := ParsePrivateKey(secret[:])
	if err != nil || a.PublicKey() != b.PublicKey() {
		t.Errorf("the key does not survive its bytes: %v", err)
	}
	if _, err := GenerateKey(bytes.NewReader(make([]byte, 31))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("short source: got %v", err)
	}
	if _, err := GenerateKey(bytes.NewReader(make([]byte, 64))); !errors.Is(err, ErrPrivateKey) {
		t.Errorf("source of zeroes: got %v", err)
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

func TestPublicKeySurvivesItsForms(t *testing.T) {
	for i := range uint64(20) {
		pub := testKey(t, i).PublicKey()
		compressed := pub.Compressed()
		for _, form := range [][]byte{compressed[:], append([]byte{4}, pub[:]...)} {
			if got, err := ParsePublicKey(form); err != nil || got != pub {
				t.Errorf("ParsePublicKey(%x) = %x, %v", form, got, err)
			}
		}
	}
}

func TestParsePublicKeyRefuses(t *testing.T) {
	pub := testKey(t, 1).PublicKey()
	f := func(what string, b []byte) {
		t.Helper()
		if _, err := ParsePublicKey(b); !errors.Is(err, ErrPublicKey) {
			t.Errorf("%s: got %v, want %v", what, err, ErrPublicKey)
		}
	}
	f("nothing", nil)
	f("raw X‖Y", pub[:])
	f("hybrid form", append([]byte{6 + pub[63]&1}, pub[:]...))
	f("x off the curve", append([]byte{2}, append(make([]byte, 31), 5)...))
	f("x = field prime", append([]byte{2}, unhex(t, "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f")...))
	off := append([]byte{4}, pub[:]...)
	off[64] ^= 1
	f("y off the curve", off)
	f("infinity", []byte{0})
}

func TestVerifyRefusesForeignPoints(t *testing.T) {
	k := testKey(t, 1)
	sig := k.Sign([32]byte{1})
	pub := k.PublicKey()
	pub[63] ^= 1
	for _, p := range []PublicKey{{}, pub, PublicKey(bytes.Repeat([]byte{0xff}, 64))} {
		if err := p.Verify([32]byte{1}, sig); !errors.Is(err, ErrPublicKey) {
			t.Errorf("%x: got %v, want %v", p, err, ErrPublicKey)
		}
	}
	if err := testKey(t, 2).PublicKey().Verify([32]byte{1}, sig); !errors.Is(err, ErrMismatch) {
		t.Errorf("other key: got %v, want %v", err, ErrMismatch)
	}
}

func FuzzParsePublicKey(f *testing.F) {
	pub := testKey(f, 1).PublicKey()
	compressed := pub.Compressed()
	f.Add(compressed[:])
	f.Add(append([]byte{4}, pub[:]...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := ParsePublicKey(in)
		if err != nil {
			return
		}
		want, err := secp256k1.ParsePubKey(in)
		if err != nil {
			t.Fatalf("accepted %x: %v", in, err)
		}
		if !bytes.Equal(got[:], want.SerializeUncompressed()[1:]) {
			t.Fatalf("got %x", got)
		}
		compressed := got.Compressed()
		if len(in) == 33 && !bytes.Equal(in, compressed[:]) {
			t.Fatalf("%x re-encodes as %x", in, compressed)
		}
	})
}

func FuzzParsePrivateKey(f *testing.F) {
	f.Add(make([]byte, 32))
	f.Add(bytes.Repeat([]byte{7}, 32))
	f.Fuzz(func(t *testing.T, in []byte) {
		k, err := ParsePrivateKey(in)
		if err != nil {
			return
		}
		if out := k.Bytes(); !bytes.Equal(in, out[:]) {
			t.Fatalf("%x re-encodes as %x", in, out)
		}
	})
}
