// Package attacks plays each known attack on the runner market on the transition of the
// chain, with transactions, beside the nearest honest control: what the attacker has in the
// end, and who has lost by it (CIP-2; resolutions 4-6, 11 and 12; docs/attacks.md).
//
// In: the attacks, one function each. Out: the table of docs/attacks.md, or the first
// attacker that ends otherwise. After every block the supply is the sum of all balances, and
// the accounts of the market hold what its records promise.
//
// It has tests alone.
package attacks
