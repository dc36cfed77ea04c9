// Package store keeps the finalized chain on disk: the flat state, the trie of
// its root, and every block with receipts, certificate and indexes. It runs on
// one pebble database, so that a block becomes durable in one atomic step.
//
// # Versions
//
// A [Version] is the state after one block. [Store.Head] is the version of the
// finalized head; [Version.Apply] makes the version after a further block in
// memory alone. Versions are linked to their parents, so forks share what they
// have in common, and a version that nobody holds any more is garbage.
// [Store.Commit] makes a child of the head the new head:
//
//	genesis ── 1 ── 2 ── 3 (head, on disk)
//	                      ├── 4  ── 5     pending: differences in memory
//	                      └── 4'          dropped when 4 is committed
//
// A version can be read, from any number of goroutines, while it is pending and
// until Options.KeepVersions more blocks are committed. After that reads return
// [ErrStale], never the values of another version.
//
// # Durability
//
// Commit returns after one synced batch with everything that belongs to the
// block and the marker of the new head. After a crash at any moment the store
// opens at the last block whose Commit returned, or at the one whose Commit was
// under way; flat values, trie nodes, root, block and indexes are always of the
// same block. If a commit fails, nothing further is written: a sync that is
// tried again may claim success for data that is gone, so the process must stop
// and open the store anew.
//
// The folder belongs to one process and to one genesis ([ErrInUse],
// [ErrOtherGenesis]).
//
// # Damage
//
// Pebble checks the checksum of everything it reads; trie nodes and code are
// checked against their hashes on top, and values against their format. A small
// file beside the database notices when damage to its log makes it forget blocks.
// All of that is [ErrCorrupt]: no read answers with a wrong value where damage
// can be seen. [Store.VerifyHead] computes the root and every trie node again from the
// flat state.
package store
