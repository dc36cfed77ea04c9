package params_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// TestDefaultParams quotes the specification's numbers where they stand in one
// place; changing one is a change of the protocol.
func TestDefaultParams(t *testing.T) {
	p := params.Default()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	f := func(section string, got, want uint64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", section, got, want)
		}
	}
	f("T_c, whitepaper §4.3", uint64(p.CyclesTarget), 10_000_000)
	f("cap_c, whitepaper §4.3", uint64(p.CyclesCap), 20_000_000)
	f("T_b, whitepaper §4.3", uint64(p.CellsTarget), 500_000)
	f("cap_b, whitepaper §4.3", uint64(p.CellsCap), 1_000_000)
	f("alpha, whitepaper §4.2", p.BaseFeeAlpha, 8)
	f("max_tx_size, whitepaper §12.1", p.MaxTxBytes, 131_072)
	f("epoch, whitepaper §13", p.EpochBlocks, 3_600)
	f("block_time, whitepaper §13", p.BlockTimeMillis, 1_000)
	f("unbonding, whitepaper §13", p.Staking.UnbondingBlocks, 604_800)
	f("jail, whitepaper §13", p.Staking.JailBlocks, 86_400)
	f("double sign, whitepaper §13", p.Staking.DoubleSignSlashBasisPoints, 100)
	f("validator stake, resolution 9.6", uint64(p.Staking.MinValidatorStake), 50_000e9)
	f("runner stake, whitepaper §5.2", uint64(p.Runner.StakeFloor), 10_000e9)
	f("challenge bond, whitepaper §5.3", uint64(p.Job.ChallengeBond), 100e9)
	f("challenge window, whitepaper §5.3", p.Job.ChallengeWindowBlocks, 15*60)
	f("timers, whitepaper Timer Rate Limiting", p.Timer.MaxPerActor, 1_024)
	f("timer deposit", uint64(p.Timer.BaseDeposit), 10e9)
	f("timer base fee, resolution 11.24 and ADR 155", uint64(p.Timer.MaxBaseFee), uint64(p.Timer.InitialBaseFee))
	f("rent threshold, whitepaper §17.5", p.Rent.ExemptBytes, 10_240)
	f("rent price, resolution 3.5", uint64(p.Rent.PricePerByteYear), 1_000_000)
	f("mailbox, whitepaper §3.3", p.Actor.MailboxItems, 1_000_000)
	f("fanout, whitepaper §3.3", p.Actor.FanoutPerTx, 1_024)
	f("depth, whitepaper §3.3", p.Actor.CallDepth, 32)
	f("transfer, whitepaper §17.2", uint64(p.Intrinsic.TransferCycles), 21_000)
	f("heartbeat, resolution 11.13", uint64(p.Intrinsic.HeartbeatCycles), 5_000)
	f("send, whitepaper §17.3", uint64(p.API.SendMessageCycles), 1_000)
	f("K, CIP-11 §13", p.CIP11.SelectionSeedDelayViews, 3)
	f("year, resolution 9.4", p.BlocksPerYear, 31_536_000)
	if want := (params.LaneShares{500, 2_000, 2_500, 5_000}); p.LaneShareBasisPoints != want { // resolution 2.1
		t.Errorf("lane shares %v, want %v", p.LaneShareBasisPoints, want)
	}
	want := []params.InflationStep{{2, 800}, {4, 500}, {6, 300}, {10, 200}, {0, 100}} // resolution 9.3
	if !reflect.DeepEqual(p.InflationBasisPoints, want) {
		t.Errorf("inflation %v, want %v", p.InflationBasisPoints, want)
	}
	c := p.CIP11
	if c.TransportEnabled || c.PresenceShadowEnabled || c.PresentFirstEnabled || c.PollDisabled || c.PresenceHardExcludeEnabled {
		t.Error("a CIP-11 flag is set: all five are off at launch (CIP-11 §13)")
	}
}

