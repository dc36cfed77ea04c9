// Package lanes keeps the transactions that wait for a block and packs blocks
// from them (whitepaper §6.3-§6.5).
//
// # Flow
//
//	lanes/sigverify → Admit → lanes/sched, the sharded pool
//	node/ledger     → Pack → candidate block, in the order of execution
//	node/ledger     → Finalized → included and outdated transactions leave
//	node/rpc        → Lookup, PendingNonce, Stats
//
// # Lanes, levels, order
//
// A transaction's lane follows from what it does, by the instruction table
// (resolution 11.43); neither its sender nor a proposer can choose it. The
// timer lane holds no transactions: due timers come from the state.
//
// Within its lane a transaction stands at one level: parked (a nonce before it
// is missing), underpriced (a fee cap is below the base fee, resolution 2.13),
// barred (its actor or its lane has enough before it, or it stands behind what may find no
// room for long, docs/adr/0072 and 0143), or one of
// [Tiers] fee tiers. A full lane makes room from the lowest level up. Selection takes the highest tier first and is
// first in, first out inside a tier (whitepaper §6.4). The order of execution
// in the block is another matter: chain/order derives it from the proposer's
// VRF output, with each sender's nonces in order (resolutions 1.4, 11.41).
//
// # What packing promises
//
// Pack returns a selection from which execution makes a block that the verifier
// accepts. A transaction is taken only if what all of the lane are expected to use,
// and the largest unused limit among them, fit the lane, and its highest possible
// cost what its sender can spend in the parent. What runs nothing uses its intrinsic
// cost; of others the mean of what their like used in final blocks is expected, or
// their limits where nothing is known (docs/adr/0070). So each finds
// room for its limits in whatever order the VRF puts them, unless others use more
// than they mostly do, and a large limit on little use takes no space from others. Unused capacity cascades down by the same
// chain/fees.Budget on both sides (resolutions 2.1-2.4, 11.14).
//
// The same holds for the cycles that an actor has for a block (resolution 11.22): a
// message is taken while what all to its actor are expected to use fits, and the largest
// unused limit among them (docs/adr/0133). Those beyond are spares, for execution to take
// where the others leave room (docs/adr/0054).
//
// # Concurrency
//
// Every request is served on the goroutine that makes it; nobody owns the pool.
// Signature workers admit into different shards at once. What follows from a
// transaction alone is judged before any lock, and the order of execution is
// computed after the pool moves on. Nothing is checked again because a block
// was finalized: only the senders that it touched are looked at.
//
// The pool itself is package lanes/sched, which is held against a plain model
// in its tests.
package lanes
