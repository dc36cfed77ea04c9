package keccak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// levels are the choices of kernels that this machine allows, by the names that
// COWBOY_CPU takes.
var levels = []cpu.Level{cpu.Generic, cpu.AVX2, cpu.AVX512}

// TestBatchesOfMixedLengths runs 10^5 messages of 0 to 600 bytes through every
// path, in batches of 0 to 65, at all alignments.
func TestBatchesOfMixedLengths(t *testing.T) {
	const seed = 1
	messages := 100_000
	if testing.Short() {
		messages = 10_000
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	pool := random(seed, 1<<14)
	for size := 0; messages > 0; size = (size + 1) % 66 {
		kinds := 1 + rng.IntN(600) // lengths to draw from: few make full groups
		msgs, want := make([][]byte, size), make([][Size]byte, size)
		for i := range msgs {
			n := rng.IntN(kinds) * 601 / kinds
			from := rng.IntN(len(pool) - n)
			msgs[i] = pool[from : from+n]
			want[i] = reference(msgs[i])
		}
		for _, level := range levels {
			got := make([][Size]byte, size)
			NewSummer(cpu.Detect().Limit(level)).SumMany(msgs, got)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: batch of %d, seed %d: digests differ", level, size, seed)
			}
		}
		messages -= max(size, 1)
	}
}

// TestLongMessagesShareASlot: block counts that collide in the table of waiting
// groups push each other out.
func TestLongMessagesShareASlot(t *testing.T) {
	var msgs [][]byte
	for i := range 50 {
		msgs = append(msgs, random(uint64(i), (i%3*16+i%2)*rate+i))
	}
	for _, level := range levels {
		got := make([][Size]byte, len(msgs))
		NewSummer(cpu.Detect().Limit(level)).SumMany(msgs, got)
		for i, m := range msgs {
			if got[i] != reference(m) {
				t.Errorf("%v: message %d of %d bytes differs", level, i, len(m))
			}
		}
	}
}

func TestDigestMayOverlapItsMessage(t *testing.T) {
	for _, level := range levels {
		out, want := make([][Size]byte, 65), make([][Size]byte, 65)
		msgs := make([][]byte, len(out))
		for i := range out {
			out[i] = [Size]byte{byte(i)}
			msgs[i] = out[i][:i%Size]
			want[i] = reference(msgs[i])
		}
		if NewSummer(cpu.Detect().Limit(level)).SumMany(msgs, out); !slices.Equal(out, want) {
			t.Errorf("%v: digests differ", level)
		}
	}
}

func TestSumManyRefusesUnequalLengths(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	SumMany(make([][]byte, 2), make([][Size]byte, 1))
}

func TestBatchesDoNotAllocate(t *testing.T) {
	msgs, out := make([][]byte, 67), make([][Size]byte, 67)
	for i := range msgs {
		msgs[i] = random(uint64(i), i*53%700)
	}
	for _, level := range levels {
		s := NewSummer(cpu.Detect().Limit(level))
		if n := testing.AllocsPerRun(20, func() { s.SumMany(msgs, out) }); n != 0 {
			t.Errorf("%v: %v allocations, want 0", level, n)
		}
	}
}

func BenchmarkSumMany(b *testing.B) {
	for _, level := range levels {
		s := NewSummer(cpu.Detect().Limit(level))
		run := func(name string, sizes ...int) {
			b.Run(fmt.Sprintf("kernel=%v/bytes=%s/n=256", s.wide, name), func(b *testing.B) {
				msgs, out := make([][]byte, 256), make([][Size]byte, 256)
				total := 0
				for i := range msgs {
					msgs[i] = random(uint64(i), sizes[i*7%len(sizes)])
					total += len(msgs[i])
				}
				b.SetBytes(int64(total))
				b.ReportAllocs()
				for b.Loop() {
					s.SumMany(msgs, out)
				}
				b.ReportMetric(float64(len(msgs))*float64(b.N)/b.Elapsed().Seconds(), "hashes/s")
			})
		}
		for _, size := range []int{32, 64, 136, 532} {
			run(fmt.Sprint(size), size)
		}
		run("mixed", 33, 64, 110, 532, 136, 70)
	}
}
