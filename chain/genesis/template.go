package genesis

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// DevelopmentKey returns the secp256k1 secret key of a named development
// account. Anyone can compute it: it holds play money only.
func DevelopmentKey(name string) [32]byte {
	return keccak.Sum256([]byte("cowboy-development-key-v1:"), []byte(name))
}

// developmentAddress returns the address of [DevelopmentKey](name) for the
// accounts of the templates. A test derives them again.
func developmentAddress(name string) chain.Address {
	var a chain.Address
	if err := a.UnmarshalText([]byte(developmentAddressText(name))); err != nil {
		panic(fmt.Sprintf("bug: development account %q: %v", name, err))
	}
	return a
}

func developmentAddressText(name string) string {
	switch name {
	case "validators-reserve":
		return "0xbbdc3be2547b71cf99260e7ea748ac61152890a3"
	case "ecosystem":
		return "0xd01024f2bff8ba86bd69cf72f20e63fc74bd8178"
	case "investor-1":
		return "0x6390b454717a47354cf88a85523d295b2d43a5dc"
	case "investor-2":
		return "0x6e2e2790b8141eb7d0b19c99e5e8d0ff63c22435"
	case "governor-1":
		return "0x9d03804ea40e1865b54795d367f006ce843aba3e"
	case "governor-2":
		return "0xd61bb9cc3deb0e1d8761e3285902b7eb3c0b9bea"
	case "governor-3":
		return "0x5b8a41f97fc39b8d9cfe9b46feb928ab44a34e3d"
	case "governor-4":
		return "0x7de7e3eae914a7a37c41e560a9fb62a23a51f1d1"
	case "governor-5":
		return "0x377db096d8fc69a17466802391642ba185711f67"
	case "governor-6":
		return "0x10a408d7e75250080df1ca250b446bcf6e92c037"
	case "governor-7":
		return "0x77a18db3b94f204d521b8e31648d93a8a79e4813"
	case "governor-8":
		return "0x952cea21c2f289bec2dbfaa906299ae19349b97f"
	case "governor-9":
		return "0x93d1cbe84ca5d8b96955bf7069f8431aada8ae6e"
	default:
		return ""
	}
}

// Chain ids of the templates.
const (
	ChainIDMainnetParams = 1
	ChainIDDevnet        = 1337
	ChainIDUnbounded     = 1338
)

// Standard vesting of the investors' bucket: whitepaper §8.3 names it without
// numbers; these are the usual ones, a cliff of one year in four.
const (
	vestingCliffYears = 1
	vestingYears      = 4
)

// MainnetParamsTemplate returns the genesis of profiles/genesis/
// mainnet-params.json: every default of the specification and the buckets of
// whitepaper §8.3, held by development accounts.
func MainnetParamsTemplate() *Genesis {
	p := params.Default()
	p.Job.SelectionSeed = params.SelectionSeedBeacon // no validator picks a committee (resolution 12.83)
	for i := range p.Governance.Seats {
		p.Governance.Members = append(p.Governance.Members, developmentAddress(fmt.Sprintf("governor-%d", i+1)))
	}
	vesting := func() *Vesting {
		return &Vesting{CliffBlocks: vestingCliffYears * p.BlocksPerYear, DurationBlocks: vestingYears * p.BlocksPerYear}
	}
	percent := chain.Wei(InitialSupply / 100)
	account := func(name, bucket string, percents chain.Wei, v *Vesting) Allocation {
		return Allocation{Name: name, Address: developmentAddress(name), Amount: percents * percent, Bucket: bucket, Vesting: v}
	}
	return &Genesis{
		Name:    "mainnet-params",
		ChainID: ChainIDMainnetParams,
		Supply:  InitialSupply,
		Params:  p,
		Allocations: []Allocation{
			account("validators-reserve", BucketValidators, 25, nil),
			{Name: "treasury", Address: chain.AddrTreasury, Amount: 25 * percent, Bucket: BucketTreasury},
			account("ecosystem", BucketEcosystem, 30, nil),
			account("investor-1", BucketInvestors, 12, vesting()),
			account("investor-2", BucketInvestors, 8, vesting()),
		},
		SystemActors: systemActors(),
	}
}

// DevnetTemplate returns the genesis that a devnet starts with when it
// is given none: the defaults of the specification, one governor, and what real
// clients expect of a development chain (resolutions 8.13, 11.11, 11.49).
func DevnetTemplate() *Genesis {
	g := MainnetParamsTemplate()
	g.Name, g.ChainID, g.Devnet = "devnet", ChainIDDevnet, true
	g.Params.Job.RequirePrice, g.Params.Job.SelectionSeed = false, params.SelectionSeedSubmission
	g.Params.Job.ChallengeWindowBlocks = 20 // a job ends while somebody watches
	r := &g.Params.Runner
	r.StakeFloor, r.ReputationHalfLifeBlocks, r.ReturnBlocks = 100*chain.WeiPerCBY, 3_600, 100 // a faucet pays for a runner, and nobody waits a day
	g.Params.Actor.Imports = slices.Sorted(slices.Values(append(g.Params.Actor.Imports, params.DevelopmentImports()...)))
	gov := &g.Params.Governance
	gov.Members, gov.Threshold, gov.Seats = gov.Members[:1:1], 1, 1
	gov.TimelockBlocks, gov.EmergencyTimelockBlocks = 1, 1 // nobody waits seven days for a test
	return g
}

