// Package sched keeps waiting transactions so that many signature workers can
// add to them at once while one proposer picks a block from them.
//
// # Flow
//
//	lanes → Admit → shard of the sender: nonce chain, replacement, caps
//	      → fifo of (lane, level) → Pick → lanes
//	lanes → Advance: what a finalized block used or left unpaid goes
//
// # Shards
//
// Senders are spread over [Shards] shards by a hash that is keyed per process.
// Whoever admits holds the lock of one shard for the time of one transaction,
// less than a microsecond, and lets it go to read state. What concerns the whole
// pool is kept outside the shards in single words that are changed by
// compare-and-swap: the totals of each lane, so that caps hold exactly; a floor
// under its levels, so that a full lane refuses the cheap without a look at
// anybody else's shard; and the number that orders arrivals.
//
// Few operations need to see everything at one instant: picking, taking in a
// head, and pushing something out of a full lane. They take all locks in one
// order, which costs about two microseconds.
//
// # Order
//
// Every operation draws the next number of one counter while its shard is
// locked, and that is the instant at which it takes effect. Room that it needs
// is reserved before and room that it frees is given back after; the words of
// its lanes are marked meanwhile, so that nobody is refused for a state that no
// order of the operations explains. What arrives at a level gets its place from
// the number. A fifo of a shard is therefore in order of arrival, and merging
// the fifos of all shards gives the order of arrival of the whole lane and
// level: first in, first out within a tier (whitepaper §6.4) does not end at a
// shard.
//
// A bitmap of filled levels leads to the best one, and the merge draws from the
// shards in short stretches of the order of arrival. So a pick costs what it
// takes and what it walks past, however much waits: past those, that is, that
// stand before their own predecessor because they pay more.
//
// # Base fees
//
// A level changes with the base fee only where the fee crosses an edge: the one
// above which a fee cap cuts a tip, or the cap itself. Every fifo keeps bounds
// between which the fee may move without touching any of its entries, and only
// a fifo whose bounds are left is looked at.
//
// # Concurrency
//
// All methods may be called by any goroutine. Every operation takes effect at
// one instant between its call and its return (the tests search concurrent
// histories for such an order); a batch is as many operations as it has
// transactions, in order.
//
// The package also has the [Ring] and the [Bell] that stages are joined with.
package sched
