// Package submitted keeps the transactions that clients handed to this node and
// that its pool admitted, so that they survive a restart.
//
// In flow admitted bodies ([Journal.Record]); out flow, at the next start, those that
// are not final and not too old, through the whole of admission ([Chain].Admit).
// Transactions from other nodes are not kept: those who took them keep them.
//
// # Promise
//
// What was admitted half a second ago survives the death of the process and of the
// machine, as long as nothing was dropped: the answer to a client does not wait for
// the disk. Whoever must be sure waits for the receipt. Nothing is promised of a
// transaction that admission refuses at the start, for its nonce, price or balance.
//
// # Invariants
//
//   - Take never blocks and never fails. What finds the queue or the journal full is
//     dropped and counted.
//   - Of the file, and of what others leave of it, a client has no more than its share.
//   - The file never exceeds its bound; while it is cleaned there are two of them.
//   - Cleaning keeps a record if its transaction waits in the pool and is younger
//     than what the pool keeps, each once. Nothing is cleaned until the records of the
//     earlier run have been through admission.
//   - Nothing about the file stops the node. What cannot be read or written ends the
//     journal: logged, counted, and tried anew at the next start.
//
// # Concurrency
//
// [Journal.Run] is the owner: one goroutine that writes, syncs at most once in
// [syncEvery], sends again and cleans. Take and the counters may be used by any
// goroutine, [Journal.Close] once Run has returned.
//
// The file is a state/journal, which says what a crash leaves of it. A record is
//
//	record = 1 (u8) ‖ admitted at, Unix milliseconds (u64, big-endian) ‖ body
package submitted
