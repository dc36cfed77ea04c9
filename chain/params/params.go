//spec:implements resolutions 2
//spec:implements restored 15
//spec:implements whitepaper 12.1, 13

package params

import "github.com/cowboy-foundation/cowboy/chain"

// Params holds every parameter of the protocol. They are part of the genesis
// and so of the chain's identity; later changes come only through governance.
// The zero value is invalid: start from [Default].
//
// Amounts are base units, times end in their unit, shares and rates are basis
// points (1/10,000). A parameter that only one part of the protocol reads sits
// in that part's group.
type Params struct {
	// Block space (whitepaper §4.3, §12.1, §13; resolution 11.33).
	CyclesTarget  chain.Cycles `json:"cycles_target"`   // usage at which base fees rest
	CyclesCap     chain.Cycles `json:"cycles_cap"`      // most one block may use
	CellsTarget   chain.Cells  `json:"cells_target"`    // likewise for cells
	CellsCap      chain.Cells  `json:"cells_cap"`       //
	MaxTxCycles   chain.Cycles `json:"max_tx_cycles"`   // largest cycles limit of a transaction
	MaxTxCells    chain.Cells  `json:"max_tx_cells"`    // largest cells limit of a transaction
	MaxTxBytes    uint64       `json:"max_tx_bytes"`    // encoded body, without length prefix
	MaxBlockBytes uint64       `json:"max_block_bytes"` // encoded header and bodies
	MaxWholeBytes uint64       `json:"max_whole_bytes"` // encoded bodies above it travel as shards

	// Lanes (whitepaper §6.3; resolutions 2.1-2.4).
	LaneProfile          string     `json:"lane_profile"` // preset the shares come from, or "custom"
	LaneShareBasisPoints LaneShares `json:"lane_share_basis_points"`

	// Base fees (whitepaper §4.2; resolutions 2.6, 11.26).
	BaseFeeAlpha   uint64        `json:"base_fee_alpha"`    // a use of twice the target asks for a step of 1/alpha
	BaseFeePerLane bool          `json:"base_fee_per_lane"` // false: one fee per meter for all lanes
	InitialBaseFee chain.FeePair `json:"initial_base_fee"`  // in force in block 1
	MinBaseFee     chain.Wei     `json:"min_base_fee"`      // floor of every base fee
	// The most that one block moves a base fee (resolution 14.3).
	BaseFeeDeltaBasisPoints uint64 `json:"base_fee_delta_basis_points"`

	// Consensus (whitepaper §6.1, §13; resolutions 1.5, 11.16).
	BlockTimeMillis            uint64 `json:"block_time_ms"`
	LeaderTimeoutMillis        uint64 `json:"leader_timeout_ms"`        // wait for a proposal
	CertificationTimeoutMillis uint64 `json:"certification_timeout_ms"` // wait for a notarization
	NullifyRetryMillis         uint64 `json:"nullify_retry_ms"`         // resend a nullify vote
	MaxClockDriftMillis        uint64 `json:"max_clock_drift_ms"`       // a proposal's time may be this far ahead
	EpochBlocks                uint64 `json:"epoch_blocks"`             // blocks with one validator set
	LeaderNoRepeat             bool   `json:"leader_no_repeat"`         // strict reading of mandatory rotation; not built (ADR 78)

	// Issuance (whitepaper §8.2; resolutions 9.3, 9.4).
	BlocksPerYear        uint64          `json:"blocks_per_year"`
	InflationBasisPoints []InflationStep `json:"inflation_basis_points"`

	Staking    Staking        `json:"staking"`
	Intrinsic  IntrinsicCosts `json:"intrinsic_costs"`
	API        APICosts       `json:"api_costs"`
	Token      TokenCosts     `json:"token_costs"`
	Actor      ActorLimits    `json:"actor_limits"`
	Timer      Timer          `json:"timer"`
	Rent       Rent           `json:"rent"`
	Runner     Runner         `json:"runner"`
	Job        Job            `json:"job"`
	CIP11      CIP11          `json:"cip11"`
	Governance Governance     `json:"governance"`
	Machine    MachineTables  `json:"machine"`

	Entitlements Entitlements `json:"entitlements"`

	Regions  []string `json:"regions"`   // accepted region names (entitlements §9.14)
	TEETypes []string `json:"tee_types"` // accepted enclave types (entitlements §9.13)

	State State `json:"state"`
}

// BasisPoints is the whole that shares and rates are parts of.
const BasisPoints = 10_000

// InflationStep is the yearly issuance rate up to and including a year, counted
// from 1.
type InflationStep struct {
	UntilYear   uint64 `json:"until_year"` // 0 on the last step: for ever
	BasisPoints uint64 `json:"basis_points"`
}

