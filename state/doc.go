// Package state is the chain's memory as values: accounts, storage keys, the
// read view that execution sees, and the ordered set of writes it leaves.
//
// # Flow
//
// exec reads through a [View] (a finalized or pending version of package
// state/store) wrapped in an [Overlay], which collects writes and can take back
// any tail of them. Its [Delta] goes to state/tree, which computes the new
// state root, and to state/store, which makes it durable.
//
// # Rules
//
//   - An account is the RLP list [nonce, balance, storage_root, code_hash] of
//     Ethereum, with a fifth string only where there is storage or metadata:
//     the size of the storage, then the metadata; so a plain account and its
//     proof are exactly Ethereum's (resolution 11.32).
//   - An empty account does not exist: nonce 0, balance 0, empty storage, no
//     code and no metadata ([Account.Empty]). Writing one removes the account,
//     so the root does not depend on which empty accounts were once touched.
//   - Storage maps a namespace byte followed by key bytes ([StorageKey]) to
//     bytes. An empty value is a value; only nil means absent.
//   - StorageRoot and the set of storage values belong together. Execution
//     writes values; state/tree alone computes root and size, and those of an
//     account given to [Delta.SetAccount] have no effect. During a block
//     [Overlay.StorageSize] knows the size at every moment.
//   - A storage can be walked in the order of its keys, a [Span] at a time. What
//     that costs depends on what is answered: neither the size of the storage
//     matters, nor, but for the first walk over them, removed keys ([Gaps]).
//   - Iteration over a Delta is in ascending order of address and key, the same
//     on every node.
//
// The package is pure: no I/O, no clock, no goroutines. A read error of a View
// is a fault of this node and never a verdict on a transaction.
package state
