//spec:implements CIP-11 13

package params

import "github.com/cowboy-foundation/cowboy/chain"

// Runner governs registration, reputation and penalties of runners
// (CIP-2 §4-§6; whitepaper §5 and "Objective failures"; resolutions 5.6-5.9,
// 6.7-6.9, 11.4, 11.28-11.30).
type Runner struct {
	StakeFloor                  chain.Wei `json:"stake_floor"`
	StakePerJobBasisPoints      uint64    `json:"stake_per_job_basis_points"` // of the declared largest job value
	StakeCoverFilter            bool      `json:"stake_cover_filter"`         // on the v3 path only (resolution 11.31)
	HeartbeatTimeoutBlocks      uint64    `json:"heartbeat_timeout_blocks"`
	InitialReputation           uint64    `json:"initial_reputation"`
	MinReputation               uint64    `json:"min_reputation"` // a candidate needs this much
	MaxReputation               uint64    `json:"max_reputation"`
	ReputationHalfLifeBlocks    uint64    `json:"reputation_half_life_blocks"`
	ReputationPerResult         uint64    `json:"reputation_per_result"`
	TimeoutReputationPenalty    uint64    `json:"timeout_reputation_penalty"`
	DisagreementPenalty         uint64    `json:"disagreement_penalty"` // of reputation (resolution 12.7)
	SlashThreshold              uint64    `json:"slash_threshold"`      // timeouts in a row that cost stake
	ProbationSuccesses          uint64    `json:"probation_successes"`
	MaxEndpointBytes            uint64    `json:"max_endpoint_bytes"`
	OfferCooldownBlocks         uint64    `json:"offer_cooldown_blocks"` // between two changes of prices, abilities or largest job (resolution 12.4)
	MaxRegistered               uint64    `json:"max_registered"`        // entries of the active list (resolution 12.2)
	ReturnBlocks                uint64    `json:"return_blocks"`         // from the fall of a reputation to where runner_return lifts it (resolution 12.5)
	UnbondingBlocks             uint64    `json:"unbonding_blocks"`      // not below any open challenge window
	SlashTimeoutBasisPoints     uint64    `json:"slash_timeout_basis_points"`
	SlashSchemaBasisPoints      uint64    `json:"slash_schema_basis_points"`
	SlashGarbageBasisPoints     uint64    `json:"slash_garbage_basis_points"`
	SlashWrongModelBasisPoints  uint64    `json:"slash_wrong_model_basis_points"`
	SlashNonDeliveryBasisPoints uint64    `json:"slash_non_delivery_basis_points"`
	SlashPromptLeakBasisPoints  uint64    `json:"slash_prompt_leak_basis_points"`
	SlashFaultBasisPoints       uint64    `json:"slash_fault_basis_points"`      // lost challenge, equivocation
	ChallengerShareBasisPoints  uint64    `json:"challenger_share_basis_points"` // of a slash; the rest burns
}

func defaultRunnerParams() Runner {
	return Runner{
		StakeFloor:                  10_000 * chain.WeiPerCBY,
		StakePerJobBasisPoints:      15_000,
		StakeCoverFilter:            true,
		HeartbeatTimeoutBlocks:      100,
		InitialReputation:           50,
		MinReputation:               50,
		MaxReputation:               200,
		ReputationHalfLifeBlocks:    14 * 86_400,
		ReputationPerResult:         1,
		TimeoutReputationPenalty:    5,
		DisagreementPenalty:         1,
		SlashThreshold:              3,
		ProbationSuccesses:          10,
		MaxEndpointBytes:            256,
		OfferCooldownBlocks:         3_600,
		MaxRegistered:               65_536,
		ReturnBlocks:                86_400,
		UnbondingBlocks:             7 * 86_400,
		SlashTimeoutBasisPoints:     500,
		SlashSchemaBasisPoints:      1_000,
		SlashGarbageBasisPoints:     1_000,
		SlashWrongModelBasisPoints:  3_000,
		SlashNonDeliveryBasisPoints: 2_000,
		SlashPromptLeakBasisPoints:  1_500,
		SlashFaultBasisPoints:       3_000,
		ChallengerShareBasisPoints:  7_000,
	}
}

