//spec:implements whitepaper 6.3, 6.4, 6.5

// Package lanes keeps the transactions that wait for a block and packs blocks
// from them (whitepaper §6.3-§6.5): many signature workers add to the pool at
// once, while one proposer packs a block from it.
//
// # Flow
//
//	lanes/sigverify → Admit → judged without a lock → shard of the sender: nonce chain,
//	                  replacement, caps → fifo of (lane, level) → turns
//	node/ledger     → Pack → candidate block, in the order of execution
//	node/ledger     → Finalized → what the block used or left unpaid leaves
//	lanes/sigverify → FillWaiting → of a proposed block, what waits and so was verified
//	node/rpc        → Lookup, PendingNonce, Stats
//
// [Lanes] is what the node sees: it holds transactions against the chain's rules and
// state, and learns what they use. The unexported pool below it knows neither; it reads
// accounts by a function, and its tests hold it against a plain model.
//
// # Lanes, levels, order
//
// A transaction's lane follows from what it does, by the instruction table
// (resolution 11.43); neither its sender nor a proposer can choose it. The
// timer lane holds no transactions: due timers come from the state.
//
// Within its lane a transaction stands at one level: queued (a nonce before it
// is missing), underpriced (a fee cap is below the base fee, resolution 2.13),
// barred (its actor or its lane has enough before it, or it stands behind what may find no
// room for long, docs/adr/0072 and 0143), or executable, in one of
// [Tiers] fee tiers. A full lane makes room from the lowest level up. Packing takes the
// highest tier first and is first in, first out inside a tier (whitepaper §6.4). The order
// of execution in the block is another matter: chain/order derives it from the proposer's
// VRF output, with each sender's nonces in order (resolutions 1.4, 11.41).
//
// # What packing promises
//
// Pack returns a selection (order.Selection) from which execution builds a block that the
// verifier accepts. A transaction is taken only if what all of the lane are expected to use,
// and the largest unused limit among them, fit the lane, and its highest possible
// cost what its sender can spend in the parent. What runs nothing uses its intrinsic
// cost; of others the mean of what their like used in final blocks is expected, or
// their limits where nothing is known (docs/adr/0070). So each finds
// room for its limits in whatever order the VRF puts them, unless others use more
// than they mostly do, and a large limit on little use takes no space from others. Unused
// capacity cascades down by the same chain/fees.Budget on both sides (resolutions 2.1-2.4,
// 11.14).
//
// The same holds for the cycles that an actor has for a block (resolution 11.22): a
// message is taken while what all to its actor are expected to use fits, and the largest
// unused limit among them (docs/adr/0133). An actor's cycles are read only when it is
// called for more than what all get for a block, so mostly never. Messages beyond are
// overcommitted, for execution to take where the others leave room (docs/adr/0054).
//
// Some instructions take more than the highest cost of their transaction, or the role of a
// runner. What stands behind one of its sender may be refused then, and pays nothing: it has
// a sixteenth of the lane, and otherwise what all others leave (docs/adr/0211).
//
// # Shards
//
// Senders are spread over 64 shards by a hash that is keyed per process.
// Whoever admits holds the lock of one shard for the time of one transaction,
// less than a microsecond, and lets it go to read state. What concerns the whole
// pool is kept outside the shards in single words that are changed by
// compare-and-swap: the totals of each lane, so that caps hold exactly; a floor
// under its levels, so that a full lane refuses the cheap without a look at
// anybody else's shard; and the number that orders arrivals.
//
// Few operations need to see everything at one instant: picking, and pushing something out
// of a full lane. They take all locks in one order, which costs about two microseconds.
//
// A head does not: it comes to one shard after the other (docs/adr/0195). A shard's basis
// is the head that it has and what follows from it, and everything in the shard is judged
// by that. Nothing is picked until all shards have the head.
//
// # Concurrency
//
// Every request is served on the goroutine that makes it; nobody owns the pool. Any
// goroutine may call any method. What follows from a transaction alone is judged before any
// lock, and the order of execution is computed after the pool moves on. Nothing is checked
// again because a block was finalized: only the senders that it touched are looked at, and
// all if parameters change.
//
// Operations are linearizable: each takes effect at one instant between its call and its
// return. A batch is as many operations as it has transactions, in order. A head is as many
// as it comes to shards, and one more that promotes what is barred; a pick takes effect
// before all of them or behind. The tests
// search concurrent histories for such an order. Every operation draws the next number of
// one counter while its shard is locked, and that is the instant at which it takes effect.
// It reserves lane capacity before it draws the number and releases capacity afterwards;
// meanwhile the lane's word counts it as a change under way, and a concurrent admission
// that finds the lane full beside such a change retries under all locks instead of being
// refused on an intermediate count. What arrives at a level is ordered by the number. A
// fifo of a shard is therefore in order of arrival, and merging the fifos of all shards
// gives the order of arrival of the whole lane and level: first in, first out within a tier
// (whitepaper §6.4) does not end at a shard.
//
// Memory order: what a shard holds is ordered by its lock. The words outside (laneRoom,
// pool.drawn) are Go atomics, which are sequentially consistent; room.go says which load
// relies on which store. A shard's basis is replaced under its lock and never written; the
// last head's view is an atomic pointer, replaced before the first shard moves to that head.
//
// # Picking
//
// At every step a pick takes the best of what is executable: the best level, in it the
// first to arrive. A transaction that pays more than one of its sender before it
// must wait for that one; then nothing else that can run is better, so it is
// taken at the same turn. The earlier one is its anchor. Every transaction knows its
// anchor, and beside each fifo stands an array of those that are their own,
// the turns. What is priced out or comes before its time, and all that must wait
// for it, has no anchor and no turn.
//
// A pick goes through the turns alone. A bitmap of levels leads to the best one,
// and the merge draws from the shards in short stretches of the order of
// arrival. So it costs what it takes and what it finds no room for, however much
// waits, and a chain of nonces that pay more and more stands in nobody's way. Of the barred,
// which come last, it looks at a part, and so does a head that promotes them: the next head
// goes on where it left off (docs/adr/0205).
// Anchors change where a chain changes: with what is admitted, replaced, pushed
// out or included, and with a base fee that moves a part of the chain to another
// level. The fifos keep everything in order of arrival, for when a lane is full.
//
// A block may be built on a parent that is ahead of the pool's head. The senders in the
// blocks between have then used nonces that the pool still holds. Of each of them the next
// transaction is kept in a heap beside the turns for the time of the pick.
//
// # Base fees
//
// A level changes with the base fee only where the fee crosses an edge: the one
// above which a fee cap cuts a tip, or the cap itself. Every fifo keeps bounds
// between which the fee may move without touching any of its entries, and only
// a fifo whose bounds are left is looked at.
//
// # Questions
//
// What is durable when? Nothing: a restart begins with an empty pool. What this node's own
// clients sent is kept by node/submitted and admitted anew; what peers sent, they keep.
//
// What happens to two transactions with one nonce? The first stays, unless the second pays
// more in every price, by [Config.BumpPercent] ([ReplaceError]); then it takes the first
// one's place, and its turn where lane and level are the same.
//
// What happens to a proposal that comes to nothing? Its transactions are still here: only a
// final block, age, a better one in a full lane, a balance that no longer covers them,
// parameters that change, or [Lanes.Discard] and [Lanes.Shun] take a transaction out.
//
// What bounds the memory? [Config]: of each lane transactions, exactly, and the bytes that
// large bodies and what is read out of them take; [SmallTxBytes] for each come on top. Of each
// sender likewise, and how far a nonce may be ahead. [Lanes.Resize] changes how many may wait
// in the user lane, and of a sender, while the lanes run (docs/adr/0199).
//
// May two nodes differ? Yes, in all of it: what waits, in which order and what is packed is
// policy. What a block may hold is judged by fees.Validity, which admission asks too, when
// it is executed.
package lanes
