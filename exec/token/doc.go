// Package token is the ledger of the platform's fungible tokens (CIP-20;
// whitepaper §17.3): who holds how much, who may move whose, and who owns a
// token.
//
// In: an overlay of the state, and operations by an account. Out: writes under
// [chain.AddrTokens], or a verdict that leaves the overlay as it was; any other
// error is a fault of this node. Charges, hooks and events are package actor's:
// nothing here runs a program.
//
// # What is kept
//
// In the system namespace of [chain.AddrTokens], keys of one letter and what
// they are about:
//
//	n                       how many tokens there are
//	i ‖ number              the id of a token, in the order of their creation
//	c ‖ creator             how many tokens an account has created
//	t ‖ id                  the [Token]
//	b ‖ id ‖ holder         a balance; absent: 0
//	a ‖ id ‖ owner ‖ other  an allowance; absent: 0
//	f ‖ id ‖ holder         there for a frozen account
//
// The numbers from 1 to n are the list of all tokens: nothing scans.
//
// # Invariants
//
//   - The balances of a token add up to its supply, which is at most its
//     maximum, if it has one, and below 2^128.
//   - A balance, an allowance of 0 and an account that is not frozen take no
//     room.
//   - A token is never deleted, and its id, name, symbol, decimals, maximum and
//     creator never change.
//
// The package is pure.
package token
