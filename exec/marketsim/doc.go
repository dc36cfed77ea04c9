// Package marketsim plays runner markets whole, from transactions to settlement, beside a
// plain model that was written from the texts: maps and big integers, no pages, no index,
// no memory, and no code of exec/market (CIP-2; resolutions 4-6, 11 and 12; the market's
// design page). After every block all of the market that is in the state must be what the
// model has: balances, records of runners, jobs and seats, and the supply.
//
// In: seeds. A seed gives the parameters, who plays how (honest, lazy, silent, withholding,
// lying and colluding runners, hostile requesters), votes, forks of the chain and
// restarts. Out: the first difference, with its seed and block.
//
// It has tests alone.
package marketsim
