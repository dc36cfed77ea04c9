package node

import (
	"net/netip"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/query"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// newAnswers makes what readers are answered from, of the parts that are built.
func newAnswers(n *Node) (*query.Source, error) {
	return query.New(query.Config{
		ChainID: n.genesis.ChainID, Genesis: n.chainHash,
		Chain: n.ledger, Blocks: n.store, Past: n.store, Pool: n.lanes, Admission: n.sigverify,
		Spread:   func(txs []*chain.VerifiedTx) { n.mesh.spread(-1, txs) },
		Keep:     func(client netip.Addr, txs []*chain.VerifiedTx) { n.submitted.Record(client, txs) },
		Engine:   func() (*pvm.Engine, error) { return ledger.EngineOn(n.host.Shared.Runtime) },
		Evidence: n.evidence.All, Health: n.health,
		Faucet: setup.DevFaucet().Key, Alone: n.mesh == nil, Log: n.log,
	})
}