func TestParamsCheck(t *testing.T) {
	f := func(want string, change func(*params.Params)) {
		t.Helper()
		p := params.Default()
		change(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v, want an error with %q", err, want)
		}
	}
	f("cycles_target = 0", func(p *params.Params) { p.CyclesTarget = 0 })
	f("cycles_target", func(p *params.Params) { p.CyclesCap = p.CyclesTarget - 1 })
	f("cells_cap", func(p *params.Params) { p.CellsCap = 1<<50 + 1 })
	f("max_tx_cycles", func(p *params.Params) { p.MaxTxCycles = 15_000_001 }) // 20M - 10M + 50 % of 10M
	f("max_tx_cycles", func(p *params.Params) { p.MaxTxCycles = 20_999 })
	f("max_tx_cells", func(p *params.Params) { p.MaxTxCells = 750_001 })
	f("max_tx_bytes", func(p *params.Params) { p.MaxTxBytes = chain.MaxTxBytes + 1 })
	f("max_block_bytes", func(p *params.Params) { p.MaxBlockBytes = p.MaxTxBytes })
	f("max_block_bytes", func(p *params.Params) { p.MaxBlockBytes = chain.MaxBlockBytes + 1 })
	f("max_whole_bytes", func(p *params.Params) { p.MaxWholeBytes = 0 })
	f("max_whole_bytes", func(p *params.Params) { p.MaxWholeBytes = chain.MaxBlockBytes + 1 })
	f("add up to 9999", func(p *params.Params) { p.LaneShareBasisPoints[chain.LaneUser]-- })
	f("lane_share_basis_points.timer", func(p *params.Params) { p.LaneShareBasisPoints[chain.LaneTimer] = 1 << 63 })
	f(`differ from lane_profile "whitepaper-6.3"`, func(p *params.Params) {
		p.LaneShareBasisPoints[chain.LaneUser]--
		p.LaneShareBasisPoints[chain.LaneSystem]++
	})
	f("lane_profile", func(p *params.Params) { p.LaneProfile = "mine" })
	f("leaves the lane no target", func(p *params.Params) { p.CyclesTarget, p.MaxTxCycles = 10, 30_000 })
	f("base_fee_alpha", func(p *params.Params) { p.BaseFeeAlpha = 0 })
	f("min_base_fee", func(p *params.Params) { p.MinBaseFee = 0 })
	f("actor_limits.imports[0]", func(p *params.Params) { p.Actor.Imports = []string{""} })
	f(`actor_limits.imports holds "json" twice`, func(p *params.Params) { p.Actor.Imports = []string{"json", "json"} })
	f("actor_limits.imports is not in order", func(p *params.Params) { p.Actor.Imports = []string{"json", "abc"} })
	f("actor_limits.imports has 4097 items", func(p *params.Params) { p.Actor.Imports = make([]string, 4097) })
	f("leader_no_repeat", func(p *params.Params) { p.LeaderNoRepeat = true })
	f("certification_timeout_ms", func(p *params.Params) { p.CertificationTimeoutMillis = p.LeaderTimeoutMillis - 1 })
	f("block_time_ms", func(p *params.Params) { p.BlockTimeMillis = 0 })
	f("blocks_per_year", func(p *params.Params) { p.BlocksPerYear = 0 })
	f("inflation_basis_points has 0", func(p *params.Params) { p.InflationBasisPoints = nil })
	f("inflation_basis_points[1].until_year", func(p *params.Params) { p.InflationBasisPoints[1].UntilYear = 2 })
	f("inflation_basis_points[4].until_year", func(p *params.Params) { p.InflationBasisPoints[4].UntilYear = 20 })
	f("intrinsic_costs.transfer_cycles", func(p *params.Params) { p.Intrinsic.TransferCycles = 0 })
	f("cip11.hard_min_subset = 19", func(p *params.Params) { p.CIP11.HardMinSubset = 19 })
	f("cip11.poll_disabled", func(p *params.Params) { p.CIP11.PollDisabled = true })
	f("cip11.t_hard = 10", func(p *params.Params) { p.CIP11.HardThreshold = 10 })
	f("cip11.selection_seed_delay_views = 2", func(p *params.Params) { p.CIP11.SelectionSeedDelayViews = 2 })
	f("runner.unbonding_blocks", func(p *params.Params) { p.Runner.UnbondingBlocks = 899 })
	f("runner.probation_successes = 65536", func(p *params.Params) { p.Runner.ProbationSuccesses = 65_536 })
	f("runner.disagreement_penalty = 201", func(p *params.Params) { p.Runner.DisagreementPenalty = 201 })
	f("runner.timeout_reputation_penalty = 201", func(p *params.Params) { p.Runner.TimeoutReputationPenalty = 201 })
	f("runner.reputation_per_result = 201", func(p *params.Params) { p.Runner.ReputationPerResult = 201 })
	f("rent.eviction_mode", func(p *params.Params) { p.Rent.EvictionMode = "never" })
	f("job.commitment_form", func(p *params.Params) { p.Job.CommitmentForm = "" })
	f("job.selection_seed", func(p *params.Params) { p.Job.SelectionSeed = "mine" })
	f("job.max_retries = 0", func(p *params.Params) { p.Job.MaxRetries = 0 })
	f("job.due_per_block = 0", func(p *params.Params) { p.Job.DuePerBlock = 0 })
	f("job.retries_per_block = 0", func(p *params.Params) { p.Job.RetriesPerBlock = 0 })
	f("job.keep_blocks", func(p *params.Params) { p.Job.KeepBlocks = params.PeriodBlocksMax + 1 })
	f("governance.threshold", func(p *params.Params) { p.Governance.Threshold = 10 })
	f("governance.members", func(p *params.Params) { p.Governance.Members = make([]chain.Address, 2) })
	f("regions", func(p *params.Params) { p.Regions = []string{"eu", "eu"} })
	f("timer.bids_per_block = 65537", func(p *params.Params) { p.Timer.BidsPerBlock = 1<<16 + 1 })
	f("timer.bids_per_block", func(p *params.Params) { p.Timer.BidsPerBlock = math.MaxUint64 })
	f("timer.surcharge_free", func(p *params.Params) { p.Timer.SurchargeFree = math.MaxUint64 })
	f("timer.base_deposit", func(p *params.Params) { p.Timer.BaseDeposit = math.MaxUint64 })
	f("actor_limits.storage_bond_per_byte", func(p *params.Params) { p.Actor.StorageBondPerByte = math.MaxUint64 })
	f("rent.exempt_bytes", func(p *params.Params) { p.Rent.ExemptBytes = math.MaxUint64 })
	f("rent.price_per_byte_year", func(p *params.Params) { p.Rent.PricePerByteYear = math.MaxUint64 })
	f("runner.stake_per_job_basis_points", func(p *params.Params) { p.Runner.StakePerJobBasisPoints = math.MaxUint64 })
	f("runner.reputation_per_result", func(p *params.Params) { p.Runner.ReputationPerResult = p.Runner.MaxReputation + 1 })
	f("runner.timeout_reputation_penalty", func(p *params.Params) { p.Runner.TimeoutReputationPenalty = p.Runner.MaxReputation + 1 })
	f("runner.probation_successes", func(p *params.Params) { p.Runner.ProbationSuccesses = math.MaxUint64 })
	f("runner.max_endpoint_bytes = 257", func(p *params.Params) { p.Runner.MaxEndpointBytes = chain.MaxEndpointBytes + 1 })
	f("job.challenge_bond", func(p *params.Params) { p.Job.ChallengeBond = math.MaxUint64 })
	f("job.model_deposit", func(p *params.Params) { p.Job.ModelDeposit = math.MaxUint64 })
	f("job.overcharge_min_samples", func(p *params.Params) { p.Job.OverchargeMinSamples = math.MaxUint64 })
	f("cip11.result_tx_inclusion_grace_blocks", func(p *params.Params) { p.CIP11.ResultTxInclusionGraceBlocks = math.MaxUint64 })
	f("tee_types[0]", func(p *params.Params) { p.TEETypes = []string{"s g x"} })
}

