//spec:implements whitepaper 8.1-8.3

package genesis

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Genesis fixes a chain: who starts it, who owns what, and every rule that can
// vary. Its hash is the chain's identity; a node refuses data and peers of
// another.
type Genesis struct {
	Name            string    // for people; part of the identity all the same
	ChainID         uint64    // replay protection of transactions
	Devnet          bool      // nodes may serve a faucet and advance the chain on request
	TimestampMillis uint64    // Unix time; block 1 is later
	Supply          chain.Wei // all allocations and stakes together
	Params          params.Params
	Validators      []chain.Validator
	GroupKey        [96]byte   // threshold public key, G2 compressed
	Polynomial      [][96]byte // commitment to the threshold polynomial, constant first
	Allocations     []Allocation
	SystemActors    []SystemActor
	Beacon          chain.Hash // stands for the beacon before the first round (CIP-11 §9.2)
}

// Allocation is a balance at genesis.
type Allocation struct {
	Name    string // for people
	Address chain.Address
	Amount  chain.Wei
	Bucket  string   // share of whitepaper §8.3 that it comes out of
	Vesting *Vesting // nil: spendable at once
}

// SystemActor names a system actor for genesis and explorers.
type SystemActor struct {
	Name    string
	Address chain.Address
}

// Buckets of the genesis supply (whitepaper §8.3).
const (
	BucketValidators = "validators"
	BucketTreasury   = "treasury"
	BucketEcosystem  = "ecosystem"
	BucketInvestors  = "investors"
)

// InitialSupply is the supply of whitepaper §8.1: 10^9 CBY.
const InitialSupply = 1_000_000_000 * chain.WeiPerCBY

// MaxSupply bounds a genesis supply, so that decades of issuance still fit 64
// bits. It equals [InitialSupply] (resolution 11.43).
const MaxSupply = InitialSupply

// Bounds of the file itself, checked before anything is built from it.
const (
	MaxBytes  = 64 << 20
	maxActors = 0x100
)

// Check reports the first thing that keeps a chain from starting with g. It
// does no curve arithmetic: package chain/ceremony checks that the keys belong
// together.
func (g *Genesis) Check() error {
	if err := g.checkTemplate(); err != nil {
		return err
	}
	switch {
	case len(g.Validators) == 0:
		return errors.New("validators is empty")
	case g.TimestampMillis == 0:
		return errors.New("timestamp_ms = 0, want the Unix time in milliseconds")
	case g.Beacon == chain.Hash{}:
		return errors.New("beacon is zero")
	case g.Params.Machine.CostTable == chain.Hash{}:
		return errors.New("params.machine.cost_table is zero")
	case g.Params.Machine.ExceptionTexts == chain.Hash{}:
		return errors.New("params.machine.exception_texts is zero")
	}
	return checkGroup(g.GroupKey, g.Polynomial, len(g.Validators))
}

// CheckTemplate is [Genesis.Check] without the parts that [Genesis.Complete]
// fills in - validators, group key, polynomial, time and beacon - and without
// the machine's tables.
func (g *Genesis) CheckTemplate() error {
	if err := g.checkTemplate(); err != nil {
		return err
	}
	if len(g.Validators) != 0 || len(g.Polynomial) != 0 || g.GroupKey != [96]byte{} {
		return errors.New("validators are set: this is a complete genesis, not a template")
	}
	return nil
}

func (g *Genesis) checkTemplate() error {
	if err := params.CheckNames("name", []string{g.Name}); err != nil {
		return err
	}
	if g.ChainID == 0 || g.ChainID > 1<<53 {
		return fmt.Errorf("chain_id = %d, want 1 to 2^53", g.ChainID)
	}
	if g.TimestampMillis > 1<<53 {
		return fmt.Errorf("timestamp_ms = %d, want at most 2^53", g.TimestampMillis)
	}
	if err := g.Params.Check(); err != nil {
		return fmt.Errorf("params.%w", err)
	}
	// Later a least fee may rise above the first ones, which are past.
	if p := &g.Params; min(p.InitialBaseFee.PerCycle, p.InitialBaseFee.PerCell) < p.MinBaseFee {
		return fmt.Errorf("params.initial_base_fee = %+v below min_base_fee %d", p.InitialBaseFee, p.MinBaseFee)
	}
	if t := &g.Params.Timer; t.InitialBaseFee < t.MinBaseFee {
		return fmt.Errorf("params.timer.initial_base_fee = %d below timer.min_base_fee %d", t.InitialBaseFee, t.MinBaseFee)
	}
	if n := uint64(len(g.Validators)); n > g.Params.Staking.MaxValidators {
		return fmt.Errorf("validators has %d entries, want at most staking.max_validators %d", n, g.Params.Staking.MaxValidators)
	}
	// Selection by several runners reads a seed that a coalition must not know
	// early; how early it can is measured, not assumed (resolution 11.17).
	if c := &g.Params.CIP11; c.PresentFirstEnabled && len(g.Validators) > 1 && c.SelectionSeedMarginMillis == 0 {
		return errors.New("params.cip11.present_first_enabled needs a recorded selection_seed_margin_ms above 0 with more than one validator")
	}
	if err := checkValidators(g.Validators, g.Params.Staking.MinValidatorStake); err != nil {
		return err
	}
	if err := g.checkAllocations(); err != nil {
		return err
	}
	return g.checkActors()
}

