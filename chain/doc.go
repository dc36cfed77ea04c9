//spec:implements resolutions 8

// Package chain is the vocabulary of the protocol: units, addresses,
// transactions, blocks, receipts, instructions, what the runner market exchanges (jobs, their
// terms and results, what runners offer), and their one canonical
// encoding, with every preimage that blocks carry or execution judges. What runners
// and validators sign on their link is runner/wire's. Parameters are in chain/params,
// what fixes a chain in chain/genesis; this package imports neither.
//
// A value of this package means the same thing on every node, on disk and on
// the wire. The package holds no policy and does no I/O; the rules that act on
// these values live in consensus, exec and lanes.
//
// # Units
//
// Counters that must never be mixed are distinct types: [Height] counts
// finalized blocks, [View] counts consensus attempts, [Cycles] and [Cells] are
// the two fee meters, [Wei] is money. Convert between them only where a
// protocol rule says how.
//
// # Encoding
//
// Everything hashed or stored is deterministic CBOR in the profile of CIP-11
// §12.6 (package chain/cbor). Decoders refuse whatever an encoder would not
// write, so encode(decode(x)) == x for every accepted x.
package chain
