//spec:implements whitepaper 17.1, 17.3, 17.4, 17.5, 17.8, 17.9, 17.10, 17.2

package params

import "github.com/cowboy-foundation/cowboy/chain"

// IntrinsicCosts is what a transaction pays before anything of it runs
// (whitepaper §17.2; resolutions 2.9, 2.10, 8.16, 11.13). Every kind pays one
// cell per byte of payload and access list besides the cells named here.
type IntrinsicCosts struct {
	TransferCycles      chain.Cycles `json:"transfer_cycles"`
	DeployCycles        chain.Cycles `json:"deploy_cycles"`
	MessageCycles       chain.Cycles `json:"message_cycles"`
	JobSubmitCycles     chain.Cycles `json:"job_submit_cycles"` // the LlmRequest of the table
	TimerScheduleCycles chain.Cycles `json:"timer_schedule_cycles"`
	TimerScheduleCells  chain.Cells  `json:"timer_schedule_cells"`
	HeartbeatCycles     chain.Cycles `json:"heartbeat_cycles"`
	InstructionCycles   chain.Cycles `json:"instruction_cycles"` // any other instruction to a system actor
	PayloadByteCells    chain.Cells  `json:"payload_byte_cells"` // and of an access list
}

func defaultIntrinsicCosts() IntrinsicCosts {
	return IntrinsicCosts{
		TransferCycles:      21_000,
		DeployCycles:        100_000,
		MessageCycles:       21_000,
		JobSubmitCycles:     10_000,
		TimerScheduleCycles: 5_000,
		TimerScheduleCells:  64,
		HeartbeatCycles:     5_000, // so that 5,000 staggered runners fit their lane
		InstructionCycles:   21_000,
		PayloadByteCells:    1,
	}
}

// APICosts prices what an actor asks of the chain: whitepaper §17.3 where it
// lists the call, §3.5 for timers, blobs and language primitives (resolutions
// 2.7, 2.8), and §17.4 for cells.
type APICosts struct {
	SendMessageCycles       chain.Cycles `json:"send_message_cycles"`
	StorageReadCycles       chain.Cycles `json:"storage_read_cycles"`
	StorageReadByteCycles   chain.Cycles `json:"storage_read_byte_cycles"`
	StorageWriteCycles      chain.Cycles `json:"storage_write_cycles"`
	StorageWriteByteCycles  chain.Cycles `json:"storage_write_byte_cycles"`
	HashCycles              chain.Cycles `json:"hash_cycles"`
	HashByteCycles          chain.Cycles `json:"hash_byte_cycles"`
	VerifySignatureCycles   chain.Cycles `json:"verify_signature_cycles"`
	BlockInfoCycles         chain.Cycles `json:"block_info_cycles"`
	EmitEventCycles         chain.Cycles `json:"emit_event_cycles"`
	EmitEventByteCycles     chain.Cycles `json:"emit_event_byte_cycles"`
	TimerSetCycles          chain.Cycles `json:"timer_set_cycles"`
	TimerCancelCycles       chain.Cycles `json:"timer_cancel_cycles"`
	BlobCommitKiBCycles     chain.Cycles `json:"blob_commit_kib_cycles"`
	StorageWriteByteCells   chain.Cells  `json:"storage_write_byte_cells"`
	StorageReadBytesPerCell uint64       `json:"storage_read_bytes_per_cell"` // rounded up per read (resolution 2.11)
	EventBytesPerCell       uint64       `json:"event_bytes_per_cell"`        // rounded up per event
	ReturnByteCells         chain.Cells  `json:"return_byte_cells"`           // return data and inline blobs (resolution 11.34)
	ManifestByteCycles      chain.Cycles `json:"manifest_byte_cycles"`        // of a deployment or a spawned actor
	ManifestBytesPerCycle   uint64       `json:"manifest_bytes_per_cycle"`    // of an actor, at each call of it

	StorageScanCycles chain.Cycles `json:"storage_scan_cycles"` // of a scan, besides the entries that it returns
	VerifyBLSCycles   chain.Cycles `json:"verify_bls_cycles"`
	VerifyVRFCycles   chain.Cycles `json:"verify_vrf_cycles"`
	SubmitJobCycles   chain.Cycles `json:"submit_job_cycles"`  // handed in or taken back by a program
	SystemCycles      chain.Cycles `json:"system_cycles"`      // calls of the host that have no row of their own
	DeployByteCycles  chain.Cycles `json:"deploy_byte_cycles"` // of source deployed, spawned or replaced
	TimerFileCycles   chain.Cycles `json:"timer_file_cycles"`  // besides the above: a timer is put into the queues, moved or taken out

	// What nodes keep besides the bytes that a call names (resolution 14.12).
	NewEntryCells   chain.Cells  `json:"new_entry_cells"`   // an entry of a storage that was not there
	DeliveryCycles  chain.Cycles `json:"delivery_cycles"`   // of a message that waited, in its reservation
	DeliveryCells   chain.Cells  `json:"delivery_cells"`    // each message's place in a receipt
	FiringCycles    chain.Cycles `json:"firing_cycles"`     // of a timer, in its limits
	FiringCells     chain.Cells  `json:"firing_cells"`      // each firing's receipt, in its limits
	EventCells      chain.Cells  `json:"event_cells"`       // each event, besides its bytes
	EntryItemCycles chain.Cycles `json:"entry_item_cycles"` // for each name and constant of an actor's code, at each call of it
	NewAccountCells chain.Cells  `json:"new_account_cells"` // an account that was not there
	CodeFreeBytes   uint64       `json:"code_free_bytes"`   // of new code that stood in the payload, which has paid for them
	EventShortBytes uint64       `json:"event_short_bytes"` // of an event; those beyond are paid twice
}