// Job governs off-chain jobs from submission to payout (whitepaper §5,
// §13; CIP-2 §5-§9; resolutions 5.3-5.14, 6.3-6.6, 11.9, 11.27, 11.49).
type Job struct {
	RequirePrice                bool      `json:"require_price"` // a job with max_price 0 is refused
	DefaultRunners              uint64    `json:"default_runners"`
	DefaultThreshold            uint64    `json:"default_threshold"`
	DefaultTimeoutBlocks        uint64    `json:"default_timeout_blocks"`
	MinCommitteeTimeoutBlocks   uint64    `json:"min_committee_timeout_blocks"` // for jobs of several runners
	MinWindowBlocks             uint64    `json:"min_window_blocks"`            // least that a draw leaves its runners (resolution 12.27)
	CommitDeadlineBasisPoints   uint64    `json:"commit_deadline_basis_points"`
	AggregatorWindowBasisPoints uint64    `json:"aggregator_window_basis_points"`
	AggregatorBonusBasisPoints  uint64    `json:"aggregator_bonus_basis_points"` // out of the runners' share
	RejectedShareBasisPoints    uint64    `json:"rejected_share_basis_points"`   // of what results cost that agree and that the job's verifier rejects (ADR 221)
	MaxRetries                  uint64    `json:"max_retries"`
	MaxReturnBytes              uint64    `json:"max_return_bytes"`
	JudgeStepsPerBlock          uint64    `json:"judge_steps_per_block"` // that results are judged with; what they leave waits
	ChallengeWindowBlocks       uint64    `json:"challenge_window_blocks"`
	ChallengeBond               chain.Wei `json:"challenge_bond"`
	DisputeRunners              uint64    `json:"dispute_runners"`
	OverchargeMinSamples        uint64    `json:"overcharge_min_samples"`
	TreasuryBasisPoints         uint64    `json:"treasury_basis_points"`
	ModelDeposit                chain.Wei `json:"model_deposit"`
	CommitmentForm              string    `json:"commitment_form"`
	SelectionSeed               string    `json:"selection_seed"`
	SelectionChainedDraw        bool      `json:"selection_chained_draw"` // v2 draw as CIP-2 writes it (resolution 5.3)
	EarlyRetry                  bool      `json:"early_retry"`            // too few commitments end an attempt at once (resolution 12.25)
	FailUnfillable              bool      `json:"fail_unfillable"`        // fewer candidates than the threshold end a job at once (resolution 12.15)
	DuePerBlock                 uint64    `json:"due_per_block"`          // events of jobs that a block comes to
	RetriesPerBlock             uint64    `json:"retries_per_block"`      // draws behind the first of a job

	MaxRunners             uint64       `json:"max_runners"`              // of one job (resolution 12.14)
	MaxTimeoutBlocks       uint64       `json:"max_timeout_blocks"`       // that a job may name
	CandidateCycles        chain.Cycles `json:"candidate_cycles"`         // of a submission, for each entry of the active list (resolution 12.21)
	PoolCheckCycles        chain.Cycles `json:"pool_check_cycles"`        // likewise, where a job names a pool (resolution 12.20)
	MinFee                 chain.Wei    `json:"min_fee"`                  // of each runner where the submitter is at fault (resolution 12.52)
	KeepBlocks             uint64       `json:"keep_blocks"`              // for which the rows of a job outlast its end
	RequireRegisteredModel bool         `json:"require_registered_model"` // a job names none or one that is published (resolution 12.62)
	Defaults               JobDefaults  `json:"defaults"`
}

// JobDefaults is what stands in a job of an actor that does not say it (resolution 12.57).
type JobDefaults struct {
	MaxReturnBytes          uint64    `json:"max_return_bytes"`
	ExpectedExecutionMillis uint64    `json:"expected_execution_ms"`
	MaxInputTokens          uint64    `json:"max_input_tokens"`
	MaxOutputTokens         uint64    `json:"max_output_tokens"`
	MaxWallTimeSeconds      uint64    `json:"max_wall_time_seconds"`
	MaxMemoryMB             uint64    `json:"max_memory_mb"`
	MaxRetries              uint64    `json:"max_retries"`
	MaxPrice                chain.Wei `json:"max_price"`
	JudgeSteps              uint64    `json:"judge_steps"` // for each result
}

// Values of [JobParams.CommitmentForm] (resolution 11.1) and
// [JobParams.SelectionSeed] (resolution 11.9).
const (
	CommitmentSigned = "signed" // keccak256(result ‖ runner signature)
	CommitmentSalted = "salted" // keccak256(result ‖ salt)

	SelectionSeedSubmission = "submission-block"  // assigned one block later with its hash
	SelectionSeedParent     = "parent-block"      // assigned at once with the parent's hash
	SelectionSeedBeacon     = "submission-beacon" // assigned one block later with the seed of its round (resolution 12.83)
)

