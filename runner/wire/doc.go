// Package wire is what a runner and a validator say to each other on the link of
// CIP-11: the bytes of its enumerations, the literals of its handshake, and what each
// side signs of a frame.
//
// Execution judges none of it. What a block carries or a transaction proves (presence,
// seeds, receipts, the subset of a runner, the digest of a result) is package chain's,
// and so are the keys of both sides, because state and receipts name them.
package wire
