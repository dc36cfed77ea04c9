// Package jobs is the Job Dispatcher at 0x02 (CIP-2 §3, §6): it takes jobs in and back, and
// keeps the records of a job, of the seats of the runners that were drawn for it, and the
// keys that both and all that belongs to them stand under.
//
// In: jobs with their escrow, from transactions ([Instructions]) and from actors ([Call]);
// values of a row. Out: rows, events, or a verdict that names the key that is wrong. The
// dictionaries of actors become jobs in package ask.
//
// # Invariants
//
// The balance of the dispatcher is the sum of what its jobs hold: a job holds max_price + tip
// from its submission on, and nothing once it has ended. A job is Fresh while it has rows
// under fresh/ and live/. Whoever submits has paid for all that the chain will do for the
// job by itself.
//
// A row has one encoding; a malformed one is a fault, since only the protocol writes there.
// Keys whose rows are scanned begin with a height or an address, big-endian, so that a scan
// meets them in order.
//
// The package is pure.
package jobs
