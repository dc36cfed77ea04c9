// Package continuation turns a handler that waits for runners into message
// passing at deploy (whitepaper, SDK Ergonomics): an async function under
// @runner.continuation becomes a request handler and a step function that the
// answers resume.
//
// A tree flows in and a tree flows out, so what is stored while a handler waits
// - the number of the await, and the local variables that are used after it -
// depends on the source and not on any version of the bytecode.
//
// # Lowering
//
// The body becomes basic blocks inside one loop over the number of the next
// block. Only statements around an await are taken apart; the others are copied
// as they stand. At an await the awaited value is looked at: a job suspends the
// handler, anything else is waited for on the spot. Block numbers 1 to n are the
// awaits in the order of the source; nothing else of the numbering is stored.
//
//   - Which variables are captured is found by liveness over the blocks.
//   - A for loop around an await walks a list, tuple, range, str or bytes by
//     index; any other iterable is read into a list first.
//   - except clauses and finally that do not await run as real ones of their
//     own, with the exception raised anew; a with statement calls its manager,
//     which has to be serializable, by hand.
//   - Where an except clause awaits, a real statement chooses the clause and the
//     bodies become blocks: a bare raise raises the exception that was caught,
//     and the clause's name is unbound on every way out. A finally clause that
//     awaits is lowered once; a variable remembers where control was going.
//   - An exception that is held across an await keeps class, arguments and
//     attributes; its traceback, cause and context are lost. The class must be a
//     builtin one, the SDK's or a global name of the program.
//   - The function of a call, a plain name and a chain of attributes are looked
//     up after the awaits among the arguments beside them.
//
// Refused with their line: awaits in comprehensions but for the first iterable,
// which is evaluated around them, except* statements, the
// classes of except clauses, targets and guards, asynchronous loops, managers and
// generators, more than [Limits] allows, a bare raise in a finally clause of such
// a statement, and local functions, classes and imports that would have to
// survive an await.
//
// # Invariants
//
//   - The result is a function of the tree and the limits; no map is walked.
//   - The input is not changed; parts of it are shared with the result.
//   - Work and size are bounded by [Limits.Statements]. A node is gone through once
//     to see whether it awaits and once to see what is live, names are found in
//     tables, and what is followed through all blocks has a bound: [Limits.Variables]
//     and four times as many intermediate values (ADR 168).
//   - The names that the lowering makes contain a dot, so no program has them.
package continuation
