// Package sigverify turns raw transaction bytes into verified transactions: it
// checks the size, decodes strictly, finds the lane by the instruction table
// and recovers the sender, many signatures at a time.
//
// # Flow
//
//	rpc, p2p → Submit → queue → gather (≤ BatchWaitMax) → worker per core:
//	    size → hash → sender cache → decode, classify → recover the batch
//	    → lanes admit the batch → reply to each submitter
//
//	ledger → VerifyBlock: the same checks for a proposed block, at once and
//	    beside the queue; what admission has seen costs one hash and one lookup
//
// Cheap checks stand first: a body that is too long costs a comparison, a known
// one a hash, a malformed one a scan; only well-formed new ones cost a
// signature check. No signature is checked twice while its transaction is in
// the sender cache. The cache key is the hash of the whole signed body
// (resolution 11.12), so a hit is the same transaction with the same signature
// and therefore the same sender; refusals are never cached.
//
// # Order
//
// Batches are verified side by side and admitted in the order of arrival, so
// that one sender's nonces, submitted in order, reach the lanes in order.
//
// # Bounds
//
// The queue is bounded in transactions and bytes, the cache likewise, and a
// batch in transactions. Submit never blocks: a full queue is [ErrBusy], which
// RPC reports and gossip answers by dropping. Every accepted submission gets
// exactly one reply, also when the pipeline stops.
//
// # Concurrency
//
// [Pipeline.Run] owns the workers and waits for them. Submit, VerifyBlock and
// the counters may be used by any goroutine, before, during and after Run.
//
// What makes a transaction acceptable at the head (nonce, balance, fees) is
// decided by package lanes; who may use a system instruction, by execution.
package sigverify
