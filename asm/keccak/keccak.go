// Package keccak permutes Keccak states (FIPS 202 §3): the core of Keccak-256,
// the hash of the protocol.
//
// A state of 25 lanes goes in and comes out permuted, in place. Absorbing,
// padding and squeezing are the business of crypto/keccak, its only user.
// [Permute] is plain Go and runs everywhere; every faster kernel computes
// exactly what it computes.
package keccak

//go:generate go run -C ../gen ./keccak ../keccak/permute_generic.go

// State is a Keccak-f[1600] state. Lane x + 5y holds the 64 bits of column x
// and row y, read little-endian from the input bytes (FIPS 202 §3.1.2).
type State [25]uint64

// roundConstants are iota's constants, one a round (FIPS 202 §3.2.5).
var roundConstants = [24]uint64{
	0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
	0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
	0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
	0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
	0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
	0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
}

// Permute applies Keccak-f[1600] to s.
func Permute(s *State) { permuteGeneric(s) }
