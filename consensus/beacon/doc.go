//spec:implements CIP-11 5.4
//spec:implements CIP-2 10
//spec:implements whitepaper 3.4, 12.3-12.5

// Package beacon is what a consensus round is about: who takes part, who
// leads, and which random seed the round leaves behind.
//
// In flow a genesis record and the seeds that the threshold group signed;
// out flow a [ValidatorSet] with its quorum, the leader of a view, the check
// of a seed, and round arithmetic for execution (CIP-11 §9.2).
//
// The package is pure: it draws nothing from a clock or a random source, and
// equal arguments give equal results on every node.
//
// # Order
//
// Validators stand in ascending order of their raw peer keys (CIP-11 §5.4).
// A position in that order, a [Participant], names a validator in every vote.
// The order is consensus-critical: another order names other signers.
//
// # Quorum
//
// One validator has one vote, whatever its stake: of n >= 3f+1 validators,
// n - f make a quorum. Stake weighs only the draw of the leader (resolution
// 11.16) and rewards.
//
// # Signed bytes
//
// The namespace of a signature is N with one of four suffixes, where N is
// "cowboy-simplex-v1" and the genesis hash (resolution 11.42), so a signature
// of one chain means nothing on another. A round is signed as two unsigned
// LEB128 varints. The beacon hash of CIP-11 uses fixed 8-byte integers
// instead; the two encodings must not be mixed.
package beacon
