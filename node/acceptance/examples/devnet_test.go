package examples_test

import (
	"testing"
	"time"

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
	bank    *account            // pays for everybody
	runners map[string]*account // by address
}

// shorten lets a runner take several jobs, and be heard once while the tests run.
func shorten(p *params.Params) {
	p.Job.RequirePrice = true // as CIP-2 §3 and real chains have it
	p.Job.ChallengeWindowBlocks = 5
	p.Runner.ProbationSuccesses, p.Runner.HeartbeatTimeoutBlocks = 0, 50_000
}

// start runs the chain until the test ends.
func start(t *testing.T) *devnet {
	t.Helper()
	d, bank := process.Start(t, shorten), setup.DevAccounts()[0]
	return &devnet{
		nodes: d.Nodes, chainID: d.Genesis.ChainID, params: d.Genesis.Params,
		bank: &account{key: bank.Key, addr: bank.Address},
	}
}
