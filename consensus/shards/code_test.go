package shards

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/erasure"
)

var testLimits = Limits{WholeMax: 64, BodyMax: 1 << 20, HeadMax: 256}

func newCode(t testing.TB, n int) *Code {
	t.Helper()
	c, err := NewCode(n, testLimits, erasure.NewDigester(cpu.Features{}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func randomBody(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 11))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// TestAnyShardsGiveBackTheBody: k = f+1 of n, whichever (ADR 10).
func TestAnyShardsGiveBackTheBody(t *testing.T) {
	for _, n := range []int{4, 5, 7, 16, 33, 100, 128, 256} {
		c := newCode(t, n)
		if want := (n-1)/3 + 1; c.Needed() != want || c.Total() != n {
			t.Fatalf("n = %d: %d of %d shards, want %d", n, c.Needed(), c.Total(), want)
		}
		for _, size := range []int{65, 66, 1000, 20_000} {
			body := randomBody(uint64(n), size)
			w, err := c.Encode(body)
			if err != nil {
				t.Fatal(err)
			}
			if root, err := c.Root(body); err != nil || root != w.Root {
				t.Fatalf("n = %d: root %v and %v, %v", n, root, w.Root, err)
			}
			if err := c.CheckOpening(w.Root, w.Opening); err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(uint64(n), uint64(size)))
			have := make([][]byte, n)
			for _, i := range rng.Perm(n)[:c.Needed()] {
				s := w.Shard(i)
				if err := c.Check(w.Opening, s); err != nil {
					t.Fatalf("n = %d, shard %d: %v", n, i, err)
				}
				have[i] = s.Bytes
			}
			if got, err := c.Rebuild(w.Opening, have); err != nil || !bytes.Equal(got, body) {
				t.Fatalf("n = %d, %d bytes: rebuilt %d, %v", n, size, len(got), err)
			}
			for i := range have {
				if have[i] != nil {
					have[i] = nil
					break
				}
			}
			if _, err := c.Rebuild(w.Opening, have); !errors.Is(err, erasure.ErrTooFewShards) {
				t.Errorf("n = %d, one shard too few: %v", n, err)
			}
		}
	}
}

// TestRootIsFrozen: the root is inside the digest that validators sign.
func TestRootIsFrozen(t *testing.T) {
	body := bytes.Repeat([]byte("cowboy"), 100)
	for n, want := range map[int]string{
		4:   "0x1b938c9e42eb262b58ce052fb54a8fb4447186eddb0ee619433ea1e067ed7183",
		100: "0x13c9bed2545b07d1ae30a12cf67fd739ee63994e040218d59375e29ca7e0e1d4",
	} {
		root, err := newCode(t, n).Root(body)
		if err != nil || root.String() != want {
			t.Errorf("n = %d: %v, %v, want %s", n, root, err, want)
		}
	}
	if root, err := newCode(t, 4).Root(body[:64]); err != nil || root != (chain.Hash{}) {
		t.Errorf("a body that travels whole has root %v, %v", root, err)
	}
	if root, err := (*Code)(nil).Root(body); err != nil || root != (chain.Hash{}) {
		t.Errorf("without a code: root %v, %v", root, err)
	}
}

func TestNewCodeRefuses(t *testing.T) {
	d := erasure.NewDigester(cpu.Features{})
	f := func(rule string, n int, change func(*Limits)) {
		t.Helper()
		limits := testLimits
		change(&limits)
		if _, err := NewCode(n, limits, d); err == nil {
			t.Errorf("%s: accepted", rule)
		}
	}
	f("three validators", 3, func(*Limits) {})
	f("257 validators", 257, func(*Limits) {})
	f("no body", 4, func(l *Limits) { l.BodyMax = 0 })
	f("a body above the codec's", 4, func(l *Limits) { l.BodyMax = erasure.BlockMax + 1 })
	f("no head", 4, func(l *Limits) { l.HeadMax = 0 })
	f("less than nothing whole", 4, func(l *Limits) { l.WholeMax = -1 })
}

func TestOpeningsAreRefused(t *testing.T) {
	c := newCode(t, 7)
	w, err := c.Encode(randomBody(1, 500))
	if err != nil {
		t.Fatal(err)
	}
	other, err := newCode(t, 10).Encode(randomBody(1, 500))
	if err != nil {
		t.Fatal(err)
	}
	f := func(rule string, root chain.Hash, o Opening, want error) {
		t.Helper()
		if err := c.CheckOpening(root, o); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
	}
	longer := w.Opening
	longer.Length++
	f("good", w.Root, w.Opening, nil)
	f("head of a whole block", chain.Hash{}, w.Opening, ErrWhole)
	f("another root", chain.Hash{1}, w.Opening, ErrOpening)
	f("another length", w.Root, longer, ErrOpening)
	f("shape of another set", other.Root, other.Opening, ErrOpening)
	f("length that travels whole", c.root(Opening{Length: 64}), Opening{Length: 64}, ErrLength)
	f("length above the limit", c.root(Opening{Length: 1<<20 + 1}), Opening{Length: 1<<20 + 1}, ErrLength)
	f("length of 4 GiB", c.root(Opening{Length: 1<<32 - 1}), Opening{Length: 1<<32 - 1}, ErrLength)
}

func TestShardsAreRefused(t *testing.T) {
	c := newCode(t, 7)
	w, err := c.Encode(randomBody(2, 500))
	if err != nil {
		t.Fatal(err)
	}
	f := func(rule string, want error, change func(s *Shard)) {
		t.Helper()
		s := w.Shard(3)
		s.Bytes, s.Proof = bytes.Clone(s.Bytes), append([]chain.Hash(nil), s.Proof...)
		change(&s)
		if err := c.Check(w.Opening, s); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
	}
	f("good", nil, func(*Shard) {})
	f("another index", ErrProof, func(s *Shard) { s.Index = 2 })
	f("index of padding", ErrIndex, func(s *Shard) { s.Index = 7 })
	f("index below 0", ErrIndex, func(s *Shard) { s.Index = -1 })
	f("a bit of the shard", ErrProof, func(s *Shard) { s.Bytes[0] ^= 1 })
	f("a byte less", ErrWidth, func(s *Shard) { s.Bytes = s.Bytes[1:] })
	f("a byte more", ErrWidth, func(s *Shard) { s.Bytes = append(s.Bytes, 0) })
	f("empty", ErrWidth, func(s *Shard) { s.Bytes = nil })
	f("a bit of the proof", ErrProof, func(s *Shard) { s.Proof[1][5] ^= 1 })
	f("a step less", ErrProof, func(s *Shard) { s.Proof = s.Proof[:2] })
	f("a step more", ErrProof, func(s *Shard) { s.Proof = append(s.Proof, chain.Hash{}) })
	f("steps exchanged", ErrProof, func(s *Shard) { s.Proof[0], s.Proof[1] = s.Proof[1], s.Proof[0] })
}

// TestNoCodewordIsRefusedByAll: whichever shards a validator has, it finds that
// the leader's are none, so that all honest verdicts agree.
func TestNoCodewordIsRefusedByAll(t *testing.T) {
	c := newCode(t, 7)
	body := randomBody(3, 500)
	f := func(rule string, length int, spoil func(shards [][]byte)) {
		t.Helper()
		good, err := c.Encode(body)
		if err != nil {
			t.Fatal(err)
		}
		spoil(good.shards)
		w := c.seal(length, good.shards)
		if err := c.CheckOpening(w.Root, w.Opening); err != nil {
			t.Fatalf("%s: %v", rule, err)
		}
		for first := range 7 {
			for second := range first {
				for third := range second {
					have := make([][]byte, 7)
					for _, i := range []int{first, second, third} {
						s := w.Shard(i)
						if err := c.Check(w.Opening, s); err != nil {
							t.Fatalf("%s: shard %d: %v", rule, i, err)
						}
						have[i] = s.Bytes
					}
					if _, err := c.Rebuild(w.Opening, have); !errors.Is(err, ErrNotCodeword) {
						t.Errorf("%s: shards %d, %d, %d: %v", rule, first, second, third, err)
					}
				}
			}
		}
	}
	f("one parity shard altered", 500, func(s [][]byte) { s[6][0] ^= 1 })
	f("one data shard altered", 500, func(s [][]byte) { s[0][100] ^= 1 })
	f("two shards exchanged", 500, func(s [][]byte) { s[1], s[5] = s[5], s[1] })
	f("another length of the same width", 499, func([][]byte) {})
}

// FuzzRebuild: shards that were never a codeword are refused or are one.
func FuzzRebuild(f *testing.F) {
	c := newCode(f, 4)
	w, err := c.Encode(randomBody(4, 100))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(100), w.shards[0], w.shards[2])
	f.Add(uint32(99), w.shards[1], w.shards[1])
	f.Fuzz(func(t *testing.T, length uint32, a, b []byte) {
		shards := [][]byte{nil, a, b, nil}
		body, err := c.Rebuild(Opening{Length: length}, shards)
		if err == nil {
			t.Fatalf("rebuilt %d bytes under a root of nothing", len(body))
		}
		if body, _, err := c.codec.Decode(shards); err == nil {
			again, err := c.Encode(body)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.Rebuild(again.Opening, again.shards); err != nil || !bytes.Equal(got, body) {
				t.Fatalf("codeword of %d bytes is not rebuilt: %v", len(body), err)
			}
		}
	})
}
