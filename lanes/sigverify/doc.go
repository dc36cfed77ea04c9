// Package sigverify turns raw transaction bytes into verified transactions: it
// checks the size, decodes strictly, finds the lane by the instruction table
// and recovers the sender, many signatures at a time.
//
// # Flow
//
//	rpc, p2p → SubmitFrom → ring → gather (≤ BatchWaitMax) → worker per core:
//	    size → hash → sender cache → decode, classify → recover the batch
//	    → reorder buffer → guards → lanes admit the batch → reply to each submitter
//
//	ledger → VerifyBlock: the same checks for a proposed block, at once and
//	    beside the queue; what admission has seen costs one hash and one lookup,
//	    and what the cache has forgotten meanwhile is found in the lanes
//
// Cheap checks stand first: a body that is too long costs a comparison, a known
// one a hash, a malformed one a scan; only well-formed new ones cost a
// signature check. No signature is checked twice while its transaction is in
// the sender cache, and none of a block's while it waits in the lanes: what is
// verified and then refused passes through the cache too, so that a flood of it
// makes the cache forget what waits. The cache key is the hash of the whole signed body
// (resolution 11.12), so a hit is the same transaction with the same signature
// and therefore the same sender; refusals are never cached.
//
// # Order
//
// Batches are verified side by side and admitted in the order of arrival, so
// that one sender's nonces, submitted in order, reach the lanes in order. A
// worker that finishes before its predecessor leaves its batch at the reorder buffer
// and gathers the next one.
//
// # Bounds and fairness
//
// The queue is bounded in transactions and bytes, the cache likewise, and a
// batch in signatures, of which a transaction has one, and up to sixteen more if it shows
// results: under load every batch of others has exactly BatchTxs, the
// kernel's size. Submit never blocks: a full queue is [ErrBusy], which RPC
// reports and a network layer answers by not reading on. While the queue is more
// than half full, each source may hold an equal share of it, and one share is
// kept for whoever comes next: a flood cannot shut others out.
// All clients of the node's RPC are one source, and share among each other what it may
// hold ([Pipeline.SubmitOf]): they cannot shut out peers, nor one of them the others.
// [Pipeline.Credit] says how much a source may send now. Every accepted submission gets
// exactly one reply, also when the pipeline stops.
//
// # Concurrency
//
// Submissions pass a ring without locks (ring.Ring); one worker at a time
// empties it and parks at its bell while there is nothing. [Pipeline.Run] owns
// the workers and waits for them. Submit, Credit, VerifyBlock and the counters
// may be used by any goroutine, before, during and after Run.
//
// What makes a transaction acceptable at the head (nonce, balance, fees) is
// decided by package lanes; who may use a system instruction, by execution.
package sigverify
