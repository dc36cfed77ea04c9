// Package wire is what a runner and a validator say to each other on the link of
// CIP-11: its frames with their one encoding, the bytes of its enumerations, the literals
// of its handshake, and what each side signs of a frame.
//
// A frame on a stream is its length in four bytes, big-endian, its type in one, and a map of
// the profile of package chain/cbor (CIP-11 §12.1). [Append] writes it. [ReadFrame] takes
// one off a stream: it judges length and type before it takes memory, and memory grows with
// what has come. [Decode] reads the map into a [Frame] and refuses every byte that [Append]
// would not have written, so that encode(decode(b)) = b.
//
// Each frame says what it holds in one method, fields, which both directions walk; the form
// of keys stands in one place, body.opens. Nothing here knows a socket, a clock or a secret:
// who signs takes the digest of the frame, and puts the signature in.
//
// [Link] is the session of a connection as a machine: what may come when, from the handshake to
// the Goodbye, for both sides (docs/adr/0242). Events go in, effects come out.
//
// Execution judges none of it. What a block carries or a transaction proves (presence,
// seeds, receipts, the subset of a runner, the digest of a result) is package chain's,
// and so are the keys of both sides, because state and receipts name them.
package wire
