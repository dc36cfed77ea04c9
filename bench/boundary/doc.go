// Package boundary holds what transactions pay against what they take: cycles
// against time, cells against bytes that every node keeps.
//
// A [Ground] is a chain of one store in memory and of blocks that exec.Apply makes,
// one after the other. A [Case] is one thing that a program or a sender may ask for
// (a host call, an instruction, a delivery, one of the attacks that were found by
// hand) on the state that makes it dearest. [Measure] says what a case paid and
// took. Execution changes nothing of its state, so a case is executed again and
// again on the same one and the least time counts: what neighbours do to this
// machine does not.
//
// [Ordinary] is the price list of what people do every day, with what each cost
// before the prices followed time and bytes.
//
// It is a kit for tests and benchmarks.
package boundary