// OfEvent is the price of an event in cells: who emits it and how long it is stand in
// the receipt besides the bytes of its name and its data. Those of a common event cost
// what resolution 2.11 says, the bytes beyond as much again (resolution 14.12).
func (c *APICosts) OfEvent(name, data int) uint64 {
	n := uint64(name + data)
	cells := uint64(c.EventCells) + (n+c.EventBytesPerCell-1)/c.EventBytesPerCell
	if n > c.EventShortBytes {
		cells += (n - c.EventShortBytes + c.EventBytesPerCell - 1) / c.EventBytesPerCell
	}
	return cells
}

func defaultAPICosts() APICosts {
	return APICosts{
		SendMessageCycles:       1_000,
		StorageReadCycles:       500,
		StorageReadByteCycles:   1,
		StorageWriteCycles:      5_000,
		StorageWriteByteCycles:  10,
		HashCycles:              100,
		HashByteCycles:          1,
		VerifySignatureCycles:   3_000,
		BlockInfoCycles:         100,
		EmitEventCycles:         500,
		EmitEventByteCycles:     5,
		TimerSetCycles:          200,
		TimerCancelCycles:       200,
		BlobCommitKiBCycles:     40,
		StorageWriteByteCells:   1,
		StorageReadBytesPerCell: 10,
		EventBytesPerCell:       2,
		ReturnByteCells:         1,
		ManifestByteCycles:      5, // read, checked, hashed and written: 20 ns a byte
		ManifestBytesPerCycle:   4, // parsed anew where no cache has it: 6 ns a byte

		StorageScanCycles: 2_000,  // a search in two orders, 7 us where little is kept and seven times that at worst
		VerifyBLSCycles:   60_000, // two pairings: 1.2 ms
		VerifyVRFCycles:   60_000, // likewise
		SubmitJobCycles:   1_000,
		SystemCycles:      1_000,
		DeployByteCycles:  10,
		TimerFileCycles:   1_000, // five to nine records: 22 us

		NewEntryCells:   144, // an entry takes up to 180 bytes of tries and rows besides key and value
		DeliveryCycles:  2_000,
		DeliveryCells:   40, // a place in a trace takes 75 bytes
		FiringCycles:    2_000,
		FiringCells:     64,    // a receipt takes up to 110 bytes without what the handler says
		EventCells:      24,    // who emits it and the heads take 24 to 30 bytes
		EntryItemCycles: 8,     // made ready by each machine: 60 to 150 ns
		NewAccountCells: 280,   // what it takes of tries and rows
		CodeFreeBytes:   2_560, // the SDK's examples, whose deployment costs at most twice what it did (ADR 90)
		EventShortBytes: 256,
	}
}

