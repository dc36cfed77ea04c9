package erasure

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/reedsolomon"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// shapes are f+1 of n for sets of validators from small to the planned.
var shapes = [][2]int{{1, 2}, {2, 4}, {11, 32}, {34, 100}, {43, 128}, {86, 256}}

func newCodec(t testing.TB, data, total int) *Codec {
	t.Helper()
	c, err := New(data, total, 2)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func randomBlock(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func TestAnyEnoughShardsGiveTheBlock(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, shape := range shapes {
		c := newCodec(t, shape[0], shape[1])
		for _, n := range []int{0, 1, shape[0] - 4, shape[0] - 3, 1000, 70_000} {
			if n < 0 {
				continue
			}
			block := randomBlock(rng, n)
			shards, err := c.Encode(block)
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				got := make([][]byte, c.Total())
				for _, i := range rng.Perm(c.Total())[:c.Data()+rng.IntN(c.Total()-c.Data()+1)] {
					got[i] = slices.Clone(shards[i])
				}
				before := slices.Clone(got)
				decoded, codeword, err := c.Decode(got)
				if err != nil {
					t.Fatalf("%v, %d bytes, seed %d: %v", shape, n, seed, err)
				}
				if !bytes.Equal(decoded, block) {
					t.Fatalf("%v, %d bytes, seed %d: another block", shape, n, seed)
				}
				for i := range codeword {
					if !bytes.Equal(codeword[i], shards[i]) {
						t.Fatalf("%v, %d bytes: shard %d of the codeword differs", shape, n, i)
					}
					if !bytes.Equal(before[i], got[i]) || (before[i] == nil) != (got[i] == nil) {
						t.Fatalf("%v: Decode changed shard %d", shape, i)
					}
				}
			}
		}
	}
}

// TestTheCodeIsFixed holds the bytes of ADR 10. A change is a hard fork.
func TestTheCodeIsFixed(t *testing.T) {
	f := func(data, total int, want string) {
		t.Helper()
		c := newCodec(t, data, total)
		shards, err := c.Encode(randomBlock(rand.New(rand.NewPCG(7, 7)), 12345))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(bytes.Join(shards, nil))
		if got := hex.EncodeToString(sum[:8]); got != want {
			t.Errorf("(%d, %d): codeword %s, want %s", data, total, got, want)
		}
	}
	f(2, 4, "6fbf3002af97fe35")
	f(11, 32, "f9ada84127784de2")
	f(34, 100, "0087c51fb2aafb39")
	f(43, 128, "2568a611f1efeac1")
}

// TestParityIsAPolynomial derives the code without the library: shard i is the
// value at i of the polynomial through (j, shard j) for all j below Data.
func TestParityIsAPolynomial(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	for _, shape := range shapes {
		c := newCodec(t, shape[0], shape[1])
		shards, err := c.Encode(randomBlock(rng, 3*c.Data()))
		if err != nil {
			t.Fatal(err)
		}
		for column := range shards[0] {
			for i := c.Data(); i < c.Total(); i += 1 + c.Total()/16 {
				var value byte
				for j := range c.Data() { // Lagrange
					basis := byte(1)
					for m := range c.Data() {
						if m != j {
							basis = mul(basis, mul(byte(i)^byte(m), inverse(byte(j)^byte(m))))
						}
					}
					value ^= mul(shards[j][column], basis)
				}
				if value != shards[i][column] {
					t.Fatalf("%v: byte %d of shard %d is %#x, want %#x", shape, column, i, shards[i][column], value)
				}
			}
		}
	}
}

// mul multiplies in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1.
func mul(a, b byte) (product byte) {
	for ; b > 0; b >>= 1 {
		product ^= a * (b & 1)
		a = a<<1 ^ a>>7*0x1d
	}
	return product
}

func inverse(a byte) byte {
	power := byte(1)
	for range 254 {
		power = mul(power, a)
	}
	return power
}

func TestShapes(t *testing.T) {
	for _, shape := range [][2]int{{0, 4}, {-1, 4}, {4, 4}, {5, 4}, {1, 257}, {0, 0}} {
		if _, err := New(shape[0], shape[1], 1); !errors.Is(err, ErrShape) {
			t.Errorf("%v: %v, want %v", shape, err, ErrShape)
		}
	}
}

func TestBadShardsAreRefused(t *testing.T) {
	c := newCodec(t, 3, 6)
	block := []byte("a block of some bytes")
	f := func(name string, change func(shards [][]byte) [][]byte, want error) {
		t.Helper()
		shards, err := c.Encode(block)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Decode(change(shards)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	f("two of three", func(s [][]byte) [][]byte { clear(s[2:]); return s }, ErrTooFewShards)
	f("none", func(s [][]byte) [][]byte { clear(s); return s }, ErrTooFewShards)
	f("a place too few", func(s [][]byte) [][]byte { return s[:5] }, ErrShardCount)
	f("a place too many", func(s [][]byte) [][]byte { return append(s, nil) }, ErrShardCount)
	f("unequal", func(s [][]byte) [][]byte { s[1] = s[1][1:]; return s }, ErrShardWidth)
	f("a bit behind the block", func(s [][]byte) [][]byte { s[2][len(s[2])-1] ^= 1; return s }, ErrPadding)
	f("wider than needed", func(s [][]byte) [][]byte {
		content := append(bytes.Join(s[:3], nil), 0, 0, 0)
		return append(split(content, len(content)/3), nil, nil, nil)
	}, ErrPadding)
	f("another length", func(s [][]byte) [][]byte {
		binary.BigEndian.PutUint32(s[0], 1<<31)
		return s
	}, ErrPadding)
	f("narrower than the length", func(s [][]byte) [][]byte {
		return [][]byte{{0}, {0}, {0}, nil, nil, nil}
	}, ErrPadding)
	if _, err := c.Encode(make([]byte, BlockMax+1)); !errors.Is(err, ErrBlockLength) {
		t.Errorf("long block: %v, want %v", err, ErrBlockLength)
	}
}

// TestForeignShardGivesAnotherCodeword: a shard that is no part of the codeword
// shows in the digests, whichever shards are decoded.
func TestForeignShardGivesAnotherCodeword(t *testing.T) {
	c := newCodec(t, 2, 5)
	shards, err := c.Encode(bytes.Repeat([]byte{9}, 100))
	if err != nil {
		t.Fatal(err)
	}
	for foreign := range shards {
		for other := range shards {
			if other == foreign {
				continue
			}
			got := make([][]byte, len(shards))
			got[foreign], got[other] = slices.Clone(shards[foreign]), shards[other]
			got[foreign][20] ^= 4
			_, codeword, err := c.Decode(got)
			if err == nil && slices.EqualFunc(codeword, shards, bytes.Equal) {
				t.Errorf("shard %d changed beside %d: the same codeword", foreign, other)
			}
		}
	}
}

func TestDigests(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for _, level := range []cpu.Level{cpu.Generic, cpu.AVX2, cpu.AVX512} {
		d := NewDigester(cpu.Detect().Limit(level))
		for _, n := range []int{0, 1, 31, 32, 33, 67} {
			for _, width := range []int{0, 1, 63, 1000, sharedWidthMin, sharedWidthMin + 77} {
				shards, out := make([][]byte, n), make([][DigestSize]byte, n)
				for i := range shards {
					shards[i] = randomBlock(rng, width)
				}
				d.Digest(shards, out)
				for i, s := range shards {
					if out[i] != sha256.Sum256(s) {
						t.Fatalf("%v: digest %d of %d, %d bytes, is wrong", level, i, n, width)
					}
				}
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	c, err := New(3, 7, 2)
	if err != nil {
		f.Fatal(err)
	}
	good, err := c.Encode([]byte("seed block"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Join(good, nil), uint8(0b1111111))
	f.Add(bytes.Join(good, nil), uint8(0b1110000))
	f.Add([]byte{}, uint8(255))
	f.Fuzz(func(t *testing.T, content []byte, present uint8) {
		shards := split(content[:len(content)/7*7], max(1, len(content)/7))
		shards = append(shards, make([][]byte, 7)...)[:7]
		for i := range shards {
			if present>>i&1 == 0 {
				shards[i] = nil
			}
		}
		block, codeword, err := c.Decode(shards)
		if err != nil {
			return
		}
		again, err := c.Encode(block)
		if err != nil || !slices.EqualFunc(again, codeword, bytes.Equal) {
			t.Errorf("codeword of %x differs from its encoding: %v", block, err)
		}
	})
}

// BenchmarkCodec compares the codes that ADR 10 chose from.
func BenchmarkCodec(b *testing.B) {
	rng := rand.New(rand.NewPCG(4, 0))
	const size = 4 << 20
	for _, shape := range shapes[2:5] {
		data, total := shape[0], shape[1]
		for _, code := range []struct {
			name    string
			options []reedsolomon.Option
		}{
			{"matrix", []reedsolomon.Option{reedsolomon.WithMaxGoroutines(2)}},
			{"matrix-unsplit", []reedsolomon.Option{reedsolomon.WithMaxGoroutines(1)}},
			{"leopard8", []reedsolomon.Option{reedsolomon.WithMaxGoroutines(2), reedsolomon.WithLeopardGF(true)}},
			{"leopard16", []reedsolomon.Option{reedsolomon.WithMaxGoroutines(2), reedsolomon.WithLeopardGF16(true)}},
		} {
			e, err := reedsolomon.New(data, total-data, code.options...)
			if err != nil {
				b.Fatal(err)
			}
			shards := split(randomBlock(rng, total*(size/data/64*64)), size/data/64*64)
			name := fmt.Sprintf("code=%s/shape=%d-%d", code.name, data, total)
			b.Run(name+"/encode", func(b *testing.B) {
				b.SetBytes(size)
				for b.Loop() {
					if err := e.Encode(shards); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(name+"/reconstruct", func(b *testing.B) {
				b.SetBytes(size)
				got := make([][]byte, total)
				for b.Loop() {
					for i := range got {
						got[i] = shards[i][:0]
					}
					for _, i := range rng.Perm(total)[:data] {
						got[i] = shards[i]
					}
					if err := e.ReconstructData(got); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	for _, level := range []cpu.Level{cpu.Generic, cpu.AVX512} {
		d := NewDigester(cpu.Detect().Limit(level))
		for _, n := range []int{32, 128} {
			for _, width := range []int{1 << 10, 32 << 10, 96 << 10} {
				b.Run(fmt.Sprintf("kernel=%v/n=%d/bytes=%d", level, n, width), func(b *testing.B) {
					shards := split(make([]byte, n*width), width)
					out := make([][DigestSize]byte, n)
					b.SetBytes(int64(n * width))
					for b.Loop() {
						d.Digest(shards, out)
					}
				})
			}
		}
	}
}
