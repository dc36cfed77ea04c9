// Package libm is the functions of Python's math module over binary64, rounded
// correctly: the answer is the value nearest the mathematical one, ties to
// even, so it is a fact and not a property of this code.
//
// In flow encodings as uint64 (see softfloat), out flow an encoding and a
// Verdict, which tells where Python raises. A function is evaluated in integers
// with a fixed point, w bits after it, with a bound on the error; when both ends
// of the interval round to the same value, that is the result, otherwise w is
// doubled (Ziv's strategy). Arguments whose result is exactly a value, or
// exactly half-way, are taken out before, as no precision would decide them.
// Past precisionMax bits, which no known argument needs, the nearest value of
// the last evaluation is the result: still the same everywhere.
package libm
