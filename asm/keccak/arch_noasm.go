//go:build !amd64 || purego

package keccak

import "github.com/cowboy-foundation/cowboy/asm/cpu"

// runs: without assembly there is only the portable kernel.
func runs(k Kernel, _ cpu.Features) bool { return k == Generic }

// The other kernels do not exist here; whoever uses one all the same gets what
// it would compute.

func (k Kernel) permuteOne(s *State) { permuteGeneric(s) }

func sum1(msg []byte, out *[Size]byte) { Generic.sumOne(msg, out) }

func sum8(msgs *[8][]byte, _ int, out *[8][Size]byte) { sumEach(msgs[:], out[:]) }

func (k Kernel) sum4(msgs *[4][]byte, _ int, out *[4][Size]byte) { sumEach(msgs[:], out[:]) }

func sumEach(msgs [][]byte, out [][Size]byte) {
	for i, m := range msgs {
		Generic.sumOne(m, &out[i])
	}
}
