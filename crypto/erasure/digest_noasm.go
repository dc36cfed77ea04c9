//go:build !amd64 || purego

package erasure

import "github.com/cowboy-foundation/cowboy/asm/cpu"

func vectorsRun(cpu.Features) bool { return false }
