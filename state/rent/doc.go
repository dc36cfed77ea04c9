// Package rent takes the storage of an actor out of the state and puts it back:
// the mechanics below state rent (whitepaper, "Eviction Mechanics" and "Storage
// Restoration"; resolutions 3.2 and 11.35). Prices, epochs and grace periods are
// policy and live above.
//
// # Life of a storage
//
//	          Evict                  Begin                Commit, root as recorded
//	present ────────► dormant ────────────────► restoring ─────────────────────► present
//	                     ▲    Abort, Begin after the deadline  │
//	                     └─────────────────────────────────────┘
//	                                          Put, Put, ... over any number of blocks
//
// Evict records root and size of the storage in the account and drops the
// values in one step, whatever their number: a block's work is bounded by the
// number of evictions. Whoever has the values puts them back in chunks, in
// ascending order of the hashes of their keys, straight into the empty storage
// of the dormant actor. So the trie that the chunks build is the one to be
// compared, and Commit compares two hashes.
//
// # Rules
//
//   - A dormant actor does not run: whoever executes asks [Dormant] first. Its
//     storage is a staging area until Commit.
//   - A [Record] stands before the metadata of a dormant account and hides it;
//     Commit takes it away. Account, balance and code stay.
//   - Every function that changes something checks everything first: after an
//     error the overlay is as it was. A wrong chunk cannot be told from a right
//     one before Commit; it then stands between the restorer and the recorded
//     root until Abort, which leaves nothing behind: the account is byte for byte
//     what Evict made of it.
//   - Roots are computed once per block. Evict and Commit need the root of what
//     they speak of, so they fail with [ErrUnsettled] in a block that has already
//     written to the same storage: evict before transactions, commit in a block
//     after the last Put.
//   - The cost of a chunk is known before it is put ([Cost]), so that the caller
//     charges first. Evict, Begin, Commit and Abort cost the same for every size.
//
// The package is pure. Errors that are not listed here are those of the view:
// faults of this node, no verdicts.
package rent
