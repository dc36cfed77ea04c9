package acceptance_test

import (
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/acceptance/process"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// patience is for what must come on a loaded machine.
const patience = 3 * time.Minute

// devnet is "cowboyd devnet --validators=4" at work, and how to ask its nodes.
type devnet struct {
	nodes   []*client.Client
	chainID uint64
	params  params.Params
	genesis chain.Hash
	bank    *account // pays for everybody
}

// shorten sets the windows of the chain so that its rules can be seen in seconds; the numbers
// that the rules name stay as they are. A runner need not be heard while the tests run: who
// is to be unhealthy pauses.
func shorten(p *params.Params) {
	p.Job.RequirePrice = true // as CIP-2 §3 and real chains have it
	p.Job.ChallengeWindowBlocks = 5
	r := &p.Runner
	r.ProbationSuccesses = 0 // who may take many jobs says so in its offer
	r.HeartbeatTimeoutBlocks, r.OfferCooldownBlocks, r.ReturnBlocks, r.UnbondingBlocks = 50_000, 1, 1, 20
	r.ReputationHalfLifeBlocks = 14 * 86_400 // reputations stand still
	p.Entitlements.DeprecationWindowBlocks = 200
	p.Entitlements.DomainSets = []params.DomainSet{curated}
}

// curated is a set of domains that manifests can name.
var curated = params.DomainSet{Name: "acceptance", Domains: []string{"one.example", "two.example"}}

// start runs the chain until the test ends.
func start(t *testing.T) *devnet {
	t.Helper()
	d, bank := process.Start(t, shorten), setup.DevAccounts()[0]
	return &devnet{
		nodes: d.Nodes, chainID: d.Genesis.ChainID, params: d.Genesis.Params, genesis: d.Genesis.Hash(),
		bank: &account{key: bank.Key, addr: bank.Address},
	}
}
