// Package format is text to and from values as Python 3.11 writes it: the
// format-spec mini-language, the % operator of str and bytes, the replacement
// fields of str.format, repr of str and bytes, and the literals that int() and
// float() read.
//
// In flow specifications as text, floats as the bits of binary64, integers, and
// valid UTF-8; out flow appended bytes or an Error, which names the exception
// that Python raises and has its text. Nothing here calls into the machine but
// through Values, and nothing uses the host's floats.
//
// Widths and precisions come from programs, so that a few bytes ask for a lot of
// output: each way of writing has a bound that the caller charges for before it
// asks (Spec.IntBound, RealBound, TextBound, QuoteBound, Values.Reserve), and
// what would pass MaxSize is refused as a MemoryError whatever the caller did.
// Work is linear in the bound, but for decimal integers, which have a limit of
// digits as in CPython.
package format
