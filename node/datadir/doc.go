// Package datadir is the folder in which a node lives, before anything runs on it:
// the names of its files, the keys, the list of peers, the genesis, the store, the
// vote journal and the memory of what the key signed.
//
// In go a path and, for encrypted keys, a passphrase. Out come values that are
// checked against each other: keys that the genesis names, tables that this build
// has, a store of this genesis. What the folder does not have, or has damaged, comes
// out as an error that says what its reader does next ([NextStepError],
// [Folder.Refused]; docs/damage.md has the same steps).
//
// Invariants:
//
//   - A folder with a genesis is whole: whoever makes one writes that file last.
//   - No genesis is invented where a chain is ([ErrGenesisMissing]), no vote journal
//     where there are blocks ([ErrVotesMissing]), and no memory of votes at a start
//     ([MissingWatermarkError]): each would let a key sign twice or found another
//     chain.
//   - Only the owner can read the keys ([ErrKeysExposed]), and those of a chain that
//     matters are encrypted ([ErrKeysPlain]).
//
// The rooms above it are node, which runs on a folder, node/tools, which works on one
// that is stopped, and node/setup, which makes one. It knows none of them.
package datadir
