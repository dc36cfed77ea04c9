package keccak

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// permuteByTheBook is FIPS 202 §3.2 written down step by step: the oracle for
// every kernel. It derives rho's offsets and iota's constants instead of
// copying the tables under test.
func permuteByTheBook(s *State) {
	at := func(x, y int) int { return x%5 + 5*(y%5) }
	lfsr := byte(1)
	for range 24 {
		var c [5]uint64
		for x := range 5 {
			for y := range 5 {
				c[x] ^= s[at(x, y)]
			}
		}
		for x := range 5 {
			d := c[(x+4)%5] ^ bits.RotateLeft64(c[(x+1)%5], 1)
			for y := range 5 {
				s[at(x, y)] ^= d
			}
		}
		x, y, lane := 1, 0, s[at(1, 0)]
		for t := range 24 {
			x, y = y, (2*x+3*y)%5
			lane, s[at(x, y)] = s[at(x, y)], bits.RotateLeft64(lane, (t+1)*(t+2)/2%64)
		}
		for y := range 5 {
			row := [5]uint64(s[5*y : 5*y+5])
			for x := range 5 {
				s[at(x, y)] = row[x] ^ (^row[(x+1)%5] & row[(x+2)%5])
			}
		}
		for j := range 7 {
			if lfsr&1 != 0 {
				s[0] ^= 1 << (1<<j - 1)
			}
			carry := lfsr >> 7
			lfsr = lfsr<<1 ^ carry*0x71
		}
	}
}

func TestPermuteFollowsTheBook(t *testing.T) {
	states := []State{{}}
	full := State{}
	for i := range full {
		full[i] = ^uint64(0)
		var one State
		one[i] = 1 << (i * 2)
		states = append(states, one)
	}
	states = append(states, full)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var s State
		for i := range s {
			s[i] = rng.Uint64()
		}
		states = append(states, s)
	}
	for i, s := range states {
		want := s
		permuteByTheBook(&want)
		for _, k := range Kernels(cpu.Detect()) {
			got := s
			if k.Permute(&got); got != want {
				t.Fatalf("%v, state %d: Permute(%x) = %x, want %x", k, i, s, got, want)
			}
		}
	}
}

func BenchmarkPermute(b *testing.B) {
	for _, k := range Kernels(cpu.Detect()) {
		if k.Lanes() > 1 {
			continue
		}
		b.Run(fmt.Sprintf("kernel=%v/states=1", k), func(b *testing.B) {
			var s State
			b.SetBytes(200)
			b.ReportAllocs()
			for b.Loop() {
				k.Permute(&s)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "states/s")
		})
	}
}
