//spec:implements CIP-11 12.6

// Package cbor reads and writes the one encoding of the protocol: deterministic
// CBOR in the profile of CIP-11 §12.6.
//
// # Profile
//
// RFC 8949 §4.2.1 core deterministic encoding, narrowed until every value has
// exactly one encoding:
//
//   - integers, lengths and counts in their shortest form;
//   - definite lengths only;
//   - maps sorted bytewise by the encoded key, no key twice;
//   - text is valid UTF-8, taken as it stands (no normalization);
//   - floats are finite and 64 bits wide, shorter floats do not exist;
//   - of the simple values only false, true and null;
//   - no tags.
//
// # Parts
//
// [Scan] checks that bytes of unknown shape are one item of the profile; it
// stands in front of any general CBOR library, because those accept more.
// [Reader] takes typed items off a byte slice and applies the same rules to
// each, so a decoder built from it needs no scan before it; [IntMap] is its place in
// an object whose keys are 0, 1, 2 and so on. The Append
// functions write; they cannot write anything the readers refuse, except that
// the caller orders map keys and supplies as many items as it announced.
//
// Nothing here allocates by a length that the input merely claims: a byte
// string must be present before it is returned, and a count must be covered by
// at least one byte of input per item.
package cbor
