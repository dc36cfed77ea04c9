// Package scope finds out what every name of a program means: which scope it
// belongs to, and whether functions further in take it along. It is the symbol
// table between exec/pvm/syntax and the compiler, with the rules of Python 3.11.
//
// # Flow
//
// In flows a tree from [syntax.Parse]. [Analyze] walks it once in the order of
// CPython's symbol table and notes what each scope does with each name; then it
// resolves the names from the module inwards. Out flows a [Table], in which the
// compiler finds the [Scope] of a node and there the [Symbol] of a name, or the
// error that CPython's symbol table would raise, with its message and place.
//
// # Rules
//
//   - A name that a function binds is Local, or Cell when a scope further in
//     reads it; there, and in every scope between, it is Free.
//   - Scopes further in do not see the names of a class. They do see its
//     __class__, which a mention of super in a function counts as reading.
//   - In a class, __name is meant as _Class__name, also in the functions of it.
//   - A comprehension is a function of its first iterable, which belongs to the
//     scope around it and arrives as the parameter ".0". The target of := inside
//     belongs to the function or module around it.
//
// # Invariants
//
//   - The result depends on the tree and the [Limits] alone. Maps are looked up
//     in, never walked: symbols and children are in the order of first mention.
//   - Work is linear in the nodes of the tree and the symbols of the table. Both
//     a name that passes through many scopes and a private one under a long class
//     name cost symbols and bytes, which have limits.
//   - Recursion is as deep as the tree is high, which the parser bounds.
//
// What only CPython's compiler refuses (return outside a function and the like)
// is for [syntax.Check].
package scope
