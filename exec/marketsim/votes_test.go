package marketsim

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// vote changes a parameter from the next block on.
func (g *game) vote() {
	p, r := *g.p, g.rng
	votes := []func(){
		func() { p.Runner.HeartbeatTimeoutBlocks = 3 + r.Uint64N(30) },
		func() { p.Runner.StakeFloor = chain.Wei(500 + r.Uint64N(2_000)) },
		func() { p.Runner.StakePerJobBasisPoints = 10_000 + r.Uint64N(10_000) },
		func() { p.Runner.UnbondingBlocks = 6 + r.Uint64N(12) },
		func() { p.Runner.OfferCooldownBlocks = r.Uint64N(9) },
		func() { p.Runner.ReturnBlocks = 1 + r.Uint64N(12) },
		func() { p.Runner.MinReputation = 44 + r.Uint64N(7) },
		func() { p.Runner.MaxReputation = 50 + r.Uint64N(5) },
		func() { p.Runner.InitialReputation = 48 + r.Uint64N(6) },
		func() { p.Runner.ReputationHalfLifeBlocks = 1 + r.Uint64N(300) },
		func() { p.Runner.ReputationPerResult = r.Uint64N(4) },
		func() { p.Runner.TimeoutReputationPenalty = r.Uint64N(12) },
		func() { p.Runner.DisagreementPenalty = r.Uint64N(4) },
		func() { p.Runner.SlashThreshold = 1 + r.Uint64N(4) },
		func() { p.Runner.ProbationSuccesses = r.Uint64N(4) },
		func() { p.Runner.SlashTimeoutBasisPoints = r.Uint64N(10_001) },
		func() { p.Runner.SlashNonDeliveryBasisPoints = r.Uint64N(10_001) },
		func() { p.Runner.SlashGarbageBasisPoints = r.Uint64N(10_001) },
		func() { p.Job.RequirePrice = !p.Job.RequirePrice },
		func() { p.Job.MinWindowBlocks = 1 + r.Uint64N(3) },
		func() { p.Job.MinWindowBlocks = 8 + r.Uint64N(13) }, // more than some jobs have
		func() { p.Job.MinWindowBlocks = 8 + r.Uint64N(13) },
		func() { p.Job.MinCommitteeTimeoutBlocks = 4 + r.Uint64N(8) },
		func() { p.Job.CommitDeadlineBasisPoints = 1_000 + r.Uint64N(9_001) },
		func() { p.Job.AggregatorWindowBasisPoints = r.Uint64N(4_001) },
		func() { p.Job.AggregatorBonusBasisPoints = r.Uint64N(3_000) },
		func() { p.Job.TreasuryBasisPoints = r.Uint64N(3_000) },
		func() { p.Job.RejectedShareBasisPoints = r.Uint64N(10_001) },
		func() { p.Job.MaxRetries = 1 + r.Uint64N(4) },
		func() { p.Job.ChallengeWindowBlocks = 1 + r.Uint64N(9) },
		func() { p.Job.EarlyRetry = !p.Job.EarlyRetry },
		func() { p.Job.FailUnfillable = !p.Job.FailUnfillable },
		func() { p.Job.KeepBlocks = 1 + r.Uint64N(20) },
		func() { p.MaxBlockBytes = []uint64{1 << 20, 16 << 20}[r.IntN(2)] },
		func() { p.Job.MinFee = chain.Wei(r.Uint64N(300)) },
		func() { p.Job.SelectionChainedDraw = !p.Job.SelectionChainedDraw },
		func() {
			p.Job.SelectionSeed = []string{params.SelectionSeedSubmission, params.SelectionSeedBeacon, params.SelectionSeedParent}[r.IntN(3)]
		},
	}
	votes[r.IntN(len(votes))]()
	g.p = &p
	g.stats["vote"]++
}