func defaultJobParams() Job {
	return Job{
		RequirePrice:                true,
		DefaultRunners:              5,
		DefaultThreshold:            3,
		DefaultTimeoutBlocks:        100,
		MinCommitteeTimeoutBlocks:   20,
		MinWindowBlocks:             10,
		CommitDeadlineBasisPoints:   6_000,
		AggregatorWindowBasisPoints: 2_000,
		AggregatorBonusBasisPoints:  150,
		RejectedShareBasisPoints:    5_000,
		MaxRetries:                  3,
		MaxReturnBytes:              64 << 10,
		JudgeStepsPerBlock:          5_000_000,
		ChallengeWindowBlocks:       900,
		ChallengeBond:               100 * chain.WeiPerCBY,
		DisputeRunners:              5,
		OverchargeMinSamples:        30,
		TreasuryBasisPoints:         100,
		ModelDeposit:                1_000 * chain.WeiPerCBY,
		CommitmentForm:              CommitmentSigned,
		SelectionSeed:               SelectionSeedSubmission,
		SelectionChainedDraw:        true,
		EarlyRetry:                  true,
		FailUnfillable:              true,
		DuePerBlock:                 1_024,
		RetriesPerBlock:             64,

		MaxRunners:       16,
		MaxTimeoutBlocks: 86_400,
		CandidateCycles:  20,
		PoolCheckCycles:  500,
		MinFee:           50_000,
		KeepBlocks:       86_400,
		Defaults: JobDefaults{
			MaxReturnBytes:          16 << 10,
			ExpectedExecutionMillis: 30_000,
			MaxInputTokens:          4_000,
			MaxOutputTokens:         2_000,
			MaxWallTimeSeconds:      60,
			MaxMemoryMB:             512,
			MaxRetries:              2,
			MaxPrice:                chain.WeiPerCBY / 10,
			JudgeSteps:              20_000,
		},
	}
}

// CIP11 holds the constants and the five protocol flags of CIP-11 §13.
type CIP11 struct {
	MinSubset                          uint64       `json:"min_subset"`
	MaxSubset                          uint64       `json:"max_subset"`
	HardMinSubset                      uint64       `json:"hard_min_subset"` // K_HARD_MIN
	ResultTxInclusionGraceBlocks       uint64       `json:"result_tx_inclusion_grace_blocks"`
	ResultTxRebroadcastIntervalBlocks  uint64       `json:"result_tx_rebroadcast_interval_blocks"`
	HeartbeatBlocks                    uint64       `json:"heartbeat_blocks"`
	PresenceTimeoutBlocks              uint64       `json:"presence_timeout_blocks"`
	AckTimeoutBlocks                   uint64       `json:"ack_timeout_blocks"`
	MRUTTLBlocks                       uint64       `json:"mru_ttl_blocks"`
	MRUWeightMultiplier                uint64       `json:"mru_weight_multiplier"`
	SelectionSeedDelayViews            uint64       `json:"selection_seed_delay_views"`
	SelectionSeedMarginMillis          uint64       `json:"selection_seed_margin_ms"` // measured; 0: none recorded (resolution 11.17)
	MaxFrameBytes                      uint64       `json:"max_frame_bytes"`
	HardThreshold                      uint64       `json:"t_hard"`
	RouteThreshold                     uint64       `json:"t_route"`
	ReceiptFreshnessBlocks             uint64       `json:"receipt_freshness_blocks"`
	PresenceProofTTLBlocks             uint64       `json:"presence_proof_ttl_blocks"`
	PresenceCertBaseCycles             chain.Cycles `json:"presence_cert_base_cycles"`
	PresenceReceiptPrecheckCycles      chain.Cycles `json:"presence_receipt_precheck_cycles"`
	PresenceReceiptEd25519VerifyCycles chain.Cycles `json:"presence_receipt_ed25519_verify_cycles"`
	OverlapBlocks                      uint64       `json:"overlap_blocks"`
	WeightFloorE6                      uint64       `json:"weight_floor_e6"` // w_min_floor in millionths (CIP-11 §9.3)

	TransportEnabled           bool `json:"transport_enabled"`
	PresenceShadowEnabled      bool `json:"presence_shadow_enabled"`
	PresentFirstEnabled        bool `json:"present_first_enabled"`
	PollDisabled               bool `json:"poll_disabled"`
	PresenceHardExcludeEnabled bool `json:"presence_hard_exclude_enabled"`
}

func defaultCIP11Params() CIP11 {
	return CIP11{
		MinSubset:                          3,
		MaxSubset:                          8,
		HardMinSubset:                      20,
		ResultTxInclusionGraceBlocks:       2,
		ResultTxRebroadcastIntervalBlocks:  2,
		HeartbeatBlocks:                    1,
		PresenceTimeoutBlocks:              15,
		AckTimeoutBlocks:                   15,
		MRUTTLBlocks:                       1_280,
		MRUWeightMultiplier:                4,
		SelectionSeedDelayViews:            3,
		MaxFrameBytes:                      2 << 20,
		HardThreshold:                      11, // honest majority of the smallest allowed subset
		RouteThreshold:                     1,
		ReceiptFreshnessBlocks:             30,
		PresenceProofTTLBlocks:             60,
		PresenceCertBaseCycles:             20_000,
		PresenceReceiptPrecheckCycles:      1_000,
		PresenceReceiptEd25519VerifyCycles: 5_000,
		OverlapBlocks:                      160,
		WeightFloorE6:                      100_000,
	}
}
