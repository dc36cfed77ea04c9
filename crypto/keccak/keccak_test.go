package keccak

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// reference is Keccak-256 of another implementation.
func reference(msg []byte) (digest [Size]byte) {
	h := sha3.NewLegacyKeccak256()
	h.Write(msg)
	h.Sum(digest[:0])
	return digest
}

// random returns n bytes that depend only on seed.
func random(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 0))
	msg := make([]byte, n)
	for i := range msg {
		msg[i] = byte(rng.Uint32())
	}
	return msg
}

func TestKnownDigests(t *testing.T) {
	f := func(msg, want string) {
		t.Helper()
		if got := Sum256([]byte(msg)); hex.EncodeToString(got[:]) != want {
			t.Errorf("Sum256(%q) = %x, want %s", msg, got, want)
		}
	}
	f("", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")     // the empty code hash
	f("\x80", "56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421") // the empty trie root
	f("abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45")
}

func TestPublicVectors(t *testing.T) {
	var cases []struct{ Name, Data, Keccak256 string }
	vectors.Decode(t, "secp256k1/keccak256_ethers.json", &cases)
	for _, c := range cases {
		msg, err := hex.DecodeString(strings.TrimPrefix(c.Data, "0x"))
		if err != nil {
			t.Fatal(err)
		}
		if got := Sum256(msg); fmt.Sprintf("0x%x", got) != c.Keccak256 {
			t.Errorf("%s: got %x, want %s", c.Name, got, c.Keccak256)
		}
	}
	t.Logf("%d vectors", len(cases))
}

// TestEveryLength walks over all padding positions of the first five blocks.
func TestEveryLength(t *testing.T) {
	msg := random(1, 5*rate+2)
	for n := range msg {
		if got, want := Sum256(msg[:n]), reference(msg[:n]); got != want {
			t.Fatalf("%d bytes: got %x, want %x", n, got, want)
		}
	}
}

func TestPartsAreConcatenated(t *testing.T) {
	msg := random(2, 400)
	for cut := range msg {
		if got, want := Sum256(msg[:cut], nil, msg[cut:]), reference(msg); got != want {
			t.Fatalf("cut at %d: got %x, want %x", cut, got, want)
		}
	}
}

func TestHasherStaysOpenAfterSum(t *testing.T) {
	msg := random(3, 1000)
	h := New()
	for i, b := range msg {
		if n, err := h.Write([]byte{b}); n != 1 || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
		if got, want := h.Sum256(), reference(msg[:i+1]); got != want {
			t.Fatalf("after %d bytes: got %x, want %x", i+1, got, want)
		}
	}
	h.Reset()
	if got, want := h.Sum256(), reference(nil); got != want {
		t.Errorf("after Reset: got %x, want %x", got, want)
	}
}

func TestNothingAllocates(t *testing.T) {
	msg, other := random(4, 532), random(5, 32)
	msgs, out := [][]byte{msg, other}, make([][Size]byte, 2)
	var h Hasher
	allocs := testing.AllocsPerRun(100, func() {
		out[0] = Sum256(msg, other)
		h.Reset()
		h.Write(msg)
		out[1] = h.Sum256()
		SumMany(msgs, out)
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want 0", allocs)
	}
}

func FuzzAgreesWithReference(f *testing.F) {
	f.Add([]byte{}, 0)
	f.Add([]byte("abc"), 1)
	f.Add(bytes.Repeat([]byte{0xff}, rate-1), 7)
	f.Add(bytes.Repeat([]byte{0x01}, rate), rate)
	f.Add(random(6, 3*rate+1), rate+1)
	f.Fuzz(func(t *testing.T, msg []byte, cut int) {
		cut = min(max(cut, 0), len(msg))
		want := reference(msg)
		if got := Sum256(msg[:cut], msg[cut:]); got != want {
			t.Errorf("Sum256 = %x, want %x", got, want)
		}
		h := New()
		h.Write(msg[:cut])
		h.Write(msg[cut:])
		if got := h.Sum256(); got != want {
			t.Errorf("Hasher = %x, want %x", got, want)
		}
	})
}

func BenchmarkSum256(b *testing.B) {
	for _, n := range []int{32, 64, 136, 532} {
		msg := random(7, n)
		b.Run(fmt.Sprintf("kernel=%v/n=%d", New().kernel, n), func(b *testing.B) {
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				Sum256(msg)
			}
		})
		b.Run(fmt.Sprintf("kernel=xcrypto/n=%d", n), func(b *testing.B) {
			h, digest := sha3.NewLegacyKeccak256(), make([]byte, 0, Size)
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				h.Reset()
				h.Write(msg)
				h.Sum(digest)
			}
		})
	}
}
