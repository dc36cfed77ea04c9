// Package pyvalue writes the canonical bytes of Python values (package
// exec/pvm/values) as JSON and reads them from it, for people and programs that
// have no CBOR at hand.
//
// What JSON has is itself. The rest is an object with one name that begins with
// a dollar sign:
//
//	{"$bytes": "0x…"}            bytes
//	{"$int": "…"}                an int beyond ±(2^53 - 1), which other readers of JSON would round
//	{"$float": "nan"}            nan, inf, -inf
//	{"$set": […]}                a set
//	{"$map": [[key, value], …]}  a dict with keys that are no text, or with one that begins with a dollar sign
//	{"$object": [name, value]}   an instance: its class and what it serialized to
//
// Floats have a point or an exponent, ints have neither. A dict comes back in
// the order of its canonical encoding.
//
// # Invariants
//
//   - [Encode] gives canonical bytes for whatever it takes, and [JSON] of them is
//     a document that Encode turns into the same bytes, or [ErrBounds].
//   - JSON takes at most eight times the bytes of the value and 1 KiB, is written once,
//     and stops there: a list of empty bytes would take sixteen times as much (ADR 220).
//   - Both are bounded by [BytesMax] and [DepthMax]; nothing is allocated for a
//     length that the input merely claims.
package pyvalue
