// Package regex is the re of the Python machine: patterns with the syntax, the
// errors and the answers of CPython 3.11, matched within a budget.
//
// In flow a pattern and its flags, out flows a [Program]; in flow a program, a
// [Subject] and a [Budget], out flow the places of a match. The package is pure.
//
// Matching backtracks, so a short pattern can take exponential time. Each step
// is charged before it is made, and the places to go back to are on a stack of
// bounded size in the heap, never that of Go. Both are consensus (whitepaper
// §3; resolution 2.8): the steps of a run depend on the pattern, the flags, the
// subject, the positions and the budget, not on what was run before. A step is
// one instruction; one that takes, skips or compares n characters costs n more.
//
// The parser recurses as deeply as [Limits] allow groups to nest. Left out on
// purpose, with an error of kind Refused: the LOCALE flag, and characters by
// name.
package regex