func TestLaneProfiles(t *testing.T) { // resolution 2.1; whitepaper §6.3, §17.9
	want := map[string]params.LaneShares{
		params.LaneProfile63:  {chain.LaneSystem: 500, chain.LaneTimer: 2_000, chain.LaneRunner: 2_500, chain.LaneUser: 5_000},
		params.LaneProfile179: {chain.LaneSystem: 500, chain.LaneTimer: 2_000, chain.LaneRunner: 1_000, chain.LaneUser: 6_500},
	}
	if names := params.LaneProfiles(); len(names) != len(want) || names[0] != params.Default().LaneProfile {
		t.Errorf("profiles %v, the default's first", names)
	}
	for _, profile := range params.LaneProfiles() {
		p := params.Default()
		if err := p.SetLaneProfile(profile); err != nil || p.LaneProfile != profile || p.LaneShareBasisPoints != want[profile] {
			t.Errorf("%s: %v, %q with %v", profile, err, p.LaneProfile, p.LaneShareBasisPoints)
		}
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", profile, err)
		}
	}
	p := params.Default()
	for _, none := range []string{"custom", "", "whitepaper"} {
		if err := p.SetLaneProfile(none); err == nil || p.LaneProfile != params.LaneProfile63 {
			t.Errorf("%q has no shares: %v, %q", none, err, p.LaneProfile)
		}
	}
}

// TestUnbuiltParamsAreNamed: a genesis that moves parameters of parts to come says so.
func TestUnbuiltParamsAreNamed(t *testing.T) {
	p := params.Default()
	if moved, err := p.Unbuilt(); len(moved) != 0 || err != nil {
		t.Errorf("the defaults move %v, %v", moved, err)
	}
	p.CIP11.PresentFirstEnabled, p.Staking.JailBlocks, p.Timer.BaseFeeAlpha = true, 1, 9
	moved, err := p.Unbuilt()
	if want := "staking.jail_blocks cip11.present_first_enabled"; strings.Join(moved, " ") != want || err != nil {
		t.Errorf("moved %v, %v, want %s", moved, err, want)
	}
	for _, path := range moved {
		if err := params.CheckSettable(path); !errors.Is(err, params.ErrUnbuilt) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
