// Package query answers readers: it implements what the API asks of a node (rpc.Source)
// over the ledger's head, the store, the pool and the way into it.
//
//	what is asked for              file
//	-----------------              ----
//	blocks, headers, senders       blocks.go, olderblocks.go, oldsenders.go
//	transactions and receipts      transactions.go, verdict.go
//	accounts, storage, code        accounts.go, past.go
//	actors, calls, estimates       actors.go
//	rent, governance               rent.go, governance.go
//	proofs                         proofs.go
//	events                         logs.go
//	jobs of an account             jobs.go
//	streams and waits              hub.go
//	development funds              faucet.go
//
// In come final blocks ([Source.Finalized]) and questions, from many goroutines; out
// come values that nobody changes any more. [Config] names each part of the node by
// the few methods that are asked of it, so that an answer can be tested on a store
// alone.
//
// Invariants:
//
//   - An answer about the state is made from one head, held still meanwhile (head.go).
//   - Readers see a block once it is the head: the store has it a moment earlier.
//   - Nothing here is in the way of consensus: publishing never waits for a reader,
//     senders of old blocks are recovered one block at a time on a thread of low
//     priority, and calls run on engines of their own.
//   - What is remembered for readers is bounded in blocks and bytes.
package query
