package rpc

// Source is the node as the server sees it: an interface for each subject, in the file
// of the routes that ask it, put together. A part of the node that learns to answer
// another subject brings an interface of its own.
//
//	Blocks        final blocks, headers, prices         blocks.go
//	Transactions  the way in, receipts, the pool        transactions.go
//	Accounts      accounts, code, rent                  accounts.go
//	Storage       what accounts store                   past.go
//	Proofs        documents that verify alone           proofs.go
//	Decisions     governance                            governance.go
//	Actors        programs                              actors.go
//	Trials        calls that only read, estimates       trials.go
//	Events        what was emitted                      logs.go
//	Jobs          whose they are                        joblists.go
//	Streams       blocks as they become final           events.go
//	Status        health, evidence                      operate.go
//	Development   faucet, empty blocks                  operate.go
//
// Its methods are called from many
// goroutines at once and answer from snapshots of finalized state; none may
// wait for consensus except Wait, Faucet and Advance, which end with ctx.
//
// Beside its route's price a request costs what a method tells [Bill]; [ClientOf]
// says who asks.
//
// "Found" results are false for what does not exist. An error is a fault of the
// node and becomes a 5xx answer, except a [*Refusal], [ErrBusy], [ErrNotReady]
// and the error of an ended context, which keep their meaning.
type Source interface {
	Blocks
	Transactions
	Accounts
	Storage
	Proofs
	Decisions
	Actors
	Trials
	Events
	Jobs
	Streams
	Status
	Development
}
