// Package attest is what a validator signs of a round under its own name, and
// the proof that one contradicted itself.
//
// In flow the words of consensus: a [Kind], a [Proposal], the Ed25519 signature
// of whoever said it. Out flow the exact signed bytes, and [Evidence], which
// anyone can verify against the validators of an epoch and the genesis hash of
// their chain. Consensus makes votes of these words and finds contradictions
// among them; execution convicts. Both read the same rule here, so that what a
// validator refuses to sign and what it is punished for cannot differ.
//
// # What convicts
//
// One validator key, one round, and two statements that [Contradicts] finds
// incompatible (resolution 11.2): two digests among proposals, notarizes and
// finalizes, or nullify and finalize. The same height in two views convicts
// nobody. A leader's proposal is its notarize vote. The proof is two individual
// signatures; threshold partials convict nobody, because any quorum of shares
// can compute them (resolution 11.3).
//
// # Signed bytes
//
// The length of a namespace, the namespace and the subject, where a namespace is
// "cowboy-simplex-v1", the genesis hash and a suffix for the kind (resolution
// 11.42). A signature of another chain or of another kind proves nothing.
//
// # Invariants
//
// Encodings are canonical: what decodes encodes to the same bytes. Evidence of
// one pair of statements has one form, whichever was seen first, and all
// evidence of one [Offence] has one name.
package attest
