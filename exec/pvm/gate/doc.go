// Package gate looks for what the protocol forbids in a program before it runs:
// the first gate, at deploy, of "raise DeterminismError at parse time or runtime"
// (whitepaper, "Forbidden Operations and Patterns").
//
// # Flow
//
// In flow the tree of exec/pvm/syntax and the symbol table of exec/pvm/scope. Out
// flows a [Report]: every finding with its place, the [Rule] that it breaks and
// the text that the rule comes from, sorted by place. A program with findings is
// not deployed.
//
// # What the gate is not
//
// It reads names, and Python makes names at run time. So the machine keeps the
// same rules where they can be kept: it has no builtin and no module that the
// gate refuses, and asks [ForbiddenAttribute] wherever a name comes from a string
// - getattr and its kin, format strings, __match_args__, __slots__, the namespace
// given to type. Nothing may be safe only because the gate refused it.
//
// What cannot be told from the source is the machine's alone: `is` between
// values that turn out to be text or numbers (resolution 11.48), the persistence
// of hash() values, arguments of json.dumps, computed paths.
//
// # Choices beyond the text
//
// A rule whose [Rule] says Extra is ours: escape hatches of CPython that the text
// does not name but whose purpose it forbids. A builtin's name counts only where
// nothing in the program binds it: a parameter may be called input. `from __future__
// import` is a word to the compiler and loads no module, so its names pass; the
// module itself is no module of the library. Deterministic
// introspection stays (__dict__, __bases__, __mro__, __class__): with
// __subclasses__ and __globals__ gone it leads nowhere. Complex literals do not
// reach the gate, the parser refuses them.
//
// # Invariants
//
//   - The report depends on the tree, the table and the [Limits] alone.
//   - Work is linear in the nodes of the tree; at most Limits.Findings are kept.
package gate
