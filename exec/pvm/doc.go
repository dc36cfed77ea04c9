// Package pvm puts the Python machine together: source to program, programs
// kept by hash, machines kept for reuse, and one call at a time through them.
//
// In flow source bytes, arguments and limits, out flow results with their cycles
// and modelled heap. A program is a pure function of its source; a [Cache] may
// hold any number of them, none included, without any effect on results or
// cycles (whitepaper §3, resolutions 2.7, 2.8, 11.38). An [Engine] serves one
// goroutine; engines share their runtime, which is immutable.
package pvm
