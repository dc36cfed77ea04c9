// Package acceptance says of every rule of the specification that a test from outside can
// check how it is held, and runs those that a devnet of four validators shows.
//
// In: nothing but what everybody has: the program cowboyd, its command line, its HTTP API and
// transactions. Nothing of exec or state is imported, so that what a test expects comes from
// the texts. Out: a table of the 152 numbers (E, R, C and W) with passed, failed, not built or
// not applicable, and the reason; docs/coverage.md has the same rows.
//
// A rule is held by a test of this package of the same number, by tests of other packages,
// which run with it, or by nobody, and then its row says why. The table fails where a number
// is missing, or where one that should be held did not run (ADR 224).
package acceptance
