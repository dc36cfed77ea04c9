// Package store keeps the finalized chain on disk: the flat state, and every
// block with receipts, certificate and indexes. State and indexes are in one
// pebble database, the blocks themselves in a blocklog, which the indexes point
// into: a block becomes part of the chain in one atomic step.
//
// # Flat state and tries
//
// The flat state is the truth: accounts, storage values and code by key. The
// tries of its root are derived and live in memory only, as a tree.Forest in memory
// of the operating system ([NewForest]). Open builds them from the flat state, in
// about a second for a million accounts, and compares their root with the head's:
// every start checks the whole state. So no trie node is ever written, and none can
// be damaged, left behind or out of step with the values.
//
// # Versions
//
// A [Version] is the state after one block. [Store.Head] is the version of the
// finalized head; [Version.Apply] makes the version after a further block in
// memory alone. Versions are linked to their parents and share what they have in
// common, forks as well. The records of a version that nobody holds any more are
// taken back, at the latest when the version it was built on is given up.
// [Store.Commit] makes a child of the head the new head:
//
//	genesis ── 1 ── 2 ── 3 (head, on disk)
//	                      ├── 4  ── 5     pending: in memory alone
//	                      └── 4'          dropped some blocks after 4 is committed
//
// A version can be read, from any number of goroutines, while it is pending and
// until Options.KeepVersions more blocks are committed. After that reads return
// [ErrStale], never the values of another version. [Version.Keep] puts that off.
//
// The tries have storage slots in the order of their hashes. [Version.Scan] walks
// a storage in the order of its keys instead: in the rows of the database as it was
// when the committed version below was its head, with what pending versions wrote
// on top.
//
// # Durability
//
// Commit writes and syncs the block's bytes, then one batch with everything else
// that belongs to the block and the marker of the new head; it returns when that
// is synced, too. After a crash at any moment the store
// opens at the last block whose Commit returned, or at the one whose Commit was
// under way; flat values, root, block and indexes are always of the same block.
// If a commit fails, nothing further is written: a sync that is tried again may
// claim success for data that is gone, so the process must stop and open the
// store anew. That holds for what the database does in the background as well:
// behind the first write that fails a gate shuts (gate.go), and the database,
// frozen, lasts to the end of the process. A disk that gets full stops commits
// with [ErrDiskFull] before that, at Options.FreeBytesFloor.
//
// The folder belongs to one process and to one genesis ([ErrInUse],
// [ErrOtherGenesis]).
//
// # History
//
// A block's batch also holds an undo record: what its rows replace. Those of the
// last Options.UndoBlocks are kept, and [Store.AccountAt] and [Store.StorageAt]
// answer from them.
//
// A block that clears a storage, an eviction say, takes as much as any other: the
// rows stay under the era that ends (eras.go) until nothing can read them there
// any more, and then go by one range deletion.
//
// With Options.History old values stay for ever, by key and height, and the two
// answer at any height since it was switched on: an archive. The store remembers:
// only Options.EndHistory ends it. It does not keep tries, so proofs are of kept
// versions only.
//
// # State from elsewhere
//
// [Store.Export] holds the state of the head still, to be read and proved from
// end to end while the chain goes on. [OpenImport] fills an empty store with
// such a state, in pieces and across restarts; [Import.State] holds it to its
// root, [Import.Finish] makes it that of a chain which begins there ([Store.Base]).
// Reads of earlier blocks are [ErrNotKept].
//
// # Damage
//
// Pebble checks the checksum of everything it reads; the state is checked against
// its root when it is opened, and code against its hash. A small file beside the
// database notices when damage to its log makes it forget blocks. All of that is
// [ErrCorrupt]: no read answers with a wrong value where damage can be seen.
// Resident tries that disagree are made anew once, by Open or [Store.Rebuild];
// then it is a [RootError]. [Store.VerifyHead] computes the root again from the
// flat state, with the plain trie.
package store
