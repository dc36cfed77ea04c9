// Package shards sends the bodies of large blocks piece by piece: each
// validator gets one shard from the leader and gives it to all others, so that
// nobody sends a block n times.
//
// # What is committed
//
// A block is a head, which its digest names, and a body. A body longer than
// [Limits.WholeMax] is encoded into n shards of which any k = f+1 give it back
// (crypto/erasure), and the head holds the root of the body ([Code.Root]):
//
//	leaf(i) = SHA-256(0 ‖ u16 i ‖ SHA-256(shard i))
//	node    = SHA-256(1 ‖ left ‖ right), leaves padded with zeros to a power of 2
//	root    = SHA-256(2 ‖ "cowboy-shards-v1" ‖ u16 k ‖ u16 n ‖ u32 length ‖ tree)
//
// Votes sign the digest of the head, so the root, and with it every shard, is
// inside what consensus decides. A shorter body travels whole; its root is
// zero.
//
// # The way of a block
//
//	leader ── offer: vote ‖ parcel(i) ──▶ validator i      checks its shard, votes,
//	validator i ── relay: parcel(i) ──▶ all                keeps it before both,
//	any k shards ──▶ body ──▶ whole codeword ──▶ root      and judges in certify
//
// A parcel is self-contained: head, opening of the root, shard, proof. It is
// checked when it comes, against the digest that it claims to be of, and a bad
// one is the fault of its sender. Shards that pass and are still no codeword
// are the fault of the leader: whoever rebuilds the body encodes it again and
// compares the whole root, so that every honest validator refuses the block,
// whichever shards it has (the Byzantine leader's choice of them must not
// matter).
//
// # Bounds
//
// Lengths are checked against the limits before anything is allocated. A
// [Pool] holds a few parcels of each sender ([Code.SenderBytes]), a few heads
// ([Code.SenderHeadBytes]) and a bounded number of views; a sender that overflows
// displaces its own.
//
// The package is pure: package engine sends, keeps and waits.
//
// Sections: whitepaper §6.2; resolutions 1.1, 1.2; ADR 10 names the code.
package shards
