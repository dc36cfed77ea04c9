//spec:implements CIP-11 12.6

package chain

// Literals that enter hashes, signatures and state keys, all in one place. A changed
// byte here is a hard fork. No public text preserves those marked "ours"; the golden
// vectors under testdata/vectors pin them, so that they can be swapped in this one
// file should the originals appear.
const (
	// Blocks and consensus.
	domainBlock        = "cowboy-block-v1"       // ours; header digest
	consensusNamespace = "cowboy-simplex-v1"     // resolution 11.42; the genesis hash follows
	orderSuffix        = "_ORDER"                // resolution 11.41
	domainBeacon       = "cowboy-beacon-hash-v1" // ours; CIP-11 §9.2 beacon_hash_v1

	// Runner selection (CIP-2 §5, CIP-11 §9.2).
	domainSelectV2        = "cowboy-runner-select-v2:"
	domainSelectV3        = "cowboy-runner-select-v3:"
	domainRetry           = "retry:"
	domainCandidatesLeaf  = "cowboy-candidates-leaf-v1" // ours, after its two siblings
	domainCandidatesInner = "cowboy-candidates-inner-v1"
	domainCandidatesEmpty = "cowboy-candidates-empty-v1"

	// Statements of validators about runners, judged on chain (CIP-11 §8.3). The
	// domains of the link's frames are in runner/wire.
	domainPresenceReceipt = "cowboy-cip11-presence-receipt-v1"

	// Results (resolution 11.1).
	domainResult = "cowboy-result-v1" // ours
)

// Prefixes of the Job Dispatcher's state keys (CIP-11 §9.2, §9.4). Ours.
const (
	KeyPendingByJob = "pending_selection/job/" // ‖ job_id
	KeyPendingDue   = "pending_selection/due/" // ‖ seed_epoch_be8 ‖ seed_view_be8 ‖ submitted_at_be8 ‖ job_id; iterated in order, so never hashed
	KeyMRU          = "mru:"                   // ‖ submitter ‖ job_kind
)

// Namespace returns the application namespace of consensus signatures: it
// names the chain, so no signature is valid on another (resolutions 11.2,
// 11.42).
func Namespace(genesis Hash) []byte {
	return append([]byte(consensusNamespace), genesis[:]...)
}

// OrderNamespace returns the namespace under which a proposer signs the order
// message of its block (resolution 11.41).
func OrderNamespace(genesis Hash) []byte {
	return append(Namespace(genesis), orderSuffix...)
}
