package chain

// Literals that enter hashes, signatures, state keys and handshakes, all in one
// place. A changed byte here is a hard fork. No public text preserves those
// marked "ours"; the golden vectors under testdata/vectors pin them, so that
// they can be swapped in this one file should the originals appear.
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

	// Signed frames of the runner link (CIP-11 §12.6).
	domainHelloAck        = "cowboy-cip11-hello-ack-v1"      // ours
	domainConnection      = "cowboy-cip11-connection-v1"     // ours
	domainHeartbeatPing   = "cowboy-cip11-heartbeat-ping-v1" // ours
	domainHeartbeatPong   = "cowboy-cip11-heartbeat-pong-v1" // ours
	domainPresenceReceipt = "cowboy-cip11-presence-receipt-v1"
	domainControl         = "cowboy-cip11-control-v1"
	domainJobAssignment   = "cowboy-cip11-job-assignment-v1" // ours
	domainJobAck          = "cowboy-cip11-job-ack-v1"        // ours
	domainJobCancel       = "cowboy-cip11-job-cancel-v1"     // ours
	domainGoodbye         = "cowboy-cip11-goodbye-v1"        // ours

	// Results (resolution 11.1).
	domainResult = "cowboy-result-v1" // ours
)

const (
	// ExporterLabel is the TLS exporter label of the channel binding: 32 bytes
	// with an empty context (RFC 8446 §7.5, CIP-11 §6.2).
	ExporterLabel = "cowboy-cip11-handshake-v1"
	// RunnerALPN names the runner link in the TLS handshake. Ours.
	RunnerALPN = "cowboy-cip11/1"
	// RunnerWireVersion is major 1, minor 0 of the runner link (CIP-11 §12.3).
	RunnerWireVersion uint16 = 0x0100
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
