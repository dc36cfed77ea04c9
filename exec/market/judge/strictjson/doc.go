// Package strictjson reads what runners of strangers wrote: JSON texts (RFC 8259) without
// the freedoms that let two readers differ, numbers as exact decimals (resolution 12.41),
// and paths to one value (RFC 9535 singular queries).
//
// In: bytes and a budget of steps. Out: a document whose values are equal if and only if
// their canonical bytes are, and decimals that are compared without rounding; or an error
// that says what is wrong.
//
// # Invariants
//
// Functions of their arguments alone: no floating point of the processor, no map, no tables
// of Unicode. A text has at most [MaxBytes] bytes and nests [MaxDepth] deep, so that no
// recursion runs away; an object has a name once; a string has no half of a surrogate pair;
// a number has at most [MaxDigits] digits and an exponent within [MaxExponent]. All work is
// paid for in [Steps] before it is done, a step for each value visited, each byte of text
// that is compared and each 16 bytes that are read, and no step takes longer than 50 ns
// (ADR 218).
package strictjson
