package keccak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// reference is Keccak-256 of another implementation.
func reference(msg []byte) (digest [Size]byte) {
	h := sha3.NewLegacyKeccak256()
	h.Write(msg)
	h.Sum(digest[:0])
	return digest
}

// filled returns n random bytes. The bytes at both edges of the range and those
// of the padding come up often.
func filled(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = [...]byte{0, 0xff, 0x01, 0x80, byte(rng.Uint32())}[rng.IntN(5)]
	}
	return b
}

// TestKernelsAgree compares every kernel with two references on 10^5 groups of
// messages of one block count and any tails, at all alignments.
func TestKernelsAgree(t *testing.T) {
	const seed = 1
	cases := 100_000
	if testing.Short() {
		cases = 5_000
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	pool := filled(rng, 1<<16)
	kernels := Kernels(cpu.Detect())
	t.Logf("kernels: %v", kernels)
	msgs, want := make([][]byte, 8), make([][Size]byte, 8)
	for c := range cases {
		blocks := rng.IntN(6) * rng.IntN(2) // one block half of the time
		for i := range msgs {
			n := blocks*Rate + rng.IntN(Rate)
			if rng.IntN(4) == 0 {
				n = blocks*Rate + [...]int{0, 1, 7, 8, 31, 32, 63, 64, 65, 127, 128, 129, 134, 135}[rng.IntN(14)]
			}
			from := rng.IntN(len(pool) - n)
			msgs[i] = pool[from : from+n]
			Generic.Sum(msgs[i:], want[i:])
			if c%100 == 0 && want[i] != reference(msgs[i]) {
				t.Fatalf("generic, %d bytes: got %x", n, want[i])
			}
		}
		for _, k := range kernels {
			got := make([][Size]byte, k.Lanes())
			if c%50 == 0 && k.SumOne(msgs[0]) != want[0] {
				t.Fatalf("%v, case %d of seed %d: one message of %d bytes differs", k, c, seed, len(msgs[0]))
			}
			if !k.Sum(msgs[:k.Lanes()], got) || !slices.Equal(got, want[:k.Lanes()]) {
				t.Fatalf("%v, case %d of seed %d, %d blocks: got %x, want %x", k, c, seed, blocks, got, want)
			}
		}
	}
}

// TestEveryTail gives every lane every length of up to two blocks, with
// neighbours of other lengths.
func TestEveryTail(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	for _, k := range Kernels(cpu.Detect()) {
		lanes := k.Lanes()
		msgs, got := make([][]byte, lanes), make([][Size]byte, lanes)
		for n := range 2 * Rate {
			for step := range []int{0, 1, 5} {
				for i := range msgs {
					msgs[i] = filled(rng, n/Rate*Rate+(n+i*step)%Rate)
				}
				if !k.Sum(msgs, got) {
					t.Fatalf("%v refuses %d bytes", k, n)
				}
				for i, m := range msgs {
					if got[i] != reference(m) {
						t.Fatalf("%v: lane %d of %d bytes differs", k, i, len(m))
					}
				}
			}
		}
	}
}

func TestMixedBlockCountsAreRefused(t *testing.T) {
	for _, k := range Kernels(cpu.Detect()) {
		lanes := k.Lanes()
		for odd := range lanes {
			if lanes == 1 {
				continue // one message always agrees with itself
			}
			for _, n := range []int{Rate - 1, 2 * Rate, 0} {
				msgs, out := make([][]byte, lanes), make([][Size]byte, lanes)
				for i := range msgs {
					msgs[i] = make([]byte, Rate)
				}
				msgs[odd] = make([]byte, n)
				if k.Sum(msgs, out) {
					t.Errorf("%v took %d bytes in lane %d beside %d", k, n, odd, Rate)
				}
				if slices.ContainsFunc(out, func(d [Size]byte) bool { return d != [Size]byte{} }) {
					t.Errorf("%v refused and wrote", k)
				}
			}
		}
	}
}

// TestDigestsMayOverlapTheirMessages: all messages are read first.
func TestDigestsMayOverlapTheirMessages(t *testing.T) {
	for _, k := range Kernels(cpu.Detect()) {
		out, msgs := make([][Size]byte, k.Lanes()), make([][]byte, k.Lanes())
		want := make([][Size]byte, k.Lanes())
		for i := range msgs {
			out[i] = [Size]byte{byte(i), 7}
			msgs[i] = out[len(out)-1-i][:]
			want[i] = reference([]byte(string(append([]byte{byte(len(out) - 1 - i), 7}, make([]byte, Size-2)...))))
		}
		if k.Sum(msgs, out); !slices.Equal(out, want) {
			t.Errorf("%v: got %x, want %x", k, out, want)
		}
	}
}

func TestBestIsTheFirstThatFits(t *testing.T) {
	everything := cpu.Detect()
	if got, want := Lone(), Best(cpu.Chosen(), 1); got != want {
		t.Errorf("Lone is %v, want %v", got, want)
	}
	short := everything
	short.ShortShuffles = !short.ShortShuffles
	for lanes := 1; lanes <= 9; lanes++ {
		list := Kernels(short)
		want := list[slices.IndexFunc(list, func(k Kernel) bool { return k.Lanes() <= lanes })]
		if got := Best(short, lanes); got != want {
			t.Errorf("%v, %d lanes: %v, want %v", short, lanes, got, want)
		}
	}
	for _, level := range []cpu.Level{cpu.Generic, cpu.AVX2, cpu.AVX512, cpu.Auto} {
		f := everything.Limit(level)
		list := Kernels(f)
		if list[len(list)-1] != Generic {
			t.Errorf("%v: the last kernel is %v", level, list[len(list)-1])
		}
		for lanes := 1; lanes <= 9; lanes++ {
			want := list[slices.IndexFunc(list, func(k Kernel) bool { return k.Lanes() <= lanes })]
			if got := Best(f, lanes); got != want {
				t.Errorf("%v, %d lanes: %v, want %v", level, lanes, got, want)
			}
		}
		t.Logf("%v: %v", level, list)
	}
}

func FuzzKernelsAgree(f *testing.F) {
	f.Add(uint64(1), []byte{0, 1, 31, 32, 63, 64, 128, 135}, uint8(0))
	f.Add(uint64(2), []byte{135, 134, 133, 0, 0, 1, 2, 3}, uint8(3))
	f.Fuzz(func(t *testing.T, seed uint64, tails []byte, blocks uint8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		msgs, want := make([][]byte, 8), make([][Size]byte, 8)
		for i := range msgs {
			tail := 0
			if i < len(tails) {
				tail = int(tails[i]) % Rate
			}
			msgs[i] = filled(rng, int(blocks%8)*Rate+tail)
			want[i] = reference(msgs[i])
		}
		for _, k := range Kernels(cpu.Detect()) {
			got := make([][Size]byte, k.Lanes())
			if !k.Sum(msgs[:k.Lanes()], got) || !slices.Equal(got, want[:k.Lanes()]) {
				t.Errorf("%v: got %x, want %x", k, got, want)
			}
		}
	})
}

func BenchmarkSum(b *testing.B) {
	for _, k := range Kernels(cpu.Detect()) {
		for _, size := range []int{32, 64, 136, 532} {
			b.Run(fmt.Sprintf("kernel=%s/bytes=%d", k, size), func(b *testing.B) {
				msgs, out := make([][]byte, k.Lanes()), make([][Size]byte, k.Lanes())
				for i := range msgs {
					msgs[i] = make([]byte, size)
				}
				b.SetBytes(int64(size * len(msgs)))
				b.ReportAllocs()
				for b.Loop() {
					k.Sum(msgs, out)
				}
				b.ReportMetric(float64(len(msgs))*float64(b.N)/b.Elapsed().Seconds(), "hashes/s")
			})
		}
	}
}
