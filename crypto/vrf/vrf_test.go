package vrf

import (
	"fmt"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

func testKey(t testing.TB, seed uint64) *bls.SecretKey {
	t.Helper()
	k, err := bls.NewSecretKey(fmt.Appendf(nil, "%032d", seed))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestProofShowsItsOutput(t *testing.T) {
	k := testKey(t, 1)
	proof, out := Prove(k, []byte("ns"), []byte("msg"))
	if again, _ := Prove(k, []byte("ns"), []byte("msg")); again != proof {
		t.Error("two proofs of one message")
	}
	if got, ok := Verify(k.PublicKey(), []byte("ns"), []byte("msg"), proof); !ok || got != out {
		t.Errorf("Verify = %x, %v; want %x", got, ok, out)
	}
	h := sha3.NewLegacyKeccak256()
	h.Write(proof[:])
	if [32]byte(h.Sum(nil)) != out {
		t.Errorf("output %x is not the Keccak-256 of the proof", out)
	}
}

func TestForeignProofsShowNothing(t *testing.T) {
	k, other := testKey(t, 1), testKey(t, 2)
	proof, _ := Prove(k, []byte("ns"), []byte("msg"))
	f := func(what string, k *bls.SecretKey, ns, msg string, proof bls.Signature) {
		t.Helper()
		if out, ok := Verify(k.PublicKey(), []byte(ns), []byte(msg), proof); ok || out != ([32]byte{}) {
			t.Errorf("%s: Verify = %x, %v", what, out, ok)
		}
	}
	f("another key", other, "ns", "msg", proof)
	f("another namespace", k, "nt", "msg", proof)
	f("another message", k, "ns", "msh", proof)
	f("no proof", k, "ns", "msg", bls.Signature{})
	f("identity", k, "ns", "msg", bls.Signature{0xc0})
}

func FuzzVerify(f *testing.F) {
	k := testKey(f, 1)
	proof, out := Prove(k, []byte("ns"), []byte("msg"))
	f.Add(proof[:])
	f.Add(make([]byte, bls.SignatureSize))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) != bls.SignatureSize {
			return
		}
		got, ok := Verify(k.PublicKey(), []byte("ns"), []byte("msg"), bls.Signature(raw))
		if ok != (bls.Signature(raw) == proof) || ok && got != out {
			t.Fatalf("Verify(%x) = %x, %v", raw, got, ok)
		}
	})
}

func BenchmarkProve(b *testing.B) {
	k := testKey(b, 1)
	b.Run("kernel=blst/n=1", func(b *testing.B) {
		for b.Loop() {
			Prove(k, []byte("ns"), []byte("msg"))
		}
	})
}
