// Package compile turns a program into what the machine runs: the tree of
// exec/pvm/syntax and the names of exec/pvm/scope into the register code of
// exec/pvm/code, with the meaning of Python 3.11.
//
// # Flow
//
// [Source] parses, analyses and compiles; [Compile] does the last step. There is
// one unit of work per code object: module, function, lambda, comprehension and
// class body. Each walks its part of the tree once and emits instructions in the
// order in which Python evaluates. Jumps go to labels that are patched when the
// label is placed.
//
// # Registers
//
// Parameters and locals have fixed registers and are operands where they are.
// Temporaries above them are a stack. A local that an assignment expression may
// rebind is copied before it serves as an operand, since its reader may not
// have run yet; nothing else inside an expression can rebind a local.
//
// # Unbound locals
//
// The walk knows which locals surely hold a value and emits [code.Check] for the
// others only. A local that is deleted somewhere counts as unsure everywhere, so
// what is sure at the head of a loop stays so, and one walk is enough.
//
// # Leaving blocks
//
// A finally block exists once. Whoever enters it leaves the reason in registers:
// an exception, or the number of a jump that waits (return, break, continue),
// which is resumed at its end. Code size is linear in the source where copies
// of the block would make it exponential.
//
// # Invariants
//
//   - The result depends on the tree and the [Limits] alone; maps are looked up
//     in, never walked.
//   - Work is linear in the tree but for the clean-up of nested except clauses
//     at each jump out of them, which the limit of instructions bounds.
//   - Recursion is as deep as the tree is high, which the parser bounds.
//   - Every object passes [code.Verify].
package compile
