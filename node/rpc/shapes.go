package rpc

import (
	"encoding/json"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// The JSON shapes of the API. Amounts are decimal strings because balances
// exceed 2^53; readers accept numbers too (resolution 11.37, [chain.Wei] does
// both). Heights, nonces and meters are numbers; hashes and addresses are
// 0x-prefixed lower-case hex.

// HeightReply answers GET /height.
type HeightReply struct {
	Height uint64 `json:"height"`
}

// EvidenceReply answers GET /evidence.
type EvidenceReply struct {
	Evidence []EvidenceLine `json:"evidence"`
}

// EvidenceLine is one proof of a validator's contradiction.
type EvidenceLine struct {
	Accused string `json:"accused"` // peer key
	Epoch   uint64 `json:"epoch"`
	View    uint64 `json:"view"`
	First   string `json:"first"` // what it said: notarize, nullify or finalize
	Second  string `json:"second"`
	Proof   string `json:"proof"`
}

// FeeReply is one price pair.
type FeeReply struct {
	Cycle chain.Wei `json:"cycle"`
	Cell  chain.Wei `json:"cell"`
}

// BaseFeeReply answers GET /basefee: the User lane's pair, and every lane by
// name (resolution 11.26). The fees are those of the next block.
type BaseFeeReply struct {
	Height  uint64              `json:"height"`
	Cycle   chain.Wei           `json:"basefee_cycle"`
	Cell    chain.Wei           `json:"basefee_cell"`
	Lanes   map[string]FeeReply `json:"lanes"`
	MaxTx   UsageReply          `json:"max_tx"` // protocol maxima that clients clamp to (resolution 11.33)
	ChainID uint64              `json:"chain_id"`
}

// UsageReply is an amount of both meters.
type UsageReply struct {
	Cycles uint64 `json:"cycles"`
	Cells  uint64 `json:"cells"`
}

// BlockReply answers GET /block/{hash|height} and is the event of GET /events.
type BlockReply struct {
	Hash            string                `json:"hash"`
	Parent          string                `json:"parent"`
	Height          uint64                `json:"height"`
	Epoch           uint64                `json:"epoch"`
	View            uint64                `json:"view"`
	ParentEpoch     uint64                `json:"parent_epoch"` // round of the parent
	ParentView      uint64                `json:"parent_view"`
	TimestampMillis uint64                `json:"timestamp_ms"`
	Proposer        string                `json:"proposer"`
	TxRoot          string                `json:"tx_root"`
	BodyRoot        string                `json:"body_root"` // of the shards; zero if the bodies travelled whole
	ReceiptsRoot    string                `json:"receipts_root"`
	StateRoot       string                `json:"state_root"`
	ParentSeed      string                `json:"parent_seed"`
	OrderProof      string                `json:"order_proof"`
	PresenceInput   string                `json:"presence_input"` // PresenceInputV1, literal bytes (CIP-11 §7.2)
	ConsumedSeeds   string                `json:"consumed_seeds"` // ConsumedSeedsV1, CBOR (CIP-11 §9.2)
	BaseFees        map[string]FeeReply   `json:"basefees"`
	Used            map[string]UsageReply `json:"used"`
	TxCount         int                   `json:"tx_count"`
	Txs             []BlockTxReply        `json:"transactions"`
	Deliveries      []string              `json:"deliveries"` // ids of the other receipts: messages that waited, timers
	SizeBytes       int                   `json:"size_bytes"`
}

// BlocksReply answers GET /blocks: newest first, offset counted from the head.
type BlocksReply struct {
	Blocks     []BlockSummary `json:"blocks"`
	TotalCount uint64         `json:"total_count"` // finalized blocks, genesis not counted
	Offset     uint64         `json:"offset"`
	Limit      uint64         `json:"limit"`
}

// BlockSummary is a line of a block list.
type BlockSummary struct {
	Hash            string `json:"hash"`
	Height          uint64 `json:"height"`
	View            uint64 `json:"view"`
	TimestampMillis uint64 `json:"timestamp_ms"`
	Proposer        string `json:"proposer"`
	TxCount         int    `json:"tx_count"`
	SizeBytes       int    `json:"size_bytes"`
}

// GapReply is the "gap" event of GET /events: blocks From to To were not sent
// because the resume point lies too far back, or because the chain is faster than
// the client may be sent stored blocks; fetch them with GET /block.
type GapReply struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// BlockTxReply is one transaction's place in a block.
type BlockTxReply struct {
	Hash     string `json:"hash"`
	Sender   string `json:"sender"`
	Nonce    uint64 `json:"nonce"`
	Lane     string `json:"lane"`
	OrderKey string `json:"order_key"`
	Slot     int    `json:"slot"`
}

// TxReply answers GET /transaction/{hash}.
type TxReply struct {
	Hash           string    `json:"hash"`
	BlockHeight    *uint64   `json:"block_height"` // null while pending
	Slot           *int      `json:"slot"`
	ChainID        uint64    `json:"chain_id"`
	Nonce          uint64    `json:"nonce"`
	Sender         string    `json:"sender"`
	To             *string   `json:"to"`
	Value          chain.Wei `json:"value"`
	CyclesLimit    uint64    `json:"cycles_limit"`
	CellsLimit     uint64    `json:"cells_limit"`
	MaxFeePerCycle chain.Wei `json:"max_fee_per_cycle"`
	MaxFeePerCell  chain.Wei `json:"max_fee_per_cell"`
	TipPerCycle    chain.Wei `json:"tip_per_cycle"`
	TipPerCell     chain.Wei `json:"tip_per_cell"`
	Payload        string    `json:"payload"`
	Lane           string    `json:"lane"`
	Raw            string    `json:"raw"` // canonical CBOR body
}

// EventReply is one event of a receipt.
type EventReply struct {
	Emitter string `json:"emitter"`
	Name    string `json:"name"`
	Data    string `json:"data"`

	Value json.RawMessage `json:"value"` // data as a value, null where it is none
}

// ReceiptReply answers GET /transaction/{hash}/receipt; 404 while pending.
type ReceiptReply struct {
	TxHash       string          `json:"tx_hash"`
	BlockHeight  uint64          `json:"block_height"`
	BlockHash    string          `json:"block_hash"`
	Slot         int             `json:"slot"`
	Lane         string          `json:"lane"`
	Status       string          `json:"status"` // "success" or "failed"
	Code         uint16          `json:"code"`
	RevertReason string          `json:"revert_reason"`
	CyclesUsed   uint64          `json:"cycles_used"`
	CellsUsed    uint64          `json:"cells_used"`
	Fee          chain.Wei       `json:"fee"`
	Output       string          `json:"output"` // what the handler answered, canonical
	Value        json.RawMessage `json:"value"`  // output as a value, null where it is none
	Events       []EventReply    `json:"events"`
	Messages     []MessageReply  `json:"messages"` // in the order of their delivery
}

// MessageReply is a message of a receipt's trace.
type MessageReply struct {
	ID     string `json:"id"`
	Parent uint64 `json:"parent"` // 0: the receipt's own handler; n: the message at n-1
	Depth  uint64 `json:"depth"`
	To     string `json:"to"`
	Status string `json:"status"` // "success", "failed", "waits" in the receiver's mailbox
	Code   uint16 `json:"code"`
	Reason string `json:"reason"`
	Cycles uint64 `json:"cycles"`
}

// PoolTxReply answers GET /mempool/transaction/{hash}.
type PoolTxReply struct {
	Hash   string `json:"hash"`
	State  string `json:"state"` // "pending", "queued", "included"
	Lane   string `json:"lane"`
	Sender string `json:"sender"`
	Nonce  uint64 `json:"nonce"`
}

// AccountReply answers GET /account/{addr}.
type AccountReply struct {
	Address     string    `json:"address"`
	Nonce       uint64    `json:"nonce"`
	Balance     chain.Wei `json:"balance"`
	Spendable   chain.Wei `json:"spendable"` // balance less what is still vesting
	StorageRoot string    `json:"storage_root"`
	CodeHash    string    `json:"code_hash"`
	Height      uint64    `json:"height"`
	PendingNext uint64    `json:"pending_nonce"` // next nonce behind the pool's transactions
}

// SubmitReply answers POST /submit.
type SubmitReply struct {
	Results []SubmitResult `json:"results"` // one for each transaction, in order
}

// SubmitResult is the verdict on one submitted transaction.
type SubmitResult struct {
	Hash     string `json:"tx_hash,omitempty"` // not with ?hashes=0
	Accepted bool   `json:"accepted"`
	Code     Code   `json:"code"` // CodeOK when accepted
	Message  string `json:"message"`
}

// SubmitWaitReply answers POST /submit_wait.
type SubmitWaitReply struct {
	Results []SubmitWaitResult `json:"results"`
}

// SubmitWaitResult adds the receipt once final; it is null when the wait ended first.
type SubmitWaitResult struct {
	SubmitResult
	Receipt *ReceiptReply `json:"receipt"`
}

// FaucetRequest is the body of POST /faucet.
type FaucetRequest struct {
	Address string `json:"address"`
}

// FaucetReply answers POST /faucet.
type FaucetReply struct {
	Status    string    `json:"status"`
	Finality  string    `json:"finality"`
	TxHash    string    `json:"tx_hash"`
	Amount    chain.Wei `json:"amount"`
	AmountCBY string    `json:"amount_cby"`
}

// AdvanceRequest is the body of POST /dev/advance.
type AdvanceRequest struct {
	Blocks uint64 `json:"blocks"`
}

// AdvanceReply answers POST /dev/advance.
type AdvanceReply struct {
	Height          uint64 `json:"height"`
	TimestampMillis uint64 `json:"timestamp_ms"`
}

// HealthReply answers GET /health and GET /health/ready.
type HealthReply struct {
	Status  string   `json:"status"` // "ok", "starting", "stopping", "degraded"
	Ready   bool     `json:"ready"`  // voting
	Height  uint64   `json:"height"`
	View    uint64   `json:"view"`
	ChainID uint64   `json:"chain_id"`
	Genesis string   `json:"genesis"`
	Version string   `json:"version"`
	Devnet  bool     `json:"devnet"`
	Reasons []string `json:"reasons"`

	State StateReply `json:"state"`
}

// StateReply is how full the state is, as the protocol counts it.
type StateReply struct {
	Bytes  uint64 `json:"bytes"`
	Limit  uint64 `json:"limit_bytes"`
	Growth uint64 `json:"price_basis_points"` // of new bytes; 10,000 on a young chain
}

// ErrorReply is the body of every error; the codes are those of [Code].
type ErrorReply struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// ParamsReply answers GET /params: the parameters in force that bound how
// much a block can carry, for wallets that plan and load tools that compute the
// ceiling. Lane shares are keyed by lane name, in basis points of the targets.
type ParamsReply struct {
	Name                    string                `json:"name"` // of the genesis
	ChainID                 uint64                `json:"chain_id"`
	BlockTimeMillis         uint64                `json:"block_time_ms"`
	CyclesTarget            uint64                `json:"cycles_target"`
	CyclesCap               uint64                `json:"cycles_cap"`
	CellsTarget             uint64                `json:"cells_target"`
	CellsCap                uint64                `json:"cells_cap"`
	MaxTxBytes              uint64                `json:"max_tx_bytes"`
	MaxBlockBytes           uint64                `json:"max_block_bytes"`
	TransferIntrinsicCycles uint64                `json:"transfer_intrinsic_cycles"`
	IntrinsicCosts          params.IntrinsicCosts `json:"intrinsic_costs"` // what transactions cost before anything of them runs
	LaneProfile             string                `json:"lane_profile"`    // the table that the shares are, or "custom"
	LaneShareBasisPoints    map[string]uint64     `json:"lane_share_basis_points"`
}