// TokenCosts prices the platform tokens' operations (whitepaper §17.3,
// "Platform Token Costs").
type TokenCosts struct {
	TransferCycles     chain.Cycles `json:"transfer_cycles"`
	TransferCells      chain.Cells  `json:"transfer_cells"`
	TransferFromCycles chain.Cycles `json:"transfer_from_cycles"`
	TransferFromCells  chain.Cells  `json:"transfer_from_cells"`
	ApproveCycles      chain.Cycles `json:"approve_cycles"`
	ApproveCells       chain.Cells  `json:"approve_cells"`
	BalanceOfCycles    chain.Cycles `json:"balance_of_cycles"`
	MintCycles         chain.Cycles `json:"mint_cycles"`
	MintCells          chain.Cells  `json:"mint_cells"`
	BurnCycles         chain.Cycles `json:"burn_cycles"`
	BurnCells          chain.Cells  `json:"burn_cells"`
	CreateCycles       chain.Cycles `json:"create_cycles"`
	CreateCells        chain.Cells  `json:"create_cells"` // besides the bytes of name and symbol
	BatchCycles        chain.Cycles `json:"batch_cycles"` // of several transfers at once (CIP-20)
	BatchEachCycles    chain.Cycles `json:"batch_each_cycles"`
	AdminCycles        chain.Cycles `json:"admin_cycles"` // freezing, owner, hooks
	AdminCells         chain.Cells  `json:"admin_cells"`
	InfoCycles         chain.Cycles `json:"info_cycles"`
	HookMaxCycles      chain.Cycles `json:"hook_max_cycles"` // of each hook of a transfer
}

func defaultTokenCosts() TokenCosts {
	return TokenCosts{
		TransferCycles:     1_000,
		TransferCells:      64,
		TransferFromCycles: 1_500,
		TransferFromCells:  96,
		ApproveCycles:      500,
		ApproveCells:       32,
		BalanceOfCycles:    100,
		MintCycles:         1_000,
		MintCells:          64,
		BurnCycles:         500,
		BurnCells:          64,
		CreateCycles:       10_000,
		CreateCells:        256,
		BatchCycles:        500,
		BatchEachCycles:    500,
		AdminCycles:        500, // as an approval, which writes as much
		AdminCells:         32,
		InfoCycles:         200,
		HookMaxCycles:      50_000,
	}
}

// ActorLimits bounds what one actor, call or transaction may hold or do
// (whitepaper §3.1-3.3, §12.1; resolutions 2.17, 11.21, 11.22).
type ActorLimits struct {
	MemoryPerCallBytes    uint64       `json:"memory_per_call_bytes"`
	ScratchBytes          uint64       `json:"scratch_bytes"` // /tmp of one invocation
	StorageQuotaBytes     uint64       `json:"storage_quota_bytes"`
	StorageQuotaBondBytes uint64       `json:"storage_quota_bond_bytes"` // largest quota a bond can buy
	StorageBondPerByte    chain.Wei    `json:"storage_bond_per_byte"`
	InlineBlobBytes       uint64       `json:"inline_blob_bytes"`
	CallDepth             uint64       `json:"call_depth"`
	FanoutPerTx           uint64       `json:"fanout_per_tx"`
	MailboxItems          uint64       `json:"mailbox_items"`
	MailboxBlockItems     uint64       `json:"mailbox_block_items"`     // delivered per block at most
	MailboxBlockReceivers uint64       `json:"mailbox_block_receivers"` // turns of origins per block at most (ADR 75)
	BlockCycles           chain.Cycles `json:"block_cycles"`            // an actor's refill per block
	BlockCyclesBurst      chain.Cycles `json:"block_cycles_burst"`
	MessageReserveCycles  chain.Cycles `json:"message_reserve_cycles"` // funded with a send that names no limit
	MessageReserveCells   chain.Cells  `json:"message_reserve_cells"`  // funded when a message has to wait
	EnforceHoldBalance    bool         `json:"enforce_hold_balance"`   // econ.hold_balance (resolution 11.25)
	Imports               []string     `json:"imports"`                // modules of the machine's library that actors may import, in order; cowboy_sdk goes without saying (resolutions 8.13, 14.10; ADR 97)
	ManifestBytes         uint64       `json:"manifest_bytes"`         // of the list of an actor's grants
	SourceBytes           uint64       `json:"source_bytes"`           // of an actor's program
	LoadCycles            chain.Cycles `json:"load_cycles"`            // most that the first use of another's code costs besides what its handler may use
}

// whitepaperImports is the initial whitelist (whitepaper, Module and Dependency
// Management), in order.
func whitepaperImports() []string {
	return []string{
		"abc", "collections", "dataclasses", "decimal", "enum", "functools", "hashlib", "itertools",
		"json", "math", "re", "struct", "typing",
	}
}

