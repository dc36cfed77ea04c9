package sigverify

import "sync/atomic"

// Stats counts what the pipeline has done since it was made. Workers add to
// it; anyone may read it.
type Stats struct {
	Submitted atomic.Uint64 // transactions taken into the queue
	Busy      atomic.Uint64 // transactions refused because the queue was full
	OverShare atomic.Uint64 // transactions refused because their source had its share of a contended queue
	Malformed atomic.Uint64 // refused for size, encoding or instruction
	Known     atomic.Uint64 // found in the sender cache, in either direction
	Waiting   atomic.Uint64 // of proposed blocks, not in the sender cache any more and found in the lanes
	Decoded   atomic.Uint64 // bodies that were read field by field
	Recovered atomic.Uint64 // senders recovered from a signature
	Forged    atomic.Uint64 // refused for their signature
	Refused   atomic.Uint64 // verified, but refused by a guard or the lanes

	Batches      atomic.Uint64 // batches verified for the queue
	BatchTxs     atomic.Uint64 // transactions in them
	BlockTxs     atomic.Uint64 // transactions checked for proposed blocks
	GatherNanos  atomic.Uint64 // from a batch's first transaction to its start
	ParseNanos   atomic.Uint64 // hashing, lookup, decoding, classifying
	RecoverNanos atomic.Uint64 // recovering senders
	AdmitNanos   atomic.Uint64 // inside the lanes, one batch at a time

	QueuedTxs   atomic.Int64 // in the queue now
	QueuedBytes atomic.Int64 // likewise
}
