//spec:implements resolutions 2, 11, 14
//spec:implements whitepaper 17.1, 17.3, 17.4, 17.5, 17.8, 17.9, 17.10

// Package fees is the arithmetic of block space: what a transaction must offer,
// what it pays, what the next block asks, and how much of each lane is left
// (whitepaper §2.2, §2.3, §4.2, §6.3, §17; resolutions 2.1-2.13, 11.14, 11.26).
//
// In: transactions, parameters, base fees, and two facts about the sender, its
// nonce and what it can spend. Out: amounts and verdicts. Admission, packing
// and execution all judge by the functions of this package, so a transaction
// that one lets through is not refused by the next for another reading of the
// rule.
//
// # Invariants
//
// Amounts are exact: products are formed in 128 bits, and what does not fit 64
// bits is an [*OverflowError], never a wrapped number. A fee is its burned part
// and its tip, to the unit, and never exceeds what [MaxCost] reserved.
package fees
