//spec:implements resolutions 11, 14

// Package exec is the state transition: what one block does to the state, as a
// pure function of the parent's state, the block's inputs and its transactions
// (whitepaper §2, §4, §8; resolutions 2.1-2.15, 7.5, 9.3, 9.4, 11.2, 11.13-11.15).
//
// In: a [state.View] of the parent, [Inputs], and the transactions in the order
// that package chain/order gives them, their senders recovered. Out: receipts,
// what each lane used, and the writes as a [state.Delta]; or the reason why the
// block is invalid; or a fault of this node.
//
// # Phases
//
//  1. What is due by height: entitlements that end are announced, a bounded number
//     of actors pays rent, is warned or evicted, and the timers that are to fire in
//     the block are selected by their bids.
//  2. Transactions, lane by lane. An instruction is found by its address and opcode
//     in the table of services (services.go); there is no other way to one. Each is judged by the rules of [fees.Validity] and its
//     lane's budget, its highest cost is reserved, it runs, and what it did not
//     pay is given back.
//  3. Messages that waited, within what the transactions left of the block's space,
//     then the selected timers, whose space was kept for them: each a run of its
//     own with a receipt behind those of the transactions.
//  4. Rewards: issuance to the validators by stake, tips to the proposer. They
//     come after the last transaction, so nobody spends them in the block that
//     pays them and no transaction waits for the proposer's account.
//  5. The supply record, the sizes of the storages that have grown, and receipts of
//     what the protocol itself has announced.
//
// # Three kinds of failure
//
// A transaction that fails is in the block, pays, and has a receipt with a
// code. A transaction that may not be in a block makes it invalid:
// [*InvalidTx]. What this node cannot read or should never have stored is a
// [*Fault] and says nothing about the block.
//
// # Invariants
//
// The sum of all balances changes by exactly issued - burned in every block.
// Nothing depends on time, chance, map order or on how often a block is run.
package exec
