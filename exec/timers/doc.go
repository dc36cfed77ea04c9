//spec:implements resolutions 7
//spec:implements whitepaper 3.3

// Package timers keeps the timers of actors: when each is due, what was paid for
// it, and in which order those that are due get their turn (whitepaper, "Native
// Timers and the Actor Scheduler", "Timer Rate Limiting and DoS Prevention";
// resolutions 7.1-7.6, 11.23-11.25).
//
// In: an overlay of the state, the parameters of the chain and a height. Out:
// writes under [chain.AddrTimers] and [chain.AddrTimersFar] in the system namespace,
// and a [Bill] of what has to be paid or comes back, whose money moves through a
// [funds.Purse]: of a run that watches what its actors hold, or of the block. The package
// runs no program: packages actor and exec do. Exec chooses who fires, within the lane and
// the actors' cycles; what a chosen timer pays, and what becomes of it then, is said here
// ([Fund], [Taken.Settle], [WaitUnfunded]).
//
// # Where a timer waits
//
//	            far                  epochs ahead            this epoch and the next
//	Set ──► overflow tree ──Advance──► epoch queue ──Advance──► block ring
//	                                                                │ its block comes
//	        firing ◄──Take── ready tree, by rank ◄─────Advance──────┘
//	          │ interval                ▲
//	          └──Settle──► a tier       └── from the ring again, after Wait
//
// The block ring has a slot per block, found by height modulo its size, and a slot a list
// for each line ([lines]): those that were put off stand behind those that are due. The epoch
// queue has a list per epoch of half a ring; the overflow tree and the ready tree are
// balanced binary trees whose nodes are entries of the state and so of its Merkle
// trie. Lists are linked through the timers, so whatever is in one, a timer is
// put in or taken out by touching its neighbours; in a tree, by touching a path.
//
// # Work of a block
//
// [Advance] reads the head of the queue and one slot of the ring, five lists, however many
// timers sleep. What it moves is bounded by timer.moves_per_block for each of its
// three steps; what is left over is done in the blocks after, late and in order.
//
// Ring and ready tree, and all records of their timers, are the storage of
// [chain.AddrTimers]; epoch queue and overflow tree, with those of theirs, that of
// [chain.AddrTimersFar]. A timer's records move when its tier changes account, an
// actor has a list of its timers in either, and so a block that sets and fires
// timers of the ring writes nothing beside those that sleep, into a trie whose
// depth does not follow their number. Data above [InlineBytes] do not move: they lie
// under [chain.AddrTimersFar] until their timer fires or ends.
//
// # Order
//
// A timer that was not served becomes heavier: with λ = 0.2 its weight moves
// towards a floor S, weight' = (1-λ)·weight + λ·S, where it begins as its bid's
// tip. The step keeps the order of all who wait, so the order can be stored: in
// logarithms a block is a step of one, and a timer's rank is the height since
// which it waits, less the blocks that its tip buys ([Rank]). A tip buys at most
// [TipBlocksMax], so nobody who comes later than that goes first: the bound on
// starvation.
//
// # Invariants
//
//   - The balance of [chain.AddrTimers] is the sum of deposits and escrows.
//   - A timer is in at most one tier, and in the list of its actor in the account of
//     that tier, which has its records and its part of the count of its block.
//   - Every list and tree can be walked from the head record; the depth that it
//     counts is the number of timers.
//
// A record that does not decode is a fault of the node, as is a broken list. The
// package is pure.
package timers
