// Package siege puts a chain under attack beside honest people and says what they
// notice of it.
//
// The chain is real but for its network, its disk and its signatures: the lanes, a
// ledger that proposes and one of another node that judges every block, on a clock
// that goes on when the test says so. In every block honest people pay each other,
// count, send, defer and set timers; an attack does what its file says. No block may
// take longer to build or to judge than its time, honest transactions must be in
// within three blocks and honest messages and timers not be late, and what the
// attack keeps and takes must be paid for. At its end the meter of the state is held
// against a recount.
//
// An attack is one value of the table in attacks_test.go: a name, what it needs
// before, and what it does in each block. The short form runs in `make test`, the
// long one is `make soak-hostile`.
//
// The package has tests only.
package siege