// DevelopmentImports are what clients expect of a development chain besides
// (resolution 8.13).
func DevelopmentImports() []string { return []string{"base64", "cbor2", "hmac", "operator", "string"} }

func defaultActorLimits() ActorLimits {
	return ActorLimits{
		MemoryPerCallBytes:    10 << 20,
		ScratchBytes:          256 << 10,
		StorageQuotaBytes:     1 << 20,
		StorageQuotaBondBytes: 8 << 20,
		StorageBondPerByte:    1_000_000, // one year of rent
		InlineBlobBytes:       64 << 10,
		CallDepth:             32,
		FanoutPerTx:           1_024,
		MailboxItems:          1_000_000,
		MailboxBlockItems:     2_048, // 10^5 messages in 49 blocks (ADR 100)
		MailboxBlockReceivers: 2_048,
		BlockCycles:           1_000_000,
		BlockCyclesBurst:      2_000_000,
		MessageReserveCycles:  100_000, // five plain messages; a send may name its own
		MessageReserveCells:   10_000,  // what a handler writes that stores a few kilobytes
		EnforceHoldBalance:    true,
		Imports:               whitepaperImports(),
		ManifestBytes:         8 << 10,  // a hundred domains; whoever needs more names a set of the chain's
		SourceBytes:           64 << 10, // half of a transaction, 1,500 lines: what one call may have to compile
		LoadCycles:            250_000,  // a program of 20 KB; who calls a larger one names its cycles
	}
}

// Timer governs timers and their deposits (whitepaper "Timer Rate
// Limiting and DoS Prevention"; resolutions 7.1-7.6, 11.23, 11.24).
type Timer struct {
	MaxPerActor          uint64    `json:"max_per_actor"`
	BaseDeposit          chain.Wei `json:"base_deposit"`
	DepositStepTimers    uint64    `json:"deposit_step_timers"` // the deposit grows by one base per so many
	SurchargeFree        uint64    `json:"surcharge_free"`      // timers of one actor for one block before it doubles
	InitialBaseFee       chain.Wei `json:"initial_base_fee"`
	MinBaseFee           chain.Wei `json:"min_base_fee"`
	QueueTarget          uint64    `json:"queue_target"`
	BaseFeeAlpha         uint64    `json:"base_fee_alpha"`
	BidsPerBlock         uint64    `json:"bids_per_block"`
	RebidDeferrals       uint64    `json:"rebid_deferrals"`
	MaxUnfundedDeferrals uint64    `json:"max_unfunded_deferrals"`

	RingBlocks         uint64 `json:"ring_blocks"`          // slots of the block ring: two epochs of the queue
	QueueEpochs        uint64 `json:"queue_epochs"`         // epochs ahead that the queue holds; later timers overflow
	MovesPerBlock      uint64 `json:"moves_per_block"`      // timers that a block moves from each tier to the next
	CandidatesPerBlock uint64 `json:"candidates_per_block"` // due timers that a block looks at, in their order

	MinCycles             chain.Cycles `json:"min_cycles"`     // smallest limit of a firing
	DefaultCycles         chain.Cycles `json:"default_cycles"` // limits of a firing that names none
	DefaultCells          chain.Cells  `json:"default_cells"`
	BidCycles             chain.Cycles `json:"bid_cycles"` // limits of a question to a Gas Bidding Agent
	BidCells              chain.Cells  `json:"bid_cells"`
	EscrowMultiple        uint64       `json:"escrow_multiple"`          // of the base fees, put aside for a firing
	DefaultTipBasisPoints uint64       `json:"default_tip_basis_points"` // of the base fees, where no agent bids
	StarvationMultiple    uint64       `json:"starvation_multiple"`      // of the base fee per cycle: what the weight of a waiting timer tends to
	DeltaBasisPoints      uint64       `json:"delta_basis_points"`       // the most that one block moves the queue's base fee (resolution 14.3)
	MaxBaseFee            chain.Wei    `json:"max_base_fee"`             // where the queue's base fee stops, however many timers wait (ADR 155)
}

