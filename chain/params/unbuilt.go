package params

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// ErrFixed means a parameter that cannot change while the chain runs: what
// the machine's tables are, how large the frames of blocks may be, on which every
// connection and every shard agreed beforehand, in how many slots and epochs
// sleeping timers are filed, which are found by it, which modules actors may import,
// since those deployed go on importing them, and what only the beginning of a chain
// reads: its first fees and how many validators it may have. The deprecations have an
// action of their own.
var ErrFixed = errors.New("the parameter is fixed")

func fixedParams() []string {
	return []string{
		"machine", "max_block_bytes", "max_whole_bytes", "timer.ring_blocks", "entitlements.deprecated", "actor_limits.imports",
		"initial_base_fee", "timer.initial_base_fee", "staking.max_validators",
	}
}

// ErrUnbuilt means a parameter that nothing reads yet. It comes with its part:
// until then a decision about it would be a promise that nobody keeps (ADR 78).
var ErrUnbuilt = errors.New("the parameter belongs to a part that is not built yet")

// unbuiltParams are the parameters of parts to come. A test holds the list to what
// the code reads: whoever builds a part takes its parameters off.
func unbuiltParams() []string {
	return []string{
		"staking.min_validator_stake", "staking.unbonding_blocks", "staking.jail_blocks", "staking.jail_repeat_factor",
		"staking.double_sign_slash_basis_points", "staking.downtime_window_blocks", "staking.downtime_missed_basis_points",
		"staking.invalid_proposal_jails", "staking.validator_changes_per_epoch_max",
		"leader_no_repeat",         // another draw
		"governance.sunset_blocks", // voting by weight of tokens
		// presence and the link: all of cip11 but poll_disabled
		"cip11.min_subset", "cip11.max_subset", "cip11.hard_min_subset", "cip11.result_tx_inclusion_grace_blocks",
		"cip11.result_tx_rebroadcast_interval_blocks", "cip11.heartbeat_blocks", "cip11.presence_timeout_blocks",
		"cip11.ack_timeout_blocks", "cip11.mru_ttl_blocks", "cip11.mru_weight_multiplier", "cip11.selection_seed_delay_views",
		"cip11.selection_seed_margin_ms", "cip11.max_frame_bytes", "cip11.t_hard", "cip11.t_route", "cip11.receipt_freshness_blocks",
		"cip11.presence_proof_ttl_blocks", "cip11.presence_cert_base_cycles", "cip11.presence_receipt_precheck_cycles",
		"cip11.presence_receipt_ed25519_verify_cycles", "cip11.overlap_blocks", "cip11.weight_floor_e6", "cip11.transport_enabled",
		"cip11.presence_shadow_enabled", "cip11.present_first_enabled", "cip11.presence_hard_exclude_enabled",
		"job.challenge_bond", "job.dispute_runners", "job.overcharge_min_samples", "job.model_deposit", "job.commitment_form",
		"runner.stake_cover_filter", "runner.slash_schema_basis_points", "runner.slash_wrong_model_basis_points",
		"runner.slash_prompt_leak_basis_points", "runner.slash_fault_basis_points", "runner.challenger_share_basis_points",
	}
}

// UnbuiltParam reports whether the parameter at path is one of a part to come.
func UnbuiltParam(path string) bool {
	return slices.ContainsFunc(unbuiltParams(), func(p string) bool { return PathCovers(p, path) })
}

// CheckSettable reports whether a proposal may set the parameter at path: the error
// is [ErrFixedParam] or [ErrUnbuiltParam]. It says nothing about the value.
func CheckSettable(path string) error {
	for _, list := range []struct {
		paths []string
		err   error
	}{{fixedParams(), ErrFixed}, {unbuiltParams(), ErrUnbuilt}} {
		for _, p := range list.paths {
			if PathCovers(p, path) || PathCovers(path, p) {
				return fmt.Errorf("%w: %s", list.err, p)
			}
		}
	}
	return nil
}

// Unbuilt returns the paths of parameters that differ from their defaults and that
// nothing reads yet: a genesis may move them, for the day when their part lands, and
// a node says so when it starts.
func (p *Params) Unbuilt() ([]string, error) {
	defaults := Default()
	var moved []string
	for _, path := range unbuiltParams() {
		leaves, err := p.Members(path)
		if err != nil {
			return nil, err
		}
		for i := range leaves {
			leaves[i] = path + "." + leaves[i]
		}
		if len(leaves) == 0 {
			leaves = []string{path}
		}
		for _, leaf := range leaves {
			got, err := p.At(leaf)
			if err != nil {
				return nil, err
			}
			if want, err := defaults.At(leaf); err != nil || !bytes.Equal(got, want) {
				moved = append(moved, leaf)
			}
		}
	}
	return moved, nil
}
