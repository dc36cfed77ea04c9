//go:build !purego

package erasure

import "github.com/cowboy-foundation/cowboy/asm/cpu"

func vectorsRun(f cpu.Features) bool { return f.AVX512F && f.AVX512BW && f.AVX512VL }
