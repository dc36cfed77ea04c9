// Package parallel executes the transactions of a block beside each other, with
// the result of [exec.Apply] byte for byte: the same writes, receipts, cycles and
// order of events, whatever the mode and the number of workers.
//
// In: what exec.Apply takes, and one engine for each worker. Out: what exec.Apply
// returns. Between blocks an [Executor] remembers which places the handlers of
// actors have touched; no result depends on that.
//
// # Flow
//
//	prepare   every transaction's foreseeable footprint: sender, target, what its
//	          handler has touched before, and what its access list and argument
//	          name, if the handler is known to follow that
//	plan      the last transaction before it that touches one of these: it waits
//	          until that one is settled
//	run       any worker, on an overlay of its own over what is settled, noting
//	          what it reads
//	settle    in the order of the block, by one worker at a time, who ran it as
//	          long as there is enough to do: if nothing that it has read was
//	          written since, the writes are taken over and the transaction is
//	          booked; otherwise it runs again, there and then
//	finish    mailbox, timers and rewards, on the merged state, by the caller
//
// Only settled writes are ever read. So a plan is one number for each transaction,
// a wrong plan costs time and nothing else, and a transaction runs at most twice, or
// three times where it ends the block or its credits do not fit. In a proposer's block
// ([Executor.Sift]) it does not end it: it is left out, and those behind go on.
// Whose transactions keep running again runs alone, each at its turn, for the rest of
// the block and some blocks after; all others go on beside each other (ADR 73). Where
// half of the programs had to run again nonetheless, the rest of the block is executed
// one after the other (a scheduler without such a rule can be slower than none by any
// factor).
//
// Credits to one account do not concern each other (state.NewBlindOverlay), nor do
// fees and tips, which are sums of the block.
//
// # What an attempt may see
//
// Attempts read while others settle, so one may see the block at several times at
// once, and fail or panic in ways that no order of transactions allows. What an
// attempt returns therefore counts only when all its reads have been found
// unchanged. The last try runs while all before it is settled and nothing moves.
//
// # Concurrency
//
// What costs time beside others is less the work than the memory that moves between
// cores: locks, and what another has just written. So a worker takes up neighbours
// in the block, settles them itself, and uses what they left behind again; and a
// place that nobody has written since the block began is read without a lock.
//
// Closed: goroutines are started within [Executor.Apply] and have ended when it
// returns. The view has to serve concurrent readers. Design: whitepaper §2.4 asks
// only for the result; Besu's background execution and Block-STM's read sets are
// the models (docs/adr).
package parallel
