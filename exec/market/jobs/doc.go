// Package jobs keeps the records of the Job Dispatcher at 0x02 (CIP-2 §3, §6): a job, the
// seats of the runners that were drawn for it, and the keys that both and all that belongs
// to them stand under.
//
// In: values of a row. Out: its one encoding, and back; a malformed row is a fault, since
// only the protocol writes there. Keys whose rows are scanned begin with a height or an
// address, big-endian, so that a scan meets them in order.
//
// The package is pure.
package jobs