// UnboundedTemplate returns the genesis of profiles/genesis/unbounded.json: a
// devnet whose block space is so large that the node, not the protocol, is the
// limit: of transactions without code, more fit a lane's target than its bytes
// can hold. One transaction stays as limited as by default, but events cost
// more cycles, so that those of such a block still fit the store. One actor may
// be called by all of a block, and ten million timers neither cost more than
// there is nor make the next one dearer.
func UnboundedTemplate() *Genesis {
	g := DevnetTemplate()
	g.Name, g.ChainID = "unbounded", ChainIDUnbounded
	p := &g.Params
	p.CyclesTarget, p.CyclesCap = 32_000_000_000, 32_000_000_000
	p.CellsTarget, p.CellsCap = 140_000_000, 140_000_000
	p.API.EmitEventCycles = 10_000
	p.API.SendMessageCycles = 10_000 // likewise, for the trace of a receipt
	p.Token.ApproveCells, p.Token.AdminCells = 64, 64
	p.MaxBlockBytes = 64 << 20
	p.Actor.BlockCycles, p.Actor.BlockCyclesBurst = 1_000_000_000, 2_000_000_000
	p.Timer.BaseDeposit, p.Timer.InitialBaseFee, p.Timer.QueueTarget = 1_000_000, 1, 1<<30
	return g
}

// systemActors are all accounts of the protocol, in the order of their addresses.
func systemActors() []SystemActor {
	return []SystemActor{
		{"runner-registry", chain.AddrRunnerRegistry},
		{"job-dispatcher", chain.AddrJobDispatcher},
		{"result-verifier", chain.AddrResultVerifier},
		{"secrets", chain.AddrSecrets},
		{"tee-verifier", chain.AddrTEEVerifier},
		{"reserved", chain.AddrReserved},
		{"entitlements", chain.AddrEntitlements},
		{"treasury", chain.AddrTreasury},
		{"governance", chain.AddrGovernance},
		{"event-listener", chain.AddrEventListener},
		{"tokens", chain.AddrTokens},
		{"staking", chain.AddrStaking},
		{"actors", chain.AddrActors},
		{"timers", chain.AddrTimers},
		{"mailbox", chain.AddrMailbox},
		{"rent", chain.AddrRent},
		{"sleepers", chain.AddrTimersFar},
	}
}

// Complete turns a template, in which the machine's tables are set, into the
// genesis of one chain with its validators and development accounts. The stakes come out of the validators' bucket and
// each account out of the bucket it names (the ecosystem's when it names none),
// so the supply stays what the template says. When the result would not pass
// [Genesis.Check], Complete says why and leaves g as it was.
func (g *Genesis) Complete(validators []chain.Validator, groupKey [96]byte, polynomial [][96]byte, accounts []Allocation, timestampMillis uint64) error {
	if err := g.CheckTemplate(); err != nil {
		return err
	}
	out := *g
	out.Validators, out.GroupKey = slices.Clone(validators), groupKey
	out.Polynomial, out.TimestampMillis = slices.Clone(polynomial), timestampMillis
	out.Allocations = slices.Clone(g.Allocations)
	out.Beacon = keccak.Sum256([]byte("cowboy-genesis-beacon-v1"), groupKey[:])
	slices.SortFunc(out.Validators, func(a, b chain.Validator) int { return bytes.Compare(a.PeerKey[:], b.PeerKey[:]) })
	for _, v := range out.Validators {
		if err := out.takeFrom(BucketValidators, v.Stake); err != nil {
			return fmt.Errorf("stake of validator %x: %w", v.PeerKey[:4], err)
		}
	}
	for _, a := range accounts {
		if a.Bucket == "" {
			a.Bucket = BucketEcosystem
		}
		if err := out.takeFrom(a.Bucket, a.Amount); err != nil {
			return fmt.Errorf("account %q: %w", a.Name, err)
		}
		out.Allocations = append(out.Allocations, a)
	}
	if err := out.Check(); err != nil {
		return err
	}
	*g = out
	return nil
}

// takeFrom takes amount from the unlocked allocations of a bucket, in order.
func (g *Genesis) takeFrom(bucket string, amount chain.Wei) error {
	for i := range g.Allocations {
		a := &g.Allocations[i]
		if a.Bucket != bucket || a.Vesting != nil {
			continue
		}
		part := min(a.Amount, amount)
		a.Amount -= part
		amount -= part
	}
	if amount != 0 {
		return fmt.Errorf("bucket %q holds %d too little", bucket, amount)
	}
	return nil
}