func defaultTimerParams() Timer {
	return Timer{
		MaxPerActor:          1_024,
		BaseDeposit:          10 * chain.WeiPerCBY,
		DepositStepTimers:    100,
		SurchargeFree:        16,
		InitialBaseFee:       1_000_000,
		MinBaseFee:           1,
		QueueTarget:          100_000,
		BaseFeeAlpha:         8,
		BidsPerBlock:         256, // at about 5,000 cycles a bid, under two thirds of the timer budget
		RebidDeferrals:       8,
		MaxUnfundedDeferrals: 3_600,

		RingBlocks:         7_200, // two hours of blocks
		QueueEpochs:        720,   // thirty days
		MovesPerBlock:      512,   // more than the smallest firings of a block
		CandidatesPerBlock: 512,   // likewise

		MinCycles:             5_000,
		DefaultCycles:         200_000, // ten of them fill the lane; room for a message with its reservation
		DefaultCells:          8_000,
		BidCycles:             50_000,
		BidCells:              1_000,
		EscrowMultiple:        2, // covers base fees that double in the meantime
		DefaultTipBasisPoints: 1_000,
		StarvationMultiple:    16,
		DeltaBasisPoints:      1_250,
		MaxBaseFee:            1_000_000, // where it starts: a ten thousandth of a deposit, so who has that can pay it
	}
}

// Rent prices kept state (whitepaper §17.5 and "State Rent Model"; which
// of the specification's three models holds: resolutions 3.1-3.5, 11.35).
type Rent struct {
	ExemptBytes            uint64    `json:"exempt_bytes"`
	PricePerByteYear       chain.Wei `json:"price_per_byte_year"`
	ChargeBlocks           uint64    `json:"charge_blocks"` // blocks between two charges
	TargetStateBytes       uint64    `json:"target_state_bytes"`
	Alpha                  uint64    `json:"alpha"`
	GraceEpochs            uint64    `json:"grace_epochs"`
	WarningEpochs          uint64    `json:"warning_epochs"`
	CatchUpBasisPoints     uint64    `json:"catch_up_basis_points"`
	ReserveBasisPoints     uint64    `json:"reserve_basis_points"` // of a year's rent
	EvictionMode           string    `json:"eviction_mode"`
	EvictionUnpaidDays     uint64    `json:"eviction_unpaid_days"` // read in mode "debt" only
	RestorationBasisPoints uint64    `json:"restoration_basis_points"`
	DeltaBasisPoints       uint64    `json:"delta_basis_points"`  // the most that one rent epoch moves the price (resolution 14.3)
	RestoreBond            chain.Wei `json:"restore_bond"`        // that only the commit of a restoration returns; doubles with each that fails
	RestoreIdleBlocks      uint64    `json:"restore_idle_blocks"` // without data, after which somebody else may begin
}

// Values of [RentParams.EvictionMode] (resolution 3.2).
const (
	EvictionTimeline = "timeline" // grace, warning, then eviction
	EvictionDebt     = "debt"     // after so many days of unpaid rent
)

func defaultRentParams() Rent {
	return Rent{
		ExemptBytes:            10_240,
		PricePerByteYear:       1_000_000, // 0.001 CBY
		ChargeBlocks:           86_400,
		TargetStateBytes:       100_000_000_000,
		Alpha:                  8,
		GraceEpochs:            168,
		WarningEpochs:          72,
		CatchUpBasisPoints:     1_000,
		ReserveBasisPoints:     1_000,
		EvictionMode:           EvictionTimeline,
		EvictionUnpaidDays:     730,
		RestorationBasisPoints: 1_000,
		DeltaBasisPoints:       1_250,
		RestoreBond:            1_000_000_000, // 1 CBY: a thousand begun in vain cost more than there is (ADR 76)
		RestoreIdleBlocks:      64,            // a minute: a part of 64 KiB and its receipt take a few blocks
	}
}

// State prices the state as a whole: what all nodes keep of accounts, entries
// of storages and code (ADR 62).
type State struct {
	LimitBytes     uint64 `json:"limit_bytes"`     // that the protocol lets the state come to
	EntryBytes     uint64 `json:"entry_bytes"`     // an entry or an account counts so much besides its key and value
	PriceDoublings uint64 `json:"price_doublings"` // parts of the limit; with each but the first the price of new bytes doubles
}

func defaultStateParams() State {
	return State{
		LimitBytes: 32 << 30, // half of what a node of 64 GB has: tries, pages and undo records take the rest
		EntryBytes: 180,      // leaf, branches and row of an entry, at the worst

		// Filling it takes 1,050 days at the target of cells (docs/rent.md), a fifteenth of
		// it at the ordinary price.
		PriceDoublings: 15,
	}
}
