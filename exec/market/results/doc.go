// Package results is what becomes of the results of jobs. So far it holds how an escrow is
// divided when a job ends.
//
// In: what the requester offered, and what those that are paid have cost. Out: amounts
// whose sum is the escrow, to the base unit.
//
// # Invariants
//
// Functions of their arguments alone, in integers. Nobody gets more than its share of the
// price and of the tip, and no unit of an escrow is made or lost.
package results
