package params

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/document"
)

// Bounds that keep every product of consensus arithmetic inside 64 bits, or
// inside the 128-bit product that [math/bits] forms.
const (
	maxMeterCap     = 1 << 50 // cycles or cells in one block; times 10,000 basis points it fits
	maxBasisPoints  = 100 * BasisPoints
	PeriodBlocksMax = 1 << 40   // 35,000 years of one-second blocks
	maxBytePrice    = 1_000_000 // times the bytes of anything it fits
	maxCallPrice    = 1 << 22   // times the entries of the largest storage, of 2^40 bytes, it fits
	maxPeriods      = 1 << 20   // of maxPeriodBlocks each, they stay below 2^62 blocks
	maxListItems    = 4_096
	maxAttempts     = 16 // of a job
)

// Check reports the first parameter that cannot work. The message names the
// parameter as the genesis file spells it and gives the offending value. Rules
// that also need the validator set are in genesis.Genesis.Check.
func (p *Params) Check() error {
	for _, check := range []func() error{
		p.checkSpace, p.checkLanes, p.checkBaseFees, p.checkConsensus, p.checkInflation,
		p.checkCosts, p.checkActors, p.checkTimers, p.checkRent, p.checkRunner, p.checkJob, p.checkCIP11,
		p.checkGovernance, p.checkEntitlements, p.checkState, p.checkFinal,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := CheckNames("regions", p.Regions); err != nil {
		return err
	}
	return CheckNames("tee_types", p.TEETypes)
}

func (p *Params) checkSpace() error {
	switch {
	case p.CyclesTarget == 0 || p.CyclesTarget > p.CyclesCap:
		return fmt.Errorf("cycles_target = %d, want 1 to cycles_cap %d", p.CyclesTarget, p.CyclesCap)
	case p.CyclesCap > maxMeterCap:
		return fmt.Errorf("cycles_cap = %d, want at most %d", p.CyclesCap, uint64(maxMeterCap))
	case p.CellsTarget == 0 || p.CellsTarget > p.CellsCap:
		return fmt.Errorf("cells_target = %d, want 1 to cells_cap %d", p.CellsTarget, p.CellsCap)
	case p.CellsCap > maxMeterCap:
		return fmt.Errorf("cells_cap = %d, want at most %d", p.CellsCap, uint64(maxMeterCap))
	case p.MaxTxBytes < 1_024 || p.MaxTxBytes > chain.MaxTxBytes:
		return fmt.Errorf("max_tx_bytes = %d, want 1024 to %d", p.MaxTxBytes, chain.MaxTxBytes)
	case p.MaxBlockBytes < p.MaxTxBytes+chain.MaxHeaderBytes || p.MaxBlockBytes > chain.MaxBlockBytes:
		return fmt.Errorf("max_block_bytes = %d, want %d to %d", p.MaxBlockBytes, p.MaxTxBytes+chain.MaxHeaderBytes, chain.MaxBlockBytes)
	}
	return nil
}

// checkLanes holds the shares to their sum and a single transaction's maxima to
// what the user lane can ever offer: its own share and all above the target.
func (p *Params) checkLanes() error {
	var sum uint64
	for lane, share := range p.LaneShareBasisPoints {
		if share > BasisPoints {
			return fmt.Errorf("lane_share_basis_points.%s = %d, want at most %d", chain.LaneID(lane), share, BasisPoints)
		}
		sum += share
	}
	if sum != BasisPoints {
		return fmt.Errorf("lane_share_basis_points add up to %d, want %d", sum, BasisPoints)
	}
	want, known := LaneProfileShares(p.LaneProfile)
	switch {
	case p.MaxWholeBytes < 1 || p.MaxWholeBytes > chain.MaxBlockBytes:
		return fmt.Errorf("max_whole_bytes = %d, want 1 to %d", p.MaxWholeBytes, chain.MaxBlockBytes)
	case !known && p.LaneProfile != LaneProfileCustom:
		return fmt.Errorf("lane_profile = %q, want %q, %q or %q", p.LaneProfile, LaneProfile63, LaneProfile179, LaneProfileCustom)
	case known && want != p.LaneShareBasisPoints:
		return fmt.Errorf("lane_share_basis_points differ from lane_profile %q; name it %q", p.LaneProfile, LaneProfileCustom)
	}
	for lane, share := range p.LaneShareBasisPoints {
		if uint64(p.CyclesTarget)*share/BasisPoints == 0 || uint64(p.CellsTarget)*share/BasisPoints == 0 {
			return fmt.Errorf("lane_share_basis_points.%s = %d leaves the lane no target", chain.LaneID(lane), share)
		}
	}
	user := p.LaneShareBasisPoints[chain.LaneUser]
	bytes := (p.MaxBlockBytes - chain.MaxHeaderBytes) * user / BasisPoints // what no other lane can take
	maxCycles := uint64(p.CyclesCap-p.CyclesTarget) + uint64(p.CyclesTarget)*user/BasisPoints
	maxCells := uint64(p.CellsCap-p.CellsTarget) + uint64(p.CellsTarget)*user/BasisPoints
	switch {
	case bytes < p.MaxTxBytes+chain.BodyFrameBytes:
		return fmt.Errorf("max_tx_bytes = %d, want at most %d (the user lane's own share of a block)", p.MaxTxBytes, bytes-min(bytes, chain.BodyFrameBytes))
	case p.MaxTxCycles < p.Intrinsic.TransferCycles || uint64(p.MaxTxCycles) > maxCycles:
		return fmt.Errorf("max_tx_cycles = %d, want %d (a transfer) to %d (the user lane of a full block)",
			p.MaxTxCycles, p.Intrinsic.TransferCycles, maxCycles)
	case p.MaxTxCells == 0 || uint64(p.MaxTxCells) > maxCells:
		return fmt.Errorf("max_tx_cells = %d, want 1 to %d (the user lane of a full block)", p.MaxTxCells, maxCells)
	}
	return nil
}

func (p *Params) checkBaseFees() error {
	switch {
	case p.BaseFeeAlpha < 1 || p.BaseFeeAlpha > 1_000:
		return fmt.Errorf("base_fee_alpha = %d, want 1 to 1000", p.BaseFeeAlpha)
	case p.BaseFeeDeltaBasisPoints < 1 || p.BaseFeeDeltaBasisPoints > BasisPoints:
		return fmt.Errorf("base_fee_delta_basis_points = %d, want 1 to %d", p.BaseFeeDeltaBasisPoints, BasisPoints)
	case p.MinBaseFee < 1:
		return errors.New("min_base_fee = 0, want at least 1: a fee of 0 could never rise")
	}
	return nil
}

func (p *Params) checkConsensus() error {
	s := &p.Staking
	if p.LeaderNoRepeat {
		return errors.New("leader_no_repeat = true, and no draw of leaders passes over the last one yet")
	}
	return firstOutside(
		bound{"block_time_ms", p.BlockTimeMillis, 1, 3_600_000},
		// A leader waits for the block time before it proposes, and a view must be
		// able to end after its proposal came.
		bound{"leader_timeout_ms", p.LeaderTimeoutMillis, p.BlockTimeMillis + 1, 3_600_000},
		bound{"certification_timeout_ms", p.CertificationTimeoutMillis, p.LeaderTimeoutMillis + 1, 3_600_000},
		bound{"nullify_retry_ms", p.NullifyRetryMillis, 1, 3_600_000},
		bound{"max_clock_drift_ms", p.MaxClockDriftMillis, 1, 3_600_000},
		bound{"epoch_blocks", p.EpochBlocks, 1, PeriodBlocksMax},
		bound{"staking.unbonding_blocks", s.UnbondingBlocks, 1, PeriodBlocksMax},
		bound{"staking.jail_blocks", s.JailBlocks, 1, PeriodBlocksMax},
		bound{"staking.jail_repeat_factor", s.JailRepeatFactor, 1, 1_000},
		bound{"staking.double_sign_slash_basis_points", s.DoubleSignSlashBasisPoints, 0, BasisPoints},
		bound{"staking.downtime_window_blocks", s.DowntimeWindowBlocks, 1, PeriodBlocksMax},
		bound{"staking.downtime_missed_basis_points", s.DowntimeMissedBasisPoints, 0, BasisPoints},
		bound{"staking.max_validators", s.MaxValidators, 1, maxListItems},
		bound{"staking.validator_changes_per_epoch_max", s.ValidatorChangesPerEpochMax, 1, maxListItems},
	)
}

func (p *Params) checkInflation() error {
	if err := firstOutside(bound{"blocks_per_year", p.BlocksPerYear, 1, PeriodBlocksMax}); err != nil {
		return err
	}
	steps := p.InflationBasisPoints
	if len(steps) == 0 || len(steps) > maxListItems {
		return fmt.Errorf("inflation_basis_points has %d steps, want 1 to %d", len(steps), maxListItems)
	}
	var previous uint64
	for i, step := range steps {
		last := i == len(steps)-1
		switch {
		case step.BasisPoints > BasisPoints:
			return fmt.Errorf("inflation_basis_points[%d].basis_points = %d, want at most %d", i, step.BasisPoints, BasisPoints)
		case last && step.UntilYear != 0:
			return fmt.Errorf("inflation_basis_points[%d].until_year = %d, want 0 on the last step", i, step.UntilYear)
		case !last && step.UntilYear <= previous:
			return fmt.Errorf("inflation_basis_points[%d].until_year = %d, want above %d", i, step.UntilYear, previous)
		}
		previous = step.UntilYear
	}
	return nil
}

func (p *Params) checkCosts() error {
	in, api := &p.Intrinsic, &p.API
	user := uint64(p.MaxTxCycles)
	call := min(user, maxCallPrice)
	if err := p.checkTokenCosts(call); err != nil {
		return err
	}
	return firstOutside(
		bound{"intrinsic_costs.transfer_cycles", uint64(in.TransferCycles), 1, user},
		bound{"intrinsic_costs.deploy_cycles", uint64(in.DeployCycles), 1, user},
		bound{"intrinsic_costs.message_cycles", uint64(in.MessageCycles), 1, user},
		bound{"intrinsic_costs.job_submit_cycles", uint64(in.JobSubmitCycles), 1, user},
		bound{"intrinsic_costs.timer_schedule_cycles", uint64(in.TimerScheduleCycles), 1, user},
		bound{"intrinsic_costs.timer_schedule_cells", uint64(in.TimerScheduleCells), 0, uint64(p.MaxTxCells)},
		bound{"intrinsic_costs.heartbeat_cycles", uint64(in.HeartbeatCycles), 1, user},
		bound{"intrinsic_costs.instruction_cycles", uint64(in.InstructionCycles), 1, user},
		bound{"intrinsic_costs.payload_byte_cells", uint64(in.PayloadByteCells), 0, maxBytePrice},
		bound{"api_costs.send_message_cycles", uint64(api.SendMessageCycles), 0, call},
		bound{"api_costs.storage_read_cycles", uint64(api.StorageReadCycles), 0, call},
		bound{"api_costs.storage_write_cycles", uint64(api.StorageWriteCycles), 0, call},
		bound{"api_costs.hash_cycles", uint64(api.HashCycles), 0, call},
		bound{"api_costs.verify_signature_cycles", uint64(api.VerifySignatureCycles), 0, call},
		bound{"api_costs.block_info_cycles", uint64(api.BlockInfoCycles), 0, call},
		bound{"api_costs.emit_event_cycles", uint64(api.EmitEventCycles), 0, call},
		bound{"api_costs.timer_set_cycles", uint64(api.TimerSetCycles), 0, call},
		bound{"api_costs.timer_cancel_cycles", uint64(api.TimerCancelCycles), 0, call},
		bound{"api_costs.storage_scan_cycles", uint64(api.StorageScanCycles), 0, call},
		bound{"api_costs.verify_bls_cycles", uint64(api.VerifyBLSCycles), 0, call},
		bound{"api_costs.verify_vrf_cycles", uint64(api.VerifyVRFCycles), 0, call},
		bound{"api_costs.submit_job_cycles", uint64(api.SubmitJobCycles), 0, call},
		bound{"api_costs.system_cycles", uint64(api.SystemCycles), 0, call},
		bound{"api_costs.timer_file_cycles", uint64(api.TimerFileCycles), 0, call},
		bound{"api_costs.deploy_byte_cycles", uint64(api.DeployByteCycles), 0, maxBytePrice},
		bound{"api_costs.storage_read_bytes_per_cell", api.StorageReadBytesPerCell, 1, maxBytePrice},
		bound{"api_costs.event_bytes_per_cell", api.EventBytesPerCell, 1, maxBytePrice},
		bound{"api_costs.storage_read_byte_cycles", uint64(api.StorageReadByteCycles), 0, maxBytePrice},
		bound{"api_costs.storage_write_byte_cycles", uint64(api.StorageWriteByteCycles), 0, maxBytePrice},
		bound{"api_costs.hash_byte_cycles", uint64(api.HashByteCycles), 0, maxBytePrice},
		bound{"api_costs.emit_event_byte_cycles", uint64(api.EmitEventByteCycles), 0, maxBytePrice},
		bound{"api_costs.blob_commit_kib_cycles", uint64(api.BlobCommitKiBCycles), 0, maxBytePrice},
		bound{"api_costs.storage_write_byte_cells", uint64(api.StorageWriteByteCells), 0, maxBytePrice},
		bound{"api_costs.return_byte_cells", uint64(api.ReturnByteCells), 0, maxBytePrice},
		bound{"api_costs.manifest_byte_cycles", uint64(api.ManifestByteCycles), 0, maxBytePrice},
		bound{"api_costs.entry_item_cycles", uint64(api.EntryItemCycles), 0, maxBytePrice},
		bound{"api_costs.manifest_bytes_per_cycle", api.ManifestBytesPerCycle, 1, maxBytePrice},
		bound{"api_costs.new_entry_cells", uint64(api.NewEntryCells), 0, maxBytePrice},
		bound{"api_costs.new_account_cells", uint64(api.NewAccountCells), 0, maxBytePrice},
		bound{"api_costs.code_free_bytes", api.CodeFreeBytes, 0, chain.MaxTxBytes},
		bound{"api_costs.delivery_cycles", uint64(api.DeliveryCycles), 0, call},
		bound{"api_costs.delivery_cells", uint64(api.DeliveryCells), 0, maxBytePrice},
		bound{"api_costs.firing_cycles", uint64(api.FiringCycles), 0, uint64(p.Timer.MinCycles)},
		bound{"api_costs.event_cells", uint64(api.EventCells), 0, maxBytePrice},
		bound{"api_costs.event_short_bytes", api.EventShortBytes, 0, chain.MaxEventBytes},
		bound{"api_costs.firing_cells", uint64(api.FiringCells), 0, uint64(p.Timer.DefaultCells)},
	)
}

// checkTokenCosts keeps each price at what a call of the chain may cost.
func (p *Params) checkTokenCosts(call uint64) error {
	c := &p.Token
	return firstOutside(
		bound{"token_costs.transfer_cycles", uint64(c.TransferCycles), 0, call},
		bound{"token_costs.transfer_cells", uint64(c.TransferCells), 0, maxBytePrice},
		bound{"token_costs.transfer_from_cycles", uint64(c.TransferFromCycles), 0, call},
		bound{"token_costs.transfer_from_cells", uint64(c.TransferFromCells), 0, maxBytePrice},
		bound{"token_costs.approve_cycles", uint64(c.ApproveCycles), 0, call},
		bound{"token_costs.approve_cells", uint64(c.ApproveCells), 0, maxBytePrice},
		bound{"token_costs.balance_of_cycles", uint64(c.BalanceOfCycles), 0, call},
		bound{"token_costs.mint_cycles", uint64(c.MintCycles), 0, call},
		bound{"token_costs.mint_cells", uint64(c.MintCells), 0, maxBytePrice},
		bound{"token_costs.burn_cycles", uint64(c.BurnCycles), 0, call},
		bound{"token_costs.burn_cells", uint64(c.BurnCells), 0, maxBytePrice},
		bound{"token_costs.create_cycles", uint64(c.CreateCycles), 0, call},
		bound{"token_costs.create_cells", uint64(c.CreateCells), 0, maxBytePrice},
		bound{"token_costs.batch_cycles", uint64(c.BatchCycles), 0, call},
		bound{"token_costs.batch_each_cycles", uint64(c.BatchEachCycles), 0, call},
		bound{"token_costs.admin_cycles", uint64(c.AdminCycles), 0, call},
		bound{"token_costs.admin_cells", uint64(c.AdminCells), 0, maxBytePrice},
		bound{"token_costs.info_cycles", uint64(c.InfoCycles), 0, call},
		bound{"token_costs.hook_max_cycles", uint64(c.HookMaxCycles), 0, uint64(p.MaxTxCycles)},
	)
}

// checkState keeps a part of the limit above 0 and the price within 64 bits.
func (p *Params) checkState() error {
	s := &p.State
	return firstOutside(
		bound{"state.limit_bytes", s.LimitBytes, 1 << 10, 1 << 50},
		bound{"state.entry_bytes", s.EntryBytes, 0, 1 << 16},
		bound{"state.price_doublings", s.PriceDoublings, 1, 32},
	)
}

func (p *Params) checkActors() error {
	a := &p.Actor
	if err := CheckNames("actor_limits.imports", a.Imports); err != nil {
		return err
	}
	if !slices.IsSorted(a.Imports) {
		return errors.New("actor_limits.imports is not in order")
	}
	return firstOutside(
		bound{"actor_limits.memory_per_call_bytes", a.MemoryPerCallBytes, 64 << 10, 4 << 30},
		bound{"actor_limits.scratch_bytes", a.ScratchBytes, 0, a.MemoryPerCallBytes},
		bound{"actor_limits.storage_quota_bytes", a.StorageQuotaBytes, 1, 1 << 40},
		bound{"actor_limits.storage_quota_bond_bytes", a.StorageQuotaBondBytes, a.StorageQuotaBytes, 1 << 40},
		bound{"actor_limits.inline_blob_bytes", a.InlineBlobBytes, 1_024, chain.MaxOutputBytes}, // of all values: an answer is one
		bound{"actor_limits.call_depth", a.CallDepth, 1, 1_024},
		bound{"actor_limits.fanout_per_tx", a.FanoutPerTx, 1, chain.MaxDeliveries},
		bound{"actor_limits.mailbox_items", a.MailboxItems, 1, 1 << 32},
		bound{"actor_limits.mailbox_block_items", a.MailboxBlockItems, 1, 1 << 20},
		bound{"actor_limits.mailbox_block_receivers", a.MailboxBlockReceivers, 1, 1 << 20},
		bound{"actor_limits.block_cycles", uint64(a.BlockCycles), 1, uint64(p.CyclesCap)},
		bound{"actor_limits.block_cycles_burst", uint64(a.BlockCyclesBurst), uint64(a.BlockCycles), uint64(p.CyclesCap)},
		bound{"actor_limits.message_reserve_cycles", uint64(a.MessageReserveCycles), 1, uint64(p.MaxTxCycles)},
		bound{"actor_limits.message_reserve_cells", uint64(a.MessageReserveCells), 0, uint64(p.MaxTxCells)},
		bound{"actor_limits.manifest_bytes", a.ManifestBytes, 1_024, chain.MaxTxBytes},
		bound{"actor_limits.source_bytes", a.SourceBytes, 1_024, chain.MaxTxBytes},
		bound{"actor_limits.load_cycles", uint64(a.LoadCycles), 0, uint64(p.MaxTxCycles)},
		bound{"actor_limits.storage_bond_per_byte", uint64(a.StorageBondPerByte), 0, 1 << 62},
	)
}

func (p *Params) checkTimers() error {
	t := &p.Timer
	return firstOutside(
		bound{"timer.max_per_actor", t.MaxPerActor, 1, 1 << 20},
		bound{"timer.deposit_step_timers", t.DepositStepTimers, 1, 1 << 20},
		bound{"timer.max_base_fee", uint64(t.MaxBaseFee), 1, 1 << 62},
		bound{"timer.initial_base_fee", uint64(t.InitialBaseFee), 1, 1 << 62},
		bound{"timer.min_base_fee", uint64(t.MinBaseFee), 1, uint64(t.MaxBaseFee)},
		bound{"timer.queue_target", t.QueueTarget, 1, 1 << 40},
		bound{"timer.base_fee_alpha", t.BaseFeeAlpha, 1, 1_000},
		bound{"timer.delta_basis_points", t.DeltaBasisPoints, 1, BasisPoints},
		bound{"timer.rebid_deferrals", t.RebidDeferrals, 1, PeriodBlocksMax},
		bound{"timer.max_unfunded_deferrals", t.MaxUnfundedDeferrals, 1, PeriodBlocksMax},
		bound{"timer.ring_blocks", t.RingBlocks, 2, 1 << 20},
		bound{"timer.queue_epochs", t.QueueEpochs, 1, 1 << 20},
		bound{"timer.moves_per_block", t.MovesPerBlock, 2, 1 << 16},
		bound{"timer.candidates_per_block", t.CandidatesPerBlock, 1, 1 << 16},
		bound{"timer.bids_per_block", t.BidsPerBlock, 0, 1 << 16},
		bound{"timer.surcharge_free", t.SurchargeFree, 0, 1 << 20},
		bound{"timer.base_deposit", uint64(t.BaseDeposit), 0, 1 << 62},
		bound{"timer.min_cycles", uint64(t.MinCycles), 1, uint64(t.DefaultCycles)},
		bound{"timer.default_cycles", uint64(t.DefaultCycles), 1, uint64(p.CyclesTarget)},
		bound{"timer.default_cells", uint64(t.DefaultCells), 0, uint64(p.CellsTarget)},
		bound{"timer.bid_cycles", uint64(t.BidCycles), 1, uint64(p.CyclesTarget)},
		bound{"timer.bid_cells", uint64(t.BidCells), 0, uint64(p.CellsTarget)},
		bound{"timer.escrow_multiple", t.EscrowMultiple, 1, 1 << 20},
		bound{"timer.default_tip_basis_points", t.DefaultTipBasisPoints, 0, BasisPoints},
		bound{"timer.starvation_multiple", t.StarvationMultiple, 1, 1 << 20},
	)
}

func (p *Params) checkRent() error {
	r := &p.Rent
	if r.EvictionMode != EvictionTimeline && r.EvictionMode != EvictionDebt {
		return fmt.Errorf("rent.eviction_mode = %q, want %q or %q", r.EvictionMode, EvictionTimeline, EvictionDebt)
	}
	return firstOutside(
		bound{"rent.charge_blocks", r.ChargeBlocks, 1, PeriodBlocksMax},
		bound{"rent.grace_epochs", r.GraceEpochs, 0, maxPeriods},
		bound{"rent.warning_epochs", r.WarningEpochs, 0, maxPeriods},
		bound{"rent.eviction_unpaid_days", r.EvictionUnpaidDays, 0, maxPeriods},
		bound{"rent.target_state_bytes", r.TargetStateBytes, 1, 1 << 60},
		bound{"rent.alpha", r.Alpha, 1, 1_000},
		bound{"rent.delta_basis_points", r.DeltaBasisPoints, 1, BasisPoints},
		bound{"rent.catch_up_basis_points", r.CatchUpBasisPoints, 0, maxBasisPoints},
		bound{"rent.reserve_basis_points", r.ReserveBasisPoints, 0, maxBasisPoints},
		bound{"rent.restoration_basis_points", r.RestorationBasisPoints, 0, maxBasisPoints},
		bound{"rent.restore_bond", uint64(r.RestoreBond), 0, 1 << 50},
		bound{"rent.restore_idle_blocks", r.RestoreIdleBlocks, 1, PeriodBlocksMax},
		bound{"rent.exempt_bytes", r.ExemptBytes, 0, 1 << 40},
		bound{"rent.price_per_byte_year", uint64(r.PricePerByteYear), 0, 1 << 62},
	)
}

func (p *Params) checkRunner() error {
	r := &p.Runner
	return firstOutside(
		bound{"runner.stake_floor", uint64(r.StakeFloor), 1, 1 << 62}, // CIP-2 §5 divides by it
		bound{"runner.heartbeat_timeout_blocks", r.HeartbeatTimeoutBlocks, 1, PeriodBlocksMax},
		bound{"runner.min_reputation", r.MinReputation, 0, r.InitialReputation},
		bound{"runner.initial_reputation", r.InitialReputation, 0, r.MaxReputation},
		bound{"runner.max_reputation", r.MaxReputation, 1, 1_000_000},
		bound{"runner.reputation_half_life_blocks", r.ReputationHalfLifeBlocks, 1, PeriodBlocksMax},
		bound{"runner.reputation_per_result", r.ReputationPerResult, 0, r.MaxReputation},
		bound{"runner.timeout_reputation_penalty", r.TimeoutReputationPenalty, 0, r.MaxReputation},
		bound{"runner.disagreement_penalty", r.DisagreementPenalty, 0, r.MaxReputation},
		bound{"runner.slash_threshold", r.SlashThreshold, 1, 1_000},
		bound{"runner.probation_successes", r.ProbationSuccesses, 0, 1<<16 - 1},                           // the load pages count so far
		bound{"runner.unbonding_blocks", r.UnbondingBlocks, p.Job.ChallengeWindowBlocks, PeriodBlocksMax}, // resolution 11.30
		bound{"runner.offer_cooldown_blocks", r.OfferCooldownBlocks, 0, PeriodBlocksMax},
		bound{"runner.max_registered", r.MaxRegistered, 1, 1 << 20},
		bound{"runner.return_blocks", r.ReturnBlocks, 0, PeriodBlocksMax},
		bound{"runner.stake_per_job_basis_points", r.StakePerJobBasisPoints, 0, maxBasisPoints},
		bound{"runner.max_endpoint_bytes", r.MaxEndpointBytes, 1, chain.MaxEndpointBytes},
		bound{"runner.slash_timeout_basis_points", r.SlashTimeoutBasisPoints, 0, BasisPoints},
		bound{"runner.slash_schema_basis_points", r.SlashSchemaBasisPoints, 0, BasisPoints},
		bound{"runner.slash_garbage_basis_points", r.SlashGarbageBasisPoints, 0, BasisPoints},
		bound{"runner.slash_wrong_model_basis_points", r.SlashWrongModelBasisPoints, 0, BasisPoints},
		bound{"runner.slash_non_delivery_basis_points", r.SlashNonDeliveryBasisPoints, 0, BasisPoints},
		bound{"runner.slash_prompt_leak_basis_points", r.SlashPromptLeakBasisPoints, 0, BasisPoints},
		bound{"runner.slash_fault_basis_points", r.SlashFaultBasisPoints, 0, BasisPoints},
		bound{"runner.challenger_share_basis_points", r.ChallengerShareBasisPoints, 0, BasisPoints},
	)
}

func (p *Params) checkJob() error {
	j, d := &p.Job, &p.Job.Defaults
	if j.CommitmentForm != CommitmentSigned && j.CommitmentForm != CommitmentSalted {
		return fmt.Errorf("job.commitment_form = %q, want %q or %q", j.CommitmentForm, CommitmentSigned, CommitmentSalted)
	}
	if seeds := []string{SelectionSeedSubmission, SelectionSeedBeacon, SelectionSeedParent}; !slices.Contains(seeds, j.SelectionSeed) {
		return fmt.Errorf("job.selection_seed = %q, want one of %q", j.SelectionSeed, seeds)
	}
	return firstOutside(
		bound{"job.default_runners", j.DefaultRunners, 1, 1_000},
		bound{"job.default_threshold", j.DefaultThreshold, 1, j.DefaultRunners},
		bound{"job.default_timeout_blocks", j.DefaultTimeoutBlocks, 1, PeriodBlocksMax},
		bound{"job.min_committee_timeout_blocks", j.MinCommitteeTimeoutBlocks, 1, j.DefaultTimeoutBlocks},
		bound{"job.min_window_blocks", j.MinWindowBlocks, 1, j.DefaultTimeoutBlocks - 1},
		bound{"job.commit_deadline_basis_points", j.CommitDeadlineBasisPoints, 1, BasisPoints - 1},
		bound{"job.aggregator_window_basis_points", j.AggregatorWindowBasisPoints, 0, BasisPoints - j.CommitDeadlineBasisPoints},
		bound{"job.aggregator_bonus_basis_points", j.AggregatorBonusBasisPoints, 0, BasisPoints - min(BasisPoints, j.TreasuryBasisPoints)},
		bound{"job.rejected_share_basis_points", j.RejectedShareBasisPoints, 0, BasisPoints},
		bound{"job.treasury_basis_points", j.TreasuryBasisPoints, 0, BasisPoints},
		bound{"job.max_retries", j.MaxRetries, 1, maxAttempts},
		bound{"job.due_per_block", j.DuePerBlock, 1, 1 << 16},
		bound{"job.retries_per_block", j.RetriesPerBlock, 1, 1 << 12},
		bound{"job.max_return_bytes", j.MaxReturnBytes, 1, p.MaxTxBytes},
		bound{"job.min_fee", uint64(j.MinFee), 0, 1 << 62},
		bound{"job.keep_blocks", j.KeepBlocks, 1, PeriodBlocksMax},
		bound{"job.judge_steps_per_block", j.JudgeStepsPerBlock, 16 * chain.MinJudgeSteps, 1 << 40}, // else no job is light, and none of them passes the heavy
		bound{"job.challenge_window_blocks", j.ChallengeWindowBlocks, 1, PeriodBlocksMax},
		bound{"job.dispute_runners", j.DisputeRunners, 1, 1_000},
		bound{"job.max_runners", j.MaxRunners, 1, 255},
		bound{"job.max_timeout_blocks", j.MaxTimeoutBlocks, j.DefaultTimeoutBlocks, PeriodBlocksMax},
		bound{"job.candidate_cycles", uint64(j.CandidateCycles), 0, 1_000_000},
		bound{"job.pool_check_cycles", uint64(j.PoolCheckCycles), 0, 1_000_000},
		bound{"job.challenge_bond", uint64(j.ChallengeBond), 0, 1 << 62},
		bound{"job.model_deposit", uint64(j.ModelDeposit), 0, 1 << 62},
		bound{"job.overcharge_min_samples", j.OverchargeMinSamples, 0, 1_000_000},
		bound{"job.defaults.max_return_bytes", d.MaxReturnBytes, 1, min(j.MaxReturnBytes, chain.MaxReturnBytes)},
		bound{"job.defaults.expected_execution_ms", d.ExpectedExecutionMillis, 1, 1 << 40},
		bound{"job.defaults.max_input_tokens", d.MaxInputTokens, 1, math.MaxUint32},
		bound{"job.defaults.max_output_tokens", d.MaxOutputTokens, 1, math.MaxUint32},
		bound{"job.defaults.max_wall_time_seconds", d.MaxWallTimeSeconds, 1, math.MaxUint32},
		bound{"job.defaults.max_memory_mb", d.MaxMemoryMB, 1, math.MaxUint32},
		bound{"job.defaults.max_retries", d.MaxRetries, 0, math.MaxUint32},
		bound{"job.defaults.max_price", uint64(d.MaxPrice), 1, 1 << 62},
		bound{"job.defaults.judge_steps", d.JudgeSteps, chain.MinJudgeSteps, chain.MaxJudgeSteps},
	)
}

func (p *Params) checkCIP11() error {
	c := &p.CIP11
	if c.PollDisabled && !c.TransportEnabled { // runners would learn of no work
		return errors.New("cip11.poll_disabled is on and cip11.transport_enabled is not")
	}
	return firstOutside(
		bound{"cip11.min_subset", c.MinSubset, 1, c.MaxSubset},
		bound{"cip11.max_subset", c.MaxSubset, 1, 1_000},
		bound{"cip11.hard_min_subset", c.HardMinSubset, 20, 1_000}, // lowering needs a successor of CIP-11
		bound{"cip11.t_hard", c.HardThreshold, c.HardMinSubset/2 + 1, 1_000},
		bound{"cip11.t_route", c.RouteThreshold, 1, 1_000},
		bound{"cip11.heartbeat_blocks", c.HeartbeatBlocks, 1, PeriodBlocksMax},
		bound{"cip11.presence_timeout_blocks", c.PresenceTimeoutBlocks, c.HeartbeatBlocks, PeriodBlocksMax},
		bound{"cip11.ack_timeout_blocks", c.AckTimeoutBlocks, 1, PeriodBlocksMax},
		bound{"cip11.mru_ttl_blocks", c.MRUTTLBlocks, 0, PeriodBlocksMax},
		bound{"cip11.mru_weight_multiplier", c.MRUWeightMultiplier, 1, 1_000},
		bound{"cip11.selection_seed_delay_views", c.SelectionSeedDelayViews, 3, 1_000_000}, // governance moves it upward only
		bound{"cip11.max_frame_bytes", c.MaxFrameBytes, p.MaxTxBytes + 1_024, 64 << 20},
		bound{"cip11.result_tx_rebroadcast_interval_blocks", c.ResultTxRebroadcastIntervalBlocks, 1, PeriodBlocksMax},
		bound{"cip11.result_tx_inclusion_grace_blocks", c.ResultTxInclusionGraceBlocks, 0, PeriodBlocksMax},
		bound{"cip11.receipt_freshness_blocks", c.ReceiptFreshnessBlocks, 1, PeriodBlocksMax},
		bound{"cip11.presence_proof_ttl_blocks", c.PresenceProofTTLBlocks, 1, PeriodBlocksMax},
		bound{"cip11.weight_floor_e6", c.WeightFloorE6, 1, 1_000_000},
	)
}

func (p *Params) checkGovernance() error {
	g := &p.Governance
	if err := firstOutside(
		bound{"governance.seats", g.Seats, 1, maxListItems},
		bound{"governance.threshold", g.Threshold, 1, g.Seats},
		bound{"governance.members", uint64(len(g.Members)), 0, g.Seats},
		bound{"governance.timelock_blocks", g.TimelockBlocks, g.EmergencyTimelockBlocks, PeriodBlocksMax},
		bound{"governance.sunset_blocks", g.SunsetBlocks, 0, PeriodBlocksMax},
	); err != nil {
		return err
	}
	seen := make(map[chain.Address]struct{}, len(g.Members))
	for _, member := range g.Members {
		if _, twice := seen[member]; twice {
			return fmt.Errorf("governance.members holds %v twice", member)
		}
		seen[member] = struct{}{}
	}
	return nil
}

// bound is the closed range of one parameter.
type bound struct {
	name          string
	value, lo, hi uint64
}

func firstOutside(bounds ...bound) error {
	for _, b := range bounds {
		if b.value < b.lo || b.value > b.hi {
			return fmt.Errorf("%s = %d, want %d to %d", b.name, b.value, b.lo, b.hi)
		}
	}
	return nil
}

// CheckNames accepts a list of distinct short names of printable ASCII.
func CheckNames(field string, names []string) error {
	if len(names) > maxListItems {
		return fmt.Errorf("%s has %d items, want at most %d", field, len(names), maxListItems)
	}
	seen := make(map[string]struct{}, len(names))
	for i, name := range names {
		if name == "" || len(name) > document.NameBytesMax {
			return fmt.Errorf("%s[%d] has %d bytes, want 1 to %d", field, i, len(name), document.NameBytesMax)
		}
		for _, r := range name {
			if r < 0x21 || r > 0x7e {
				return fmt.Errorf("%s[%d] = %q holds a character outside printable ASCII", field, i, name)
			}
		}
		if _, twice := seen[name]; twice {
			return fmt.Errorf("%s holds %q twice", field, name)
		}
		seen[name] = struct{}{}
	}
	return nil
}
