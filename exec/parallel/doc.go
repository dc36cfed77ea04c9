// Package parallel executes the transactions of a block optimistically on several
// workers, with the result of [exec.Apply] byte for byte: the same writes, receipts,
// cycles and order of events, whatever the mode and the number of workers.
//
// In: what exec.Apply takes, and one engine for each worker. Out: what exec.Apply
// returns. Between blocks an [Executor] remembers which places the handlers of
// actors have touched; no result depends on that.
//
// # Flow
//
//	prepare   predict every transaction's footprint: sender, target, what its handler
//	          has touched in earlier blocks, and what its access list and argument
//	          name, if the handler is known to follow that
//	plan      for each transaction the last one before it whose footprint overlaps: it
//	          is not executed before that one is committed
//	execute   any worker, speculatively, on an overlay of its own over the committed
//	          state, recording what it reads and at which version
//	validate  at its commit index: nothing that it read was written by a transaction
//	          that was committed since
//	commit    in the order of the block, by one worker at a time. What is valid is
//	          committed; a conflict is re-executed on the spot, when all before it is
//	          committed, and is then valid by construction
//	finish    mailbox, timers and rewards, on the merged state, by the caller
//
// An execution reads committed writes alone, never those of another execution. So a
// plan is one number for each transaction, a wrong plan costs time and nothing else,
// and a transaction is executed at most twice, or three times where its error ends the
// block or its credits overflow a balance. In a proposer's block ([Executor.Build]) an
// error does not end the block: the transaction is skipped, and those behind go on.
//
// Transactions that keep conflicting are put down to one actor or account; those of it
// are then executed alone, each at its commit index, for the rest of the block and some
// blocks after, while all others go on in parallel (ADR 73). Where half of the programs
// had to be re-executed nonetheless, the rest of the block is executed serially: a
// scheduler without such a rule can be slower than none by any factor.
//
// Calls that are nested deep have machines that all engines share, one at a time (ADR 240). The
// transaction at the commit index waits for them. Another, which may be executed in vain, does
// not, and is executed alone where it did not get them; once two have met in a block, no
// other asks before its turn. So in a block at most a few speculations, and not one for each
// transaction, keep those waiting that are committed.
//
// A payment between accounts without code is not executed speculatively: that costs three
// times what it does. The holder of the commit role executes it in its place (ADR 188).
//
// Credits to one account commute and do not conflict (state.NewDeltaOverlay), nor do
// fees and tips, which are sums of the block.
//
// # What a speculative execution may see
//
// Executions read while others commit, so one may see a mix of states that no serial
// order produces, and fail or panic because of it. Its result counts only if it
// validates. The final execution of a transaction runs while all before it is committed
// and nothing else commits: its error or panic is the block's.
//
// # Who owns what
//
//	run            under run.mu: the queue, the plan, the commit index. The fields of
//	               the second part belong to the worker that holds the commit role
//	               (run.committing), and to the caller after the join
//	job.execution  the worker that took the transaction up, until it sets job.by under
//	               run.mu; from then on whoever holds the commit role
//	committed      one writer, the holder of the commit role; any number of readers,
//	               under the lock of a shard. A place whose bit in the filter is clear
//	               has not been written in this block and is read without a lock: the
//	               writer sets the bit before it writes, and a reader that looked before
//	               has read the older version, which its validation then finds
//	Executor       one goroutine
//
// Locks: run.mu may be held when the lock of a shard or of warm is taken. Whoever holds
// one of those takes no other lock of this package, so none waits for itself; but the holder
// of the commit role takes the shards of both accounts of a payment, which nobody else does.
//
// What costs time beside others is less the work than the memory that moves between
// cores: locks, and what another has just written. So a worker takes up neighbours in
// the block, commits them itself, and uses their memory again.
//
// Closed: goroutines are started within [Executor.Apply] and have ended when it
// returns. The view has to serve concurrent readers. Design: whitepaper §2.4 asks
// only for the result; Besu's background execution and Block-STM's read sets are
// the models (docs/adr).
//
// # Questions
//
// What is durable when? Nothing here. The result is a [state.Delta] in memory; package
// node/ledger makes a version of the state of it, and the store writes that when the block
// is final.
//
// What does an error leave behind? No writes: those of the block lie on an overlay that is
// dropped with it, and the view is only read. What was learned of actors stays, on which
// nothing depends but time.
//
// What happens when a proposer's time is over ([exec.Watch])? Nothing more is committed,
// nor what was under way. What is committed is the block, in the order of the selection
// and without a gap but for what was skipped; all behind it is left out with
// [exec.ErrTime]. A verifier has no clock and executes the whole block.
//
// What bounds the memory? Executions are kept from when they begin until they are
// committed, and at most 64 transactions for each worker are between, 8 in mode opt, each
// with what its own cycles let it read and write. The filter has at most 128 KiB. Between
// blocks the executor keeps what 4,096 handlers have touched, 4,096 culprits, the manifests
// that were parsed ([manifest.CacheBytes]), and for each worker at most 64 emptied
// executions, none of which had more than 64 reads.
//
// When is a block not executed in parallel? In mode auto where that would save less than
// half a millisecond of work, counting what has one target, one sender or runs alone as one
// after the other; always with one worker. The mode is the node's own choice, and two nodes
// with different ones agree.
//
// Who pays for the first use of code in a block, if many run it at once? The first in the
// order of the block. An execution is told of code that somebody before it will have paid
// for, and does not validate if that is not so when it commits (warm.go, ADR 92).
//
// What may a change here break? Only time, or the equality with exec.Apply.
// TestSameAsSequential holds that in every mode, with the schedule shaken where goroutines
// meet. A dependence between transactions that no read of the view shows must be validated
// like the room of a lane ([exec.Steps.Fits]), the room of a balance and the code that is
// paid for, or must be a sum of the block.
package parallel
