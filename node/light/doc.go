// Package light is a light client: it checks what one untrusted node says about
// the chain with nothing but the genesis file.
//
// # Flow
//
//	bytes of an answer → Verifier.Verify → Shown
//
// An answer is a JSON document ([Account], [Storage], [Listed], [Multi],
// [Header]). It begins with a [Frame]: the header of a final block and the
// certificate by which it is final, under the group key of the genesis. What
// follows are the nodes of Merkle-Patricia tries that lead from a root in that
// header to the value in question, or to the place where it would be. The
// node's API answers with these documents and `cowboy proof` keeps them in
// files; both use the types here.
//
// # Invariants
//
//   - A document verifies alone: no state is kept between two of them, no
//     earlier header is needed, and the clock is not asked.
//   - Nothing in a document is taken on trust. Fields that repeat what a header
//     or a node says must repeat it exactly, and a document has one spelling but
//     for white space between its tokens: whoever changes a byte that means
//     anything gets an error.
//   - A document says which block it is about, not that this block is the
//     newest: compare [Shown.Height] with what else is known. What was asked is
//     compared with [Query.Answered].
//   - Work is bounded by the size of the document, which [DocumentBytesMax]
//     bounds: at most [DescendantsMax] headers, [KeysMax] keys, one pairing
//     check for each of two signatures.
//
// The package is pure: no clock, no network, no files. It stands under node and
// not under state because a certificate is a thing of consensus, which state
// does not know. References: whitepaper §7 (light clients), resolutions 11.3,
// 11.32 and 11.42, CIP-11 §9.2 for rounds.
package light
