// Package softfloat is IEEE 754 binary64 arithmetic in integers: what the
// machine's floats are, with the same bits on every processor. The host's
// floating-point unit takes no part (whitepaper §3, determinism): processors
// agree on single operations, but compilers fuse them, NaNs carry payloads and
// library functions differ.
//
// In flow encodings as uint64, out flow encodings. Rounding is to nearest, ties
// to even, and there is no other mode. Every operation that answers NaN answers
// the one canonical NaN; operands may be any NaN. There are no flags and no
// traps: what Python raises for (division by zero, overflow of a conversion)
// the caller tests for, and functions that can fail in that way say so.
//
// Beside arithmetic the package holds what Python's float needs and what is
// defined exactly: comparison with integers of any size, floor division,
// conversions, the shortest text that reads back equal, text with a given
// number of digits, parsing, the numeric hash and hexadecimal text. All of it
// is correctly rounded, so that an independent implementation gives equal bits.
package softfloat
