//go:build !purego

package cpu

import (
	"github.com/klauspost/cpuid/v2"
	"golang.org/x/sys/cpu"
)

func detect() Features {
	return Features{
		BMI:        cpu.X86.HasBMI1 && cpu.X86.HasBMI2,
		AVX2:       cpu.X86.HasAVX2,
		AVX512F:    cpu.X86.HasAVX512F,
		AVX512BW:   cpu.X86.HasAVX512BW,
		AVX512VL:   cpu.X86.HasAVX512VL,
		AVX512IFMA: cpu.X86.HasAVX512IFMA,

		ShortShuffles: cpuid.CPU.VendorID == cpuid.Intel,
	}
}
