// Package syntax reads the source of an actor: Python 3.11's grammar, from
// bytes to a tree, with the errors that CPython's parser, symbol table and
// compiler raise before a program runs.
//
// # Flow
//
// [Parse] takes UTF-8 bytes. They become tokens (indentation, brackets, numbers,
// strings) and then, by recursive descent, a [Module] whose node types and
// fields are those of Python's ast module. [Check] walks the tree for what the
// grammar alone cannot refuse: return outside a function, a name that is both
// parameter and global, a pattern that makes the next one unreachable.
//
// # Invariants
//
//   - The result depends on the bytes and the [Limits] alone.
//   - Identifiers are in NFKC, as Python has them; the values of text literals
//     are in NFC (whitepaper, determinism of strings; resolution 11.48).
//   - All text of a tree is UTF-8: an escape that names a surrogate is refused with
//     [ErrUnsupported], wherever it stands (resolution 11.48). Two that would make a
//     pair are two lone ones in Python too.
//   - Neither the parser's own recursion nor the height of the tree it returns
//     exceeds the limits, so that whoever walks the tree may recurse.
//   - Work is linear in tokens: the two places that try one reading and then
//     another (parenthesised with-items, the word match) lie in the head of a
//     statement and do not nest.
//   - Floats stay text, for the compiler to convert.
//
// # What is left out
//
// CPython's limit of twenty nested blocks is not ours: [Limits] has one of its
// own. Complex literals (resolution 11.48), source encodings other than UTF-8, the
// escape \N{...}, escapes of surrogates and the joke of PEP 401 are refused; see [ErrUnsupported].
package syntax
