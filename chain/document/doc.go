// Package document reads and writes the documents that people make for a chain: a
// genesis, and settings that governance votes on.
//
// A [Value] is what a document says, read by [Read] from the JSON of RFC 8259 without
// null. The reader is our own, because the state transition reads settings by it: what
// it takes must not follow from the release of a library (ADR 87). A struct with a
// document of its own is a [Group] of fields by their names there; chain/codecgen writes
// the lists. [Fill] sets one to what a document says, [Of] and [AppendJSON] write it, and
// [AppendKept] and [ReadKept] are its form in the state.
package document
