// Package conformance holds the Python machine to CPython 3.11's own tests: at
// test time an extractor cuts them into scripts that need nothing but the
// library, CPython runs them, the machine runs them, and the answers are
// compared method by method. Nothing of CPython is part of this repository.
// Beside them run random programs that grammars make of a seed - of everything, of
// generators that delegate, of floats; one that prints something else than on CPython
// is shrunk and shown.
//
// The package has tests only. Their table is docs/pvm-conformance.md, which
// `make pvm-oracle` generates.
package conformance
