// Package wire is what validators say to each other in consensus: every kind of
// message with its tag, its class, its largest size and its codec, in one table.
//
// The engine encodes and decodes with [Append] and [Decode]. The mesh asks [ClassOf]
// for the stream of a message; a tag without a row has no class, so that it cannot be
// sent, and one that arrives is judged by the version that its sender announced.
// Byzantine validators and simulators take messages apart by the same tags. A new
// message is a struct with its codec and a row of the table.
//
// The package knows no peers and keeps nothing. Decoded messages share the memory of
// the bytes that they were read from.
package wire
