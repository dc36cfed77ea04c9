package chain

import "encoding/hex"

// Height is the number of a block. Genesis has height 0.
type Height uint64

// View is the number of a consensus attempt within an epoch. Many views can
// pass between two heights, so a View must never stand in for a Height
// (CIP-11 §9.2 counts its seed delay in views).
type View uint64

// Epoch numbers a period with one fixed validator set: 3,600 blocks by default
// (whitepaper §13).
type Epoch uint64

// Cycles counts deterministic execution steps (whitepaper §4.1).
type Cycles uint64

// Cells counts bytes that the chain carries or keeps (whitepaper §4.1).
type Cells uint64

// Wei is an amount of CBY in base units, the "CBY wei" of the specification:
// 1 CBY = 10^9 Wei (resolution 8.17). The whole supply fits (resolution 11.43).
type Wei uint64

// WeiPerCBY is the number of base units in one CBY (resolution 8.17).
const WeiPerCBY Wei = 1_000_000_000

// Hash is a Keccak-256 digest.
type Hash [32]byte

// Address names an account: the last 20 bytes of the Keccak-256 of a public
// key, or of an actor's creation data (whitepaper §1.2).
type Address [20]byte

// String returns the digest as 0x and 64 lower-case hex digits.
func (h Hash) String() string {
	var b [2 + 2*len(h)]byte
	copy(b[:], "0x")
	hex.Encode(b[2:], h[:])
	return string(b[:])
}

// String returns the address as 0x and 40 lower-case hex digits.
func (a Address) String() string { return "0x" + hex.EncodeToString(a[:]) }
