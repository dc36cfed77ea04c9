//spec:implements whitepaper 3.3

// Package actor runs actors: it deploys them, delivers messages to their
// handlers, and is the chain that their programs see through package host
// (whitepaper §3; resolutions 7.7, 7.8, 8.1, 11.21, 11.22, 11.44).
//
// In: an overlay of the state and a [Run] with its limits. Out: writes on the
// overlay, an [Outcome] with code, usage, events and trace; or an error, which is
// a fault of this node and no verdict.
//
// # A run
//
// A [Run] is what shares one pair of limits: a transaction, a message that
// waited, a firing of a timer, a question over RPC. Its first handler gets all
// cycles. What handlers send is queued and delivered breadth first within the
// run, each message with the cycles that its sender reserved for it; what they
// leave of them goes back to the run. A handler is atomic: when it fails, its
// writes, events and messages are undone, and the value that came with the
// message returns to its sender. When the first handler fails, so does the run.
//
//	transaction ── first handler ──► queue ── message ── message ── …
//	                     │ call             │
//	                     ▼                  ▼
//	                 nested handler     depth or budget used up: the mailbox
//
// # What is kept where
//
// Under [chain.AddrActors], in the system namespace: the [Record] of each actor,
// which changes when the actor is redeployed and then alone, its [Ledger], which
// changes with its calls, and manifests under their hashes, which never change. So an actor's own storage holds what its program
// stored and nothing else, and eviction takes that alone.
//
// # Invariants
//
//   - The same overlay, block and run give the same outcome on every machine.
//   - The sum of all balances is the same before and after.
//   - A message is delivered once: it leaves the queue or the mailbox with its
//     delivery, and each sender's numbers rise by one.
//
// The package is pure; the engine that it is given belongs to one goroutine.
package actor