// checkAllocations holds the money to the supply, to the unit.
func (g *Genesis) checkAllocations() error {
	seen := make(map[chain.Address]struct{}, len(g.Allocations))
	left := g.Supply
	if left == 0 || left > MaxSupply {
		return fmt.Errorf("supply = %d, want 1 to %d", left, MaxSupply)
	}
	take := func(amount chain.Wei) bool {
		if amount > left {
			return false
		}
		left -= amount
		return true
	}
	for i := range g.Validators {
		if !take(g.Validators[i].Stake) {
			return fmt.Errorf("validators[%d].stake = %d exceeds what is left of the supply", i, g.Validators[i].Stake)
		}
	}
	for i := range g.Allocations {
		a := &g.Allocations[i]
		if _, twice := seen[a.Address]; twice {
			return fmt.Errorf("allocations[%d].address %v has an allocation already", i, a.Address)
		}
		seen[a.Address] = struct{}{}
		if err := a.check(); err != nil {
			return fmt.Errorf("allocations[%d].%w", i, err)
		}
		if !take(a.Amount) {
			return fmt.Errorf("allocations[%d].amount = %d exceeds what is left of the supply", i, a.Amount)
		}
	}
	if left != 0 {
		return fmt.Errorf("supply = %d, but allocations and stakes add up to %d less", g.Supply, left)
	}
	return nil
}

func (a *Allocation) check() error {
	if err := params.CheckNames("name", []string{a.Name}); err != nil {
		return err
	}
	switch a.Bucket {
	case BucketValidators, BucketTreasury, BucketEcosystem, BucketInvestors:
	default:
		return fmt.Errorf("bucket = %q, want %q, %q, %q or %q", a.Bucket,
			BucketValidators, BucketTreasury, BucketEcosystem, BucketInvestors)
	}
	switch {
	case a.Address.IsSystem() && a.Address != chain.AddrTreasury:
		return fmt.Errorf("address %v is reserved for a system actor", a.Address)
	case a.Address == chain.Address{}:
		return errors.New("address is zero: nobody could spend from it")
	case a.Vesting != nil && a.Address == chain.AddrTreasury:
		return errors.New("vesting is not for the treasury: governance spends from it")
	case a.Vesting != nil:
		return a.Vesting.check()
	}
	return nil
}

func (g *Genesis) checkActors() error {
	if len(g.SystemActors) > maxActors {
		return fmt.Errorf("system_actors has %d entries, want at most %d", len(g.SystemActors), maxActors)
	}
	for i, actor := range g.SystemActors {
		if err := params.CheckNames(fmt.Sprintf("system_actors[%d].name", i), []string{actor.Name}); err != nil {
			return err
		}
		if !actor.Address.IsSystem() {
			return fmt.Errorf("system_actors[%d].address %v lies outside the reserved range", i, actor.Address)
		}
		if i > 0 && bytes.Compare(g.SystemActors[i-1].Address[:], actor.Address[:]) >= 0 {
			return fmt.Errorf("system_actors[%d].address %v is not above its predecessor's", i, actor.Address)
		}
	}
	return nil
}

// Hash returns the identity of the chain: keccak256("cowboy-genesis-v1" ‖ the
// deterministic CBOR of the canonical JSON document). Two files that say the
// same, however they are laid out, have the same hash.
func (g *Genesis) Hash() chain.Hash {
	body := g.document().AppendCBOR(nil)
	return keccak.Sum256([]byte("cowboy-genesis-v1"), body)
}
