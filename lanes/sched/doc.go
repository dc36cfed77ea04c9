// Package sched keeps waiting transactions so that many signature workers can
// add to them at once while one proposer picks a block from them.
//
// # Flow
//
//	lanes → Admit → shard of the sender: nonce chain, replacement, caps
//	      → fifo of (lane, level) → turns → Pick → lanes
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
// # Picking
//
// At every step a pick takes the best of what can run: the best level, in it the
// first to arrive. A transaction that pays more than one of its sender before it
// must wait for that one; then nothing else that can run is better, so it is
// taken at the same turn. The earlier one leads it. Every transaction knows its
// leader, and beside each fifo stands an array of those that lead themselves,
// the turns. What is priced out or comes before its time, and all that must wait
// for it, has no leader and no turn.
//
// A pick goes through the turns alone. A bitmap of levels leads to the best one,
// and the merge draws from the shards in short stretches of the order of
// arrival. So it costs what it takes and what it finds no room for, however much
// waits, and a chain of nonces that pay more and more stands in nobody's way.
// Leaders change where a chain changes: with what is admitted, replaced, pushed
// out or included, and with a base fee that moves a part of the chain to another
// level. The fifos keep everything in order of arrival, for when a lane is full.
//
// Messages are counted against the cycles of their actors, too. An actor's are read
// only when it is called for more than what all get for a block, so mostly never.
//
// On a parent that the pool does not know as the head, the senders of the blocks
// between have used nonces that their turns begin with. The next transactions of
// these senders alone stand in a heap meanwhile.
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
