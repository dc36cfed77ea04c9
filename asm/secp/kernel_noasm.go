//go:build !amd64 || purego

package secp

import "github.com/cowboy-foundation/cowboy/asm/cpu"

func archKernels(cpu.Features) []Kernel { return nil }