// Staking governs validators' deposits and their penalties (whitepaper
// §13 and "Slashing"; resolutions 9.6, 11.2).
type Staking struct {
	MinValidatorStake           chain.Wei `json:"min_validator_stake"`
	UnbondingBlocks             uint64    `json:"unbonding_blocks"`
	JailBlocks                  uint64    `json:"jail_blocks"`
	JailRepeatFactor            uint64    `json:"jail_repeat_factor"` // each further offence multiplies the jail time
	DoubleSignSlashBasisPoints  uint64    `json:"double_sign_slash_basis_points"`
	DowntimeWindowBlocks        uint64    `json:"downtime_window_blocks"`
	DowntimeMissedBasisPoints   uint64    `json:"downtime_missed_basis_points"` // more missed votes than this jail
	InvalidProposalJails        bool      `json:"invalid_proposal_jails"`
	MaxValidators               uint64    `json:"max_validators"`
	ValidatorChangesPerEpochMax uint64    `json:"validator_changes_per_epoch_max"`
}

// MachineTables are the hashes of what the Python machine of every node of the
// chain must have in common: what it charges and what its exceptions say
// (whitepaper §3.5, §17.3; resolutions 2.7, 11.47). A template leaves them zero;
// whoever makes a genesis of it fills in those of its own build.
type MachineTables struct {
	CostTable      chain.Hash `json:"cost_table"`
	ExceptionTexts chain.Hash `json:"exception_texts"`
}

// Governance is the launch multisig (whitepaper §11; resolutions 9.1,
// 11.11).
type Governance struct {
	Members                 []chain.Address `json:"members"`   // may approve; empty lets genesis tooling fill it in
	Threshold               uint64          `json:"threshold"` // approvals that pass an action
	Seats                   uint64          `json:"seats"`     // members when complete
	TimelockBlocks          uint64          `json:"timelock_blocks"`
	EmergencyTimelockBlocks uint64          `json:"emergency_timelock_blocks"`
	SunsetBlocks            uint64          `json:"sunset_blocks"` // then token-weighted voting
}

// Default returns the genesis defaults of the specification. Where its
// texts disagree the resolutions decide; where it names no number, the comment
// gives the reason for ours.
func Default() Params {
	shares, _ := LaneProfileShares(LaneProfile63)
	return Params{
		CyclesTarget:  10_000_000,
		CyclesCap:     20_000_000,
		CellsTarget:   500_000,
		CellsCap:      1_000_000,
		MaxTxCycles:   10_000_000, // one transaction may take the target of a whole block
		MaxTxCells:    500_000,
		MaxTxBytes:    128 << 10,
		MaxBlockBytes: 4 << 20,  // four times the cells cap: room for the fixed parts of bodies
		MaxWholeBytes: 64 << 10, // below it the proofs cost what the shards save

		LaneProfile:          LaneProfile63,
		LaneShareBasisPoints: shares,

		BaseFeeAlpha:   8,
		BaseFeePerLane: true,
		InitialBaseFee: chain.FeePair{PerCycle: 1, PerCell: 1},
		MinBaseFee:     1,

		BaseFeeDeltaBasisPoints: 1_250,

		BlockTimeMillis:            1_000,
		LeaderTimeoutMillis:        2_000,
		CertificationTimeoutMillis: 3_000,
		NullifyRetryMillis:         2_000,
		MaxClockDriftMillis:        5_000, // far above what NTP leaves, far below any timelock
		EpochBlocks:                3_600,

		BlocksPerYear: 365 * 86_400,
		InflationBasisPoints: []InflationStep{
			{UntilYear: 2, BasisPoints: 800},
			{UntilYear: 4, BasisPoints: 500},
			{UntilYear: 6, BasisPoints: 300},
			{UntilYear: 10, BasisPoints: 200}, // year 10 belongs to the inclusive range (resolution 9.3)
			{UntilYear: 0, BasisPoints: 100},
		},

		Staking: Staking{
			MinValidatorStake:           50_000 * chain.WeiPerCBY,
			UnbondingBlocks:             7 * 86_400,
			JailBlocks:                  86_400,
			JailRepeatFactor:            2,
			DoubleSignSlashBasisPoints:  100,
			DowntimeWindowBlocks:        1_000,
			DowntimeMissedBasisPoints:   5_000,
			InvalidProposalJails:        true,
			MaxValidators:               128, // what one epoch's key exchange can serve
			ValidatorChangesPerEpochMax: 32,
		},
		Intrinsic: defaultIntrinsicCosts(),
		API:       defaultAPICosts(),
		Token:     defaultTokenCosts(),
		Actor:     defaultActorLimits(),
		Timer:     defaultTimerParams(),
		Rent:      defaultRentParams(),
		Runner:    defaultRunnerParams(),
		Job:       defaultJobParams(),
		CIP11:     defaultCIP11Params(),
		Governance: Governance{
			Members:                 []chain.Address{},
			Threshold:               5,
			Seats:                   9,
			TimelockBlocks:          7 * 86_400,
			EmergencyTimelockBlocks: 6 * 3_600,
			SunsetBlocks:            365 * 86_400,
		},
		Entitlements: defaultEntitlementParams(),

		Regions:  []string{"us", "eu", "uk", "ca", "apac", "latam", "mea"},
		TEETypes: []string{"sgx", "sev", "tdx"},

		State: defaultStateParams(),
	}
}
