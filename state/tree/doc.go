// Package tree computes the state root: it keeps accounts and their storage in
// secure Merkle-Patricia tries exactly as Ethereum does (yellow paper, appendix
// D; resolutions 8.15 and 11.32), and makes and checks proofs that existing
// Ethereum tooling reads.
//
// # Shape
//
//	state root ── trie of accounts:  keccak256(address) -> RLP(account)
//	                                       │ storage_root
//	              trie of its storage: keccak256(namespace ‖ key) -> RLP(value)
//
// Storage values are RLP strings, so that an empty value differs from none. A
// list (transactions or receipts of a block) has its own small trie under the
// RLP of each index; see [ListRoot].
//
// # Nodes
//
// A node is a leaf, an extension or a branch, encoded as RLP. Its parent holds
// its hash, or the encoding itself if that is shorter than 32 bytes. Nodes of
// 32 bytes and more, and roots, are stored under the owner (the zero hash for
// the trie of accounts, else keccak256 of the address) and the path from the
// root, one byte per nibble. A place thus holds one node, the newest: nothing
// has to be counted or collected.
//
// Every node read is checked against the hash its parent holds. A mismatch is a
// [NodeError], a fault of this node's storage; it can never become another
// value or another root.
//
// # Flow
//
// state/store calls [Apply] with the state before a block and the block's
// writes, and gets an [Update]: the new root, the new flat values and the
// changed nodes. [ProveAccount] and [ProveStorage] read stored nodes;
// [VerifyAccount] and [VerifyStorage] need nothing but a trusted root.
//
// This is the plain version: nodes on the heap, one at a time. Its results
// define what a faster one must return.
package tree
